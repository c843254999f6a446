"""What entities do: one file a family, and the passes of a tick that apply their rules.

The entity table (`npp_env.level.entity_kinds`) names the families; importing this package loads them all, and fails if
a kind lacks a rule that its row claims.
"""

from __future__ import annotations

from importlib import import_module

from npp_env.level.entity_kinds import SIMULATED_ROWS
from npp_env.sim.entities.passes import check_rules

for _family in sorted({row.family for row in SIMULATED_ROWS.values()}):
    import_module(f"{__name__}.{_family}")
check_rules()
