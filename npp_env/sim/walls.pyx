"""Nearest points of the walls of a level (physics 4.1 to 4.3).

The walls of one column of cells lie one after the other in memory, so a box is a run of walls per column.
Every shortcut below leaves out only work that cannot change the result in any bit: floating point rounding is
monotone, so a lower bound of a distance stays one after rounding.
"""

from libc.math cimport fabs, sqrt
from npp_env.sim.body cimport NINJA_RADIUS
from npp_env.sim.layout cimport (
    AROUND_FRONT, AROUND_UNTOUCHED, CELL_PX, COLUMNS, ROWS, WALL_CONVEX, WALL_HORIZONTAL, WALL_VERTICAL,
    Level, Wall, WallPoint, World, column_of, row_of,
)

cdef double TOUCH_RADIUS = 10.1
cdef double FRONT_BONUS = 0.1
cdef double FAR = 9999999.0
# The square of a distance, less the bonus, from which on a front face does not push the ninja.
cdef double OUT_OF_REACH = 100.2


cdef WallPoint closest_on_wall(World* w, int i, double x, double y) noexcept nogil:
    """The nearest point of wall i, and whether the wall is seen from behind (4.2)."""
    cdef Wall* wall = &w.level.walls[i]
    cdef double x1 = wall.x1
    cdef double y1 = wall.y1
    cdef double x2 = wall.x2
    cdef double y2 = wall.y2
    cdef double dx = x - x1
    cdef double dy = y - y1
    cdef double ex, ey, u, d
    cdef bint back
    if wall.kind < WALL_CONVEX:
        ex = x2 - x1
        ey = y2 - y1
        u = (dx * ex + dy * ey) / (ex * ex + ey * ey)
        if u < 0:
            u = 0
        if u > 1:
            u = 1
        back = wall.door < 0 and dy * ex - dx * ey < 0
        return WallPoint(x1 + u * ex, y1 + u * ey, -1 if back else 1, i)
    if dx * x2 > 0 and dy * y2 > 0:
        d = sqrt(dx * dx + dy * dy)
        back = d < ARC_RADIUS if wall.kind == WALL_CONVEX else d > ARC_RADIUS
        return WallPoint(x1 + ARC_RADIUS * dx / d, y1 + ARC_RADIUS * dy / d, -1 if back else 1, i)
    if dx * x2 > dy * y2:
        return WallPoint(x1 + ARC_RADIUS * x2, y1, 1, i)
    return WallPoint(x1, y1 + ARC_RADIUS * y2, 1, i)


cdef WallPoint nearest_point(World* w, double x, double y, double rho) noexcept nogil:
    """Nearest wall point among the cells within rho (4.3); front faces are preferred by a little."""
    return nearest_below(w, x, y, rho, FAR)


cdef WallPoint nearest_to_ninja(World* w, double x, double y, unsigned int known) noexcept nogil:
    """As `nearest_point` within the ninja's radius; without those that do not push it, where only these can win."""
    return nearest_below(w, x, y, NINJA_RADIUS, OUT_OF_REACH if known & AROUND_FRONT else FAR)


