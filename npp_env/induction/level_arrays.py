"""Arrays with a row for every state from the first to the last of a level, written in blocks, in memory or on disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.induction.array_files import ArrayRecord, ArrayWriter, MappedArray
from npp_env.induction.array_folder import ArrayFolder
from npp_env.induction.budget import Budget
from npp_env.induction.transitions import Transitions


def name_of(what: str, level: int) -> str:
    """Name of an array of a level."""
    return f"level{level:05d}.{what}"


class LevelWriter:
    """Several arrays of one level, written block after block; states that the level does not have get zeros.

    Args:
        folder: Where to.
        level: The level.
        first: Number of its first state.
        shapes: Of each array its name, the shape of a row, and its type.
    """

    def __init__(
        self, folder: ArrayFolder, level: int, first: int, shapes: dict[str, tuple[tuple[int, ...], Any]]
    ) -> None:
        self._next = first
        self._shapes = shapes
        self.writers: dict[str, ArrayWriter] = {}
        for what, (row_shape, dtype) in shapes.items():
            self.writers[what] = folder.writer(name_of(what, level), dtype, row_shape)

    def add(self, first: int, arrays: Iterable[NDArray[Any]]) -> None:
        """Write the rows of a block, in the order of the names."""
        count = 0
        for (what, (row_shape, dtype)), array in zip(self._shapes.items(), arrays, strict=True):
            if first > self._next:
                self.writers[what].append(np.zeros((first - self._next, *row_shape), dtype))
            self.writers[what].append(array)
            count = len(array)
        self._next = first + count

    def discard(self) -> None:
        """Leave nothing behind."""
        for writer in self.writers.values():
            writer.discard()


class Targets:
    """What the states of the next level are worth on arrival.

    Args:
        folder: Where a file lies that takes them, if they are too large for the memory.
        budget: The memory.
        blocks: Their rows, one block after the other.
        shape: Of all rows together.
        dtype: Of the numbers.

    Attributes:
        array: All rows; read-only if they lie in a file.
    """

    def __init__(
        self, folder: ArrayFolder, budget: Budget, blocks: Iterator[NDArray[Any]], shape: tuple[int, ...], dtype: Any
    ) -> None:
        self._mapped: MappedArray | None = None
        if budget.holds(int(np.prod(shape)) * np.dtype(dtype).itemsize):
            self.array: NDArray[Any] = np.empty(shape, dtype)
            done = 0
            for block in blocks:
                self.array[done : done + len(block)] = block
                done += len(block)
            return
        writer = ArrayWriter(folder.path, "targets", dtype, shape[1:])
        try:
            for block in blocks:
                writer.append(block)
            writer.flush()
            record = ArrayRecord("", np.dtype(dtype).str, shape, "")
            self._mapped = MappedArray(writer.path, record, verify=False)
            self.array = self._mapped.array
        finally:
            # What is mapped stays until it is let go of.
            writer.discard()

    def release(self) -> None:
        """Let go of pages that were looked at."""
        if self._mapped is not None:
            self._mapped.release()


class LevelReader:
    """An array of a level in a folder.

    Args:
        folder: The folder.
        what: Name of the array.
        level: The level.
        first: Number of the first state of the level.
    """

    def __init__(self, folder: ArrayFolder, what: str, level: int, first: int) -> None:
        self._mapped = folder.array(name_of(what, level))
        self._first = first

    def rows(self, first: int, last: int) -> NDArray[Any]:
        """Rows of the states first..last-1; a read-only view."""
        return self._mapped.array[first - self._first : last - self._first]

    def release(self) -> None:
        """Let go of the pages that were looked at."""
        self._mapped.release()


def span_pieces(transitions: Transitions, level: int, block_states: int) -> Iterator[tuple[int, int]]:
    """All states from the first to the last of a level, in blocks that each lie in one slice."""
    first, last = transitions.span(level)
    while first < last:
        end = min(last, transitions.slice_of(first).last, first + block_states)
        yield first, end
        first = end
