"""What turrets that stay where they are can see, cell by cell of the ninja, worked out once for a level.

Of each cell it is known that no wall lies between it and the turret (`OUTLOOK_CLEAR`), or that all lines to it meet one
straight row of wall pieces on a border of cells (the number of the border), or nothing (`OUTLOOK_UNKNOWN`).
"""

import numpy as np

from npp_env.sim.layout cimport COLUMNS, OUTLOOK_CLEAR, OUTLOOK_ROWS, OUTLOOK_UNKNOWN, ROWS, ifloor

from npp_env.sim.structs import CELLS, WALL_HORIZONTAL, WALL_VERTICAL
from npp_env.sim.structs import COLUMNS as N_COLUMNS
from npp_env.sim.structs import ROWS as N_ROWS

cdef double MARGIN_PX = 0.001
cdef int FULL_TILE = 1
cdef int CELL_PX = 24
cdef int HALF_PX = 12


def build_outlooks(tiles, walls, cells, turrets):
    """The outlook of each turret.

    Args:
        tiles: uint8 (44, 25), by column and row.
        walls: All walls of a level.
        cells: The cell that owns each.
        turrets: float64 (n, 2), places on the grid of map units.

    Returns:
        A fresh uint8 array (n, 1100).
    """
    walled = np.zeros(CELLS, np.uint8)
    walled[cells] = 1
    # The ninja's centre hardly ever lies within a full tile.
    rooms = (tiles.reshape(-1) != FULL_TILE).astype(np.uint8)
    gaps = [
        gaps_on_borders(walls, WALL_VERTICAL, "x1", "y1", "y2", N_COLUMNS + 1, 2 * N_ROWS),
        gaps_on_borders(walls, WALL_HORIZONTAL, "y1", "x1", "x2", N_ROWS + 1, 2 * N_COLUMNS),
    ]
    outlooks = np.full((len(turrets), CELLS), OUTLOOK_UNKNOWN, np.uint8)
    for outlook, (x, y) in zip(outlooks, turrets.tolist(), strict=True):
        if 0 <= x < CELL_PX * N_COLUMNS and 0 <= y < CELL_PX * N_ROWS:
            find_hidden(outlook, rooms, gaps[0], gaps[1], x, y)
            find_clear(outlook, walled, <int>x // CELL_PX, <int>y // CELL_PX)
    return outlooks


def gaps_on_borders(walls, kind, across, start, end, borders, pieces):
    """Of each border of cells, how many of its first half cells have no wall of a tile: int32 (borders, pieces + 1)."""
    on_border = (walls["kind"] == kind) & (walls["door"] < 0) & (walls[across] % CELL_PX == 0)
    found = walls[on_border]
    missing = np.ones((borders, pieces), np.int32)
    along = np.minimum(found[start], found[end]) // HALF_PX
    missing[(found[across] // CELL_PX).astype(np.int64), along.astype(np.int64)] = 0
    return np.pad(np.cumsum(missing, axis=1, dtype=np.int32), ((0, 0), (1, 0)))


cdef bint is_closed(const int[:, ::1] gaps, int border, double from_z, double to_z, int pieces) noexcept:
    """Whether a border is walled from one place along it to another."""
    cdef int first = ifloor((from_z - MARGIN_PX) / HALF_PX)
    cdef int last = ifloor((to_z + MARGIN_PX) / HALF_PX)
    return first >= 0 and last < pieces and gaps[border, first] == gaps[border, last + 1]


cdef int closed_border(
    const int[:, ::1] gaps, double x, double y, int c, int r, int pieces
) noexcept:
    """The first border across x between a turret at (x, y) and cell (c, r) that ends all lines, or -1."""
    cdef int own = ifloor(x / CELL_PX)
    cdef int border, step, end
    cdef double near, far, low, high, a, b
    if c > own:
        border, end, step = own + 1, c + 1, 1
        near, far = c * CELL_PX, (c + 1) * CELL_PX
    elif c < own:
        border, end, step = own, c, -1
        near, far = (c + 1) * CELL_PX, c * CELL_PX
    else:
        return -1
    while border != end:
        if border * CELL_PX != x:
            # Of the lines to the four corners, where the outermost cross the border.
            a = (border * CELL_PX - x) / (near - x)
            b = (border * CELL_PX - x) / (far - x)
            low = y + min(a * (r * CELL_PX - y), b * (r * CELL_PX - y))
            high = y + max(a * ((r + 1) * CELL_PX - y), b * ((r + 1) * CELL_PX - y))
            if is_closed(gaps, border, low, high, pieces):
                return border
        border += step
    return -1


cdef void find_hidden(
    unsigned char[::1] outlook,
    const unsigned char[::1] rooms,
    const int[:, ::1] upright,
    const int[:, ::1] level,
    double x,
    double y,
) noexcept:
    """Name a border for each cell to which all lines are closed."""
    cdef int c, r, border
    for c in range(COLUMNS):
        for r in range(ROWS):
            if not rooms[c * ROWS + r]:
                continue
            border = closed_border(upright, x, y, c, r, 2 * ROWS)
            if border >= 0:
                outlook[c * ROWS + r] = 1 + border
                continue
            border = closed_border(level, y, x, r, c, 2 * COLUMNS)
            if border >= 0:
                outlook[c * ROWS + r] = OUTLOOK_ROWS + border


cdef void find_clear(unsigned char[::1] outlook, unsigned char[::1] walled, int own_c, int own_r) noexcept:
    """Mark the cells to which all lines lead through cells without walls, from the turret's own outwards."""
    cdef int steps, c, r, up, way
    for steps in range(COLUMNS + ROWS):
        for c in range(max(own_c - steps, 0), min(own_c + steps, COLUMNS - 1) + 1):
            up = steps - abs(c - own_c)
            for way in range(-1, 2, 2):
                r = own_r + way * up
                if 0 <= r < ROWS and not walled[c * ROWS + r] and is_clear_before(outlook, own_c, own_r, c, r):
                    outlook[c * ROWS + r] = OUTLOOK_CLEAR


cdef bint is_clear_before(unsigned char[::1] outlook, int own_c, int own_r, int c, int r) noexcept:
    """Whether the cells from which a line may enter this one are clear."""
    cdef int back_c = (own_c > c) - (own_c < c)
    cdef int back_r = (own_r > r) - (own_r < r)
    if back_c != 0 and outlook[(c + back_c) * ROWS + r] != OUTLOOK_CLEAR:
        return False
    if back_r != 0 and outlook[c * ROWS + r + back_r] != OUTLOOK_CLEAR:
        return False
    return (back_c == 0 and back_r == 0) or outlook[(c + back_c) * ROWS + r + back_r] == OUTLOOK_CLEAR
