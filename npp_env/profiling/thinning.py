"""A series in a block of fixed size: a profiler must not be the leak that it finds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class ThinningTable:
    """Entries in the order they came; when the block is full every second one goes.

    The table then covers twice the time at half the density. Its block never grows.

    Args:
        rows: Numbers in an entry.
        capacity: Most entries kept.

    Example:
        >>> table = ThinningTable(rows=1, capacity=4)
        >>> [table.append([number]) for number in range(5)]
        [False, False, False, False, True]
        >>> table.row(0).tolist()
        [0.0, 2.0, 4.0]
    """

    def __init__(self, rows: int, capacity: int) -> None:
        # full() touches every page now, so that later entries do not raise the RSS that is measured.
        self._block: NDArray[np.float64] = np.full((rows, capacity), np.nan)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def nbytes(self) -> int:
        """Bytes of the block."""
        return int(self._block.nbytes)

    def append(self, entry: Sequence[float]) -> bool:
        """Keep an entry; whether the table was full and had to be thinned for it."""
        full = bool(self._length == self._block.shape[1])
        if full:
            kept = self._block[:, ::2]
            self._length = kept.shape[1]
            self._block[:, : self._length] = kept
        self._block[:, self._length] = entry
        self._length += 1
        return full

    def row(self, index: int) -> NDArray[np.float64]:
        """One number of every entry; a view of the block."""
        return self._block[index, : self._length]

    def entry(self, index: int) -> list[float]:
        """All numbers of one entry; negative indices count from the last."""
        if not -self._length <= index < self._length:
            raise IndexError(f"entry {index} of {self._length}")
        numbers: list[float] = self._block[:, index % self._length].tolist()
        return numbers
