"""What is known of the walls around each place of a level, worked out once: most queries then look at no wall at all.

Every entry leaves out only work that cannot change an answer. It holds for a whole part of a cell, with all walls that
a query from there may look at: those of the cells within its reach.
"""

import numpy as np

from npp_env.sim.layout cimport (
    AROUND_FREE, AROUND_FRONT, AROUND_UNTOUCHED, CELL_PX, COLUMNS, HALF_COLUMNS, HALF_PX, HALF_ROWS, LINES_LYING,
    LINES_OTHER, LINES_UPRIGHT, ROWS, WALL_CONVEX, WALL_HORIZONTAL, WALL_SLANTED, WALL_VERTICAL, Wall,
)

cdef enum:
    N_LINES = HALF_COLUMNS + 1 + 2 * HALF_COLUMNS, MOST_WALLS = 96, THIRDS = 3, FULL_TILE = 1

# A part of a cell along an axis, by the cells within 10 px of it: the one before and its own, its own, or that and the
# next; and parts from which a wall may be touched (within 10.1 px, and level with the ninja).
cdef int[4] BORDERS = [0, 10, 14, 24]
cdef int[4] TOUCH_BORDERS_X = [0, 11, 13, 24]
cdef int[4] TOUCH_BORDERS_Y = [0, 1, 23, 24]
cdef double TOUCH_PX = 10.2
cdef double LEVEL_PX = 0.001
cdef double NINJA_REACH = 100
# Squares of distances differ by more than the 0.1 by which front faces are preferred.
cdef double CLEARLY = 0.2
cdef double ROUNDING_PX = 0.001
cdef double ARC_PX = 24

# A wall as the parts of a cell see it.
cdef struct Seen:
    int cell, column, row       # of its cell; column and row relative to the present one
    bint steady                 # part of a tile, and straight along an axis
    double left, right, top, bottom
    double[3] near_x, near_y    # squares of the least and greatest distances along an axis
    double[3] far_x, far_y
    bint[9] front               # whether it shows its front to all of a part


cdef inline double square_of_gap(double a, double b) noexcept:
    """Square of the greater of two distances, 0 if there is none."""
    cdef double gap = max(a, b)
    return gap * gap if gap > 0 else 0.0


cdef void bound(Wall* wall, Seen* seen) noexcept:
    """The box that a wall lies in."""
    cdef double x2 = wall.x2
    cdef double y2 = wall.y2
    if wall.kind >= WALL_CONVEX:
        x2 = wall.x1 + ARC_PX * wall.x2
        y2 = wall.y1 + ARC_PX * wall.y2
    seen.left = min(wall.x1, x2)
    seen.right = max(wall.x1, x2)
    seen.top = min(wall.y1, y2)
    seen.bottom = max(wall.y1, y2)


cdef bint shows_front(Wall* wall, double left, double right, double top, double bottom) noexcept:
    """Whether a wall shows its front to every point of a box; if in doubt, it does not."""
    cdef double ex = wall.x2 - wall.x1
    cdef double ey = wall.y2 - wall.y1
    cdef double low, high
    if wall.door >= 0:
        return True
    if wall.kind == WALL_HORIZONTAL:
        return top >= wall.y1 if ex > 0 else bottom <= wall.y1
    if wall.kind == WALL_VERTICAL:
        return right <= wall.x1 if ey > 0 else left >= wall.x1
    if wall.kind == WALL_SLANTED:
        low = min((top - wall.y1) * ex, (bottom - wall.y1) * ex)
        high = max((left - wall.x1) * ey, (right - wall.x1) * ey)
        return low - high > ROUNDING_PX
    # Of an arc x2 and y2 are its quadrant; from outside of it, its nearest point is an end.
    if max((left - wall.x1) * wall.x2, (right - wall.x1) * wall.x2) <= 0:
        return True
    if max((top - wall.y1) * wall.y2, (bottom - wall.y1) * wall.y2) <= 0:
        return True
    if wall.kind == WALL_CONVEX:
        low = square_of_gap(left - wall.x1, wall.x1 - right) + square_of_gap(top - wall.y1, wall.y1 - bottom)
        return low > (ARC_PX + ROUNDING_PX) * (ARC_PX + ROUNDING_PX)
    high = max((left - wall.x1) * (left - wall.x1), (right - wall.x1) * (right - wall.x1))
    high += max((top - wall.y1) * (top - wall.y1), (bottom - wall.y1) * (bottom - wall.y1))
    return high < (ARC_PX - ROUNDING_PX) * (ARC_PX - ROUNDING_PX)


