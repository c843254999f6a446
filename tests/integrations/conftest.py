"""PufferLib asks for versions that no other library runs with: its tests have an environment of their own."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("pufferlib") else ["test_pufferlib.py"]
