"""Our own text format for levels: made for authoring by hand and for diffs. Described in levels/README.md."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from npp_env.level.entity_kinds import DIRECTIONS, FIRST_UNKNOWN_TYPE, EntityKind, type_label
from npp_env.level.layout import HEADER_BYTES, KNOWN_TILES, NAME_OFFSET
from npp_env.level.model import Level, canonical_header
from npp_env.level.text_reader import FIRST_LINE, TextReader
from npp_env.level.tile_characters import OTHER_TILE, TILE_CHARACTERS
from npp_env.level.validation import count_records

# Differences from the expected header that lie closer together than this share a line.
_PATCH_GAP_BYTES = 8


def read_text(text: str) -> Level:
    r"""Read a level in the text format.

    Raises:
        LevelError: The text is not a playable level; the message begins with the line: ``line 17: ...``.

    Example:
        >>> grid = "\n".join(["." * 42] * 23)
        >>> level = read_text(f"npp-level 1\nname: empty\ntiles:\n{grid}\nentities:\nninja 10 90\n")
        >>> level.name, level.spawn
        ('empty', (60.0, 540.0))
    """
    return TextReader(text).read()


def write_text(level: Level) -> str:
    """Write a level in the text format; reading it gives the same level, header and metadata included.

    Comments of a text that the level was read from are not kept.
    """
    name = level.name if _fits_line(level.name) else ""
    lines = [FIRST_LINE]
    if name:
        lines.append(f"name: {name}")
    lines.extend(f"{key}: {value}".rstrip() for key, value in level.metadata.items())
    expected = canonical_header(name, len(level.records))
    lines.extend(f"header: {offset} {patch.hex()}" for offset, patch in _patches(expected, level.header))
    counts = _count_differences(level)
    if counts:
        lines.append(f"counts: {counts}")
    lines += ["", "tiles:", *_grid_lines(level.tiles), "", "entities:"]
    lines.extend(_entity_line(*record) for record in level.records.tolist())
    return "\n".join(lines) + "\n"


def _fits_line(name: str) -> bool:
    return name.isprintable() and name == name.strip()


def _patches(expected: bytes, actual: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, bytes) of the stretches in which the actual header differs from the expected one."""
    different = [offset for offset in range(HEADER_BYTES) if expected[offset] != actual[offset]]
    while different:
        start = end = different.pop(0)
        # The name has a line of its own, so a patch of the words in front never runs into it.
        while different and different[0] - end <= _PATCH_GAP_BYTES and not end < NAME_OFFSET <= different[0]:
            end = different.pop(0)
        yield start, actual[start : end + 1]


def _count_differences(level: Level) -> str:
    types = np.flatnonzero(level.counts != count_records(level.records)).tolist()
    labels = (EntityKind(type_id).label if type_id < FIRST_UNKNOWN_TYPE else str(type_id) for type_id in types)
    return " ".join(f"{label}={level.counts[type_id]}" for label, type_id in zip(labels, types, strict=True))


def _grid_lines(tiles: NDArray[np.uint8]) -> Iterator[str]:
    for row in tiles.tolist():
        yield "".join(TILE_CHARACTERS[tile] if tile < KNOWN_TILES else OTHER_TILE for tile in row)
    for row_index, column_index in np.argwhere(tiles >= KNOWN_TILES).tolist():
        yield f"tile {column_index + 1} {row_index + 1} {tiles[row_index, column_index]}"


def _entity_line(type_id: int, x: int, y: int, orientation: int, mode: int) -> str:
    if type_id >= FIRST_UNKNOWN_TYPE:
        return f"{type_label(type_id)} {x} {y} {orientation} {mode}"
    row = EntityKind(type_id).row
    words = [type_label(type_id), str(x), str(y)]
    with_mode = mode != 0 or bool(row.modes)
    if with_mode or orientation != 0 or row.directed:
        words.append(DIRECTIONS[orientation] if orientation < len(DIRECTIONS) else str(orientation))
    if with_mode:
        words.append(row.modes[mode] if mode < len(row.modes) else str(mode))
    return " ".join(words)
