"""Geometric queries against the walls of a level: nearest point, swept circle, ray.

The walls of one column of cells lie one after the other in memory, so a box is a run of walls per column.
Every shortcut below leaves out only work that cannot change the result in any bit: floating point rounding is
monotone, so a lower bound of a distance stays one after rounding, and sweeps are left out only with a margin
(`SLACK_PX`) that is many orders of magnitude above rounding errors.
"""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import fabs, sqrt
    from cython.cimports.npp_env.sim.layout import Level, World, column_of, ifloor, row_of
else:
    from math import fabs, sqrt

    from npp_env.sim.structs import column_of, ifloor, row_of

ARC_RADIUS = cython.declare(cython.double, 24.0)
TOUCH_RADIUS = cython.declare(cython.double, 10.1)
FRONT_BONUS = cython.declare(cython.double, 0.1)
SLACK_PX = cython.declare(cython.double, 0.01)
RAY_PX = cython.declare(cython.double, 2000.0)

HORIZONTAL = cython.declare(cython.int, 0)
VERTICAL = cython.declare(cython.int, 1)
SLANTED = cython.declare(cython.int, 2)
CONVEX = cython.declare(cython.int, 3)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_open(w: cython.pointer(World), i: cython.int) -> cython.int:
    """Whether wall i is the line of an open door."""
    return w.level.walls[i].door >= 0 and (w.flags[w.level.walls[i].door] & 1) != 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def closest_on_wall(w: cython.pointer(World), i: cython.int, x: cython.double, y: cython.double) -> cython.void:
    """Put the nearest point of wall i into (a, b) and whether the wall is seen from behind into back."""
    x1: cython.double = w.level.walls[i].x1
    y1: cython.double = w.level.walls[i].y1
    x2: cython.double = w.level.walls[i].x2
    y2: cython.double = w.level.walls[i].y2
    dx: cython.double = x - x1
    dy: cython.double = y - y1
    kind: cython.int = w.level.walls[i].kind
    ex: cython.double
    ey: cython.double
    u: cython.double
    d: cython.double
    if kind < CONVEX:
        ex = x2 - x1
        ey = y2 - y1
        u = (dx * ex + dy * ey) / (ex * ex + ey * ey)
        if u < 0:
            u = 0
        if u > 1:
            u = 1
        w.a = x1 + u * ex
        w.b = y1 + u * ey
        w.back = w.level.walls[i].door < 0 and dy * ex - dx * ey < 0
        return
    if dx * x2 > 0 and dy * y2 > 0:
        d = sqrt(dx * dx + dy * dy)
        w.a = x1 + ARC_RADIUS * dx / d
        w.b = y1 + ARC_RADIUS * dy / d
        if kind == CONVEX:
            w.back = d < ARC_RADIUS
        else:
            w.back = d > ARC_RADIUS
        return
    w.back = 0
    if dx * x2 > dy * y2:
        w.a = x1 + ARC_RADIUS * x2
        w.b = y1
    else:
        w.a = x1
        w.b = y1 + ARC_RADIUS * y2


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def nearest_point(w: cython.pointer(World), x: cython.double, y: cython.double, rho: cython.double) -> cython.int:
    """Nearest wall point (a, b) among the cells within rho; front faces are preferred by a little.

    Returns:
        +1 if the wall shows its front, -1 if its back, 0 if there is no wall.
    """
    level: cython.pointer(Level) = w.level
    r1: cython.int = row_of(y - rho)
    r2: cython.int = row_of(y + rho)
    c2: cython.int = column_of(x + rho)
    best: cython.double = 9999999.0
    best_a: cython.double = 0.0
    best_b: cython.double = 0.0
    side: cython.int = 0
    c: cython.int
    i: cython.int
    kind: cython.int
    back: cython.int
    t: cython.double
    u: cython.double
    q: cython.double
    a: cython.double = 0.0
    b: cython.double = 0.0
    e: cython.double
    z1: cython.double
    d: cython.double
    for c in range(column_of(x - rho), c2 + 1):
        for i in range(level.wall_start[c * 25 + r1], level.wall_start[c * 25 + r2 + 1]):
            if level.walls[i].door >= 0 and (w.flags[level.walls[i].door] & 1) != 0:
                continue
            kind = level.walls[i].kind
            if kind <= VERTICAL:
                # The axis-aligned cases of closest_on_wall, with the products by zero left out.
                if kind == HORIZONTAL:
                    b = level.walls[i].y1
                    d = y - b
                    t = d * d
                    if t - FRONT_BONUS >= best:
                        continue
                    z1 = level.walls[i].x1
                    e = level.walls[i].x2 - z1
                    u = (x - z1) * e / (e * e)
                    back = d * e < 0
                else:
                    a = level.walls[i].x1
                    d = x - a
                    t = d * d
                    if t - FRONT_BONUS >= best:
                        continue
                    z1 = level.walls[i].y1
                    e = level.walls[i].y2 - z1
                    u = (y - z1) * e / (e * e)
                    back = d * e > 0
                if u < 0:
                    u = 0
                if u > 1:
                    u = 1
                if kind == HORIZONTAL:
                    a = z1 + u * e
                    q = (x - a) * (x - a) + t
                else:
                    b = z1 + u * e
                    q = t + (y - b) * (y - b)
                if level.walls[i].door >= 0:
                    back = 0
            else:
                closest_on_wall(w, i, x, y)
                a = w.a
                b = w.b
                back = w.back
                q = (x - a) * (x - a) + (y - b) * (y - b)
            if back == 0:
                q = q - FRONT_BONUS
            if q < best:
                best = q
                best_a = a
                best_b = b
                side = -1 if back else 1
    w.a = best_a
    w.b = best_b
    return side


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def nearest_plain(w: cython.pointer(World), x: cython.double, y: cython.double, reach: cython.double) -> cython.int:
    """Nearest wall point (a, b) by plain distance, doors winning ties; sets back and on_door.

    Returns:
        The index of the wall, or -1.
    """
    r1: cython.int = row_of(y - reach)
    r2: cython.int = row_of(y + reach)
    c2: cython.int = column_of(x + reach)
    best: cython.double = 9999999.0
    best_a: cython.double = 0.0
    best_b: cython.double = 0.0
    best_back: cython.int = 0
    best_door: cython.int = 0
    found: cython.int = -1
    c: cython.int
    i: cython.int
    is_door: cython.int
    q: cython.double
    for c in range(column_of(x - reach), c2 + 1):
        for i in range(w.level.wall_start[c * 25 + r1], w.level.wall_start[c * 25 + r2 + 1]):
            if is_open(w, i):
                continue
            closest_on_wall(w, i, x, y)
            q = (x - w.a) * (x - w.a) + (y - w.b) * (y - w.b)
            is_door = w.level.walls[i].door >= 0
            if q < best or (q == best and is_door and not best_door):
                best = q
                best_a = w.a
                best_b = w.b
                best_back = w.back
                best_door = is_door
                found = i
    w.a = best_a
    w.b = best_b
    w.back = best_back
    w.on_door = best_door
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def touched_wall(w: cython.pointer(World), x: cython.double, y: cython.double) -> cython.double:
    """Horizontal normal of the first wall within reach whose nearest point is level with (x, y), else 0."""
    level: cython.pointer(Level) = w.level
    r1: cython.int = row_of(y - TOUCH_RADIUS)
    r2: cython.int = row_of(y + TOUCH_RADIUS)
    c2: cython.int = column_of(x + TOUCH_RADIUS)
    c: cython.int
    i: cython.int
    kind: cython.int
    dx: cython.double
    dy: cython.double
    d: cython.double
    for c in range(column_of(x - TOUCH_RADIUS), c2 + 1):
        for i in range(level.wall_start[c * 25 + r1], level.wall_start[c * 25 + r2 + 1]):
            kind = level.walls[i].kind
            if kind == HORIZONTAL and fabs(y - level.walls[i].y1) >= 0.00001:
                continue
            if kind == VERTICAL and fabs(x - level.walls[i].x1) > TOUCH_RADIUS:
                continue
            if is_open(w, i):
                continue
            closest_on_wall(w, i, x, y)
            dy = y - w.b
            if fabs(dy) >= 0.00001:
                continue
            dx = x - w.a
            d = sqrt(dx * dx + dy * dy)
            if d > 0 and d <= TOUCH_RADIUS and dx / d != 0:
                return dx / d
    return 0.0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sweep_point(
    a: cython.double,
    b: cython.double,
    x: cython.double,
    y: cython.double,
    vx: cython.double,
    vy: cython.double,
    rho: cython.double,
) -> cython.double:
    """Fraction of the displacement until the circle meets the point (a, b)."""
    dx: cython.double = x - a
    dy: cython.double = y - b
    gap: cython.double = dx * dx + dy * dy - rho * rho
    if gap > 0:
        p: cython.double = dx * vx + dy * vy
        if p < 0:
            speed: cython.double = vx * vx + vy * vy
            k: cython.double = p * p - speed * gap
            if speed > 0.0001 and k >= 0:
                return (-p - sqrt(k)) / speed
        return 1.0
    return 0.0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def sweep_line(
    s: cython.double,
    t0: cython.double,
    r: cython.double,
    along: cython.double,
    length: cython.double,
    rho: cython.double,
) -> cython.double:
    """Fraction until the circle meets the inside of a segment.

    Args:
        s: Signed distance from the line.
        t0: Position along the line.
        r: Speed towards the line's side.
        along: Speed along the line.
        length: Length of the segment.
        rho: Radius of the circle.
    """
    tau: cython.double
    t1: cython.double
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


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def sweep_arc(
    qx: cython.double,
    qy: cython.double,
    dx: cython.double,
    dy: cython.double,
    vx: cython.double,
    vy: cython.double,
    rho: cython.double,
) -> cython.double:
    """Fraction until the circle, at (dx, dy) from the arc's centre, meets the arc of quadrant (qx, qy)."""
    square: cython.double = dx * dx + dy * dy
    speed: cython.double = vx * vx + vy * vy
    p: cython.double = dx * vx + dy * vy
    outer: cython.double = ARC_RADIUS + rho
    inner: cython.double = ARC_RADIUS - rho
    tau: cython.double = 1.0
    k: cython.double
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sweep_wall(
    w: cython.pointer(World),
    i: cython.int,
    x: cython.double,
    y: cython.double,
    vx: cython.double,
    vy: cython.double,
    rho: cython.double,
) -> cython.double:
    """Fraction of the displacement until the circle meets wall i."""
    x1: cython.double = w.level.walls[i].x1
    y1: cython.double = w.level.walls[i].y1
    x2: cython.double = w.level.walls[i].x2
    y2: cython.double = w.level.walls[i].y2
    kind: cython.int = w.level.walls[i].kind
    tau: cython.double
    other: cython.double
    length: cython.double
    nx: cython.double
    ny: cython.double
    if kind >= CONVEX:
        tau = sweep_arc(x2, y2, x - x1, y - y1, vx, vy, rho)
        other = sweep_point(x1 + ARC_RADIUS * x2, y1, x, y, vx, vy, rho)
        if other < tau:
            tau = other
        other = sweep_point(x1, y1 + ARC_RADIUS * y2, x, y, vx, vy, rho)
        if other < tau:
            tau = other
        return tau
    if kind == HORIZONTAL:
        nx = 1.0 if x2 > x1 else -1.0
        tau = sweep_line(-(y - y1) * nx, (x - x1) * nx, -vy * nx, vx * nx, (x2 - x1) * nx, rho)
    elif kind == VERTICAL:
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sweep(
    w: cython.pointer(World),
    x: cython.double,
    y: cython.double,
    vx: cython.double,
    vy: cython.double,
    rho: cython.double,
) -> cython.double:
    """Fraction (at most 1) of the displacement until the circle meets any wall."""
    level: cython.pointer(Level) = w.level
    left: cython.double = x
    right: cython.double = x + vx
    top: cython.double = y
    bottom: cython.double = y + vy
    if right < left:
        left, right = right, left
    if bottom < top:
        top, bottom = bottom, top
    m: cython.double = rho + 1
    c1: cython.int = column_of(left - m)
    c2: cython.int = column_of(right + m)
    r1: cython.int = row_of(top - m)
    r2: cython.int = row_of(bottom + m)
    m = rho + SLACK_PX
    left -= m
    right += m
    top -= m
    bottom += m
    result: cython.double = 1.0
    tau: cython.double
    x1: cython.double
    y1: cython.double
    x2: cython.double
    y2: cython.double
    c: cython.int
    i: cython.int
    for c in range(c1, c2 + 1):
        for i in range(level.wall_start[c * 25 + r1], level.wall_start[c * 25 + r2 + 1]):
            x1 = level.walls[i].x1
            y1 = level.walls[i].y1
            x2 = level.walls[i].x2
            y2 = level.walls[i].y2
            if level.walls[i].kind >= CONVEX:
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def ray_length(
    w: cython.pointer(World), x: cython.double, y: cython.double, dx: cython.double, dy: cython.double
) -> cython.double:
    """Distance along the unit direction to the first active wall; 2000 if there is none."""
    c: cython.int = ifloor(x / 24)
    r: cython.int = ifloor(y / 24)
    step_c: cython.int = 0
    step_r: cython.int = 0
    delta_x: cython.double = 0.0
    delta_y: cython.double = 0.0
    next_x: cython.double = 999999.0
    next_y: cython.double = 999999.0
    best: cython.double
    tau: cython.double
    i: cython.int
    cell: cython.int
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
        cell = min(max(c, 0), 43) * 25 + min(max(r, 0), 24)
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
            if c < 0 or c > 43:
                return RAY_PX
        else:
            r += step_r
            next_y += delta_y
            if r < 0 or r > 24:
                return RAY_PX