cdef void look_at(Wall* wall, int c, int r, Seen* seen) noexcept:
    """How the parts of cell (c, r) see a wall."""
    cdef int k, m
    cdef double[4] x, y
    bound(wall, seen)
    seen.steady = wall.kind <= WALL_VERTICAL and wall.door < 0
    for k in range(THIRDS + 1):
        x[k] = CELL_PX * c + BORDERS[k]
        y[k] = CELL_PX * r + BORDERS[k]
    for k in range(THIRDS):
        seen.near_x[k] = square_of_gap(seen.left - x[k + 1], x[k] - seen.right)
        seen.near_y[k] = square_of_gap(seen.top - y[k + 1], y[k] - seen.bottom)
        seen.far_x[k] = square_of_gap(seen.left - x[k], x[k + 1] - seen.right)
        seen.far_y[k] = square_of_gap(seen.top - y[k], y[k + 1] - seen.bottom)
    for k in range(THIRDS):
        for m in range(THIRDS):
            # An upright wall looks the same from all of a column, and a level one from all of a row.
            if m > 0 and wall.kind == WALL_VERTICAL:
                seen.front[THIRDS * k + m] = seen.front[THIRDS * k]
            elif k > 0 and wall.kind == WALL_HORIZONTAL:
                seen.front[THIRDS * k + m] = seen.front[m]
            else:
                seen.front[THIRDS * k + m] = shows_front(wall, x[k], x[k + 1], y[m], y[m + 1])


cdef inline bint may_matter(Seen* seen, int k, int m) noexcept:
    """Whether a query from part (k, m) may look at the cell of a wall."""
    return not ((k == 0 and seen.column > 0) or (k == 2 and seen.column < 0) or (m == 0 and seen.row > 0)
                or (m == 2 and seen.row < 0))


cdef bint never_nearest(Seen* seen, int count, int i, int k, int m) noexcept:
    """Whether, from all of part (k, m), another wall that is always looked at is nearer than wall i."""
    cdef double reach = seen[i].near_x[k] + seen[i].near_y[m] - CLEARLY
    cdef int j
    for j in range(count):
        if not seen[j].steady or not seen[j].front[THIRDS * k + m]:
            continue
        if seen[j].cell != seen[i].cell and (seen[j].column != 0 or seen[j].row != 0):
            continue
        if seen[j].far_x[k] + seen[j].far_y[m] < reach:
            return True
    return False


cdef unsigned int judge_part(Seen* seen, int count, int k, int m) noexcept:
    """What is known of the nearest wall from part (k, m) of a cell."""
    cdef bint free = True
    cdef int i
    for i in range(count):
        if not may_matter(&seen[i], k, m):
            continue
        if not seen[i].front[THIRDS * k + m] and not never_nearest(seen, count, i, k, m):
            return 0
        free = free and seen[i].near_x[k] + seen[i].near_y[m] >= NINJA_REACH
    return (<unsigned int>(AROUND_FREE | AROUND_FRONT) if free else <unsigned int>AROUND_FRONT) << (THIRDS * k + m)


cdef unsigned int judge_touch(Seen* seen, int count, int c, int r, int k, int m) noexcept:
    """Whether no wall can be touched from part (k, m) of cell (c, r)."""
    cdef double left = CELL_PX * c + TOUCH_BORDERS_X[k] - TOUCH_PX
    cdef double right = CELL_PX * c + TOUCH_BORDERS_X[k + 1] + TOUCH_PX
    cdef double top = CELL_PX * r + TOUCH_BORDERS_Y[m] - LEVEL_PX
    cdef double bottom = CELL_PX * r + TOUCH_BORDERS_Y[m + 1] + LEVEL_PX
    cdef int i
    for i in range(count):
        if seen[i].right >= left and seen[i].left <= right and seen[i].bottom >= top and seen[i].top <= bottom:
            return 0
    return <unsigned int>AROUND_UNTOUCHED << (THIRDS * k + m)


