"""The advance and react passes: what entities do by themselves before the ninja moves."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import fabs, sqrt
    from cython.cimports.npp_env.sim.body import is_target, touches
    from cython.cimports.npp_env.sim.grid import col_free, floor_value, relist, row_free
    from cython.cimports.npp_env.sim.laser import react_laser
    from cython.cimports.npp_env.sim.layout import Level, Mover, Ninja, World, column_of, ifloor, row_of
    from cython.cimports.npp_env.sim.walls import nearest_point, sweep
else:
    from math import fabs, sqrt

    from npp_env.sim.body import is_target, touches
    from npp_env.sim.grid import col_free, floor_value, relist, row_free
    from npp_env.sim.laser import react_laser
    from npp_env.sim.structs import column_of, ifloor, row_of
    from npp_env.sim.walls import nearest_point, sweep

ZAP_SPEED = cython.declare(cython.double, 8.0 / 7.0)
MINI_SPEED = cython.declare(cython.double, 1.3)
GUARD_SPEED = cython.declare(cython.double, float.fromhex("0x1.b6db6db6db6dap+1"))
GUARD_STOP_PX = cython.declare(cython.double, 6 + 0.01)
BLOCK_DRAG = cython.declare(cython.double, 0.98)
BLOCK_SPRING = cython.declare(cython.double, float.fromhex("0x1.6c16c16c16c16p-6"))
CHARGE_SPEED = cython.declare(cython.double, 20.0 / 7.0)
RETURN_SPEED = cython.declare(cython.double, 8.0 / 7.0)
BALL_MAX_SPEED = cython.declare(cython.double, 0.85)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def direction_x(direction: cython.int) -> cython.int:
    """Horizontal part of directions 0..3: right, down, left, up."""
    if direction == 0:
        return 1
    if direction == 2:
        return -1
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def turn_choice(mode: cython.int, k: cython.int) -> cython.int:
    """The k-th turn (quarters clockwise) that a drone of this mode tries; one hexadecimal digit each."""
    order: cython.int = 0x2301
    if mode == 1:
        order = 0x2103
    elif mode == 2:
        order = 0x2310
    elif mode == 3:
        order = 0x2130
    return (order >> (4 * k)) & 15


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def drone_can_go(
    w: cython.pointer(World), m: cython.int, direction: cython.int, radius: cython.double, step: cython.double
) -> cython.int:
    """Whether the way to the next goal is free; if so the goal is stored."""
    ux: cython.int = direction_x(direction)
    uy: cython.int = direction_x((direction + 3) % 4)
    x: cython.double = w.movers[m].x
    y: cython.double = w.movers[m].y
    goal_x: cython.double = x + step * ux
    goal_y: cython.double = y + step * uy
    i: cython.int
    end: cython.int
    low: cython.int
    high: cython.int
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def advance_drone(w: cython.pointer(World), e: cython.int) -> cython.void:
    """Zap and mini drones: from goal to goal, turning by mode."""
    m: cython.int = w.level.entities[e].slot
    is_zap: cython.int = w.level.entities[e].kind == 14
    speed: cython.double = ZAP_SPEED if is_zap else MINI_SPEED
    old: cython.int = w.movers[m].turn
    ux: cython.int = direction_x(old)
    uy: cython.int = direction_x((old + 3) % 4)
    x: cython.double = w.movers[m].x
    y: cython.double = w.movers[m].y
    goal_x: cython.double = w.movers[m].u
    goal_y: cython.double = w.movers[m].v
    dx: cython.double = goal_x - x
    dy: cython.double = goal_y - y
    d: cython.double = sqrt(dx * dx + dy * dy)
    rest: cython.double
    k: cython.int
    new: cython.int
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def advance_guard(w: cython.pointer(World), m: cython.int) -> cython.void:
    """Floor guard: runs until a wall or the end of its floor."""
    run: cython.int = w.movers[m].phase
    if run == 0:
        return
    x: cython.double = w.movers[m].x
    new: cython.double = x + run * GUARD_SPEED
    i: cython.int = ifloor((x + run * 6) / 12)
    i_new: cython.int = ifloor((new + run * 6) / 12)
    j: cython.int
    if i != i_new:
        j = ifloor(w.movers[m].y / 12)
        if not col_free(w, i, j, j, run) or floor_value(w, i_new, j + 1) != 2:
            new = 12 * (i + 1 if run == 1 else i) - GUARD_STOP_PX * run
            w.movers[m].phase = 0
    w.movers[m].x = new
    relist(w, m)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def react_guard(w: cython.pointer(World), m: cython.int) -> cython.void:
    """Floor guard: starts when it sees the ninja on its level."""
    n: cython.pointer(Ninja) = w.ninja
    x: cython.double = w.movers[m].x
    y: cython.double = w.movers[m].y
    if w.movers[m].phase != 0 or not is_target(w):
        return
    if not (y + 6 - 24 <= n.y and n.y <= y + 6):
        return
    run: cython.int = 0
    if n.x < x:
        run = -1
    elif n.x > x:
        run = 1
    i: cython.int = ifloor(x / 12)
    end: cython.int = ifloor(n.x / 12)
    j: cython.int = ifloor(y / 12)
    while i != end:
        if not col_free(w, i, j, j, run):
            return
        i += run
    w.movers[m].phase = run


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def advance_block(w: cython.pointer(World), e: cython.int) -> cython.void:
    """Bounce block: a damped spring around its origin."""
    m: cython.int = w.level.entities[e].slot
    b: cython.pointer(Mover) = cython.address(w.movers[m]) if cython.compiled else w.movers[m]
    b.u = b.u * BLOCK_DRAG
    b.v = b.v * BLOCK_DRAG
    b.x += b.u
    b.y += b.v
    fx: cython.double = BLOCK_SPRING * (w.level.entities[e].x0 - b.x)
    fy: cython.double = BLOCK_SPRING * (w.level.entities[e].y0 - b.y)
    b.x += fx
    b.y += fy
    b.u += fx
    b.v += fy
    relist(w, m)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def thwump_free(
    w: cython.pointer(World), horizontal: cython.int, i: cython.int, cross: cython.double, step: cython.int
) -> cython.int:
    """Whether a thwump may leave half cell i of its moving axis."""
    low: cython.int = ifloor((cross - 11) / 12)
    high: cython.int = ifloor((cross + 11) / 12)
    if horizontal:
        return col_free(w, i, low, high, step)
    return row_free(w, low, high, i, step)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def advance_thwump(w: cython.pointer(World), e: cython.int) -> cython.void:
    """Thwump: charges until blocked, then returns to its origin."""
    m: cython.int = w.level.entities[e].slot
    phase: cython.int = w.movers[m].phase
    if phase == 0:
        return
    o: cython.int = w.level.entities[e].orientation
    horizontal: cython.int = o == 0 or o == 4
    q: cython.int = 1 if o == 0 or o == 2 else -1
    z: cython.double = w.movers[m].x if horizontal else w.movers[m].y
    cross: cython.double = w.movers[m].y if horizontal else w.movers[m].x
    origin: cython.double = w.level.entities[e].x0 if horizontal else w.level.entities[e].y0
    speed: cython.double = CHARGE_SPEED if phase == 1 else RETURN_SPEED
    step: cython.int = q * phase
    new: cython.double = z + speed * step
    if phase == -1 and (new - origin) * (z - origin) < 0:
        w.movers[m].phase = 0
        if horizontal:
            w.movers[m].x = origin
        else:
            w.movers[m].y = origin
        return
    i: cython.int = ifloor((z + step * 11) / 12)
    if i != ifloor((new + step * 11) / 12) and not thwump_free(w, horizontal, i, cross, step):
        w.movers[m].phase = -1
        return
    if horizontal:
        w.movers[m].x = new
    else:
        w.movers[m].y = new
    relist(w, m)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def react_thwump(w: cython.pointer(World), e: cython.int) -> cython.void:
    """Thwump: charges when the ninja is in its lane, in front of the first obstacle."""
    m: cython.int = w.level.entities[e].slot
    if w.movers[m].phase != 0 or not is_target(w):
        return
    o: cython.int = w.level.entities[e].orientation
    horizontal: cython.int = o == 0 or o == 4
    q: cython.int = 1 if o == 0 or o == 2 else -1
    z: cython.double = w.movers[m].x if horizontal else w.movers[m].y
    cross: cython.double = w.movers[m].y if horizontal else w.movers[m].x
    z_ninja: cython.double = w.ninja.x if horizontal else w.ninja.y
    cross_ninja: cython.double = w.ninja.y if horizontal else w.ninja.x
    if not fabs(cross - cross_ninja) < 38:
        return
    target: cython.int = ifloor(z_ninja / 12)
    i: cython.int = ifloor((z - q * 11) / 12)
    delta: cython.int = target - i
    steps: cython.int = 0
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def advance_boost(w: cython.pointer(World), e: cython.int) -> cython.void:
    """Boost pad: adds speed when the ninja enters."""
    n: cython.pointer(Ninja) = w.ninja
    flag: cython.int = w.level.entities[e].slot
    speed: cython.double
    ax: cython.double
    ay: cython.double
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def advance_entities(w: cython.pointer(World)) -> cython.void:
    """Run the advance rules, by type and then in map order."""
    level: cython.pointer(Level) = w.level
    k: cython.int
    e: cython.int
    kind: cython.int
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


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def mine_radius(mode: cython.int) -> cython.double:
    """Radius of a mine: armed, idle, arming."""
    if mode == 0:
        return 4.0
    if mode == 1:
        return 3.5
    return 4.5


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def react_mines(w: cython.pointer(World)) -> cython.void:
    """Toggle mines near the ninja, and those that are arming wherever they are."""
    level: cython.pointer(Level) = w.level
    k: cython.int
    e: cython.int
    f: cython.int
    c: cython.int
    r: cython.int
    col: cython.int
    target: cython.int = is_target(w)
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def react_ball(w: cython.pointer(World), e: cython.int) -> cython.void:
    """Death ball: pulled towards the ninja, bounces off tiles and other balls."""
    n: cython.pointer(Ninja) = w.ninja
    m: cython.int = w.level.entities[e].slot
    b: cython.pointer(Mover) = cython.address(w.movers[m]) if cython.compiled else w.movers[m]
    dx: cython.double
    dy: cython.double
    d: cython.double
    speed: cython.double
    excess: cython.double
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
    tau: cython.double = sweep(w, b.x, b.y, b.u, b.v, 4)
    b.x = b.x + tau * b.u
    b.y = b.y + tau * b.v
    if not push_ball_out(w, b):
        return
    bounce_off_balls(w, e, b)
    relist(w, m)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def push_ball_out(w: cython.pointer(World), b: cython.pointer(Mover)) -> cython.int:
    """Push a death ball out of the tiles and reflect it; returns 0 if its centre lies on a wall."""
    sum_x: cython.double = 0.0
    sum_y: cython.double = 0.0
    dx: cython.double
    dy: cython.double
    d: cython.double
    length: cython.double
    p: cython.double
    factor: cython.double
    side: cython.int
    _round: cython.int
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def bounce_off_balls(w: cython.pointer(World), e: cython.int, b: cython.pointer(Mover)) -> cython.void:
    """Repel a death ball and the later ones that it overlaps."""
    ordinal: cython.int = w.level.entities[e].link
    k: cython.int
    o: cython.int
    dx: cython.double
    dy: cython.double
    d: cython.double
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def step_shove(w: cython.pointer(World), m: cython.int, sign: cython.int, length: cython.int) -> cython.void:
    """Move a shove thwump along (or against) its direction, or turn it back at an obstacle."""
    b: cython.pointer(Mover) = cython.address(w.movers[m]) if cython.compiled else w.movers[m]
    step: cython.int
    i: cython.int
    new: cython.double
    if b.v == 0:
        step = sign * cython.cast(cython.int, b.u)
        new = b.x + step * length
        i = ifloor(b.x / 12)
        if i != ifloor(new / 12) and not col_free(w, i, ifloor((b.y - 8) / 12), ifloor((b.y + 8) / 12), step):
            b.phase = 3
            return
        b.x = new
    else:
        step = sign * cython.cast(cython.int, b.v)
        new = b.y + step * length
        i = ifloor(b.y / 12)
        if i != ifloor(new / 12) and not row_free(w, ifloor((b.x - 8) / 12), ifloor((b.x + 8) / 12), i, step):
            b.phase = 3
            return
        b.y = new
    relist(w, m)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def react_shove(w: cython.pointer(World), e: cython.int) -> cython.void:
    """Shove thwump: launched when the ninja has left it, then returns."""
    m: cython.int = w.level.entities[e].slot
    x0: cython.double = w.level.entities[e].x0
    y0: cython.double = w.level.entities[e].y0
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def react_entities(w: cython.pointer(World)) -> cython.void:
    """Run the react rules, by type and then in map order.

    Mines come first: no other rule before theirs changes what they look at.
    """
    level: cython.pointer(Level) = w.level
    k: cython.int
    e: cython.int
    kind: cython.int
    f: cython.int
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
