"""Level packs of the game: text with a level a line, `$name#hex digits#` (physics 2.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import LevelError
from npp_env.level.entity_kinds import FIRST_UNKNOWN_TYPE, EntityKind, type_label
from npp_env.level.game_form import ORIENTED, SWITCHES, WITH_MODE, arrange_records, in_game_form
from npp_env.level.layout import COLUMNS, MAX_RECORDS, NAME_BYTES, RECORD_BYTES, ROWS, TILE_COUNT
from npp_env.level.model import Level, canonical_header
from npp_env.level.validation import count_records, find_fault, shorten

PACK_START = b"$"
NAME_END = b"#"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BLOCK_TYPES = tuple(t for t in range(FIRST_UNKNOWN_TYPE) if t not in SWITCHES.values())
"""Types in the order of their blocks; switches stand in the records of their doors and exits."""
_COLUMNS = {kind: [1, 2, *[3] * (kind in ORIENTED), *[4] * (kind in WITH_MODE)] for kind in BLOCK_TYPES}
"""Bytes of a record (x, y, orientation, mode) that a pack holds; those of its switch follow."""
_ZEROS = bytes(4)
"""In front of the tiles and behind the last block."""
_DIGITS = re.compile(rb"[0-9a-fA-F]*")
_SWAPPED = bytes((value & 15) << 4 | value >> 4 for value in range(256))
"""Bytes with their nibbles exchanged: the digits of a pack come low nibble first."""
_COUNT_BYTES = 2


@dataclass(frozen=True, slots=True)
class PackLine:
    """Where a level of a pack stands.

    Attributes:
        number: Of the level, from 0.
        line: Of the text, from 1.
        name: As it is written there.
        start: Byte of the file at which the line begins.
        size: Bytes of the line, without its end.
    """

    number: int
    line: int
    name: str
    start: int
    size: int


def read_pack(data: bytes) -> list[Level]:
    """Read all levels of a pack.

    Args:
        data: The whole file; lines end in LF or CRLF, and empty ones are skipped.

    Raises:
        LevelError: It is not a pack, or a level in it is not playable; the message says where:
            `line 3, offset 1940: ...`, the offset counted in bytes from the start of the line.
    """
    return [read_pack_line(data[at.start : at.start + at.size], at.line) for at in find_lines(data)]


def write_pack(levels: Iterable[Level], *, as_game: bool = False) -> bytes:
    """Write a pack, a line a level; what the game wrote comes back byte for byte (with lines that end in LF).

    Metadata has no place in a pack and is left out.

    Args:
        levels: In the order of the pack.
        as_game: Bring each level into the form of the game first (see `in_game_form`).

    Raises:
        LevelError: A pack cannot hold one of the levels exactly; the message says why.
    """
    lines = []
    for number, level in enumerate(levels):
        try:
            lines.append(write_pack_line(in_game_form(level) if as_game else level) + b"\n")
        except LevelError as error:
            raise LevelError(f"level {number}, {shorten(level.name)}: {error}") from error
    return b"".join(lines)


def find_lines(data: bytes) -> list[PackLine]:
    """Find the levels of a pack, without reading what they hold; a fresh list.

    Raises:
        LevelError: A line is not of the form `$name#hex digits#`, or there is none.
    """
    found: list[PackLine] = []
    for line, start, end in _lines(data):
        if not data[start:end].strip():
            continue
        name_end = data.find(NAME_END, start, end)
        if not data.startswith(PACK_START, start, end):
            _fail(line, 0, f"found {_quoted(data[start : min(start + 20, end)])}; a level of a pack begins with '$'")
        if name_end < 0:
            _fail(line, end - start, "the line ends here; a '#' must end the name")
        name = data[start + 1 : name_end].decode("latin-1")
        found.append(PackLine(len(found), line, name, start, end - start))
    if not found:
        _fail(data.count(b"\n") + 1, 0, "the pack is empty; it must hold at least one line '$name#hex digits#'")
    return found


def _lines(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Number from 1, start and end of each line, without LF; spaces and a CR behind a level do not matter."""
    start, line = len(data) - len(data.removeprefix(BYTE_ORDER_MARK)), 1
    while start <= len(data):
        feed = data.find(b"\n", start)
        end = len(data) if feed < 0 else feed
        yield line, start, end
        start, line = end + 1, line + 1


