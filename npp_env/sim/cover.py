"""What a line of sight meets from cell to cell, precomputed: most rays then need no wall at all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.sim.structs import (
    CELLS,
    COLUMNS,
    COVER_BOTTOM,
    COVER_CLEARANCE,
    COVER_LEFT,
    COVER_RIGHT,
    COVER_TOP,
    ROWS,
    WALL_HORIZONTAL,
    WALL_VERTICAL,
)

_HALVES = 2


def build_cover(walls: NDArray[Any], cells: NDArray[np.int64]) -> NDArray[np.uint8]:
    """A byte for each cell, or nothing where a door lies outside the cell that owns it.

    The lower bits tell how many cells away the nearest cell with a wall is, in the larger of both axes: 0 if it is this
    one, at most 15. The upper bits tell which of its four sides are walled from end to end by its tile.

    Args:
        walls: All walls of a level.
        cells: The cell that owns each.

    Returns:
        A fresh array (1100,), or (0,).
    """
    column, row = np.divmod(cells, ROWS)
    left, top = 24.0 * column, 24.0 * row
    doors = walls["door"] >= 0
    for low, high, start in (("x1", "x2", left), ("y1", "y2", top)):
        outside = (walls[low] < start) | (walls[high] > start + 24)
        if (doors & outside).any():
            return np.zeros(0, np.uint8)
    walled = np.zeros(CELLS, np.bool_)
    walled[cells] = True
    cover = _clearance(walled.reshape(COLUMNS, ROWS)).reshape(-1)
    for kind, across, start, sides in (
        (WALL_VERTICAL, "x1", left, (COVER_LEFT, COVER_RIGHT)),
        (WALL_HORIZONTAL, "y1", top, (COVER_TOP, COVER_BOTTOM)),
    ):
        for side, offset in zip(sides, (0, 24), strict=True):
            on_side = ~doors & (walls["kind"] == kind) & (walls[across] == start + offset)
            cover[np.bincount(cells[on_side], minlength=CELLS) == _HALVES] |= side
    return cover


def _clearance(walled: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Distance of each cell [column, row] to the nearest that is walled or beyond the map, at most 15."""
    near = walled
    clearance = np.zeros(walled.shape, np.uint8)
    for _ in range(COVER_CLEARANCE):
        clearance[~near] += 1
        padded = np.pad(near, 1, constant_values=True)
        near = np.zeros_like(walled)
        for dc in range(3):
            for dr in range(3):
                near |= padded[dc : dc + walled.shape[0], dr : dr + walled.shape[1]]
    return clearance
