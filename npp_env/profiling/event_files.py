"""Reads the scalars of TensorBoard event files.

An event file is a sequence of records: the length (8 bytes, little-endian), its checksum (4), the data, its checksum
(4). The data is a protocol buffer: the step in field 2, and in field 5 values, each with its tag in field 1 and, if it
is a scalar, the number in field 2. All else is skipped. Time and memory are proportional to the size of a file.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from pathlib import Path

from npp_env.errors import printable
from npp_env.level.files import read_bounded
from npp_env.profiling.errors import SnapshotError

MAX_FILE_BYTES = 512 * 2**20
MAX_TAGS = 10_000

_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_EVENT_STEP, _EVENT_SUMMARY = 2, 5
_SUMMARY_VALUE = 1
_VALUE_TAG, _VALUE_SCALAR = 1, 2
_SIGN = 1 << 63
_MAX_VARINT_BYTES = 10


class ScalarLog:
    """Scalars by tag, in the order of the files."""

    def __init__(self) -> None:
        self.steps: dict[str, array[float]] = {}
        self.values: dict[str, array[float]] = {}

    def read(self, path: Path) -> None:
        """Add the scalars of a file; a last record that is cut short is left out, as its writer may be at work.

        Raises:
            SnapshotError: It is not an event file, is too large, or has too many tags.
        """
        data = memoryview(read_bounded(path, MAX_FILE_BYTES, SnapshotError))
        try:
            for record in _records(data):
                self._take_event(record)
        except (IndexError, struct.error, UnicodeDecodeError):
            raise SnapshotError(f"{path}: not a TensorBoard event file, or damaged") from None

    def _take_event(self, record: memoryview) -> None:
        step = 0
        summaries = []
        for field, value in _fields(record):
            if field == _EVENT_STEP and isinstance(value, int):
                step = value - 2 * _SIGN if value >= _SIGN else value
            elif field == _EVENT_SUMMARY and isinstance(value, memoryview):
                summaries.append(value)
        for summary in summaries:
            for field, value in _fields(summary):
                if field == _SUMMARY_VALUE and isinstance(value, memoryview):
                    self._take_value(value, step)

    def _take_value(self, data: memoryview, step: int) -> None:
        tag, scalar = "", None
        for field, value in _fields(data):
            if field == _VALUE_TAG and isinstance(value, memoryview):
                tag = printable(str(value, "utf-8"))
            elif field == _VALUE_SCALAR and isinstance(value, float):
                scalar = value
        if scalar is None:
            return
        if tag not in self.steps:
            if len(self.steps) == MAX_TAGS:
                raise SnapshotError(f"more than {MAX_TAGS:,} tags in event files")
            self.steps[tag], self.values[tag] = array("d"), array("d")
        self.steps[tag].append(step)
        self.values[tag].append(scalar)


def _records(data: memoryview) -> Iterator[memoryview]:
    position = 0
    while position + 12 <= len(data):
        (length,) = struct.unpack_from("<Q", data, position)
        start = position + 12
        if start + length + 4 > len(data):
            return
        yield data[start : start + length]
        position = start + length + 4


def _fields(data: memoryview) -> Iterator[tuple[int, int | float | memoryview | None]]:
    """Number and value of each field of a protocol buffer; eight bytes are skipped, since no field here has them."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        kind = key & 7
        if kind == _VARINT:
            value, position = _varint(data, position)
            yield key >> 3, value
        elif kind == _BYTES:
            length, position = _varint(data, position)
            if position + length > len(data):
                raise IndexError
            yield key >> 3, data[position : position + length]
            position += length
        elif kind == _FOUR_BYTES:
            yield key >> 3, float(struct.unpack_from("<f", data, position)[0])
            position += 4
        elif kind == _EIGHT_BYTES:
            position += 8
        else:
            raise IndexError


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    value = shift = 0
    for _ in range(_MAX_VARINT_BYTES):
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
        shift += 7
    raise IndexError
