"""The states that wait to be expanded, and the tree of decisions behind them, within a fixed number of bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ROOT = -1


class Frontier:
    """Waiting states with what ranks them; when full, the worse half is let go.

    Args:
        capacity: Number of states that fit.
        stride: Bytes per state.
    """

    def __init__(self, capacity: int, stride: int) -> None:
        self.capacity = capacity
        self.states = np.zeros((capacity, stride), np.uint8)
        self.nodes = np.zeros(capacity, np.int32)
        self.cells = np.zeros(capacity, np.int32)
        self.costs = np.zeros(capacity, np.float32)
        self.dropped = 0
        # Rows 0..size-1 are in use, in no particular order.
        self.size = 0

    @staticmethod
    def bytes_per_state(stride: int) -> int:
        """What one waiting state takes."""
        return stride + 12

    def push(
        self, states: NDArray[np.uint8], nodes: NDArray[np.int32], cells: NDArray[np.int32], costs: NDArray[np.float32]
    ) -> None:
        """Add states; there must be room (see `make_room`)."""
        rows = slice(self.size, self.size + len(states))
        self.states[rows], self.nodes[rows] = states, nodes
        self.cells[rows], self.costs[rows] = cells, costs
        self.size += len(states)

    def best(self, count: int, penalties: NDArray[np.float32]) -> NDArray[np.int64]:
        """Rows of the states with the least cost plus penalty of their cell, at most `count`, best first."""
        ranks = self.costs[: self.size] + penalties[self.cells[: self.size]]
        rows = np.argpartition(ranks, count)[:count] if self.size > count else np.arange(self.size)
        return rows[np.argsort(ranks[rows], kind="stable")]

    def remove(self, rows: NDArray[np.int64]) -> None:
        """Take rows out; the last rows move into the gaps."""
        end = self.size - len(rows)
        is_gap = np.zeros(self.size, np.bool_)
        is_gap[rows] = True
        gaps = np.flatnonzero(is_gap[:end])
        movers = end + np.flatnonzero(~is_gap[end:])
        for array in (self.states, self.nodes, self.cells, self.costs):
            array[gaps] = array[movers]
        self.size = end

    def make_room(self, count: int, penalties: NDArray[np.float32]) -> None:
        """Let the worse half go if `count` more would not fit."""
        if self.size + count <= self.capacity:
            return
        keep = max(0, min(self.size // 2, self.capacity - count))
        ranks = self.costs[: self.size] + penalties[self.cells[: self.size]]
        rows = np.argpartition(ranks, keep)[keep:] if keep < self.size else np.zeros(0, np.int64)
        self.dropped += len(rows)
        self.remove(rows)


class DecisionTree:
    """Parent, input and number of ticks of every decision that led to a new state.

    Args:
        capacity: Number of decisions that fit.
    """

    BYTES_PER_NODE = 6

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.size = 0
        self._parents = np.zeros(capacity, np.int32)
        self._inputs = np.zeros(capacity, np.uint8)
        self._ticks = np.zeros(capacity, np.uint8)

    @property
    def room(self) -> int:
        """How many more decisions fit."""
        return self.capacity - self.size

    def add(self, parents: NDArray[np.int32], inputs: NDArray[np.uint8], ticks: int) -> NDArray[np.int32]:
        """Add decisions of the same length; returns their nodes (n,), a fresh array."""
        rows = slice(self.size, self.size + len(parents))
        self._parents[rows], self._inputs[rows], self._ticks[rows] = parents, inputs, ticks
        self.size += len(parents)
        return np.arange(rows.start, rows.stop, dtype=np.int32)

    def inputs_to(self, node: int) -> NDArray[np.uint8]:
        """All inputs from the start to a node, one byte a tick; a fresh array."""
        parts = []
        while node != ROOT:
            parts.append(np.full(self._ticks[node], self._inputs[node], np.uint8))
            node = int(self._parents[node])
        return np.concatenate(parts[::-1]) if parts else np.zeros(0, np.uint8)
