"""Observations of what is around the ninja: `entity_states`, `switch_states` and `spatial_context`."""

from libc.math cimport cos, sin
from npp_env.observe.view cimport View, half, unit
from npp_env.sim.layout cimport Level, Ninja, World, eighth_x, ifloor

cdef double WIDTH_PX = 1056.0
cdef double HEIGHT_PX = 600.0
cdef double SPEED_SCALE = 12.0
cdef double RADIUS_SCALE = 24.0
cdef int ENTITY_FEATURES = 28
cdef int FIRST_KIND = 9
cdef int MINES_SHOWN = 8
cdef int GRID_SIDE = 11
cdef double MINE_SCALE = 132.0


cdef int kind_column(int kind) noexcept nogil:
    """Column of the one-hot type, 0..18, in ascending order of the game's ids; the opened exit is 18."""
    if kind <= 3:
        return kind - 1
    if kind <= 6:
        return kind - 2
    if kind == 8:
        return 5
    if kind <= 11:
        return kind - 4
    if kind == 14:
        return 8
    if kind <= 17:
        return kind - 7
    if kind <= 21:
        return kind - 9
    if kind <= 26:
        return kind - 10
    return 17


cdef int entity_matters(View* view, int e) noexcept nogil:
    """Whether an entity still takes part: not collected, not used up."""
    cdef int kind = view.world.level.entities[e].kind
    cdef int slot = view.world.level.entities[e].slot
    if kind == 2 or kind == 3:
        return view.world.flags[slot] == 0
    if kind == 6:
        return view.world.flags[slot] == 0
    if kind == 8:
        return view.world.flags[slot] == 1
    return 1


cdef double entity_radius(int kind, int mode) noexcept nogil:
    """Size of an entity in pixels: its radius, or half its side."""
    if kind == 1 or kind == 21:
        return 3.5 if mode == 1 else 4.0 if mode == 0 else 4.5
    if kind == 5:
        return 10.0
    if kind == 6 or kind == 8 or kind == 25:
        return 5.0
    if kind == 11:
        return 12.0
    if kind == 14:
        return 7.5
    if kind == 17 or kind == 20:
        return 9.0
    if kind == 23:
        return 5.9
    if kind == 26:
        return 4.0
    if kind == 28:
        return 12.0
    return 6.0


cdef void write_entity(View* view, int index, unsigned short* out) noexcept nogil:
    """One row of `entity_states`; an index beyond the entities means a mover (an opened exit)."""
    cdef World* w = &view.world
    cdef Ninja* n = w.ninja
    cdef int count = w.level.n_entities
    cdef int k, kind, slot, o
    cdef double mode = 0.0
    cdef double x, y
    cdef double vx = 0.0
    cdef double vy = 0.0
    cdef double nx = 0.0
    cdef double ny = 0.0
    cdef double radius
    for k in range(ENTITY_FEATURES):
        out[k] = 0
    if index >= count:
        x = w.movers[index - count].x
        y = w.movers[index - count].y
        out[FIRST_KIND + 18] = half(1.0)
        radius = 12.0
    else:
        kind = w.level.entities[index].kind
        slot = w.level.entities[index].slot
        o = w.level.entities[index].orientation
        x = w.level.entities[index].x
        y = w.level.entities[index].y
        radius = entity_radius(kind, 0)
        out[FIRST_KIND + kind_column(kind)] = half(1.0)
        if kind == 1 or kind == 21:
            radius = entity_radius(kind, w.flags[slot])
            mode = 1.0 if w.flags[slot] == 0 else 0.5 if w.flags[slot] == 2 else 0.0
        elif kind == 5 or kind == 6 or kind == 8:
            mode = w.flags[slot] & 1
        elif kind == 24:
            mode = w.flags[slot]
        elif kind == 10 or kind == 11:
            nx = eighth_x(o)
            ny = eighth_x((o + 6) % 8)
        elif kind >= 14:
            x = w.movers[slot].x
            y = w.movers[slot].y
            if kind == 14 or kind == 26:
                nx = eighth_x(2 * w.movers[slot].turn)
                ny = eighth_x((2 * w.movers[slot].turn + 6) % 8)
                vx = nx * (8.0 / 7.0 if kind == 14 else 1.3)
                vy = ny * (8.0 / 7.0 if kind == 14 else 1.3)
                mode = w.level.entities[index].mode / 3.0
            elif kind == 16:
                vx = w.movers[slot].phase * 24.0 / 7.0
                mode = w.movers[slot].phase
            elif kind == 17 or kind == 25:
                vx = w.movers[slot].u
                vy = w.movers[slot].v
            elif kind == 20:
                mode = w.movers[slot].phase
                nx = 1.0 if o == 0 else -1.0 if o == 4 else 0.0
                if nx == 0:
                    ny = 1.0 if o == 2 else -1.0
                vx = nx * mode * (20.0 / 7.0 if mode > 0 else 8.0 / 7.0)
                vy = ny * mode * (20.0 / 7.0 if mode > 0 else 8.0 / 7.0)
            elif kind == 23:
                nx = cos(w.movers[slot].u)
                ny = sin(w.movers[slot].u)
                mode = w.movers[slot].phase
            elif kind == 28:
                nx = w.movers[slot].u
                ny = w.movers[slot].v
                mode = w.movers[slot].phase / 3.0
                if w.movers[slot].phase == 2:
                    vx = -4 * nx
                    vy = -4 * ny
                elif w.movers[slot].phase == 3:
                    vx = nx
                    vy = ny
    out[0] = half(1.0)
    out[1] = half(unit((x - n.x) / WIDTH_PX))
    out[2] = half(unit((y - n.y) / HEIGHT_PX))
    out[3] = half(unit(vx / SPEED_SCALE))
    out[4] = half(unit(vy / SPEED_SCALE))
    out[5] = half(unit(nx))
    out[6] = half(unit(ny))
    out[7] = half(mode)
    out[8] = half(radius / RADIUS_SCALE)


