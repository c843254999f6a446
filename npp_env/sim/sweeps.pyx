"""Swept circles and rays against the walls of a level (physics 4.4, 4.6).

The walls of one column of cells lie one after the other in memory, so a box is a run of walls per column. Walls are
left out only with a margin (`SLACK_PX`) that is many orders of magnitude above rounding errors.
"""

from libc.math cimport fabs, sqrt
from npp_env.sim.layout cimport (
    COLUMNS, HALF_COLUMNS, HALF_PX, HALF_ROWS, LINES_LYING, LINES_OTHER, LINES_UPRIGHT, ROWS, WALL_CONVEX,
    WALL_HORIZONTAL, WALL_VERTICAL, Level, Wall, World, column_of, ifloor, row_of,
)
from npp_env.sim.walls cimport ARC_RADIUS, is_open

cdef double SLACK_PX = 0.01
# A ray is so long that its sweep takes an end of a wall for met from up to 0.0001 px beside it.
cdef double RAY_SLACK_PX = 0.05


cdef double sweep_point(double a, double b, double x, double y, double vx, double vy, double rho) noexcept nogil:
    """Fraction of the displacement until the circle meets the point (a, b)."""
    cdef double p, speed, k
    cdef double dx = x - a
    cdef double dy = y - b
    cdef double gap = dx * dx + dy * dy - rho * rho
    if gap > 0:
        p = dx * vx + dy * vy
        if p < 0:
            speed = vx * vx + vy * vy
            k = p * p - speed * gap
            if speed > 0.0001 and k >= 0:
                return (-p - sqrt(k)) / speed
        return 1.0
    return 0.0


cdef inline double sweep_line(double s, double t0, double r, double along, double length, double rho) noexcept nogil:
    """Fraction until the circle meets the inside of a segment.

    Args:
        s: Signed distance from the line.
        t0: Position along the line.
        r: Speed towards the line's side.
        along: Speed along the line.
        length: Length of the segment.
        rho: Radius of the circle.
    """
    cdef double tau, t1
    if fabs(s) >= rho:
        if r * s < 0:
            tau = (fabs(s) - rho) / fabs(r)
            if tau > 1:
                tau = 1
            t1 = t0 + tau * along
            if t1 >= 0 and t1 <= length:
                return tau
    elif t0 >= 0 and t0 <= length:
        return 0.0
    return 1.0


cdef inline double sweep_arc(
    double qx, double qy, double dx, double dy, double vx, double vy, double rho
) noexcept nogil:
    """Fraction until the circle, at (dx, dy) from the arc's centre, meets the arc of quadrant (qx, qy)."""
    cdef double square = dx * dx + dy * dy
    cdef double speed = vx * vx + vy * vy
    cdef double p = dx * vx + dy * vy
    cdef double outer = ARC_RADIUS + rho
    cdef double inner = ARC_RADIUS - rho
    cdef double tau = 1.0
    cdef double k
    if square > outer * outer:
        k = p * p - speed * (square - outer * outer)
        if speed > 0.0001 and p < 0 and k >= 0:
            tau = (-p - sqrt(k)) / speed
    elif square < inner * inner:
        k = p * p - speed * (square - inner * inner)
        if speed > 0.0001:
            tau = (-p + sqrt(k)) / speed
            if tau > 1:
                tau = 1.0
    else:
        tau = 0.0
    if (dx + tau * vx) * qx > 0 and (dy + tau * vy) * qy > 0:
        return tau
    return 1.0


