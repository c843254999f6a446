"""The reading half of the text format."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import LevelError
from npp_env.level.entity_kinds import DIRECTIONS, KIND_OF_LABEL
from npp_env.level.layout import COLUMNS, COUNT_TYPES, HEADER_BYTES, MAX_RECORDS, RECORD_BYTES, ROWS
from npp_env.level.model import Level, canonical_header
from npp_env.level.tile_characters import OTHER_TILE, TILE_OF_CHARACTER
from npp_env.level.validation import (
    MAX_METADATA_KEYS,
    check_metadata_entry,
    count_records,
    find_fault,
    shorten,
)

FIRST_LINE = "npp-level 1"
MAX_TEXT_CHARACTERS = 1 << 20
_COMMENT = ";"
_TILE_SIGNS = frozenset(TILE_OF_CHARACTER)
_TILE_BYTES = {ord(character): tile for character, tile in TILE_OF_CHARACTER.items()}


class TextReader:
    """Reads one text from top to bottom; `read` is called once."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_TEXT_CHARACTERS:
            raise LevelError(f"line 1: the text has {len(text)} characters; at most {MAX_TEXT_CHARACTERS} are read")
        numbered = enumerate(text.removeprefix("\ufeff").split("\n"), start=1)
        stripped = ((number, line.strip()) for number, line in numbered)
        self._lines = [(number, line) for number, line in stripped if line and not line.startswith(_COMMENT)]
        self._last_line = text.count("\n") + 1
        self._next = 0
        self._number = 1  # of the line being read, for error messages
        self._name: tuple[int, str] = (1, "")
        self._metadata: dict[str, str] = {}
        self._patches: list[tuple[int, bytes]] = []
        self._counts: dict[int, int] | None = None

    def read(self) -> Level:
        """Read the level."""
        first = self._take(f"the first line must be {FIRST_LINE!r}")
        if self._number != 1 or " ".join(first.split()) != FIRST_LINE:
            self._fail(f"found {shorten(first)}; the first line must be {FIRST_LINE!r}")
        while (line := self._take("a line 'tiles:' must follow")) != "tiles:":
            self._read_property(line)
        tiles, odd_places = self._read_grid()
        while (line := self._take("a line 'entities:' must follow")) != "entities:":
            self._read_odd_tile(line, tiles, odd_places)
        if odd_places:
            (row, column), number = next(iter(odd_places.items()))
            self._number = number
            self._fail(f"{OTHER_TILE!r} needs a line 'tile {column + 1} {row + 1} ID' below the grid")
        return self._build(tiles, *self._read_entities())

    def _take(self, expected: str) -> str:
        if self._next == len(self._lines):
            self._number = self._last_line
            self._fail(f"the text ends here; {expected}")
        self._number, line = self._lines[self._next]
        self._next += 1
        return line

    def _fail(self, message: str) -> NoReturn:
        raise LevelError(f"line {self._number}: {message}")

    def _read_property(self, line: str) -> None:
        key, colon, value = line.partition(":")
        key, value = key.strip(), value.strip()
        if not colon:
            self._fail(f"found {shorten(line)}; before 'tiles:' every line is 'key: value'")
        if key == "header":
            self._read_header_patch(value)
        elif key == "counts":
            self._read_counts(value)
        elif key == "name":
            if self._name[1]:
                self._fail("a second name; keep one of them")
            if not value.isprintable():
                self._fail(f"name {shorten(value)} has characters that cannot be printed; leave them out")
            self._name = (self._number, value)
        else:
            if key in self._metadata:
                self._fail(f"a second {shorten(key)}; keep one of them")
            if len(self._metadata) == MAX_METADATA_KEYS:
                self._fail(f"too many metadata lines; at most {MAX_METADATA_KEYS} are allowed")
            try:
                check_metadata_entry(key, value)
            except LevelError as error:
                self._fail(str(error))
            self._metadata[key] = value

    def _read_header_patch(self, value: str) -> None:
        words = value.split()
        if len(words) != 2:
            self._fail(f"header is {shorten(value)}; it takes an offset and hex digits, such as 'header: 4 a0b1'")
        offset = self._number_of(words[0], "header offset", HEADER_BYTES - 1)
        try:
            patch = bytes.fromhex(words[1])
        except ValueError:
            self._fail(f"header bytes {shorten(words[1])} are not pairs of hex digits")
        if offset + len(patch) > HEADER_BYTES:
            self._fail(f"{len(patch)} header bytes at offset {offset} reach beyond the {HEADER_BYTES} of a header")
        if len(self._patches) == HEADER_BYTES:
            self._fail(f"too many header lines; at most {HEADER_BYTES} are allowed")
        self._patches.append((offset, patch))

    def _read_counts(self, value: str) -> None:
        if self._counts is not None:
            self._fail("a second line of counts; put all of them into one")
        self._counts = {}
        for word in value.split():
            label, equals, number = word.partition("=")
            if not equals:
                self._fail(f"count {shorten(word)} is not of the form 'kind=number'")
            kind = KIND_OF_LABEL.get(label)
            type_id = self._number_of(label, "entity kind", COUNT_TYPES - 1) if kind is None else int(kind)
            if type_id in self._counts:
                self._fail(f"a second count of {shorten(label)}; keep one of them")
            self._counts[type_id] = self._number_of(number, f"count of {label}", 0xFFFF)

    def _read_grid(self) -> tuple[NDArray[np.uint8], dict[tuple[int, int], int]]:
        """Read the rows; also give the places (row, column) of '?' with their line numbers."""
        tiles = np.zeros((ROWS, COLUMNS), dtype=np.uint8)
        odd_places: dict[tuple[int, int], int] = {}
        for row in range(ROWS):
            line = self._take(f"the grid has {row} of {ROWS} rows")
            if line == "entities:" or line.startswith("tile "):
                self._fail(f"the grid ends after {row} rows; it must have {ROWS}")
            if len(line) == COLUMNS and _TILE_SIGNS.issuperset(line):
                tiles[row] = np.frombuffer(line.translate(_TILE_BYTES).encode("latin-1"), np.uint8)
                continue
            for column, character in enumerate(line[:COLUMNS]):
                if character == OTHER_TILE:
                    odd_places[row, column] = self._number
                elif character in TILE_OF_CHARACTER:
                    tiles[row, column] = TILE_OF_CHARACTER[character]
                else:
                    self._fail(f"column {column + 1} of the grid: {shorten(character)} is not a tile")
            if len(line) != COLUMNS:
                self._fail(f"row {row + 1} of the grid has {len(line)} characters; it must have {COLUMNS}")
        return tiles, odd_places

    def _read_odd_tile(self, line: str, tiles: NDArray[np.uint8], odd_places: dict[tuple[int, int], int]) -> None:
        words = line.partition(_COMMENT)[0].split()
        if len(words) != 4 or words[0] != "tile":
            self._fail(f"found {shorten(line)}; 'tile COLUMN ROW ID' or 'entities:' must follow the {ROWS} rows")
        column = self._number_of(words[1], "tile column", COLUMNS)
        row = self._number_of(words[2], "tile row", ROWS)
        if (row - 1, column - 1) not in odd_places:
            self._fail(f"the grid has no {OTHER_TILE!r} left in column {column}, row {row}")
        del odd_places[row - 1, column - 1]
        tiles[row - 1, column - 1] = self._number_of(words[3], "tile id", 255)

    def _read_entities(self) -> tuple[NDArray[np.uint8], list[int]]:
        """Read the records, with the line number of each."""
        records: list[tuple[int, int, int, int, int]] = []
        numbers: list[int] = []
        while self._next < len(self._lines):
            line = self._take("").partition(_COMMENT)[0]
            if len(records) == MAX_RECORDS:
                self._fail(f"too many entities; at most {MAX_RECORDS} are allowed")
            records.append(self._read_entity(line.split()))
            numbers.append(self._number)
        if not records:
            self._number = self._last_line
            self._fail("no entities; at least one is needed, the first is where the ninja starts")
        return np.array(records, dtype=np.uint8).reshape(-1, RECORD_BYTES), numbers

    def _read_entity(self, words: list[str]) -> tuple[int, int, int, int, int]:
        if words[0] == "entity":
            if len(words) != 6:
                self._fail(f"'entity' takes 5 numbers (type, x, y, orientation, mode), not {len(words) - 1}")
            names = ("entity type", "x", "y", "orientation", "mode")
            numbers = [self._number_of(word, name, 255) for word, name in zip(words[1:], names, strict=True)]
            return numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
        kind = KIND_OF_LABEL.get(words[0])
        if kind is None:
            self._fail_unknown_kind(words[0])
        if not 3 <= len(words) <= 5:
            self._fail(f"{kind.label} takes 'x y [direction] [mode]', not {len(words) - 1} words")
        x, y = (self._number_of(word, name, 255) for word, name in zip(words[1:3], "xy", strict=True))
        orientation = self._name_or_number(words[3], "direction", DIRECTIONS) if len(words) > 3 else 0
        mode = self._name_or_number(words[4], "mode", kind.row.modes) if len(words) > 4 else 0
        return int(kind), x, y, orientation, mode

    def _fail_unknown_kind(self, word: str) -> NoReturn:
        from difflib import get_close_matches

        near = get_close_matches(word[:40], list(KIND_OF_LABEL), n=3)
        hint = (
            f"did you mean {' or '.join(near)}?" if near else "use 'entity TYPE X Y ORIENTATION MODE' for raw records"
        )
        self._fail(f"unknown entity {shorten(word)}; {hint}")

    def _name_or_number(self, word: str, what: str, names: tuple[str, ...]) -> int:
        if word in names:
            return names.index(word)
        if not word.isdigit() and names:
            self._fail(f"{what} {shorten(word)} is none of {', '.join(names)}")
        return self._number_of(word, what, 255)

    def _number_of(self, word: str, what: str, limit: int) -> int:
        # Python's int() would also take signs, underscores and the digits of every script.
        if not (word.isascii() and word.isdigit() and len(word) <= 5 and int(word) <= limit):
            self._fail(f"{what} {shorten(word)} is not a whole number from 0 to {limit}")
        return int(word)

    def _build(self, tiles: NDArray[np.uint8], records: NDArray[np.uint8], numbers: list[int]) -> Level:
        counts = count_records(records)
        for type_id, count in (self._counts or {}).items():
            counts[type_id] = count
        fault = find_fault(records, counts)
        if fault is not None:
            self._number = numbers[fault.record]
            self._fail(fault.message)
        self._number, name = self._name
        try:
            header = bytearray(canonical_header(name, len(records)))
        except LevelError as error:
            self._fail(str(error))
        for offset, patch in self._patches:
            header[offset : offset + len(patch)] = patch
        return Level(tiles, records, counts, bytes(header), self._metadata)
