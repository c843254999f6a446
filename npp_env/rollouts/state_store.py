"""A ring of state rows, each stored as long as its own level needs, not as long as the largest of the set."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import NppError
from npp_env.level.sorted_sets import sorted_unique

CLASS_BYTES = 32
"""Rows are stored in multiples of this; those beyond 1,024 bytes with up to a sixteenth of their length to spare."""
INDEX_BYTES = 2 + 4
"""Bytes per row that say where it lies."""
_GROWTH = 1.125
_MOST_SPARE = 1.5
"""A block that has more times as many rows as were used when all of them are forgotten becomes smaller."""
_FIRST_SLOTS, _FIRST_BYTES = 32, 8192
_WORD = np.dtype(np.uint64)


class StateRows(Protocol):
    """Rows of bytes by step and environment, to be read."""

    def __getitem__(self, step: Any) -> NDArray[np.uint8]:
        """All rows of a step; a fresh array."""

    def take(
        self, steps: NDArray[np.int64], envs: NDArray[np.int64], out: NDArray[np.uint8] | None = None
    ) -> NDArray[np.uint8]:
        """Rows of pairs of steps and environments; see `StateStore.take`."""


class _Block:
    """Rows of one width that are claimed and released; in a mapped file that has no name, if there is a folder."""

    def __init__(self, width: int, folder: Path | None) -> None:
        self.rows: NDArray[np.uint8] = np.zeros((0, width), np.uint8)
        self._file = None if folder is None else tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self._used = 0
        self._free: list[int] = []
        self._fewest = max(1, min(_FIRST_SLOTS, _FIRST_BYTES // width))

    @property
    def nbytes(self) -> int:
        return int(self.rows.nbytes)

    def claim(self, count: int) -> NDArray[np.int32]:
        reused = [self._free.pop() for _ in range(min(count, len(self._free)))]
        fresh = count - len(reused)
        needed = self._used + fresh
        if needed > len(self.rows):
            self._resize(max(needed, int(len(self.rows) * _GROWTH), self._fewest))
        claimed = np.array([*reused, *range(self._used, needed)], np.int32)
        self._used = needed
        return claimed

    def _resize(self, slots: int) -> None:
        shape = (slots, self.rows.shape[1])
        if self._file is None:
            # In place: at no time are there two copies. Nobody else holds a view of the rows.
            self.rows.resize(shape, refcheck=False)
        else:
            self._file.truncate(slots * shape[1])
            self.rows = np.memmap(self._file, np.uint8, "r+", shape=shape)

    def release(self, slots: NDArray[np.int32]) -> None:
        self._free.extend(slots.tolist())

    def clear(self) -> None:
        # Levels come and go: if every block stayed as large as it ever was, all of them together would grow for long.
        wanted = int(self._used * _GROWTH) + self._fewest
        if len(self.rows) > _MOST_SPARE * wanted:
            self._resize(wanted)
        self._used = 0
        self._free = []

    def used_rows(self) -> NDArray[np.uint8]:
        return self.rows[: self._used]

    def hold(self, rows: NDArray[np.uint8], taken: NDArray[np.int32]) -> None:
        """Hold these rows, of which those not taken are free."""
        self.clear()
        self.claim(len(rows))
        self.rows[: len(rows)] = rows
        free = np.ones(len(rows), np.bool_)
        free[taken] = False
        self._free = np.flatnonzero(free).tolist()


def _used_bytes(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Bytes of each row up to its last that is not zero, whole words where rows consist of them; a fresh array."""
    by_words = rows.shape[1] % _WORD.itemsize == 0 and rows.flags.c_contiguous
    units = rows.view(_WORD) if by_words else rows
    used = units != 0
    lengths = np.where(used.any(axis=1), units.shape[1] - used[:, ::-1].argmax(axis=1), 0)
    return lengths * units.itemsize