cdef double sweep_wall(World* w, int i, double x, double y, double vx, double vy, double rho) noexcept nogil:
    """Fraction of the displacement until the circle meets wall i."""
    cdef double x1 = w.level.walls[i].x1
    cdef double y1 = w.level.walls[i].y1
    cdef double x2 = w.level.walls[i].x2
    cdef double y2 = w.level.walls[i].y2
    cdef int kind = w.level.walls[i].kind
    cdef double tau, other, length, nx, ny
    if kind >= WALL_CONVEX:
        tau = sweep_arc(x2, y2, x - x1, y - y1, vx, vy, rho)
        other = sweep_point(x1 + ARC_RADIUS * x2, y1, x, y, vx, vy, rho)
        if other < tau:
            tau = other
        other = sweep_point(x1, y1 + ARC_RADIUS * y2, x, y, vx, vy, rho)
        if other < tau:
            tau = other
        return tau
    if kind == WALL_HORIZONTAL:
        nx = 1.0 if x2 > x1 else -1.0
        tau = sweep_line(-(y - y1) * nx, (x - x1) * nx, -vy * nx, vx * nx, (x2 - x1) * nx, rho)
    elif kind == WALL_VERTICAL:
        ny = 1.0 if y2 > y1 else -1.0
        tau = sweep_line((x - x1) * ny, (y - y1) * ny, vx * ny, vy * ny, (y2 - y1) * ny, rho)
    else:
        length = sqrt((x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1))
        nx = (x2 - x1) / length
        ny = (y2 - y1) / length
        tau = sweep_line(
            (x - x1) * ny - (y - y1) * nx,
            (x - x1) * nx + (y - y1) * ny,
            vx * ny - vy * nx,
            vx * nx + vy * ny,
            length,
            rho,
        )
    other = sweep_point(x1, y1, x, y, vx, vy, rho)
    if other < tau:
        tau = other
    other = sweep_point(x2, y2, x, y, vx, vy, rho)
    if other < tau:
        tau = other
    return tau