def read_pack_line(text: bytes, line: int = 1) -> Level:
    """Read one level of a pack.

    Args:
        text: The line, without its end.
        line: Its number, for error messages.

    Raises:
        LevelError: It is not a level; the message says where in the line.
    """
    return _LineReader(text, line).read()


def write_pack_line(level: Level) -> bytes:
    """Write one level as a line of a pack, without its end.

    Raises:
        LevelError: A pack cannot hold the level exactly; the message says why.
    """
    name = level.name.encode("latin-1")
    for sign in (NAME_END, b"\n"):
        if sign in name:
            raise LevelError(f"the name {shorten(level.name)} holds {_quoted(sign)}, which would end it in a pack")
    _check_form(level)
    data = bytearray(_ZEROS + level.tiles.tobytes())
    for kind in BLOCK_TYPES:
        places = np.flatnonzero(level.records[:, 0] == kind)
        data += len(places).to_bytes(_COUNT_BYTES, "big")
        if not len(places):
            continue
        parts = [level.records[places][:, _COLUMNS[kind]]]
        if kind in SWITCHES:
            distance = len(places) if kind == EntityKind.EXIT else 1
            parts.append(level.records[places + distance][:, 1:3])
        data += np.hstack(parts).tobytes()
    digits = bytes(data + _ZEROS).translate(_SWAPPED).hex()
    return PACK_START + name + NAME_END + digits.encode("ascii") + NAME_END


def _check_form(level: Level) -> None:
    """Raise unless reading a pack could give this level."""
    unknown = level.unknown_entities
    if unknown:
        raise LevelError(
            f"record {unknown[0][0]} is {type_label(unknown[0][1])}, which has no place in a pack; remove it"
        )
    expected = arrange_records(level)
    if not np.array_equal(expected, level.records):
        shared = min(len(expected), len(level.records))
        differs = np.flatnonzero((expected[:shared] != level.records[:shared]).any(axis=1))
        index = int(differs[0]) if len(differs) else shared
        raise LevelError(
            f"the records are not as the game orders them, from record {index} on; as_game=True (--game) brings them "
            f"into that order, which makes another level of it: recordings of this one do not fit it"
        )
    if ((level.counts ^ count_records(level.records)) & 0xFF)[[EntityKind.EXIT, EntityKind.DEATH_BALL]].any():
        raise LevelError(
            "the counts of exits or death balls do not fit the records; as_game=True (--game) counts them anew"
        )


