"""`Novelty`: a reward for places where a run has seldom been, which fades as they become known.

The reward of the game leads along a path that knows no gravity. Where it ends under a ledge, every way round it begins
with steps that pay nothing; what was never tried must pay for itself until it is known where it leads. Where there are
many levels, all of it is new for long, and to be new says nothing: it is for sets of at most `MOST_LEVELS`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from npp_env.observe.state_row import STATE_ROW
from npp_env.sim.structs import NINJA

MOST_LEVELS = 64
CELL_PX = 24
_COLUMNS, _CELLS = 42, 42 * 23
"""Of a level, between its borders."""


class Novelty:
    """Counts how often each place was entered: a cell of a level, before or after the exit switch.

    Args:
        weight: Reward for entering a place for the first time; at the n-th time it is divided by the root of n.
        levels: Number of levels.

    Attributes:
        counts: uint32, how often each place was entered.
    """

    def __init__(self, weight: float, levels: int) -> None:
        self._weight = weight
        self.counts = np.zeros(2 * _CELLS * levels, np.uint32)

    def places(self, rows: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Where the ninjas of state rows (n, row_bytes) are, as numbers of counts; a fresh array (n,)."""
        first = STATE_ROW.itemsize
        levels = rows[:, :first].view(STATE_ROW)[:, 0]["level_index"].astype(np.int64)
        ninja = rows[:, first : first + NINJA.itemsize].view(NINJA)[:, 0]
        column, row = ((ninja[name] / CELL_PX).astype(np.int64) - 1 for name in ("x", "y"))
        cell = np.clip(row * _COLUMNS + column, 0, _CELLS - 1)
        places: NDArray[np.int64] = (2 * levels + (ninja["switches"] > 0)) * _CELLS + cell
        return places

    def entered(self, before: NDArray[np.int64], after: NDArray[np.int64]) -> NDArray[np.float64]:
        """Count the places that were entered, and give the reward for each; a fresh array (n,).

        Args:
            before: Places (n,) before a step.
            after: Places after it; the same where none was entered.
        """
        moved = np.flatnonzero(before != after)
        np.add.at(self.counts, after[moved], 1)
        rewards = np.zeros(len(after))
        rewards[moved] = self._weight / np.sqrt(self.counts[after[moved]])
        return rewards
