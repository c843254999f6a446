"""Rollout buffers for Stable-Baselines3 that keep graph observations packed; drop-in by `rollout_buffer_class=`.

    PPO("MultiInputPolicy", env, rollout_buffer_class=PackedDictRolloutBuffer)

They return exactly what SB3's own buffers would. MaskablePPO takes those of `npp_env.integrations.sb3_maskable`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import requires

with requires("Stable-Baselines3", __name__, "pip install 'npp_env[sb3]'"):
    from stable_baselines3.common.buffers import DictRolloutBuffer

from npp_env.rollouts.packing import Column, PackedObservations


class StoredKey:
    """One key of a packed rollout, where SB3 expects an array that it indexes with a minibatch.

    Args:
        column: The observations.
        steps: Steps of the rollout.
        num_envs: Environments.
    """

    def __init__(self, column: Column, steps: int, num_envs: int) -> None:
        self._column = column
        self._steps = steps
        self._num_envs = num_envs

    def __getitem__(self, indices: NDArray[np.int64]) -> NDArray[Any]:
        """Observations by number, environment after environment as SB3 counts; memory that the next call overwrites."""
        return self._column.take(indices % self._steps * self._num_envs + indices // self._steps)


class PackedStorage:
    """What packed rollout buffers do differently from SB3's."""

    if TYPE_CHECKING:
        buffer_size: int
        n_envs: int
        obs_shape: dict[str, tuple[int, ...]]
        observation_space: Any
        observations: dict[str, Any]

    _packed: PackedObservations | None = None

    @property
    def packed(self) -> PackedObservations:
        """The stored observations."""
        assert self._packed is not None
        return self._packed

    def reset(self) -> None:
        """Begin the next rollout; the memory of the last one is used again."""
        # SB3 would allocate every key densely.
        shapes, self.obs_shape = self.obs_shape, {}
        try:
            super().reset()  # type: ignore[misc]
        finally:
            self.obs_shape = shapes
        if self._packed is None:
            self._packed = PackedObservations(self.observation_space, self.buffer_size, self.n_envs)
        self._packed.clear()
        self.observations = {
            key: StoredKey(column, self.buffer_size, self.n_envs) for key, column in self._packed.columns.items()
        }

    def add(self, obs: dict[str, NDArray[Any]], *args: Any, **kwargs: Any) -> None:
        """Keep one step of all environments."""
        self.packed.add(obs)
        stored, self.observations = self.observations, {}
        try:
            super().add(obs, *args, **kwargs)  # type: ignore[misc]
        finally:
            self.observations = stored

    @staticmethod
    def swap_and_flatten(arr: Any) -> Any:
        """SB3's order of a rollout, environment after environment; a stored key counts like this already."""
        return arr if isinstance(arr, StoredKey) else DictRolloutBuffer.swap_and_flatten(arr)


class PackedDictRolloutBuffer(PackedStorage, DictRolloutBuffer):
    """SB3's `DictRolloutBuffer` with packed graph keys."""
