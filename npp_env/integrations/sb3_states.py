"""Buffers for Stable-Baselines3 that hold state rows (`layout="state"`): each once, as long as its level needs.

    DQN("MlpPolicy", env, replay_buffer_class=StateReplayBuffer, policy_kwargs=...)
    PPO("MlpPolicy", env, rollout_buffer_class=StateRolloutBuffer, policy_kwargs=...)

SB3's own buffers work as well: they store every row as long as the largest of the level set; its replay stores each
twice, and its rollout is copied once before training. Samples are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError, requires

with requires("Stable-Baselines3", __name__, "pip install 'npp_env[sb3]'"):
    from stable_baselines3.common.buffers import ReplayBuffer, RolloutBuffer

from npp_env.rollouts.state_store import StateStore


class NextObservations:
    """The next observations of a ring of steps, where SB3 expects an array of them.

    The next observation of a step is the observation of the following one, unless an episode ended: only those that
    differ are kept, and those of the newest step.

    Args:
        observations: The ring; written by the caller, before the next ones of the same step.
    """

    def __init__(self, observations: StateStore) -> None:
        self._ring = observations
        self._newest = np.zeros(observations.shape[1:], np.uint8)
        self._newest_step = -1
        self._kept: dict[int, dict[int, NDArray[np.uint8]]] = {}  # by step, by environment

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self._newest.nbytes) + sum(row.nbytes for rows in self._kept.values() for row in rows.values())

    def __setitem__(self, step: int, rows: NDArray[np.uint8]) -> None:
        """Keep the next observations of the step that was just written to the ring."""
        if self._newest_step >= 0:
            differ = np.flatnonzero((self._ring[step] != self._newest).any(axis=1)).tolist()
            if differ and self._newest_step != step:
                self._kept[self._newest_step] = {env: self._newest[env].copy() for env in differ}
        self._kept.pop(step, None)
        self._newest[...] = rows
        self._newest_step = step

    def __getitem__(self, index: tuple[Any, ...]) -> NDArray[np.uint8]:
        """The next observations of pairs of steps and environments; a fresh array."""
        steps, envs = np.asarray(index[0]), np.asarray(index[1])
        rows = self._ring[(steps + 1) % len(self._ring), envs]
        newest = steps == self._newest_step
        rows[newest] = self._newest[envs[newest]]
        for i, (step, env) in enumerate(zip(steps.ravel().tolist(), envs.ravel().tolist(), strict=True)):
            kept = self._kept.get(step)
            if kept is not None and env in kept:
                rows[np.unravel_index(i, steps.shape)] = kept[env]
        return rows


class StateReplayBuffer(ReplayBuffer):
    """SB3's `ReplayBuffer` of states with every row stored once, as long as it is; handles timeouts.

    Args:
        buffer_size: Transitions.
        observation_space: A box.
        action_space: The actions.
        device: Where samples go.
        n_envs: Environments.
        optimize_memory_usage: Accepted for compatibility; nothing is stored twice anyway.
        handle_timeout_termination: As in SB3.
    """

    def __init__(
        self,
        buffer_size: int,
        observation_space: Any,
        action_space: Any,
        device: Any = "auto",
        n_envs: int = 1,
        optimize_memory_usage: bool = False,
        handle_timeout_termination: bool = True,
    ) -> None:
        _check_space(observation_space)
        # In this mode SB3 does not allocate a second array; its way of finding the next observation is replaced.
        super().__init__(buffer_size, observation_space, action_space, device, n_envs, True, False)
        self.optimize_memory_usage = False
        self.handle_timeout_termination = handle_timeout_termination
        self.observations = StateStore(self.buffer_size, n_envs, observation_space.shape[0])
        self.next_observations = NextObservations(self.observations)


def _check_space(space: Any) -> None:
    if getattr(space, "dtype", None) != np.uint8 or len(space.shape) != 1:
        raise ConfigError(f"the observation space is {space}; it must be one row of uint8, as of layout='state'")


class FlatRollout:
    """A rollout indexed environment after environment, as SB3 counts, without a copy in that order.

    Args:
        store: The states by step and environment.
    """

    def __init__(self, store: StateStore) -> None:
        self.store = store

    def __getitem__(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Rows by number; a fresh array."""
        return self.store.take(indices % len(self.store), indices // len(self.store))


class StoredStates:
    """What the rollout buffers do differently from SB3's."""

    if TYPE_CHECKING:
        buffer_size: int
        n_envs: int
        observation_space: Any
        obs_shape: tuple[int, ...]
        observations: Any

    _store: StateStore | None = None

    def reset(self) -> None:
        """Begin the next rollout; the memory of the last one is used again."""
        if self._store is None:
            _check_space(self.observation_space)
            self._store = StateStore(self.buffer_size, self.n_envs, self.observation_space.shape[0])
        self._store.clear()
        # SB3 would allocate all states at full length.
        shape, self.obs_shape = self.obs_shape, (0,)
        try:
            super().reset()  # type: ignore[misc]
        finally:
            self.obs_shape = shape
        self.observations = self._store

    @staticmethod
    def swap_and_flatten(arr: Any) -> Any:
        """SB3's order of a rollout; the states stay where they are."""
        return FlatRollout(arr) if isinstance(arr, StateStore) else RolloutBuffer.swap_and_flatten(arr)


class StateRolloutBuffer(StoredStates, RolloutBuffer):
    """SB3's `RolloutBuffer` of states, each as long as it is, never copied as a whole."""
