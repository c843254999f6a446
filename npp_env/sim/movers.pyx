"""The advance and react passes: what entities do by themselves before the ninja moves."""

from libc.math cimport fabs, sqrt
from npp_env.sim.body cimport is_target, touches
from npp_env.sim.grid cimport col_free, floor_value, relist, row_free
from npp_env.sim.laser cimport react_laser
from npp_env.sim.layout cimport Level, Mover, Ninja, World, column_of, ifloor, row_of
from npp_env.sim.walls cimport nearest_point, sweep

cdef double ZAP_SPEED = 8.0 / 7.0
cdef double MINI_SPEED = 1.3
cdef double GUARD_SPEED = float.fromhex("0x1.b6db6db6db6dap+1")
cdef double GUARD_STOP_PX = 6 + 0.01
cdef double BLOCK_DRAG = 0.98
cdef double BLOCK_SPRING = float.fromhex("0x1.6c16c16c16c16p-6")
cdef double CHARGE_SPEED = 20.0 / 7.0
cdef double RETURN_SPEED = 8.0 / 7.0
cdef double BALL_MAX_SPEED = 0.85


cdef inline int direction_x(int direction) noexcept nogil:
    """Horizontal part of directions 0..3: right, down, left, up."""
    if direction == 0:
        return 1
    if direction == 2:
        return -1
    return 0


cdef int turn_choice(int mode, int k) noexcept nogil:
    """The k-th turn (quarters clockwise) that a drone of this mode tries; one hexadecimal digit each."""
    cdef int order = 0x2301
    if mode == 1:
        order = 0x2103
    elif mode == 2:
        order = 0x2310
    elif mode == 3:
        order = 0x2130
    return (order >> (4 * k)) & 15


cdef int drone_can_go(World* w, int m, int direction, double radius, double step) noexcept nogil:
    """Whether the way to the next goal is free; if so the goal is stored."""
    cdef int ux = direction_x(direction)
    cdef int uy = direction_x((direction + 3) % 4)
    cdef double x = w.movers[m].x
    cdef double y = w.movers[m].y
    cdef double goal_x = x + step * ux
    cdef double goal_y = y + step * uy
    cdef int i, end, low, high
    if ux != 0:
        low = ifloor((y - radius) / 12)
        high = ifloor((y + radius) / 12)
        i = ifloor((x + ux * radius) / 12)
        end = ifloor((goal_x + ux * radius) / 12)
        while i != end:
            if not col_free(w, i, low, high, ux):
                return 0
            i += ux
    else:
        low = ifloor((x - radius) / 12)
        high = ifloor((x + radius) / 12)
        i = ifloor((y + uy * radius) / 12)
        end = ifloor((goal_y + uy * radius) / 12)
        while i != end:
            if not row_free(w, low, high, i, uy):
                return 0
            i += uy
    w.movers[m].u = goal_x
    w.movers[m].v = goal_y
    return 1


cdef void advance_drone(World* w, int e) noexcept nogil:
    """Zap and mini drones: from goal to goal, turning by mode."""
    cdef int m = w.level.entities[e].slot
    cdef int is_zap = w.level.entities[e].kind == 14
    cdef double speed = ZAP_SPEED if is_zap else MINI_SPEED
    cdef int old = w.movers[m].turn
    cdef int ux = direction_x(old)
    cdef int uy = direction_x((old + 3) % 4)
    cdef double x = w.movers[m].x
    cdef double y = w.movers[m].y
    cdef double goal_x = w.movers[m].u
    cdef double goal_y = w.movers[m].v
    cdef double dx = goal_x - x
    cdef double dy = goal_y - y
    cdef double d = sqrt(dx * dx + dy * dy)
    cdef double rest
    cdef int k, new
    if d < 0.000001 or dx * (goal_x - (x + speed * ux)) + dy * (goal_y - (y + speed * uy)) < 0:
        w.movers[m].x = goal_x
        w.movers[m].y = goal_y
        for k in range(4):
            new = (old + turn_choice(w.level.entities[e].mode, k)) % 4
            if drone_can_go(w, m, new, 7.5 if is_zap else 4.0, 24.0 if is_zap else 12.0):
                w.movers[m].turn = new
                rest = speed - d
                w.movers[m].x += rest * direction_x(new)
                w.movers[m].y += rest * direction_x((new + 3) % 4)
                return
    else:
        w.movers[m].x = x + speed * ux
        w.movers[m].y = y + speed * uy
        relist(w, m)


