"""A level as text for a terminal: two characters a tile, each with an upper and a lower half."""

from __future__ import annotations

import numpy as np

from npp_env.level.doubts import NOT_SIMULATED, doubtful_types, type_bits
from npp_env.level.entity_kinds import ENTITY_TABLE, EntityKind, type_label
from npp_env.level.layout import UNIT_PX
from npp_env.level.model import Level
from npp_env.sim.tiles import solid_pixels

HALF_TILE_PX = 12
TILE_PX = 24
MOSTLY_SOLID_PIXELS = 60
"""Of the 144 pixels of a quarter tile; a little less than half, so that slopes keep their outline."""
_BLOCKS = " ▀▄█"
_ASCII_BLOCKS = ' "_#'

MARKS = {kind: row.mark for kind, row in ENTITY_TABLE.items() if row.mark is not None}
"""Character and ANSI colour of each kind that is simulated."""
NOT_SIMULATED_MARK = ("?", 90)
_NAMED = 8
"""Of the kinds that are not simulated, how many the legend names."""


def draw_level(level: Level, *, color: bool = False, ascii_only: bool = False) -> str:
    """Draw the tiles, with the ring around the map, and mark the entities; a legend stands below.

    Args:
        level: The level.
        color: Use ANSI colours.
        ascii_only: Use no characters beyond ASCII.
    """
    tiles = np.ones((level.tiles.shape[0] + 2, level.tiles.shape[1] + 2), np.uint8)
    tiles[1:-1, 1:-1] = level.tiles
    quarters = solid_pixels()[tiles] >= MOSTLY_SOLID_PIXELS  # (25, 44, 2, 2): row, column, lower, right
    upper = quarters[:, :, 0, :].reshape(len(tiles), -1)
    lower = quarters[:, :, 1, :].reshape(len(tiles), -1)
    blocks = _ASCII_BLOCKS if ascii_only else _BLOCKS
    grid = [[blocks[index] for index in row] for row in (upper + 2 * lower.astype(np.int64)).tolist()]
    for index, (kind, x, y) in enumerate(level.records[:, :3].tolist()):
        if index == 0:
            kind = EntityKind.NINJA
        elif kind == EntityKind.NINJA:
            continue
        column, row = UNIT_PX * x // HALF_TILE_PX, UNIT_PX * y // TILE_PX
        if row < len(grid) and column < len(grid[row]):
            mark, code = NOT_SIMULATED_MARK if NOT_SIMULATED >> kind & 1 else MARKS[EntityKind(kind)]
            grid[row][column] = f"\x1b[1;{code}m{mark}\x1b[0m" if color else mark
    lines = ["".join(row).rstrip() for row in grid]
    return "\n".join([*lines, _legend(level)])


def _legend(level: Level) -> str:
    parts = []
    for kind, (mark, _) in MARKS.items():
        number = 1 if kind is EntityKind.NINJA else level.count(kind)
        if number:
            parts.append(f"{mark} {kind.label}" + (f" x{number}" if number > 1 else ""))
    unknown = doubtful_types(type_bits(level.records[1:, 0]) & NOT_SIMULATED)
    if unknown:
        names = ", ".join(f"{type_label(kind)} x{level.count(kind)}" for kind in unknown[:_NAMED])
        more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
        parts.append(f"{NOT_SIMULATED_MARK[0]} not simulated: {names}{more}")
    return "  ".join(parts)
