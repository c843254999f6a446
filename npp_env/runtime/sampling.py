"""Which level an episode is played on: strategies as objects.

A strategy has a method `choose`. It may also have `prepare`, called once with the numbers of environments and levels,
and `record`, called with the outcome of every episode before the next one is chosen. One whose `foreseeable` is true
chooses by key and episode alone, and may be asked for the levels of episodes to come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError
from npp_env.level.validation import shorten
from npp_env.runtime.draw import drawn_level, episode_hash
from npp_env.runtime.success_sampling import SuccessSampling

SUCCESS = "success"


class LevelSampling(Protocol):
    """Chooses levels; the same key, episode and recorded outcomes must give the same level, whatever else happened."""

    def choose(self, environment: int, key: int, episode: int, count: int) -> int:
        """The number of a level.

        Args:
            environment: Number of the environment.
            key: 64 random bits that the seed of the environment gave.
            episode: Number of the episode since then, from 0.
            count: Number of levels in the set.
        """


class UniformSampling:
    """Every level equally often."""

    foreseeable = True

    def choose(self, environment: int, key: int, episode: int, count: int) -> int:
        """See `LevelSampling`."""
        return drawn_level(key, episode, count)


class WeightedSampling:
    """Levels by weight.

    Args:
        weights: One non-negative weight per level.
    """

    foreseeable = True

    def __init__(self, weights: Sequence[float] | NDArray[np.floating[Any]]) -> None:
        try:
            values = np.asarray(weights, np.float64)
        except (TypeError, ValueError, OverflowError):
            values = np.empty((0, 0))
        if values.ndim != 1 or not np.isfinite(values).all() or (values < 0).any() or not values.sum() > 0:
            raise ConfigError(
                f"sampling weights must be non-negative numbers with a positive sum, got {shorten(weights)}"
            )
        self._upper = np.cumsum(values) / values.sum()

    def prepare(self, num_envs: int, count: int) -> None:
        """Make sure that there is a weight for each level.

        Raises:
            ConfigError: There are more or fewer.
        """
        if count != len(self._upper):
            raise ConfigError(f"{len(self._upper)} sampling weights for {count} levels; give one for each level")

    def choose(self, environment: int, key: int, episode: int, count: int) -> int:
        """See `LevelSampling`."""
        share = (episode_hash(key, episode) >> 11) / 2**53
        return int(np.searchsorted(self._upper, share, side="right").clip(0, count - 1))


class CurriculumSampling:
    """Levels by a function of the caller's, for curricula.

    Args:
        choose: Called with the environment, the episode's number, 64 random bits and the number of levels.
    """

    def __init__(self, choose: Callable[[int, int, int, int], int]) -> None:
        self._choose = choose

    def choose(self, environment: int, key: int, episode: int, count: int) -> int:
        """See `LevelSampling`."""
        number = int(self._choose(environment, episode, episode_hash(key, episode), count))
        if not 0 <= number < count:
            raise ConfigError(f"the curriculum chose level {number}; the set has numbers 0 to {count - 1}")
        return number


def parse_sampling(sampling: Any) -> LevelSampling:
    """The strategy that `sampling=` stands for.

    Args:
        sampling: None or `uniform`, `success` (or a dictionary `{"kind": "success", ...}` of the arguments of
            `SuccessSampling`), a list of weights, a function, or a strategy.

    Raises:
        ConfigError: It is none of these.
    """
    if sampling is None:
        return UniformSampling()
    if isinstance(sampling, (str, Mapping)):
        return _named(sampling)
    if isinstance(sampling, (list, tuple, np.ndarray)):
        return WeightedSampling(sampling)
    if hasattr(sampling, "choose"):
        return sampling  # type: ignore[no-any-return]
    if callable(sampling):
        return CurriculumSampling(sampling)
    raise _unknown(sampling)


def _named(sampling: str | Mapping[str, Any]) -> LevelSampling:
    options = {"kind": sampling} if isinstance(sampling, str) else dict(sampling)
    kind = options.pop("kind", None)
    if kind == "uniform" and not options:
        return UniformSampling()
    if kind != SUCCESS:
        raise _unknown(sampling)
    known = ("memory", "uniform_share", "shared")
    for name in options:
        if name not in known:
            raise ConfigError(f"sampling has no option {shorten(name)}; allowed are kind, {', '.join(known)}")
    return SuccessSampling(**options)


def _unknown(sampling: Any) -> ConfigError:
    return ConfigError(
        f"sampling is {shorten(sampling)}; it must be 'uniform', 'success', a dictionary such as "
        f"{{'kind': 'success', 'memory': 20}}, a list of weights, or a function"
    )