cdef void advance_guard(World* w, int m) noexcept nogil:
    """Floor guard: runs until a wall or the end of its floor."""
    cdef int run = w.movers[m].phase
    if run == 0:
        return
    cdef double x = w.movers[m].x
    cdef double new = x + run * GUARD_SPEED
    cdef int i = ifloor((x + run * 6) / 12)
    cdef int i_new = ifloor((new + run * 6) / 12)
    cdef int j
    if i != i_new:
        j = ifloor(w.movers[m].y / 12)
        if not col_free(w, i, j, j, run) or floor_value(w, i_new, j + 1) != 2:
            new = 12 * (i + 1 if run == 1 else i) - GUARD_STOP_PX * run
            w.movers[m].phase = 0
    w.movers[m].x = new
    relist(w, m)


cdef void react_guard(World* w, int m) noexcept nogil:
    """Floor guard: starts when it sees the ninja on its level."""
    cdef Ninja* n = w.ninja
    cdef double x = w.movers[m].x
    cdef double y = w.movers[m].y
    if w.movers[m].phase != 0 or not is_target(w):
        return
    if not (y + 6 - 24 <= n.y and n.y <= y + 6):
        return
    cdef int run = 0
    if n.x < x:
        run = -1
    elif n.x > x:
        run = 1
    cdef int i = ifloor(x / 12)
    cdef int end = ifloor(n.x / 12)
    cdef int j = ifloor(y / 12)
    while i != end:
        if not col_free(w, i, j, j, run):
            return
        i += run
    w.movers[m].phase = run


cdef void advance_block(World* w, int e) noexcept nogil:
    """Bounce block: a damped spring around its origin."""
    cdef int m = w.level.entities[e].slot
    cdef Mover* b = &w.movers[m]
    b.u = b.u * BLOCK_DRAG
    b.v = b.v * BLOCK_DRAG
    b.x += b.u
    b.y += b.v
    cdef double fx = BLOCK_SPRING * (w.level.entities[e].x0 - b.x)
    cdef double fy = BLOCK_SPRING * (w.level.entities[e].y0 - b.y)
    b.x += fx
    b.y += fy
    b.u += fx
    b.v += fy
    relist(w, m)


cdef inline int thwump_free(World* w, int horizontal, int i, double cross, int step) noexcept nogil:
    """Whether a thwump may leave half cell i of its moving axis."""
    cdef int low = ifloor((cross - 11) / 12)
    cdef int high = ifloor((cross + 11) / 12)
    if horizontal:
        return col_free(w, i, low, high, step)
    return row_free(w, low, high, i, step)


cdef void advance_thwump(World* w, int e) noexcept nogil:
    """Thwump: charges until blocked, then returns to its origin."""
    cdef int m = w.level.entities[e].slot
    cdef int phase = w.movers[m].phase
    if phase == 0:
        return
    cdef int o = w.level.entities[e].orientation
    cdef int horizontal = o == 0 or o == 4
    cdef int q = 1 if o == 0 or o == 2 else -1
    cdef double z = w.movers[m].x if horizontal else w.movers[m].y
    cdef double cross = w.movers[m].y if horizontal else w.movers[m].x
    cdef double origin = w.level.entities[e].x0 if horizontal else w.level.entities[e].y0
    cdef double speed = CHARGE_SPEED if phase == 1 else RETURN_SPEED
    cdef int step = q * phase
    cdef double new = z + speed * step
    if phase == -1 and (new - origin) * (z - origin) < 0:
        w.movers[m].phase = 0
        if horizontal:
            w.movers[m].x = origin
        else:
            w.movers[m].y = origin
        return
    cdef int i = ifloor((z + step * 11) / 12)
    if i != ifloor((new + step * 11) / 12) and not thwump_free(w, horizontal, i, cross, step):
        w.movers[m].phase = -1
        return
    if horizontal:
        w.movers[m].x = new
    else:
        w.movers[m].y = new
    relist(w, m)


cdef void react_thwump(World* w, int e) noexcept nogil:
    """Thwump: charges when the ninja is in its lane, in front of the first obstacle."""
    cdef int m = w.level.entities[e].slot
    if w.movers[m].phase != 0 or not is_target(w):
        return
    cdef int o = w.level.entities[e].orientation
    cdef int horizontal = o == 0 or o == 4
    cdef int q = 1 if o == 0 or o == 2 else -1
    cdef double z = w.movers[m].x if horizontal else w.movers[m].y
    cdef double cross = w.movers[m].y if horizontal else w.movers[m].x
    cdef double z_ninja = w.ninja.x if horizontal else w.ninja.y
    cdef double cross_ninja = w.ninja.y if horizontal else w.ninja.x
    if not fabs(cross - cross_ninja) < 38:
        return
    cdef int target = ifloor(z_ninja / 12)
    cdef int i = ifloor((z - q * 11) / 12)
    cdef int delta = target - i
    cdef int steps = 0
    if delta * q < 0:
        return
    while steps < 100:
        if not thwump_free(w, horizontal, i, cross, q):
            delta = target - i
            break
        i += q
        steps += 1
    if steps > 0 and delta * q <= 0:
        w.movers[m].phase = 1


