"""Small levels drawn as text, for tests of passage."""

from __future__ import annotations

import numpy as np

from npp_env.level import Level

LEFT, TOP = 3, 3  # of the drawing, in cells of the world
_TILES = {"#": 1, ".": 0, "^": 2, "_": 4, "[": 5, "]": 3}


def drawn_level(rows: list[str], records=(), spawn=(0, 0), tiles=()) -> Level:
    """A solid level with a drawing cut into it.

    Args:
        rows: `#` solid, `.` empty, `^ _ [ ]` upper, lower, left and right half.
        records: (type, column, row, orientation) with the cell of the drawing in fractions.
        spawn: Cell of the drawing.
        tiles: (column, row, tile id) for other shapes.
    """
    grid = np.ones((23, 42), np.uint8)
    for j, row in enumerate(rows):
        for i, symbol in enumerate(row):
            grid[TOP - 1 + j, LEFT - 1 + i] = _TILES[symbol]
    for column, row, tile in tiles:
        grid[TOP - 1 + row, LEFT - 1 + column] = tile

    def units(column, row):
        return round(4 * (LEFT + column)), round(4 * (TOP + row))

    table = [(0, *units(spawn[0] + 0.5, spawn[1] + 0.5), 0, 0)]
    table += [(kind, *units(column, row), orientation, 0) for kind, column, row, orientation in records]
    return Level.from_parts(grid, table)


def place(column: float, row: float) -> tuple[float, float]:
    """Pixels of a place in the drawing."""
    return 24.0 * (LEFT + column), 24.0 * (TOP + row)
