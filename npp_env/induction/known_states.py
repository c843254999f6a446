"""The states that a builder has met: numbers by hash, in memory or, beyond the budget, in a file without a name."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from npp_env.errors import ConfigError
from npp_env.induction.array_files import noticing_a_full_disk
from npp_env.induction.budget import Budget
from npp_env.induction.state_index import enter, find_or_enter

MOST_STATES = 2**32 - 2
_LEAST_CAPACITY = 1 << 12
_GROWTH = 1.2
_SLOTS_PER_STATE = 4 / 3


class KnownStates:
    """Numbers of states from `base` on, by their hashes.

    Args:
        base: Number of the first state.
        folder: Where a file lies that takes what is too large for the memory.
        budget: The memory.
    """

    def __init__(self, base: int, folder: Path, budget: Budget) -> None:
        self.base, self.count = base, 0
        self._folder, self._budget = folder, budget
        self._hashes: NDArray[np.uint64] = np.empty(0, np.uint64)
        self._slots: NDArray[np.uint32] = np.zeros(0, np.uint32)

    @property
    def nbytes(self) -> int:
        """Size of the table, wherever it lies."""
        return self._hashes.nbytes + self._slots.nbytes

    def fill(self, hashes: Iterable[NDArray[np.uint64]], total: int) -> None:
        """Know the states of these hashes, `total` in all, which follow each other from `base` on."""
        self.make_room(total)
        for part in hashes:
            first = self.count
            self._hashes[first : first + len(part)] = part
            self.count += len(part)
            enter(self._slots, self._hashes, first, self.count)

    def make_room(self, more: int) -> None:
        """Let so many more fit.

        Raises:
            ConfigError: There are more states than numbers.
        """
        needed = self.count + more
        if self.base + needed > MOST_STATES:
            raise ConfigError(f"more than {MOST_STATES:,} states; choose a coarser model or a shorter horizon")
        if needed <= len(self._hashes):
            return
        capacity = max(_LEAST_CAPACITY, needed, int(_GROWTH * len(self._hashes)))
        self._slots = np.zeros(0, np.uint32)
        slots = int(_SLOTS_PER_STATE * capacity) + 2
        in_memory = self._budget.holds(8 * capacity + 4 * slots)
        old, self._hashes = self._hashes, self._allocate(capacity, np.uint64, in_memory)
        self._hashes[: self.count] = old[: self.count]
        del old
        self._slots = self._allocate(slots, np.uint32, in_memory)
        enter(self._slots, self._hashes, 0, self.count)

    def find_or_enter(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Numbers of states; those that are not known get the next ones.

        Returns:
            The number of each (n,), and the places of those that are new, in the order of their numbers; fresh arrays.
        """
        self.make_room(len(hashes))
        numbers, fresh = np.empty(len(hashes), np.uint32), np.empty(len(hashes), np.uint32)
        found = find_or_enter(self._slots, self._hashes, self.count, hashes, numbers, fresh)
        self.count += found
        numbers += np.uint32(self.base)
        self._release()
        return numbers, fresh[:found]

    def _allocate(self, count: int, dtype: DTypeLike, in_memory: bool) -> NDArray[Any]:
        if in_memory:
            return np.zeros(count, dtype)
        nbytes = count * np.dtype(dtype).itemsize
        with noticing_a_full_disk(self._folder), tempfile.TemporaryFile(dir=self._folder) as file:
            # Taken now: a mapped page for which there is no room later would end the process.
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, nbytes)
            else:
                file.truncate(nbytes)
            array: NDArray[Any] = np.frombuffer(mmap.mmap(file.fileno(), nbytes), dtype)
        return array

    def _release(self) -> None:
        """Let go of the pages of a file; they stay where the system keeps files."""
        for array in (self._hashes, self._slots):
            mapped = array.base.obj if isinstance(array.base, memoryview) else array.base
            if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
                mapped.madvise(mmap.MADV_DONTNEED)