cdef void advance_boost(World* w, int e) noexcept nogil:
    """Boost pad: adds speed when the ninja enters."""
    cdef Ninja* n = w.ninja
    cdef int flag = w.level.entities[e].slot
    cdef double speed, ax, ay
    if not is_target(w) or not touches(w, w.level.entities[e].x, w.level.entities[e].y, 6):
        w.flags[flag] = 0
        return
    if w.flags[flag] == 0:
        speed = sqrt(n.vx * n.vx + n.vy * n.vy)
        if speed > 0:
            ax = 2 * n.vx / speed
            ay = 2 * n.vy / speed
            n.vx += ax
            n.vy += ay
    w.flags[flag] = 1


cdef void advance_entities(World* w) noexcept nogil:
    """Run the advance rules, by type and then in map order."""
    cdef Level* level = w.level
    cdef int k, e, kind
    for k in range(level.n_advance):
        e = level.advance_order[k]
        kind = level.entities[e].kind
        if kind == 24:
            advance_boost(w, e)
        elif kind == 17:
            advance_block(w, e)
        elif kind == 20:
            advance_thwump(w, e)
        elif kind == 16:
            advance_guard(w, level.entities[e].slot)
        else:
            advance_drone(w, e)


cdef inline double mine_radius(int mode) noexcept nogil:
    """Radius of a mine: armed, idle, arming."""
    if mode == 0:
        return 4.0
    if mode == 1:
        return 3.5
    return 4.5


cdef void react_mines(World* w) noexcept nogil:
    """Toggle mines near the ninja, and those that are arming wherever they are."""
    cdef Level* level = w.level
    cdef int k, e, f, c, r, col
    cdef int target = is_target(w)
    if w.ninja.arming > 0:
        for k in range(level.n_mines):
            e = level.mines[k]
            f = level.entities[e].slot
            if w.flags[f] == 2 and not (
                target and touches(w, level.entities[e].x, level.entities[e].y, mine_radius(2))
            ):
                w.flags[f] = 1 if w.ninja.state == 6 or w.ninja.state == 9 else 0
                w.ninja.arming -= 1
    if not target:
        return
    c = column_of(w.ninja.x)
    r = row_of(w.ninja.y)
    if (level.near[c * 25 + r] & 4) == 0:
        return
    for col in range(c - 1 if c > 0 else 0, (c + 1 if c < 43 else 43) + 1):
        for k in range(
            level.listed_start[col * 25 + (r - 1 if r > 0 else 0)],
            level.listed_start[col * 25 + (r + 1 if r < 24 else 24) + 1],
        ):
            e = level.listed[k]
            if level.entities[e].kind != 21 and level.entities[e].kind != 1:
                continue
            f = level.entities[e].slot
            if w.flags[f] == 1 and touches(w, level.entities[e].x, level.entities[e].y, mine_radius(1)):
                w.flags[f] = 2
                w.ninja.arming += 1


cdef void react_ball(World* w, int e) noexcept nogil:
    """Death ball: pulled towards the ninja, bounces off tiles and other balls."""
    cdef Ninja* n = w.ninja
    cdef int m = w.level.entities[e].slot
    cdef Mover* b = &w.movers[m]
    cdef double dx, dy, d, speed, excess
    if not is_target(w):
        b.u = b.u * 0.95
        b.v = b.v * 0.95
    else:
        dx = n.x - b.x
        dy = n.y - b.y
        d = sqrt(dx * dx + dy * dy)
        if d > 0:
            dx = dx / d
            dy = dy / d
        b.u += dx * 0.04
        b.v += dy * 0.04
        speed = sqrt(b.u * b.u + b.v * b.v)
        if speed > BALL_MAX_SPEED:
            excess = (speed - BALL_MAX_SPEED) * 0.9
            if excess <= 0.01:
                excess = 0
            excess = excess + BALL_MAX_SPEED
            b.u = b.u / speed * excess
            b.v = b.v / speed * excess
    cdef double tau = sweep(w, b.x, b.y, b.u, b.v, 4)
    b.x = b.x + tau * b.u
    b.y = b.y + tau * b.v
    if not push_ball_out(w, b):
        return
    bounce_off_balls(w, e, b)
    relist(w, m)


