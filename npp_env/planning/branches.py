"""Ways that win: branches of a level that were played to the end, found again by the key of any state on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from npp_env.planning.guide import Guide
from npp_env.planning.keys import Resolution, StateKeys
from npp_env.runtime.batch_work import advance_batch
from npp_env.runtime.thread_pool import ThreadPool
from npp_env.sim.geometry import Geometry
from npp_env.sim.kernel import Batch, LevelHandle
from npp_env.sim.outcome import NinjaState
from npp_env.sim.views import ninja_view

NOWHERE = -1
_LATE_STEPS = 12
"""Whoever follows a branch a little behind may need some steps more."""
_OVER = (NinjaState.CELEBRATING, NinjaState.DEAD)


class Branches:
    """Winning branches of one level, as steps of `frame_skip` ticks.

    Args:
        geometry: The compiled level.
        guide: Its distances.
        frame_skip: Ticks of a step.
        capacity: Branches that are kept; of more, the oldest but the first goes.

    Attributes:
        ticks: Ticks simulated so far.
    """

    def __init__(self, geometry: Geometry, guide: Guide, frame_skip: int, capacity: int = 64) -> None:
        self.geometry, self.guide, self.frame_skip = geometry, guide, frame_skip
        self.handle = LevelHandle(geometry)
        self.ticks = 0
        self._capacity = capacity
        self._state_keys = StateKeys(geometry, Resolution())
        self._branches: list[tuple[NDArray[np.uint8], NDArray[np.uint64]]] = []
        # Of all places on branches, sorted by key: the key, the branch, the step, and how many are left.
        self._keys = np.zeros(0, np.uint64)
        self._branch = np.zeros(0, np.int64)
        self._place = np.zeros(0, np.int64)
        self.left = np.zeros(0, np.int64)
        self._steps = np.zeros((0, 1), np.uint8)  # (branches, longest), each padded with its last step

    @property
    def nbytes(self) -> int:
        """Size of what is kept."""
        tables = (self._keys, self._branch, self._place, self.left, self._steps)
        return sum(array.nbytes for parts in (*self._branches, tables) for array in parts)

    def keys_of(self, states: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """Keys under which states (n, state_bytes) that are nearly the same count as one; fresh (n,)."""
        return self._state_keys.of(states, self.guide.configurations(states))

    def find(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """A place on a branch, the nearest to its end, where a state had this key; NOWHERE if there is none. Fresh."""
        if not len(self._keys):
            return np.full(len(keys), NOWHERE)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[places] == keys, places, NOWHERE)

    def rest_of(self, node: int, steps: int) -> NDArray[np.uint8]:
        """So many steps from a place on a branch on; at its end the last one goes on. A fresh array."""
        first = self._place[node]
        row = self._steps[self._branch[node]]
        found: NDArray[np.uint8] = row[np.minimum(first + np.arange(steps), len(row) - 1)]
        return found

    def follow(
        self, start: NDArray[np.uint8], steps: NDArray[np.uint8], *, keep: bool = False
    ) -> NDArray[np.uint8] | None:
        """Play steps from a state; with `keep` they become a branch if they win.

        Returns:
            The states (n, state_bytes) in which the steps that were needed are taken, fresh; None if they do not win.
        """
        walker = Batch(1, self.handle.state_bytes)
        walker.set_level(0, self.handle)
        walker.states[0] = start
        states = np.empty((len(steps), len(start)), np.uint8)
        for number, byte in enumerate(steps.tolist()):
            states[number] = walker.states[0]
            self.ticks += walker.advance_one(0, byte, self.frame_skip)
            state = int(ninja_view(walker.states[0])["state"])
            if state == NinjaState.CELEBRATING:
                if keep:
                    self._keep(steps[: number + 1], states[: number + 1])
                return states[: number + 1]
            if state == NinjaState.DEAD:
                return None
        return None

    def _keep(self, steps: NDArray[np.uint8], states: NDArray[np.uint8]) -> None:
        if len(self._branches) == self._capacity:
            del self._branches[min(1, self._capacity - 1)]
        self._branches.append((steps.copy(), self.keys_of(states)))
        lengths = [len(steps) for steps, _ in self._branches]
        self._steps = np.empty((len(lengths), max(lengths)), np.uint8)
        for row, (each, _) in zip(self._steps, self._branches, strict=True):
            row[: len(each)], row[len(each) :] = each, each[-1]
        keys = np.concatenate([keys for _, keys in self._branches])
        place = np.concatenate([np.arange(length) for length in lengths])
        left = np.repeat(lengths, lengths) - place
        order = np.lexsort((left, keys))
        self._keys, self._place, self.left = keys[order], place[order], left[order]
        self._branch = np.repeat(np.arange(len(lengths)), lengths)[order]

    def replay(
        self, states: NDArray[np.uint8], nodes: NDArray[np.int64], batch: Batch, pool: ThreadPool
    ) -> NDArray[np.int64]:
        """Whether what is left of a branch from a place on wins from other states as well.

        Args:
            states: (n, state_bytes), n at most the size of the batch.
            nodes: (n,), the places.
            batch: Scratch, on this level.
            pool: Threads.

        Returns:
            How many steps each takes to win, 0 if it does not; a fresh array (n,).
        """
        count = len(states)
        batch.states[:count] = states
        ninja = ninja_view(batch.states[:count])
        inputs = np.zeros(batch.num_envs, np.uint8)
        first = ninja["frame"].astype(np.int64)
        branch, place, last = self._branch[nodes], self._place[nodes], self._steps.shape[1] - 1
        for step in range(int(self.left[nodes].max(initial=0)) + _LATE_STEPS):
            inputs[:count] = self._steps[branch, np.minimum(place + step, last)]
            advance_batch(batch, pool, inputs, count, self.frame_skip, True)
            if step % 8 == 7 and np.isin(ninja["state"], _OVER).all():
                break
        played = ninja["frame"] - first
        self.ticks += int(played.sum())
        return np.where(ninja["state"] == NinjaState.CELEBRATING, -(-played // self.frame_skip), 0)