cdef WallPoint nearest_below(World* w, double x, double y, double rho, double best) noexcept nogil:
    """Nearest wall point among the cells within rho whose square of distance, less the bonus, is below `best`."""
    cdef Level* level = w.level
    cdef int r1 = row_of(y - rho)
    cdef int r2 = row_of(y + rho)
    cdef int c2 = column_of(x + rho)
    cdef WallPoint found = WallPoint(0.0, 0.0, 0, -1)
    cdef WallPoint point
    cdef Wall* wall
    cdef int c, i
    cdef bint lying, back
    cdef double line, along, start, e, d, t, u, q
    for c in range(column_of(x - rho), c2 + 1):
        for i in range(level.wall_start[c * ROWS + r1], level.wall_start[c * ROWS + r2 + 1]):
            wall = &level.walls[i]
            if wall.kind > WALL_VERTICAL:
                point = closest_on_wall(w, i, x, y)
                q = (x - point.x) * (x - point.x) + (y - point.y) * (y - point.y)
                if point.side > 0:
                    q = q - FRONT_BONUS
                if q < best:
                    best = q
                    found = point
                continue
            # The axis-aligned cases of closest_on_wall, with the products by zero left out.
            lying = wall.kind == WALL_HORIZONTAL
            line = wall.y1 if lying else wall.x1
            d = (y if lying else x) - line
            t = d * d
            if t - FRONT_BONUS >= best or is_open(w, i):
                continue
            along = x if lying else y
            start = wall.x1 if lying else wall.y1
            e = (wall.x2 if lying else wall.y2) - start
            u = (along - start) * e
            u = 0.0 if u < 0 else 1.0 if u > e * e else u / (e * e)
            u = start + u * e
            q = t + (along - u) * (along - u)
            back = wall.door < 0 and (d * e < 0 if lying else d * e > 0)
            if not back:
                q = q - FRONT_BONUS
            if q < best:
                best = q
                found = WallPoint(u if lying else line, line if lying else u, -1 if back else 1, i)
    return found


cdef WallPoint nearest_plain(World* w, double x, double y, double reach) noexcept nogil:
    """Nearest wall point by plain distance, doors winning ties (6.14)."""
    cdef Wall* walls = w.level.walls
    cdef int r1 = row_of(y - reach)
    cdef int r2 = row_of(y + reach)
    cdef int c2 = column_of(x + reach)
    cdef double best = FAR
    cdef WallPoint found = WallPoint(0.0, 0.0, 0, -1)
    cdef WallPoint point
    cdef int c, i
    cdef double q
    for c in range(column_of(x - reach), c2 + 1):
        for i in range(w.level.wall_start[c * ROWS + r1], w.level.wall_start[c * ROWS + r2 + 1]):
            if is_open(w, i):
                continue
            point = closest_on_wall(w, i, x, y)
            q = (x - point.x) * (x - point.x) + (y - point.y) * (y - point.y)
            if q < best or (q == best and found.side != 0 and walls[i].door >= 0 and walls[found.wall].door < 0):
                best = q
                found = point
    return found


cdef double touched_wall(World* w, double x, double y) noexcept nogil:
    """Horizontal normal of the first wall within reach whose nearest point is level with (x, y), else 0 (5.6)."""
    cdef Level* level = w.level
    cdef int c, i, kind
    cdef double dx, dy, d
    cdef WallPoint point
    if x >= 0 and y >= 0 and x < CELL_PX * COLUMNS and y < CELL_PX * ROWS:
        c = <int>x // CELL_PX
        i = <int>y // CELL_PX
        kind = 3 * third(<int>x - CELL_PX * c, 11, 13) + third(<int>y - CELL_PX * i, 1, 23)
        if level.around[c * ROWS + i] >> kind & AROUND_UNTOUCHED:
            return 0.0
    cdef int r1 = row_of(y - TOUCH_RADIUS)
    cdef int r2 = row_of(y + TOUCH_RADIUS)
    cdef int c2 = column_of(x + TOUCH_RADIUS)
    for c in range(column_of(x - TOUCH_RADIUS), c2 + 1):
        for i in range(level.wall_start[c * ROWS + r1], level.wall_start[c * ROWS + r2 + 1]):
            kind = level.walls[i].kind
            if kind == WALL_HORIZONTAL and fabs(y - level.walls[i].y1) >= 0.00001:
                continue
            if kind == WALL_VERTICAL and fabs(x - level.walls[i].x1) > TOUCH_RADIUS:
                continue
            if is_open(w, i):
                continue
            point = closest_on_wall(w, i, x, y)
            dy = y - point.y
            if fabs(dy) >= 0.00001:
                continue
            dx = x - point.x
            d = sqrt(dx * dx + dy * dy)
            if d > 0 and d <= TOUCH_RADIUS and dx / d != 0:
                return dx / d
    return 0.0
