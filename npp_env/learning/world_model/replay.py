"""`SequenceReplay`: a ring of states with what was done in them, from which sequences are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import NppError
from npp_env.learning.model_file import part_of
from npp_env.rollouts.state_store import StateStore


class Sequences(NamedTuple):
    """Sequences of steps, as drawn.

    Attributes:
        rows: uint8 (steps * n, row_bytes), states, step by step.
        actions: int64 (steps, n).
        rewards: float32 (steps, n), for what was done.
        terminated: bool (steps, n), whether it won or died of it.
        first: bool (steps, n), whether an episode begins; never spanned by what is carried from step to step.
    """

    rows: NDArray[np.uint8]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    first: NDArray[np.bool_]


class SequenceReplay:
    """The last steps of all environments; states take as many bytes as their level needs.

    Args:
        steps: Steps of each environment that are kept.
        num_envs: Environments.
        row_bytes: Bytes of a state row.
        folder: Where the states lie in mapped files; None keeps them in memory.
    """

    def __init__(self, steps: int, num_envs: int, row_bytes: int, folder: Path | None = None) -> None:
        self._states = StateStore(steps, num_envs, row_bytes, folder=folder)
        shape = (steps, num_envs)
        self._actions = np.zeros(shape, np.uint8)
        self._rewards = np.zeros(shape, np.float32)
        self._terminated, self._first = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        self.count = 0
        """Steps of each environment added so far."""

    @property
    def nbytes(self) -> int:
        """Bytes held, in memory or in mapped files."""
        arrays = (self._actions, self._rewards, self._terminated, self._first)
        return self._states.nbytes + sum(array.nbytes for array in arrays)

    def add(
        self,
        rows: NDArray[np.uint8],
        actions: NDArray[np.int64],
        rewards: NDArray[np.float64],
        terminated: NDArray[np.bool_],
        first: NDArray[np.bool_],
    ) -> None:
        """Keep a step of all environments: the states, what was done in them and what came of it."""
        place = self.count % len(self._states)
        self._states[place] = rows
        self._actions[place], self._rewards[place] = actions, rewards
        self._terminated[place], self._first[place] = terminated, first
        self.count += 1

    def draw(self, length: int, count: int, random: np.random.Generator, out: NDArray[np.uint8]) -> Sequences:
        """Sequences at random, each of one environment and without a gap.

        Args:
            length: Steps of a sequence.
            count: Sequences.
            random: Where chance comes from.
            out: uint8 (length * count, row_bytes), written: the rows of the result.

        Raises:
            NppError: Fewer steps are kept.
        """
        kept = min(self.count, len(self._states))
        if kept < length:
            raise NppError(f"{kept} steps are kept; sequences of {length} cannot be drawn")
        starts = random.integers(self.count - kept, self.count - length + 1, count)
        envs = np.broadcast_to(random.integers(0, self._actions.shape[1], count), (length, count))
        steps = (starts + np.arange(length)[:, None]) % len(self._states)
        self._states.take(steps.reshape(-1), envs.reshape(-1), out=out)
        return Sequences(
            out,
            self._actions[steps, envs].astype(np.int64),
            self._rewards[steps, envs],
            self._terminated[steps, envs],
            self._first[steps, envs],
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that is kept, by name."""
        kept = min(self.count, len(self._states))
        own: dict[str, NDArray[Any]] = {
            "actions": self._actions[:kept],
            "rewards": self._rewards[:kept],
            "terminated": self._terminated[:kept],
            "first": self._first[:kept],
            "count": np.array([self.count]),
        }
        return {**own, **{f"states/{name}": array for name, array in self._states.arrays().items()}}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Hold again what `arrays` gave."""
        self.count = int(arrays["count"][0])
        kept = min(self.count, len(self._states))
        self._actions[:kept], self._rewards[:kept] = arrays["actions"], arrays["rewards"]
        self._terminated[:kept], self._first[:kept] = arrays["terminated"], arrays["first"]
        self._states.restore(part_of(arrays, "states/"))
