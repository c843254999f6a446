"""Answers by the key of a state, in a table of fixed size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NO_ANSWER = -1


class AnswerTable:
    """Actions by the key of a state, in a table of fixed size: once it is full, new answers replace old ones.

    Args:
        size: Number of places, a power of two.

    Attributes:
        keys: uint64 (size // ways, ways), what stands in the table.
        actions: int8, of the same shape, the answers; NO_ANSWER in free places.
    """

    def __init__(self, size: int) -> None:
        self._ways = min(4, size)
        # Written to at once: what is only promised by the system would look like growth later.
        self.keys = np.full((size // self._ways, self._ways), 0, np.uint64)
        self.actions = np.full(self.keys.shape, NO_ANSWER, np.int8)
        self._mask = np.uint64(len(self.keys) - 1)

    @property
    def nbytes(self) -> int:
        """Size of the table."""
        return int(self.keys.nbytes + self.actions.nbytes)

    def put(self, keys: NDArray[np.uint64], actions: NDArray[np.int8]) -> None:
        """Remember answers; keys that occur several times keep the last."""
        left = np.arange(len(keys))
        # Two that go for the same place at once meet again in the next round.
        for _ in range(self._ways + 1):
            rows = (keys[left] & self._mask).astype(np.int64)
            there = self.keys[rows] == keys[left, None]
            free = self.actions[rows] == NO_ANSWER
            victim = (keys[left] >> np.uint64(60)).astype(np.int64) % self._ways
            columns = np.where(free.any(axis=1), free.argmax(axis=1), victim)
            columns = np.where(there.any(axis=1), there.argmax(axis=1), columns)
            self.keys[rows, columns], self.actions[rows, columns] = keys[left], actions[left]
            left = left[self.keys[rows, columns] != keys[left]]
            if not len(left):
                break

    def get(self, keys: NDArray[np.uint64]) -> NDArray[np.int8]:
        """The answers, NO_ANSWER where there is none; a fresh array."""
        rows = (keys & self._mask).astype(np.int64)
        there = self.keys[rows] == keys[:, None]
        found: NDArray[np.int8] = self.actions[rows, there.argmax(axis=1)]
        return np.where(there.any(axis=1), found, np.int8(NO_ANSWER))
