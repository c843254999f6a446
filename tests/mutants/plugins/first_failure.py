"""A plugin of pytest: property tests end at the first example that fails, instead of looking for a smaller one."""

from __future__ import annotations

from hypothesis import Phase, settings

settings.register_profile("first-failure", phases=(Phase.explicit, Phase.generate), database=None, print_blob=False)
settings.load_profile("first-failure")