cdef int push_ball_out(World* w, Mover* b) noexcept nogil:
    """Push a death ball out of the tiles and reflect it; returns 0 if its centre lies on a wall."""
    cdef double sum_x = 0.0
    cdef double sum_y = 0.0
    cdef double dx, dy, d, length, p, factor
    cdef int side, _round
    for _round in range(16):
        side = nearest_point(w, b.x, b.y, 8)
        if side == 0:
            break
        dx = b.x - w.a
        dy = b.y - w.b
        d = sqrt(dx * dx + dy * dy)
        length = 8 - d * side
        if length < 0.0000001:
            break
        if d == 0:
            return 0
        b.x += dx / d * length
        b.y += dy / d * length
        sum_x += dx / d
        sum_y += dy / d
    length = sqrt(sum_x * sum_x + sum_y * sum_y)
    if length > 0:
        dx = sum_x / length
        dy = sum_y / length
        p = b.u * dx + b.v * dy
        if p < 0:
            factor = 1 if sqrt(b.u * b.u + b.v * b.v) <= 1.35 else 2
            b.u -= dx * p * factor
            b.v -= dy * p * factor
    return 1


cdef void bounce_off_balls(World* w, int e, Mover* b) noexcept nogil:
    """Repel a death ball and the later ones that it overlaps."""
    cdef int ordinal = w.level.entities[e].link
    cdef int k, o
    cdef double dx, dy, d
    if ordinal + 1 >= w.level.ball_count:
        return
    for k in range(ordinal + 1, w.level.n_balls):
        o = w.level.balls[k]
        dx = b.x - w.movers[o].x
        dy = b.y - w.movers[o].y
        d = sqrt(dx * dx + dy * dy)
        if d < 16 and d != 0:
            dx = dx / d * 4
            dy = dy / d * 4
            b.u += dx
            b.v += dy
            w.movers[o].u -= dx
            w.movers[o].v -= dy


cdef void step_shove(World* w, int m, int sign, int length) noexcept nogil:
    """Move a shove thwump along (or against) its direction, or turn it back at an obstacle."""
    cdef Mover* b = &w.movers[m]
    cdef int step, i
    cdef double new
    if b.v == 0:
        step = sign * <int>b.u
        new = b.x + step * length
        i = ifloor(b.x / 12)
        if i != ifloor(new / 12) and not col_free(w, i, ifloor((b.y - 8) / 12), ifloor((b.y + 8) / 12), step):
            b.phase = 3
            return
        b.x = new
    else:
        step = sign * <int>b.v
        new = b.y + step * length
        i = ifloor(b.y / 12)
        if i != ifloor(new / 12) and not row_free(w, ifloor((b.x - 8) / 12), ifloor((b.x + 8) / 12), i, step):
            b.phase = 3
            return
        b.y = new
    relist(w, m)


cdef void react_shove(World* w, int e) noexcept nogil:
    """Shove thwump: launched when the ninja has left it, then returns."""
    cdef int m = w.level.entities[e].slot
    cdef double x0 = w.level.entities[e].x0
    cdef double y0 = w.level.entities[e].y0
    if w.movers[m].phase == 1:
        if w.movers[m].turn:
            w.movers[m].turn = 0
            return
        w.movers[m].phase = 2
    if w.movers[m].phase == 3:
        if fabs(w.movers[m].x - x0) + fabs(w.movers[m].y - y0) >= 1:
            step_shove(w, m, 1, 1)
        else:
            w.movers[m].x = x0
            w.movers[m].y = y0
            w.movers[m].phase = 0
    elif w.movers[m].phase == 2:
        step_shove(w, m, -1, 4)


cdef void react_entities(World* w) noexcept nogil:
    """Run the react rules, by type and then in map order.

    Mines come first: no other rule before theirs changes what they look at.
    """
    cdef Level* level = w.level
    cdef int k, e, kind, f
    if level.n_mines:
        react_mines(w)
    for k in range(level.n_react):
        e = level.react_order[k]
        kind = level.entities[e].kind
        if kind == 5:
            f = level.entities[e].slot
            if w.flags[f] & 1:
                # Bit 0 says open, the timer counts above it.
                w.flags[f] += 2
                if w.flags[f] >> 1 > 5:
                    w.flags[f] = 0
        elif kind == 16:
            react_guard(w, level.entities[e].slot)
        elif kind == 20:
            react_thwump(w, e)
        elif kind == 23:
            react_laser(w, e)
        elif kind == 25:
            react_ball(w, e)
        else:
            react_shove(w, e)
