"""Where the ninja meets entities: gathering those near it, their push rules and their touch rules."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import fabs, sqrt
    from cython.cimports.npp_env.sim.body import is_target, kill, segment_hits, touches, win
    from cython.cimports.npp_env.sim.layout import G_FALL, Level, Mover, Ninja, World, column_of, eighth_x, row_of
    from cython.cimports.npp_env.sim.walls import sweep_point
else:
    from math import fabs, sqrt

    from npp_env.sim.body import is_target, kill, segment_hits, touches, win
    from npp_env.sim.structs import G_FALL, column_of, eighth_x, row_of
    from npp_env.sim.walls import sweep_point

PAD_SPEED = cython.declare(cython.double, 36.0 / 7.0)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def inside_square(w: cython.pointer(World), x: cython.double, y: cython.double, m: cython.double) -> cython.int:
    """Whether the ninja's centre lies in the square; sets the normal of the nearest side and both depths."""
    dx: cython.double = w.ninja.x - x
    dy: cython.double = w.ninja.y - y
    px: cython.double = m - fabs(dx)
    py: cython.double = m - fabs(dy)
    if not (px > 0 and py > 0):
        return 0
    if py <= px:
        w.nx = 0.0
        w.ny = -1.0 if dy < 0 else 1.0
        w.depth = py
        w.other = px
    else:
        w.nx = -1.0 if dx < 0 else 1.0
        w.ny = 0.0
        w.depth = px
        w.other = py
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def held_by_one_way(w: cython.pointer(World), e: cython.int) -> cython.int:
    """The hold test of a one-way platform; sets its normal and the depth."""
    n: cython.pointer(Ninja) = w.ninja
    nx: cython.double = eighth_x(w.level.entities[e].orientation)
    ny: cython.double = eighth_x((w.level.entities[e].orientation + 6) % 8)
    dx: cython.double = n.x - w.level.entities[e].x
    dy: cython.double = n.y - w.level.entities[e].y
    lateral: cython.double = dy * nx - dx * ny
    motion: cython.double = (n.vy * nx - n.vx * ny) * lateral
    width: cython.double = 0.90 if motion < 0 else 0.51
    if not fabs(lateral) < width * 10 + 12:
        return 0
    dist: cython.double = dx * nx + dy * ny
    if not (dist > 0 and dist <= 10):
        return 0
    if not n.vx * nx + n.vy * ny <= 0:
        return 0
    old: cython.double = (w.xo - w.level.entities[e].x) * nx + (w.yo - w.level.entities[e].y) * ny
    if not 10 - old <= 1.1:
        return 0
    w.nx = nx
    w.ny = ny
    w.depth = 10 - dist
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def gather_movers(w: cython.pointer(World), c: cython.int, r: cython.int) -> cython.void:
    """List the movers in the 3 x 3 cells around (c, r), by cell and then by their place in its list."""
    if w.candidates_cell == c * 25 + r:
        return
    w.candidates_cell = c * 25 + r
    w.n_candidates = 0
    m: cython.int
    k: cython.int
    o: cython.int
    cell: cython.int
    dc: cython.int
    dr: cython.int
    for m in range(w.level.n_movers):
        cell = w.movers[m].cell
        if cell < 0:
            continue
        dc = cell // 25 - c
        dr = cell % 25 - r
        if dc < -1 or dc > 1 or dr < -1 or dr > 1:
            continue
        k = w.n_candidates
        w.n_candidates += 1
        while k > 0:
            o = w.candidates[k - 1]
            if w.movers[o].cell < cell or (w.movers[o].cell == cell and w.movers[o].stamp < w.movers[m].stamp):
                break
            w.candidates[k] = o
            k -= 1
        w.candidates[k] = m


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def push_by(
    w: cython.pointer(World), kind: cython.int, nx: cython.double, ny: cython.double, length: cython.double
) -> cython.void:
    """Carry out the answer of a push rule."""
    n: cython.pointer(Ninja) = w.ninja
    qx: cython.double = nx * length
    qy: cython.double = ny * length
    c: cython.double
    n.x += qx
    n.y += qy
    if kind != 17:
        w.crush_x += qx
        w.crush_y += qy
        w.crush_length += length
    if kind == 20:
        w.crushable = 1
    if kind == 11:
        c = n.vx * ny - n.vy * nx
        n.vx = c * ny
        n.vy = c * -nx
    else:
        n.vx += qx
        n.vy += qy
    if ny >= -0.0001:
        w.n_ceiling += 1
        w.ceiling_x += nx
        w.ceiling_y += ny
    else:
        w.n_floor += 1
        w.floor_x += nx
        w.floor_y += ny


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def push_by_mover(w: cython.pointer(World), m: cython.int) -> cython.int:
    """Push rules of bounce blocks, thwumps and shove thwumps; returns whether it pushed."""
    kind: cython.int = w.level.entities[w.level.mover_entity[m]].kind
    b: cython.pointer(Mover) = cython.address(w.movers[m]) if cython.compiled else w.movers[m]
    cx: cython.double
    cy: cython.double
    if kind == 17:
        if not inside_square(w, b.x, b.y, 19):
            return 0
        cx = w.nx * w.depth * (1 - 0.2)
        cy = w.ny * w.depth * (1 - 0.2)
        b.x -= cx
        b.y -= cy
        b.u -= cx
        b.v -= cy
        push_by(w, kind, w.nx, w.ny, w.depth * 0.2)
        return 1
    if kind == 20:
        if not inside_square(w, b.x, b.y, 19):
            return 0
    elif kind == 28:
        if b.phase > 1 or not inside_square(w, b.x, b.y, 22):
            return 0
        if b.phase == 1 and not b.u * w.nx + b.v * w.ny >= 0.01:
            return 0
    else:
        return 0
    push_by(w, kind, w.nx, w.ny, w.depth)
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def push_by_static(w: cython.pointer(World), e: cython.int) -> cython.int:
    """Push the ninja out of entity e, if it is a one-way platform that holds it; returns whether it was."""
    if w.level.entities[e].kind != 11 or not held_by_one_way(w, e):
        return 0
    push_by(w, 11, w.nx, w.ny, w.depth)
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def launch(w: cython.pointer(World), fx: cython.double, fy: cython.double) -> cython.void:
    """Boost by a launch pad; revives a ninja that was doomed earlier in the same tick."""
    n: cython.pointer(Ninja) = w.ninja
    bx: cython.double = fx * 2 / 3
    by: cython.double = fy * 2 / 3
    n.x += bx
    n.y += by
    n.vx = bx
    n.vy = by
    w.n_floor = 0
    n.b_floor = -1
    s: cython.double = sqrt(bx * bx + by * by)
    n.pnx = bx / s
    n.pny = by / s
    n.b_pad = 0
    if n.state == 3:
        n.g = G_FALL
    n.state = 4


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def touch_pad(w: cython.pointer(World), e: cython.int) -> cython.void:
    """Launch pad: boosts a ninja that comes from its front."""
    n: cython.pointer(Ninja) = w.ninja
    x: cython.double = w.level.entities[e].x
    y: cython.double = w.level.entities[e].y
    nx: cython.double = eighth_x(w.level.entities[e].orientation)
    ny: cython.double = eighth_x((w.level.entities[e].orientation + 6) % 8)
    scale: cython.double = 1.0
    if not is_target(w) or not touches(w, x, y, 6):
        return
    if (x - (n.x - 10 * nx)) * nx + (y - (n.y - 10 * ny)) * ny >= -0.1:
        if ny < 0:
            scale = 1 - ny
        launch(w, nx * PAD_SPEED, ny * PAD_SPEED * scale)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def touch_static(w: cython.pointer(World), e: cython.int) -> cython.double:
    """Touch rules of what never moves; returns a wall normal or 0."""
    kind: cython.int = w.level.entities[e].kind
    x: cython.double = w.level.entities[e].x
    y: cython.double = w.level.entities[e].y
    f: cython.int = w.level.entities[e].slot
    dx: cython.double = w.ninja.x - x
    dy: cython.double = w.ninja.y - y
    m: cython.int
    if kind == 11:
        # The widest of all: it reaches 12 px along itself beyond the ninja's circle.
        if fabs(dx) < 24 and fabs(dy) < 24 and held_by_one_way(w, e) and fabs(w.nx) == 1:
            return w.nx
        return 0.0
    if fabs(dx) > 20 or fabs(dy) > 20:
        return 0.0
    if kind == 2:
        if w.flags[f] == 0 and w.ninja.state != 8 and touches(w, x, y, 6):
            w.ninja.gold += 1
            w.flags[f] = 1
    elif kind == 1 or kind == 21:
        if w.flags[f] == 0 and is_target(w) and touches(w, x, y, 4):
            w.flags[f] = 1
            kill(w)
    elif kind == 3:
        if w.flags[f] == 0 and touches(w, x, y, 6):
            w.flags[f] = 1
            if w.ninja.switches < 127:
                w.ninja.switches += 1
            m = w.level.entities[e].link
            w.movers[m].cell = column_of(w.movers[m].x) * 25 + row_of(w.movers[m].y)
            w.movers[m].stamp = w.level.n_entities + w.ninja.stamp
            w.ninja.stamp += 1
    elif kind == 5:
        if touches(w, x, y, 10):
            w.flags[f] = 1
    elif kind == 6:
        if w.flags[f] == 0 and touches(w, x, y, 5):
            w.flags[f] = 3
    elif kind == 8:
        if w.flags[f] == 1 and touches(w, x, y, 5):
            w.flags[f] = 2
    elif kind == 10:
        touch_pad(w, e)
    return 0.0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def touch_thwump(w: cython.pointer(World), e: cython.int, b: cython.pointer(Mover)) -> cython.double:
    """Thwump: a wall on all sides, lethal in front."""
    o: cython.int = w.level.entities[e].orientation
    q: cython.double = 1.0 if o == 0 or o == 2 else -1.0
    hit: cython.int
    if not is_target(w) or not inside_square(w, b.x, b.y, 19.1):
        return 0.0
    if o == 0 or o == 4:
        hit = segment_hits(w, b.x + 11 * q, b.y - 7, b.x + 11 * q, b.y + 7, 12)
    else:
        hit = segment_hits(w, b.x - 7, b.y + 11 * q, b.x + 7, b.y + 11 * q, 12)
    if hit:
        kill(w)
    return w.nx


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def touch_shove(w: cython.pointer(World), b: cython.pointer(Mover)) -> cython.double:
    """Shove thwump: armed by contact, lethal at its core once it flies."""
    inside: cython.int = inside_square(w, b.x, b.y, 22.1)
    if inside and b.phase <= 1:
        if b.phase == 0:
            b.turn = 1
            if w.other > 0.2:
                b.u = w.nx
                b.v = w.ny
                b.phase = 1
            return w.nx
        if b.u * w.nx + b.v * w.ny >= 0.01:
            b.turn = 1
            return w.nx
        return 0.0
    if touches(w, b.x, b.y, 8):
        kill(w)
    return 0.0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def touch_mover(w: cython.pointer(World), m: cython.int) -> cython.double:
    """Touch rules of what moves, and of the exit; returns a wall normal or 0."""
    n: cython.pointer(Ninja) = w.ninja
    e: cython.int = w.level.mover_entity[m]
    kind: cython.int = w.level.entities[e].kind
    b: cython.pointer(Mover) = cython.address(w.movers[m]) if cython.compiled else w.movers[m]
    dx: cython.double
    dy: cython.double
    d: cython.double
    if kind == 3:
        if touches(w, b.x, b.y, 12):
            win(w)
            n.fraction = sweep_point(b.x, b.y, w.xo, w.yo, n.x - w.xo, n.y - w.yo, 22)
    elif kind == 14 or kind == 26:
        if is_target(w) and touches(w, b.x, b.y, 7.5 if kind == 14 else 4.0):
            kill(w)
    elif kind == 16:
        if is_target(w) and touches(w, b.x, b.y, 6):
            kill(w)
    elif kind == 17:
        if inside_square(w, b.x, b.y, 19.1):
            return w.nx
    elif kind == 20:
        return touch_thwump(w, e, b)
    elif kind == 25:
        if is_target(w) and touches(w, b.x, b.y, 5):
            dx = b.x - n.x
            dy = b.y - n.y
            d = sqrt(dx * dx + dy * dy)
            if d != 0:
                b.u += dx / d * 10
                b.v += dy / d * 10
            kill(w)
    elif kind == 28:
        return touch_shove(w, b)
    return 0.0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def meet_entities(w: cython.pointer(World), pushing: cython.bint) -> cython.double:
    """Apply the push rules or the touch rules of the entities near the ninja, in the order of their lists.

    Returns:
        How many pushed it; or the first wall normal that a touch answered, or 0.
    """
    level: cython.pointer(Level) = w.level
    c: cython.int = column_of(w.ninja.x)
    r: cython.int = row_of(w.ninja.y)
    result: cython.double = 0.0
    answer: cython.double
    k: cython.int = 0
    col: cython.int
    row: cython.int
    cell: cython.int
    i: cython.int
    end: cython.int
    if level.n_movers:
        gather_movers(w, c, r)
    if w.n_candidates == 0 and (level.near[c * 25 + r] & (2 if pushing else 1)) == 0:
        return 0.0
    for col in range(c - 1 if c > 0 else 0, (c + 1 if c < 43 else 43) + 1):
        for row in range(r - 1 if r > 0 else 0, (r + 1 if r < 24 else 24) + 1):
            cell = col * 25 + row
            i = level.listed_start[cell]
            end = level.listed_start[cell + 1]
            while True:
                if (
                    k < w.n_candidates
                    and w.movers[w.candidates[k]].cell == cell
                    and (i >= end or w.movers[w.candidates[k]].stamp < level.listed[i])
                ):
                    answer = push_by_mover(w, w.candidates[k]) if pushing else touch_mover(w, w.candidates[k])
                    k += 1
                elif i < end:
                    answer = push_by_static(w, level.listed[i]) if pushing else touch_static(w, level.listed[i])
                    i += 1
                else:
                    break
                if pushing or result == 0:
                    result += answer
    return result