class _LineReader:
    """Reads one line of a pack from its start to its end."""

    def __init__(self, text: bytes, line: int) -> None:
        self._text = text
        self._line = line
        self._notes: list[str] = []
        self._records: list[NDArray[np.uint8]] = []
        self._offsets: list[NDArray[np.int64]] = []  # of the byte x of each record, in the line
        self._count = 0

    def read(self) -> Level:
        name = self._read_name()
        self._data = self._read_digits(len(name) + 2)
        self._at = 0
        if self._take(len(_ZEROS), "four zero bytes") != _ZEROS:
            self._note(0, f"the data begin with {self._data[:4].hex()}, not with four zero bytes")
        tiles = np.frombuffer(self._take(TILE_COUNT, f"{TILE_COUNT} tiles"), np.uint8).reshape(ROWS, COLUMNS)
        for kind in BLOCK_TYPES:
            if self._at == len(self._data):
                self._note(self._at, f"the data end where the count of {type_label(kind)} is due; it is taken for 0")
                break
            self._read_block(kind)
        else:
            footer = self._data[self._at :]
            if footer != _ZEROS:
                found = f"the footer is {footer[:8].hex()}{'...' if len(footer) > 8 else ''}" if footer else "no footer"
                self._note(self._at, f"{found}; the game writes four zero bytes")
        return self._build(tiles, name)

    def _fail(self, offset: int, message: str) -> NoReturn:
        _fail(self._line, offset, message)

    def _note(self, at: int, message: str) -> None:
        self._notes.append(f"line {self._line}, offset {self._offset(at)}: {message}")

    def _offset(self, at: int) -> int:
        """Where in the line the digits of a byte stand."""
        return self._first_digit + 2 * at

    def _read_name(self) -> str:
        end = self._text.find(NAME_END)
        if not self._text.startswith(PACK_START):
            self._fail(0, f"found {_quoted(self._text[:20])}; a level of a pack begins with '$'")
        if end < 0:
            self._fail(len(self._text), "the line ends here; a '#' must end the name")
        name = self._text[1:end].decode("latin-1")
        if len(name) > NAME_BYTES:
            self._fail(1 + NAME_BYTES, f"the name has {len(name)} characters; a level takes at most {NAME_BYTES}")
        if "\0" in name:
            self._fail(1 + name.index("\0"), "a NUL in the name, which would end it in a map; leave it out")
        return name

    def _read_digits(self, start: int) -> bytes:
        self._first_digit = start
        match = _DIGITS.match(self._text, start)
        assert match is not None  # no digit at all is a match too
        end = match.end()
        if end == len(self._text):
            self._fail(end, "the line ends here; a '#' must end the digits")
        if self._text[end : end + 1] != NAME_END:
            self._fail(end, f"{_quoted(self._text[end : end + 1])} is not a hex digit")
        if (end - start) % 2:
            self._fail(end, "an odd number of digits; they come in pairs, low nibble first")
        if self._text[end + 1 :].strip():
            self._fail(end + 1, f"found {_quoted(self._text[end + 1 : end + 21])} behind the level; one line a level")
        return bytes.fromhex(self._text[start:end].decode("ascii")).translate(_SWAPPED)

    def _take(self, size: int, what: str) -> bytes:
        if self._at + size > len(self._data):
            self._fail(self._offset(len(self._data)), f"the data end here, within {what}")
        self._at += size
        return self._data[self._at - size : self._at]

    def _read_block(self, kind: int) -> None:
        began, label = self._at, type_label(kind)
        count = int.from_bytes(self._take(_COUNT_BYTES, f"the count of {label}"), "big")
        if not count:
            return
        switch = SWITCHES.get(EntityKind(kind))
        self._count += count * (1 if switch is None else 2)
        if self._count > MAX_RECORDS:
            self._fail(self._offset(began), f"{count} of {label} make more than {MAX_RECORDS} records in all")
        columns = _COLUMNS[kind]
        size = len(columns) + (0 if switch is None else 2)
        fields = self._take(count * size, f"{count} records of {label} of {size} bytes each")
        table = np.frombuffer(fields, np.uint8).reshape(count, size)
        offsets = self._offset(began + _COUNT_BYTES) + 2 * size * np.arange(count)
        records = np.zeros((count, RECORD_BYTES), np.uint8)
        records[:, 0] = kind
        records[:, columns] = table[:, : len(columns)]
        if switch is None:
            self._place(records, offsets)
            return
        switches = np.zeros_like(records)
        switches[:, 0] = switch
        switches[:, 1:3] = table[:, len(columns) :]
        switch_offsets = offsets + 2 * len(columns)
        if kind == EntityKind.EXIT:
            self._place(records, offsets)
            self._place(switches, switch_offsets)
        else:
            pairs = np.stack([records, switches], 1).reshape(-1, RECORD_BYTES)
            self._place(pairs, np.stack([offsets, switch_offsets], 1))

    def _place(self, records: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self._records.append(records)
        self._offsets.append(offsets.ravel())

    def _build(self, tiles: NDArray[np.uint8], name: str) -> Level:
        records = np.concatenate(self._records) if self._records else np.zeros((0, RECORD_BYTES), np.uint8)
        if not len(records) or records[0, 0] != EntityKind.NINJA:
            self._fail(self._offset(len(_ZEROS) + TILE_COUNT), "no ninja; a level needs one record of type 0 at least")
        counts = count_records(records)
        fault = find_fault(records, counts)
        if fault is not None:
            offset = int(np.concatenate(self._offsets)[fault.record]) + 2 * max(fault.byte - 1, 0)
            self._fail(offset, fault.message)
        return Level(tiles, records, counts, canonical_header(name, len(records)), notes=tuple(self._notes))


def _fail(line: int, offset: int, message: str) -> NoReturn:
    raise LevelError(f"line {line}, offset {offset}: {message}")


def _quoted(data: bytes) -> str:
    return shorten(data.decode("latin-1"))
