"""The physics: exact to the last bit, compiled ahead of time."""

from __future__ import annotations

from npp_env.sim.freshness import require_kernel

require_kernel()

from npp_env.sim.geometry import Geometry, compile_level  # noqa: E402
from npp_env.sim.kernel import Batch, LevelHandle  # noqa: E402
from npp_env.sim.simulation import JUMP, LEFT, RIGHT, Simulation  # noqa: E402

__all__ = [
    "JUMP",
    "LEFT",
    "RIGHT",
    "Batch",
    "Geometry",
    "LevelHandle",
    "Simulation",
    "compile_level",
]