cdef unsigned int judge_cell(Wall* walls, const unsigned short[::1] start, int c, int r) noexcept:
    """All that is known around cell (c, r)."""
    cdef Seen[MOST_WALLS] seen
    cdef int count = 0
    cdef int column, row, i, k, m
    cdef unsigned int known = 0
    for column in range(max(c - 1, 0), min(c + 1, COLUMNS - 1) + 1):
        for row in range(max(r - 1, 0), min(r + 1, ROWS - 1) + 1):
            for i in range(start[column * ROWS + row], start[column * ROWS + row + 1]):
                if count == MOST_WALLS:
                    return 0
                seen[count].cell = column * ROWS + row
                seen[count].column = column - c
                seen[count].row = row - r
                look_at(&walls[i], c, r, &seen[count])
                count += 1
    for k in range(THIRDS):
        for m in range(THIRDS):
            known |= judge_part(seen, count, k, m) | judge_touch(seen, count, c, r, k, m)
    return known


def build_around(const unsigned char[:, ::1] tiles, walls, const unsigned short[::1] start):
    """What is known around each cell: bits `AROUND_...`, one for each of its nine parts.

    Args:
        tiles: uint8 (44, 25), by column and row. Of full tiles nothing is known: the ninja hardly ever enters them.
        walls: `WALL` (n,), by cell.
        start: Where each cell begins in them.

    Returns:
        A fresh uint32 array (1100,).
    """
    cdef unsigned int[::1] around = np.zeros(COLUMNS * ROWS, np.uint32)
    cdef const unsigned char[::1] data = walls.view(np.uint8)
    cdef int c, r
    for c in range(COLUMNS):
        for r in range(ROWS):
            if tiles[c, r] != FULL_TILE:
                around[c * ROWS + r] = judge_cell(<Wall*>&data[0], start, c, r)
    return np.asarray(around)


cdef void mark(unsigned long long[::1] lines, int first, int from_line, int to_line, int from_bit, int to_bit) noexcept:
    """Set bits of some of the lines that begin at `first`, as far as they lie in the map."""
    cdef int line
    from_bit = max(from_bit, 0)
    to_bit = min(to_bit, HALF_ROWS)
    if from_bit > to_bit:
        return
    for line in range(max(from_line, 0), min(to_line, HALF_COLUMNS - 1 + (first == LINES_UPRIGHT)) + 1):
        lines[first + line] |= (<unsigned long long>2 << to_bit) - (<unsigned long long>1 << from_bit)


cdef inline int last_half(double low, double high) noexcept:
    """The last half cell of those that a wall from low to high lies in."""
    cdef int last = <int>(high / HALF_PX)
    return last - 1 if last * HALF_PX == high and high > low else last


def build_lines(walls):
    """Which walls lie on the half grid, and where there are others.

    Args:
        walls: `WALL` (n,).

    Returns:
        A fresh uint64 array: for each of the 89 upright lines of the half grid a bit for each half row of it that is a
        wall; for each of the 88 half columns one for each level line; and for each of them one for each half row that a
        wall of another kind may lie in.
    """
    cdef unsigned long long[::1] lines = np.zeros(N_LINES, np.uint64)
    cdef const unsigned char[::1] data = walls.view(np.uint8)
    cdef Wall* wall
    cdef Seen seen
    cdef int i, left, right, top, bottom
    for i in range(len(walls)):
        wall = &(<Wall*>&data[0])[i]
        bound(wall, &seen)
        if seen.right < 0 or seen.bottom < 0:
            continue
        left, right = <int>(seen.left / HALF_PX), last_half(seen.left, seen.right)
        top, bottom = <int>(seen.top / HALF_PX), last_half(seen.top, seen.bottom)
        if wall.kind == WALL_VERTICAL and left * HALF_PX == seen.left:
            mark(lines, LINES_UPRIGHT, left, left, top, bottom)
        elif wall.kind == WALL_HORIZONTAL and top * HALF_PX == seen.top:
            mark(lines, LINES_LYING, left, right, top, top)
        else:
            mark(lines, LINES_OTHER, left, right, top, bottom)
    return np.asarray(lines)
