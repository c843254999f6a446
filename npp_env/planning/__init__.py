"""Planning with the simulator: find inputs that win a level."""

from __future__ import annotations

from npp_env.planning.solver import SolveBudget, SolveResult, SolveStatistics, solve, winning_recording

__all__ = ["SolveBudget", "SolveResult", "SolveStatistics", "solve", "winning_recording"]
