"""Planning with the simulator: find inputs that win a level."""

from __future__ import annotations

from npp_env.planning.solver import (
    MAX_FRAME_SKIP,
    SolveBudget,
    SolveResult,
    SolveStatistics,
    solve,
    winning_recording,
)

__all__ = ["MAX_FRAME_SKIP", "SolveBudget", "SolveResult", "SolveStatistics", "solve", "winning_recording"]