cdef inline int keep_nearest(double* squares, int* chosen, int count, int most, double d, int candidate) noexcept nogil:
    """Put a candidate at squared distance d into the list of the nearest, behind its equals; returns the new count."""
    cdef int k = count
    if count == most:
        if d >= squares[count - 1]:
            return count
        k = count - 1
    else:
        count += 1
    while k > 0 and squares[k - 1] > d:
        squares[k] = squares[k - 1]
        chosen[k] = chosen[k - 1]
        k -= 1
    squares[k] = d
    chosen[k] = candidate
    return count


cdef void write_entity_states(View* view, unsigned short* out) noexcept nogil:
    """The nearest entities that matter, nearest first, ties by map order; rows of zeros behind them."""
    cdef World* w = &view.world
    cdef Level* level = w.level
    cdef double[64] squares
    cdef int[64] chosen
    cdef int count = 0
    cdef int i, k, kind
    cdef double x, y, d
    cdef int total = level.n_entities + level.n_movers
    for i in range(total):
        if i >= level.n_entities:
            k = i - level.n_entities
            # Of the movers only the exit is not in the entity table, and only an opened one is listed.
            if level.entities[level.mover_entity[k]].kind != 3 or w.movers[k].cell < 0:
                continue
            x = w.movers[k].x
            y = w.movers[k].y
        else:
            kind = level.entities[i].kind
            if kind >= 14 and kind != 21 and kind != 24:
                x = w.movers[level.entities[i].slot].x
                y = w.movers[level.entities[i].slot].y
            else:
                if not entity_matters(view, i):
                    continue
                x = level.entities[i].x
                y = level.entities[i].y
        d = (x - w.ninja.x) * (x - w.ninja.x) + (y - w.ninja.y) * (y - w.ninja.y)
        count = keep_nearest(squares, chosen, count, view.capacity.max_entities, d, i)
    for i in range(count):
        write_entity(view, chosen[i], out + i * ENTITY_FEATURES)
    for i in range(count * ENTITY_FEATURES, view.capacity.max_entities * ENTITY_FEATURES):
        out[i] = 0


cdef void write_switch_states(View* view, unsigned short* out) noexcept nogil:
    """Up to five of exits, then locked doors, then trap doors: switch and door relative to the ninja, and the state."""
    cdef World* w = &view.world
    cdef Level* level = w.level
    cdef int count = 0
    cdef int wanted, i, k
    for k in range(25):
        out[k] = 0
    for k in range(3):
        wanted = 3 if k == 0 else 6 if k == 1 else 8
        for i in range(level.n_entities):
            if level.entities[i].kind != wanted:
                continue
            if count == 5:
                return
            out[5 * count] = half(unit((level.entities[i].x - w.ninja.x) / WIDTH_PX))
            out[5 * count + 1] = half(unit((level.entities[i].y - w.ninja.y) / HEIGHT_PX))
            out[5 * count + 2] = half(unit((level.entities[i].x0 - w.ninja.x) / WIDTH_PX))
            out[5 * count + 3] = half(unit((level.entities[i].y0 - w.ninja.y) / HEIGHT_PX))
            out[5 * count + 4] = half(1.0 if w.flags[level.entities[i].slot] & 1 else 0.0)
            count += 1


cdef void write_spatial_context(View* view, unsigned short* out) noexcept nogil:
    """How solid the 11 x 11 half cells around the ninja are, its place in the middle one, and the nearest mines."""
    cdef World* w = &view.world
    cdef Level* level = w.level
    cdef int ci = ifloor(w.ninja.x / 12)
    cdef int cj = ifloor(w.ninja.y / 12)
    cdef double[8] squares
    cdef int[8] chosen
    cdef int count = 0
    cdef int i, j
    cdef int k = 0
    cdef int e, m
    cdef double dx, dy, d
    for j in range(cj - GRID_SIDE // 2, cj + GRID_SIDE // 2 + 1):
        for i in range(ci - GRID_SIDE // 2, ci + GRID_SIDE // 2 + 1):
            if i < 0 or i >= 88 or j < 0 or j >= 50:
                out[k] = half(1.0)
            else:
                out[k] = half(level.solid[j * 88 + i] / 144.0)
            k += 1
    out[k] = half((w.ninja.x / 12 - ci) * 2 - 1)
    out[k + 1] = half((w.ninja.y / 12 - cj) * 2 - 1)
    k += 2
    for m in range(level.n_mines):
        e = level.mines[m]
        dx = level.entities[e].x - w.ninja.x
        dy = level.entities[e].y - w.ninja.y
        d = dx * dx + dy * dy
        count = keep_nearest(squares, chosen, count, MINES_SHOWN, d, e)
    for m in range(MINES_SHOWN):
        if m < count:
            e = chosen[m]
            j = w.flags[level.entities[e].slot]
            out[k] = half(1.0)
            out[k + 1] = half(unit((level.entities[e].x - w.ninja.x) / MINE_SCALE))
            out[k + 2] = half(unit((level.entities[e].y - w.ninja.y) / MINE_SCALE))
            out[k + 3] = half(1.0 if j == 0 else 0.5 if j == 2 else 0.0)
        else:
            out[k] = 0
            out[k + 1] = 0
            out[k + 2] = 0
            out[k + 3] = 0
        k += 4
