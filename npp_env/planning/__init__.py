"""Planning with the simulator: find inputs that win a level."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from npp_env.planning.budget import MAX_FRAME_SKIP, SolveBudget

if TYPE_CHECKING:
    from npp_env.planning.solver import SolveResult, SolveStatistics, solve, winning_recording

__all__ = ["MAX_FRAME_SKIP", "SolveBudget", "SolveResult", "SolveStatistics", "solve", "winning_recording"]


def __getattr__(name: str) -> Any:
    # The solver brings numpy and the kernel along; the help of a command wants no more than the budget.
    if name in __all__:
        return getattr(importlib.import_module("npp_env.planning.solver"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
