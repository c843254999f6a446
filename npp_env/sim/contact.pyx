"""Where the ninja meets entities: gathering those near it, their push rules and their touch rules."""

from libc.math cimport fabs, sqrt
from npp_env.sim.body cimport is_target, kill, segment_hits, touches, win
from npp_env.sim.layout cimport G_FALL, Level, Mover, Ninja, World, column_of, eighth_x, row_of
from npp_env.sim.walls cimport sweep_point

cdef double PAD_SPEED = 36.0 / 7.0


cdef int inside_square(World* w, double x, double y, double m) noexcept nogil:
    """Whether the ninja's centre lies in the square; sets the normal of the nearest side and both depths."""
    cdef double dx = w.ninja.x - x
    cdef double dy = w.ninja.y - y
    cdef double px = m - fabs(dx)
    cdef double py = m - fabs(dy)
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


cdef int held_by_one_way(World* w, int e) noexcept nogil:
    """The hold test of a one-way platform; sets its normal and the depth."""
    cdef Ninja* n = w.ninja
    cdef double nx = eighth_x(w.level.entities[e].orientation)
    cdef double ny = eighth_x((w.level.entities[e].orientation + 6) % 8)
    cdef double dx = n.x - w.level.entities[e].x
    cdef double dy = n.y - w.level.entities[e].y
    cdef double lateral = dy * nx - dx * ny
    cdef double motion = (n.vy * nx - n.vx * ny) * lateral
    cdef double width = 0.90 if motion < 0 else 0.51
    if not fabs(lateral) < width * 10 + 12:
        return 0
    cdef double dist = dx * nx + dy * ny
    if not (dist > 0 and dist <= 10):
        return 0
    if not n.vx * nx + n.vy * ny <= 0:
        return 0
    cdef double old = (w.xo - w.level.entities[e].x) * nx + (w.yo - w.level.entities[e].y) * ny
    if not 10 - old <= 1.1:
        return 0
    w.nx = nx
    w.ny = ny
    w.depth = 10 - dist
    return 1


cdef void gather_movers(World* w, int c, int r) noexcept nogil:
    """List the movers in the 3 x 3 cells around (c, r), by cell and then by their place in its list."""
    if w.candidates_cell == c * 25 + r:
        return
    w.candidates_cell = c * 25 + r
    w.n_candidates = 0
    cdef int m, k, o, cell, dc, dr
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


cdef void push_by(World* w, int kind, double nx, double ny, double length) noexcept nogil:
    """Carry out the answer of a push rule."""
    cdef Ninja* n = w.ninja
    cdef double qx = nx * length
    cdef double qy = ny * length
    cdef double c
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


cdef int push_by_mover(World* w, int m) noexcept nogil:
    """Push rules of bounce blocks, thwumps and shove thwumps; returns whether it pushed."""
    cdef int kind = w.level.entities[w.level.mover_entity[m]].kind
    cdef Mover* b = &w.movers[m]
    cdef double cx, cy
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


cdef int push_by_static(World* w, int e) noexcept nogil:
    """Push the ninja out of entity e, if it is a one-way platform that holds it; returns whether it was."""
    if w.level.entities[e].kind != 11 or not held_by_one_way(w, e):
        return 0
    push_by(w, 11, w.nx, w.ny, w.depth)
    return 1


cdef void launch(World* w, double fx, double fy) noexcept nogil:
    """Boost by a launch pad; revives a ninja that was doomed earlier in the same tick."""
    cdef Ninja* n = w.ninja
    cdef double bx = fx * 2 / 3
    cdef double by = fy * 2 / 3
    n.x += bx
    n.y += by
    n.vx = bx
    n.vy = by
    w.n_floor = 0
    n.b_floor = -1
    cdef double s = sqrt(bx * bx + by * by)
    n.pnx = bx / s
    n.pny = by / s
    n.b_pad = 0
    if n.state == 3:
        n.g = G_FALL
    n.state = 4


cdef void touch_pad(World* w, int e) noexcept nogil:
    """Launch pad: boosts a ninja that comes from its front."""
    cdef Ninja* n = w.ninja
    cdef double x = w.level.entities[e].x
    cdef double y = w.level.entities[e].y
    cdef double nx = eighth_x(w.level.entities[e].orientation)
    cdef double ny = eighth_x((w.level.entities[e].orientation + 6) % 8)
    cdef double scale = 1.0
    if not is_target(w) or not touches(w, x, y, 6):
        return
    if (x - (n.x - 10 * nx)) * nx + (y - (n.y - 10 * ny)) * ny >= -0.1:
        if ny < 0:
            scale = 1 - ny
        launch(w, nx * PAD_SPEED, ny * PAD_SPEED * scale)


cdef double touch_static(World* w, int e) noexcept nogil:
    """Touch rules of what never moves; returns a wall normal or 0."""
    cdef int kind = w.level.entities[e].kind
    cdef double x = w.level.entities[e].x
    cdef double y = w.level.entities[e].y
    cdef int f = w.level.entities[e].slot
    cdef double dx = w.ninja.x - x
    cdef double dy = w.ninja.y - y
    cdef int m
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


cdef double touch_thwump(World* w, int e, Mover* b) noexcept nogil:
    """Thwump: a wall on all sides, lethal in front."""
    cdef int o = w.level.entities[e].orientation
    cdef double q = 1.0 if o == 0 or o == 2 else -1.0
    cdef int hit
    if not is_target(w) or not inside_square(w, b.x, b.y, 19.1):
        return 0.0
    if o == 0 or o == 4:
        hit = segment_hits(w, b.x + 11 * q, b.y - 7, b.x + 11 * q, b.y + 7, 12)
    else:
        hit = segment_hits(w, b.x - 7, b.y + 11 * q, b.x + 7, b.y + 11 * q, 12)
    if hit:
        kill(w)
    return w.nx


cdef double touch_shove(World* w, Mover* b) noexcept nogil:
    """Shove thwump: armed by contact, lethal at its core once it flies."""
    cdef int inside = inside_square(w, b.x, b.y, 22.1)
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


cdef double touch_mover(World* w, int m) noexcept nogil:
    """Touch rules of what moves, and of the exit; returns a wall normal or 0."""
    cdef Ninja* n = w.ninja
    cdef int e = w.level.mover_entity[m]
    cdef int kind = w.level.entities[e].kind
    cdef Mover* b = &w.movers[m]
    cdef double dx, dy, d
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


cdef double meet_entities(World* w, bint pushing) noexcept nogil:
    """Apply the push rules or the touch rules of the entities near the ninja, in the order of their lists.

    Returns:
        How many pushed it; or the first wall normal that a touch answered, or 0.
    """
    cdef Level* level = w.level
    cdef int c = column_of(w.ninja.x)
    cdef int r = row_of(w.ninja.y)
    cdef double result = 0.0
    cdef double answer
    cdef int k = 0
    cdef int col, row, cell, i, end
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
