"""Several named arrays in one block of bytes, so that they are one file and one base pointer.

A block begins with little-endian int32 values: magic, version, size of the block in bytes, then numbers that belong to
the format, then the byte offset and the element count of every section in the order of the format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from npp_env.errors import StateError
from npp_env.level.ranges import ascending, within
from npp_env.level.sections import Sections, SectionTable

ALIGNMENT = 8


@dataclass(frozen=True, slots=True)
class BlockFormat:
    """What a block contains.

    Attributes:
        what: Name for messages.
        magic: First int32 of the block.
        version: Second int32.
        sections: Name and dtype of each section.
        numbers: How many int32 numbers follow the size.
    """

    what: str
    magic: int
    version: int
    sections: tuple[tuple[str, DTypeLike], ...]
    numbers: int = 0

    _table: SectionTable = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names, dtypes = zip(*((name, np.dtype(dtype)) for name, dtype in self.sections), strict=True)
        table = SectionTable(self.what, self.magic, self.version, self.numbers, names, dtypes, ALIGNMENT)
        object.__setattr__(self, "_table", table)

    @property
    def header_ints(self) -> int:
        """How many int32 the header has: magic, version, size and numbers; offset and count of each section."""
        return self._table.head_bytes // 4

    def pack(self, arrays: Mapping[str, NDArray[Any]], numbers: Sequence[int] = ()) -> NDArray[np.uint8]:
        """A fresh read-only block."""
        assert len(numbers) == self.numbers
        header = [self.magic, self.version, 0, *numbers]
        position = 4 * self.header_ints
        parts = []
        for name, dtype in self.sections:
            data = np.ascontiguousarray(arrays[name], np.dtype(dtype)).reshape(-1)
            position += -position % ALIGNMENT
            header += [position, data.size]
            parts.append((position, data.view(np.uint8)))
            position += data.nbytes
        position += -position % ALIGNMENT
        header[2] = position
        block = np.zeros(position, np.uint8)
        block[: 4 * len(header)] = np.array(header, "<i4").view(np.uint8)
        for start, part in parts:
            block[start : start + part.size] = part
        block.setflags(write=False)
        return block

    def open(self, block: NDArray[np.uint8]) -> tuple[list[int], Sections]:
        """Numbers and sections of a block; the arrays of these are read-only views of it, made on demand.

        Raises:
            StateError: The block is of another format or version, or cut off.
        """
        sections = Sections(block, self._table)
        return sections.numbers, sections

    def numbers_in(self, block: NDArray[np.uint8]) -> list[int]:
        """Only the numbers of a block.

        Raises:
            StateError: The block is of another format or version, or cut off.
        """
        return Sections(block, self._table).numbers


def require(condition: bool, section: str) -> None:
    """Refuse a section whose values its format allows, but no level.

    Raises:
        StateError: The condition does not hold.
    """
    if not condition:
        raise StateError(f"section {section} holds values that no level gives")


def check_range(section: str, values: NDArray[Any], low: float, high: float, other: float = np.nan) -> None:
    """Require all values of an array (n,) to lie in a range, ends included, or to be one other value."""
    require(within(values, low, high, other), section)


def check_starts(section: str, starts: NDArray[Any], end: int) -> None:
    """Require places that ascend from 0 to the end of what they divide."""
    require(starts.size > 0 and starts[0] == 0 and starts[-1] == end and ascending(starts), section)
