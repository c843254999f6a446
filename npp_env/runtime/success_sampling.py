"""A curriculum that makes itself: levels that are neither won nor lost every time come most often."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError, StateError
from npp_env.level.validation import shorten
from npp_env.runtime.draw import episode_hash

MOST_STATISTICS = 1 << 26
"""Levels times tables of statistics that are kept at most; more would take a gigabyte."""

_PRIOR = 0.5
"""Of wins and of losses, which every level is taken to have had: what nobody has played is worth playing."""


class SuccessSampling:
    """Levels by what can be learned on them: p (1 - p), where p is the share of the latest episodes that were won.

    A level that is always lost or always won comes rarely, one that is won half of the time most often, and one that
    nobody has played counts as such. An episode counts, as won or not, when its environment begins the next one. The
    choice depends on nothing but the seeds and the outcomes: `reset(seed=...)` of all environments begins anew.

    Args:
        memory: How many of a level's latest episodes count; older ones fade.
        uniform_share: Share of the episodes whose level is drawn uniformly, so that nothing is forgotten.
        shared: Whether the environments of one `NppVectorEnv` learn from each other's episodes. If not, each chooses as
            an `NppEnv` of its own does.

    Example:
        >>> sampling = SuccessSampling(memory=10)
        >>> sampling.prepare(num_envs=1, count=3)
        >>> for _ in range(20):
        ...     sampling.record(0, 0, True)
        ...     sampling.record(0, 1, False)
        >>> sampling.success_rates().round(2).tolist()
        [0.95, 0.05, 0.5]
        >>> sampling.probabilities().round(2).tolist()
        [0.16, 0.16, 0.68]
    """

    def __init__(self, memory: float = 20, uniform_share: float = 0.1, shared: bool = True) -> None:
        if not _is_number(memory) or not 1 <= memory <= 1e6:
            raise ConfigError(f"memory of the sampling is {shorten(memory)}; it must be a number from 1 to 1e6")
        if not _is_number(uniform_share) or not 0 <= uniform_share <= 1:
            raise ConfigError(f"uniform_share of the sampling is {shorten(uniform_share)}; it must be from 0 to 1")
        if not isinstance(shared, bool):
            raise ConfigError(f"shared of the sampling is {shorten(shared)}; it must be true or false")
        self.memory = float(memory)
        self.uniform_share = float(uniform_share)
        self.shared = shared
        self._seen = np.zeros((0, 0))  # (tables, levels): episodes, older ones faded
        self._won = np.zeros((0, 0))  # likewise, those that were won
        self._upper: dict[int, NDArray[np.float64]] = {}  # by table: cumulated probabilities, until something is new

    def prepare(self, num_envs: int, count: int) -> None:
        """Make room for the statistics; what was recorded before stays if it fits.

        Raises:
            ConfigError: There are too many levels to keep statistics of, or others than before.
        """
        tables = 1 if self.shared else num_envs
        if tables * count > MOST_STATISTICS:
            raise ConfigError(
                f"success-based sampling keeps statistics of every level, and {count} are too many; give the set an "
                f"end, as in 'generated:caverns?seeds=0-999', or sample uniformly"
            )
        if self._seen.size and self._seen.shape != (tables, count):
            raise ConfigError(f"this sampling has statistics of {self._seen.shape[1]} levels, the set has {count}")
        if not self._seen.size:
            self._seen, self._won = np.zeros((tables, count)), np.zeros((tables, count))

    @property
    def nbytes(self) -> int:
        """Bytes of the statistics."""
        return self._seen.nbytes + self._won.nbytes + sum(upper.nbytes for upper in self._upper.values())

    def record(self, environment: int, level: int, won: bool) -> None:
        """Count an episode of a level."""
        table = 0 if self.shared else environment
        fade = 1.0 - 1.0 / self.memory
        self._seen[table, level] = self._seen[table, level] * fade + 1.0
        self._won[table, level] = self._won[table, level] * fade + bool(won)
        self._upper.pop(table, None)

    def forget(self, environments: list[int]) -> None:
        """Begin anew: the table that all environments share, or those of these environments."""
        if self.shared:
            self._seen[:], self._won[:] = 0.0, 0.0
            self._upper.clear()
            return
        self._seen[environments], self._won[environments] = 0.0, 0.0
        for environment in environments:
            self._upper.pop(environment, None)

    def success_rates(self, environment: int = 0) -> NDArray[np.float64]:
        """The share of the latest episodes that were won, by level, 0.5 before the first; a fresh array."""
        table = 0 if self.shared else environment
        rates: NDArray[np.float64] = (self._won[table] + _PRIOR) / (self._seen[table] + 2 * _PRIOR)
        return rates

    def probabilities(self, environment: int = 0) -> NDArray[np.float64]:
        """How likely each level is to come next; a fresh array."""
        rates = self.success_rates(environment)
        learnable = rates * (1.0 - rates)
        shares: NDArray[np.float64] = learnable / learnable.sum() * (1.0 - self.uniform_share)
        return shares + self.uniform_share / len(rates)

    def choose(self, environment: int, key: int, episode: int, count: int) -> int:
        """See `LevelSampling`."""
        table = 0 if self.shared else environment
        upper = self._upper.get(table)
        if upper is None:
            upper = self._upper[table] = np.cumsum(self.probabilities(environment))
        share = (episode_hash(key, episode) >> 11) / 2**53
        return min(int(np.searchsorted(upper, share, side="right")), count - 1)

    def get_state(self) -> dict[str, Any]:
        """What was recorded, as plain lists of numbers, which JSON can hold."""
        return {"seen": self._seen.tolist(), "won": self._won.tolist()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from what `get_state` gave.

        Raises:
            StateError: It does not fit the levels and environments, or is none. Nothing has changed then.
        """
        try:
            seen, won = np.asarray(state["seen"], np.float64), np.asarray(state["won"], np.float64)
        except (TypeError, KeyError, ValueError, OverflowError) as error:
            raise StateError(f"not what get_state() of a sampling gave: {shorten(state)}") from error
        if seen.shape != self._seen.shape or won.shape != seen.shape:
            raise StateError(f"statistics of shape {seen.shape} and {won.shape}; here they are {self._seen.shape}")
        if not (np.isfinite(seen).all() and np.isfinite(won).all() and (won >= 0).all() and (won <= seen).all()):
            raise StateError("statistics must be finite, and no level can be won more often than it is played")
        self._seen, self._won = seen.copy(), won.copy()
        self._upper.clear()


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
