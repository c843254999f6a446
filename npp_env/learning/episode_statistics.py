"""How often episodes are won, lately and by level."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.sim.outcome import Outcome

MOST_LEVELS = 4096


class EpisodeStatistics:
    """Counts of ended episodes by level and outcome, old ones fading with every iteration.

    Args:
        num_levels: Levels of the set; beyond 4,096 all count as one.
        fading: Share of the counts that an iteration forgets.
    """

    def __init__(self, num_levels: int, fading: float = 0.1) -> None:
        self._levels = num_levels if num_levels <= MOST_LEVELS else 1
        self._fading = fading
        self.counts = np.zeros((self._levels, len(Outcome)))  # faded, by level and outcome
        self.sums = np.zeros(3)  # faded: episodes, returns, steps
        self.episodes = np.zeros(1, np.int64)

    def begin_iteration(self) -> None:
        """Let the counts so far fade."""
        self.counts *= 1 - self._fading
        self.sums *= 1 - self._fading

    def add(self, final_info: dict[str, NDArray[Any]], ended: NDArray[np.bool_]) -> None:
        """Count episodes: the arrays of `info["final_info"]`, and which rows ended."""
        rows = np.flatnonzero(ended)
        levels = final_info["level"][rows] % self._levels
        np.add.at(self.counts, (levels, final_info["outcome"][rows]), 1)
        for k, values in enumerate((ended, final_info["episode_return"], final_info["episode_steps"])):
            self.sums[k] += values[rows].sum()
        self.episodes += len(rows)

    def success(self) -> NDArray[np.float64]:
        """Share of episodes won by level, NaN where none ended; a fresh array."""
        total = self.counts.sum(axis=1)
        share: NDArray[np.float64] = np.divide(
            self.counts[:, Outcome.WON], total, out=np.full(self._levels, np.nan), where=total > 0
        )
        return share

    def summary(self) -> dict[str, float]:
        """Numbers for progress and curves; levels that were not met yet count as not won."""
        shares = np.nan_to_num(self.success())
        episodes = max(float(self.sums[0]), 1e-9)
        total = max(float(self.counts.sum()), 1e-9)
        return {
            "success": float(shares.mean()),
            "levels_won": float((shares >= 0.5).mean()),
            "deaths": float(self.counts[:, Outcome.DIED].sum() / total),
            "timeouts": float(self.counts[:, Outcome.OUT_OF_TIME].sum() / total),
            "episode_return": float(self.sums[1]) / episodes,
            "episode_steps": float(self.sums[2]) / episodes,
            "episodes": float(self.episodes[0]),
        }
