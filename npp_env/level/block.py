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
FIRST_NUMBER = 3
"""Index of the first number in the header; magic, version and size stand before it."""


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
        dtypes = tuple(np.dtype(dtype) for _, dtype in self.sections)
        object.__setattr__(self, "_table", SectionTable(tuple(name for name, _ in self.sections), dtypes))

    @property
    def first_section(self) -> int:
        """Index in the header of the first section's offset; its count follows."""
        return FIRST_NUMBER + self.numbers

    @property
    def header_ints(self) -> int:
        """How many int32 the header has."""
        return self.first_section + 2 * len(self.sections)

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
        header = self._header(block)
        if block.flags.writeable:
            block = block.view()
            block.setflags(write=False)
        try:
            sections = Sections(block, self._table, self.first_section, ALIGNMENT)
        except ValueError as error:
            name, start, end = error.args
            raise StateError(f"not a {self.what}: section {name} at {start}..{end} of {block.size} bytes") from error
        return header[FIRST_NUMBER : self.first_section], sections

    def numbers_in(self, block: NDArray[np.uint8]) -> list[int]:
        """Only the numbers of a block.

        Raises:
            StateError: The block is of another format or version, or cut off.
        """
        return self._header(block)[FIRST_NUMBER : self.first_section]

    def _header(self, block: NDArray[np.uint8]) -> list[int]:
        head = 4 * self.header_ints
        if block.dtype != np.uint8 or block.ndim != 1 or block.size < head:
            raise StateError(f"not a {self.what}: {block.size} values of {block.dtype}, want {head} bytes or more")
        header: list[int] = block[:head].view("<i4").tolist()
        if header[:3] != [self.magic, self.version, block.size]:
            raise StateError(f"not a {self.what} of version {self.version}: header {header[:3]} in {block.size} bytes")
        return header


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
