"""Swept circles and rays against the walls of a level (physics 4.4, 4.6).

The walls of one column of cells lie one after the other in memory, so a box is a run of walls per column. Walls are
left out only with a margin (`SLACK_PX`) that is many orders of magnitude above rounding errors.
"""

from libc.math cimport fabs, sqrt
from npp_env.sim.layout cimport (
    COLUMNS, ROWS, WALL_CONVEX, WALL_HORIZONTAL, WALL_VERTICAL, Level, World, column_of, ifloor, row_of,
)
from npp_env.sim.walls cimport ARC_RADIUS, is_open

cdef double SLACK_PX = 0.01
cdef double RAY_PX = 2000.0


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
    cdef double m = rho + 1
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


cdef double ray_length(World* w, double x, double y, double dx, double dy) noexcept nogil:
    """Distance along the unit direction to the first active wall; 2000 if there is none."""
    cdef int c = ifloor(x / 24)
    cdef int r = ifloor(y / 24)
    cdef int step_c = 0
    cdef int step_r = 0
    cdef double delta_x = 0.0
    cdef double delta_y = 0.0
    cdef double next_x = 999999.0
    cdef double next_y = 999999.0
    cdef double best, tau
    cdef int i, cell
    if dx > 0:
        step_c = 1
        delta_x = 24 / dx
        next_x = ((c + 1) * 24 - x) / dx
    elif dx < 0:
        step_c = -1
        delta_x = -24 / dx
        next_x = (c * 24 - x) / dx
    if dy > 0:
        step_r = 1
        delta_y = 24 / dy
        next_y = ((r + 1) * 24 - y) / dy
    elif dy < 0:
        step_r = -1
        delta_y = -24 / dy
        next_y = (r * 24 - y) / dy
    while True:
        cell = min(max(c, 0), COLUMNS - 1) * ROWS + min(max(r, 0), ROWS - 1)
        best = 1.0
        for i in range(w.level.wall_start[cell], w.level.wall_start[cell + 1]):
            if is_open(w, i):
                continue
            tau = sweep_wall(w, i, x, y, RAY_PX * dx, RAY_PX * dy, 0.0)
            if tau < best:
                best = tau
        if best < 1:
            return RAY_PX * best
        if next_x < next_y:
            c += step_c
            next_x += delta_x
            if c < 0 or c >= COLUMNS:
                return RAY_PX
        else:
            r += step_r
            next_y += delta_y
            if r < 0 or r >= ROWS:
                return RAY_PX