cdef inline bint walls_within(Level* level, double left, double right, double top, double bottom) noexcept nogil:
    """Whether walls may lie within a box; a wall on its very border counts as outside."""
    if not (left >= 0 and top >= 0 and right < HALF_PX * HALF_COLUMNS and bottom < HALF_PX * HALF_ROWS):
        return True
    cdef int c1 = <int>left // HALF_PX
    cdef int r1 = <int>top // HALF_PX
    cdef int r2 = <int>bottom // HALF_PX
    cdef unsigned long long rows = (<unsigned long long>2 << r2) - (<unsigned long long>1 << r1)
    # The level line above the first half row lies above the box; and so the first upright line to the left of it.
    cdef unsigned long long inner = rows & (rows - 1)
    cdef int c
    if level.lines[LINES_OTHER + c1] & rows or level.lines[LINES_LYING + c1] & inner:
        return True
    for c in range(c1 + 1, <int>right // HALF_PX + 1):
        if (level.lines[LINES_UPRIGHT + c] | level.lines[LINES_OTHER + c]) & rows:
            return True
        if level.lines[LINES_LYING + c] & inner:
            return True
    return False


cdef double sweep(World* w, double x, double y, double vx, double vy, double rho) noexcept nogil:
    """Fraction (at most 1) of the displacement until the circle meets any wall."""
    cdef Level* level = w.level
    cdef double left = x
    cdef double right = x + vx
    cdef double top = y
    cdef double bottom = y + vy
    if right < left:
        left, right = right, left
    if bottom < top:
        top, bottom = bottom, top
    cdef double m = rho + SLACK_PX
    if not walls_within(level, left - m, right + m, top - m, bottom + m):
        return 1.0
    m = rho + 1
    cdef int c1 = column_of(left - m)
    cdef int c2 = column_of(right + m)
    cdef int r1 = row_of(top - m)
    cdef int r2 = row_of(bottom + m)
    m = rho + SLACK_PX
    left -= m
    right += m
    top -= m
    bottom += m
    cdef double result = 1.0
    cdef double tau, x1, y1, x2, y2
    cdef int c, i
    for c in range(c1, c2 + 1):
        for i in range(level.wall_start[c * ROWS + r1], level.wall_start[c * ROWS + r2 + 1]):
            x1 = level.walls[i].x1
            y1 = level.walls[i].y1
            x2 = level.walls[i].x2
            y2 = level.walls[i].y2
            if level.walls[i].kind >= WALL_CONVEX:
                x2 = x1 + ARC_RADIUS * x2
                y2 = y1 + ARC_RADIUS * y2
            if (x1 < left and x2 < left) or (x1 > right and x2 > right):
                continue
            if (y1 < top and y2 < top) or (y1 > bottom and y2 > bottom):
                continue
            if is_open(w, i):
                continue
            tau = sweep_wall(w, i, x, y, vx, vy, rho)
            if tau < result:
                result = tau
                if tau == 0:
                    return 0.0
    return result


# Where a ray stands along one axis.
cdef struct Axis:
    int cell, step
    double next     # length of the ray up to the next cell
    double delta    # from cell to cell


cdef inline Axis axis_of(double position, double d) noexcept nogil:
    """The cells that a ray from a position in direction d will walk along an axis."""
    cdef Axis axis = Axis(ifloor(position / 24), 0, 999999.0, 0.0)
    if d > 0:
        axis.step = 1
        axis.next = ((axis.cell + 1) * 24 - position) / d
        axis.delta = 24 / d
    elif d < 0:
        axis.step = -1
        axis.next = (axis.cell * 24 - position) / d
        axis.delta = -24 / d
    return axis


cdef inline bint step_on(Axis* axis, int cells) noexcept nogil:
    """Go on to the next cell; returns whether there is one."""
    axis.cell += axis.step
    axis.next += axis.delta
    return 0 <= axis.cell < cells


cdef inline double beside(double a, double b, double x, double y, double dx, double dy) noexcept nogil:
    """How far to the side of a ray from (x, y) along a unit direction the point (a, b) lies."""
    return (a - x) * dy - (b - y) * dx


cdef inline bint passes_by(Wall* wall, double x, double y, double dx, double dy) noexcept nogil:
    """Whether a wall lies wholly to one side of a ray, with a margin; an arc lies within its ends and its corner."""
    cdef double x1 = wall.x1
    cdef double y1 = wall.y1
    cdef double x2 = wall.x2
    cdef double y2 = wall.y2
    cdef double a, b, c
    if wall.kind >= WALL_CONVEX:
        x2 = x1 + ARC_RADIUS * x2
        y2 = y1 + ARC_RADIUS * y2
        a = beside(x2, y1, x, y, dx, dy)
        b = beside(x1, y2, x, y, dx, dy)
        c = beside(x2, y2, x, y, dx, dy)
    else:
        a = beside(x1, y1, x, y, dx, dy)
        b = beside(x2, y2, x, y, dx, dy)
        c = a
    if a > 0:
        return a > RAY_SLACK_PX and b > RAY_SLACK_PX and c > RAY_SLACK_PX
    return a < -RAY_SLACK_PX and b < -RAY_SLACK_PX and c < -RAY_SLACK_PX


cdef double ray_in_cell(World* w, int cell, double x, double y, double dx, double dy) noexcept nogil:
    """Distance along the unit direction to the first active wall of a cell; 2000 if there is none."""
    cdef double best = 1.0
    cdef double tau
    cdef int i
    for i in range(w.level.wall_start[cell], w.level.wall_start[cell + 1]):
        if passes_by(&w.level.walls[i], x, y, dx, dy) or is_open(w, i):
            continue
        tau = sweep_wall(w, i, x, y, RAY_PX * dx, RAY_PX * dy, 0.0)
        if tau < best:
            best = tau
    return RAY_PX * best


cdef double ray_length(World* w, double x, double y, double dx, double dy) noexcept nogil:
    """Distance along the unit direction to the first active wall; 2000 if there is none."""
    cdef Axis column = axis_of(x, dx)
    cdef Axis row = axis_of(y, dy)
    cdef double length
    cdef int _step
    # No way through the level is longer; and what is no direction leads nowhere.
    for _step in range(COLUMNS + ROWS):
        length = ray_in_cell(
            w, min(max(column.cell, 0), COLUMNS - 1) * ROWS + min(max(row.cell, 0), ROWS - 1), x, y, dx, dy
        )
        if length < RAY_PX:
            return length
        if not (step_on(&column, COLUMNS) if column.next < row.next else step_on(&row, ROWS)):
            break
    return RAY_PX
