"""Policies that learned nothing: what a trained one has to beat."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.config import EnvironmentConfig
from npp_env.evaluation.policy import Policy, PolicyError
from npp_env.level.validation import shorten

BASELINE = "baseline:"
_IDLE, _LEFT, _RIGHT, _JUMP = range(4)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_STEEP, _SIDEWARD = 0.45, 0.25
_STANDSTILL = 0.35 / 12


class RowChance:
    """Random numbers for rows, each row with a stream of its own that does not depend on the number of rows.

    Args:
        num_envs: Number of rows.
        seed: What the streams come from.
    """

    def __init__(self, num_envs: int, seed: int) -> None:
        with np.errstate(over="ignore"):
            self._keys = _mixed(np.arange(num_envs, dtype=np.uint64) + _MIX * np.uint64(seed % 2**64))
        self._step = np.uint64(0)

    def shares(self) -> NDArray[np.float64]:
        """The next number of every row, uniform in [0, 1); a fresh array (num_envs,)."""
        with np.errstate(over="ignore"):
            self._step += np.uint64(1)
            bits = _mixed(self._keys + self._step * _MIX)
        shares: NDArray[np.float64] = (bits >> np.uint64(11)) / 2.0**53
        return shares


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """64 bits scrambled, each of the result depending on all (the finaliser of splitmix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = bits ^ (bits >> np.uint64(31))
    return mixed


class RandomPolicy:
    """Every action that can make a difference equally often."""

    deterministic = False

    def __init__(self) -> None:
        self.config = EnvironmentConfig.for_evaluation(observation={"keys": ["game_state"]})
        self._chance = RowChance(1, 0)

    def begin(self, num_envs: int, seed: int) -> None:
        """See `Policy`."""
        self._chance = RowChance(num_envs, seed)

    def act(self, observations: Any, masks: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Policy`."""
        upper = np.cumsum(masks, axis=1, dtype=np.int64)
        place = (self._chance.shares() * upper[:, -1]).astype(np.int64)
        chosen: NDArray[np.int64] = (upper <= place[:, None]).sum(axis=1)
        return chosen

    def restart(self, rows: NDArray[np.bool_]) -> None:
        """Nothing is remembered."""


class PathPolicy:
    """Runs towards the next hop of the path to its objective; jumps where the path climbs or something is in the way.

    A share of its steps is random, so that it gets away from where it is stuck.

    Args:
        wander: Share of random steps.
    """

    deterministic = False

    def __init__(self, wander: float = 0.05) -> None:
        keys = ["game_state", "reachability_features"]
        self.config = EnvironmentConfig.for_evaluation(observation={"keys": keys})
        self._wander = wander
        self._random = RandomPolicy()
        self._chance = RowChance(1, 0)

    def begin(self, num_envs: int, seed: int) -> None:
        """See `Policy`."""
        self._random.begin(num_envs, seed)
        self._chance = RowChance(num_envs, seed + 1)

    def act(self, observations: Any, masks: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Policy`."""
        state = observations["game_state"].astype(np.float64)
        path = observations["reachability_features"].astype(np.float64)
        taken = state[:, 32] > 0
        dx, dy = np.where(taken, path[:, 4], path[:, 1]), np.where(taken, path[:, 5], path[:, 2])
        side = np.where(dx > _SIDEWARD, _RIGHT, np.where(dx < -_SIDEWARD, _LEFT, _IDLE))
        stopped = (np.abs(state[:, 4]) < _STANDSTILL) & (side != _IDLE)
        climbs = (dy < -_STEEP) | stopped
        jumps = climbs & (masks[:, _JUMP] > 0)
        # Between two jumps the key has to be released, which the masks ask for.
        chosen = np.where(jumps, _JUMP + side, side)
        wanders = self._chance.shares() < self._wander
        return np.where(wanders, self._random.act(observations, masks), chosen).astype(np.int64)

    def restart(self, rows: NDArray[np.bool_]) -> None:
        """Nothing is remembered."""


BASELINES: dict[str, type[RandomPolicy] | type[PathPolicy]] = {"random": RandomPolicy, "path": PathPolicy}


def baseline_policy(name: str, others: tuple[str, ...] = ()) -> Policy:
    """A baseline by its name.

    Args:
        name: Its name.
        others: Further names that a message should mention.

    Raises:
        PolicyError: There is none of this name.

    Example:
        >>> baseline_policy("random").deterministic
        False
    """
    if name not in BASELINES:
        raise PolicyError(f"{shorten(name)} is no baseline; there are {', '.join((*BASELINES, *others))}")
    return BASELINES[name]()
