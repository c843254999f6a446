"""Sizes and offsets of the N++ binary map, shared by the model and the file formats."""

from __future__ import annotations

COLUMNS = 42
ROWS = 23
TILE_COUNT = COLUMNS * ROWS
KNOWN_TILES = 38
"""Tile ids 0..37 have a shape; any other id behaves as empty."""

NAME_OFFSET = 38
NAME_BYTES = 128
HEADER_BYTES = 184
QUERY_TYPE = 37
"""What the game writes into the header of a map of its own (physics 2.1)."""
COUNTS_OFFSET = HEADER_BYTES + TILE_COUNT
COUNT_TYPES = 40
RECORDS_OFFSET = COUNTS_OFFSET + 2 * COUNT_TYPES
RECORD_BYTES = 5

LENGTH_EXCLUDED_BYTES = 8
"""The lengths in front of an attract file (of map and demo) do not count themselves."""

MAX_RECORDS = 8192
"""Our own bound; maps of the game stay far below it."""
MAX_MAP_BYTES = RECORDS_OFFSET + RECORD_BYTES * MAX_RECORDS

UNIT_PX = 6
"""Entity coordinates are quarter tiles."""
WORLD_WIDTH_PX = 1056
WORLD_HEIGHT_PX = 600


def record_offset(index: int, byte: int = 0) -> int:
    """Offset in the binary map of one byte of the record with this index."""
    return RECORDS_OFFSET + RECORD_BYTES * index + byte