def stored_bytes(length: int) -> int:
    """Bytes that a row of so many takes, without what says where it lies."""
    return CLASS_BYTES * int(_class_table(-(-length // CLASS_BYTES))[-1])


def _class_table(most: int) -> NDArray[np.uint16]:
    """The class of each number of units up to so many.

    The past of evil ninjas makes rows of every length; if each had a block of its own, all would have spare rows.
    """
    steps = [1 << max(0, number.bit_length() - 5) for number in range(most + 1)]
    return np.array([-(-number // step) * step for number, step in enumerate(steps)], np.uint16)


class StateStore:
    """Rows of bytes by step and environment, without the zeros at their ends; lossless for any bytes.

    Args:
        steps: Steps of the ring.
        num_envs: Environments.
        length: Bytes of a row.
        folder: Where the rows lie in mapped files without a name, which go with the process; None for memory.

    Example:
        >>> store = StateStore(steps=4, num_envs=2, length=100)
        >>> store[0] = np.ones((2, 100), np.uint8)
        >>> store[np.array([0, 0]), np.array([1, 0])].shape
        (2, 100)
    """

    dtype = np.dtype(np.uint8)

    def __init__(self, steps: int, num_envs: int, length: int, folder: Path | None = None) -> None:
        if min(steps, num_envs, length) < 1:
            raise NppError(f"{steps} steps of {num_envs} environments, {length} bytes; each must be at least 1")
        self.shape = (steps, num_envs, length)
        self._class = np.zeros((steps, num_envs), np.uint16)  # 0 for a row of zeros
        self._slot = np.zeros((steps, num_envs), np.int32)
        self._blocks: dict[int, _Block] = {}
        self._folder = folder
        self._class_of = _class_table(-(-length // CLASS_BYTES))

    @classmethod
    def over(cls, arrays: Mapping[str, NDArray[Any]], length: int) -> StateStore:
        """A store of what `arrays` of another gave, without a copy of the rows: only to be read."""
        steps, num_envs = arrays["class"].shape
        store = cls(steps, num_envs, length)
        store._class, store._slot = arrays["class"], arrays["slot"]
        for name, rows in arrays.items():
            if name.startswith("block/"):
                store._block(int(name.removeprefix("block/"))).rows = rows
        return store

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """Bytes held, spare rows included."""
        return self._class.nbytes + self._slot.nbytes + sum(block.nbytes for block in self._blocks.values())

    def clear(self) -> None:
        """Forget all states; memory for about as many stays."""
        self._class.fill(0)
        for block in self._blocks.values():
            block.clear()

    def __setitem__(self, step: int, rows: NDArray[np.uint8]) -> None:
        """Store the states (num_envs, length) of a step, in place of those that it had.

        Raises:
            NppError: A wrong shape or type.
        """
        if rows.shape != self.shape[1:] or rows.dtype != np.uint8:
            raise NppError(f"states are {rows.dtype} {rows.shape}; they must be uint8 {self.shape[1:]}")
        for number in sorted_unique(self._class[step]).tolist():
            if number:
                self._blocks[number].release(self._slot[step][self._class[step] == number])
        classes = self._class_of[-(-_used_bytes(rows) // CLASS_BYTES)]
        self._class[step] = classes
        for number in sorted_unique(classes).tolist():
            if number:
                chosen = np.flatnonzero(classes == number)
                block = self._block(number)
                slots = block.claim(len(chosen))
                block.rows[slots] = rows[chosen, : block.rows.shape[1]]
                self._slot[step, chosen] = slots

    def _block(self, number: int) -> _Block:
        block = self._blocks.get(number)
        if block is None:
            block = self._blocks[number] = _Block(min(number * CLASS_BYTES, self.shape[2]), self._folder)
        return block

    def __getitem__(self, index: Any) -> NDArray[np.uint8]:
        """Rows of one step (an int), or of pairs of steps and environments (two arrays); fresh arrays."""
        if isinstance(index, tuple):
            return self.take(np.asarray(index[0]), np.asarray(index[1]))
        return self.take(np.full(self.shape[1], index), np.arange(self.shape[1]))

    def take(
        self, steps: NDArray[np.int64], envs: NDArray[np.int64], out: NDArray[np.uint8] | None = None
    ) -> NDArray[np.uint8]:
        """Rows of pairs of steps and environments.

        Args:
            steps: Integers of any shape.
            envs: Integers of the same shape.
            out: uint8 (..., length) to write to; a fresh array if None.
        """
        if out is None:
            out = np.empty((*steps.shape, self.shape[2]), np.uint8)
        classes, slots = self._class[steps, envs], self._slot[steps, envs]
        for number in sorted_unique(classes.reshape(-1)).tolist():
            chosen = classes == number
            width = 0
            if number:
                rows = self._blocks[number].rows
                width = rows.shape[1]
                out[chosen, :width] = rows[slots[chosen]]
            out[chosen, width:] = 0
        return out

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that is stored, by name, for `restore`; views."""
        blocks = {f"block/{number}": block.used_rows() for number, block in self._blocks.items()}
        return {"class": self._class, "slot": self._slot, **blocks}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Store again what `arrays` gave, in place of all else.

        Raises:
            NppError: It is of a store of another shape.
        """
        if arrays["class"].shape != self._class.shape:
            raise NppError(f"states of {arrays['class'].shape} steps and environments; they must be {self.shape[:2]}")
        self.clear()
        self._class[...], self._slot[...] = arrays["class"], arrays["slot"]
        for name, rows in arrays.items():
            if name.startswith("block/"):
                number = int(name.removeprefix("block/"))
                self._block(number).hold(rows, self._slot[self._class == number])
