"""The physics kernel: exact, compiled where a C compiler was at hand, and the same bits where not."""

from __future__ import annotations

from npp_env.sim.freshness import warn_if_uncompiled
from npp_env.sim.geometry import Geometry, compile_level
from npp_env.sim.kernel import IS_COMPILED, Batch, LevelHandle
from npp_env.sim.simulation import JUMP, LEFT, RIGHT, Simulation

__all__ = [
    "IS_COMPILED",
    "JUMP",
    "LEFT",
    "RIGHT",
    "Batch",
    "Geometry",
    "LevelHandle",
    "Simulation",
    "compile_level",
]

warn_if_uncompiled(IS_COMPILED)
