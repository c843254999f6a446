"""Observations of what is around the ninja: `entity_states`, `switch_states` and `spatial_context`."""

from libc.string cimport memset
from npp_env.observe.view cimport View, half, halves, unit
from npp_env.sim.entities.passes cimport Kind, Pose, PoseRule, kinds, takes_part
from npp_env.sim.layout cimport (
    DOOR_OPEN, EXIT, HALF_COLUMNS, HALF_ROWS, LOCKED_DOOR, MINE_ARMED, MINE_ARMING, TRAP_DOOR, Entity, Level, Ninja,
    World, ifloor, mover_of,
)

from npp_env.observe.spec import ENTITY_FIELDS

cdef double WIDTH_PX = 1056.0
cdef double HEIGHT_PX = 600.0
cdef double SPEED_SCALE = 12.0
cdef double RADIUS_SCALE = 24.0
cdef int ENTITY_FEATURES = len(ENTITY_FIELDS)
cdef int FIRST_KIND = ENTITY_FIELDS.index("aim_dy") + 1
cdef int SWITCHES_SHOWN = 5
cdef int SWITCH_FEATURES = 5
cdef int GRID_SIDE = 11
cdef double HALF_CELL_PIXELS = 144.0
cdef double MINE_SCALE = 132.0

cdef enum:
    MINES_SHOWN = 8
    MOST_ENTITIES = 64


cdef inline bint place_of(World* w, int index, double* x, double* y) noexcept nogil:
    """Whether an entity still takes part, and where; an index beyond the entities means a mover that has emerged."""
    cdef Entity* e
    cdef int m = index - w.level.n_entities
    if m >= 0:
        # Others are shown by their entity; only an exit that is open and a rocket that flies is listed.
        x[0] = w.movers[m].x
        y[0] = w.movers[m].y
        return kinds[w.level.entities[w.level.mover_entity[m]].kind].emerges and w.movers[m].cell >= 0
    e = &w.level.entities[index]
    if kinds[e.kind].moves:
        x[0] = mover_of(w, e).x
        y[0] = mover_of(w, e).y
        return True
    x[0] = e.x
    y[0] = e.y
    return takes_part(w, e)


cdef void write_entity(View* view, int index, unsigned short* out) noexcept nogil:
    """One row of `entity_states`; an index beyond the entities means a mover that has emerged."""
    cdef World* w = &view.world
    cdef Ninja* n = w.ninja
    cdef bint emerged = index >= w.level.n_entities
    cdef Entity* e = &w.level.entities[w.level.mover_entity[index - w.level.n_entities] if emerged else index]
    cdef Kind* kind = &kinds[e.kind]
    cdef PoseRule pose_rule = kind.pose_emerged if emerged else kind.pose
    cdef int column = kind.emerged_column if emerged else kind.column
    cdef Pose pose
    cdef double x, y
    cdef int k
    memset(&pose, 0, sizeof(Pose))
    pose.radius = kind.emerged_radius if emerged else kind.radius
    if pose_rule != NULL:
        pose_rule(w, e, &pose)
    place_of(w, index, &x, &y)
    out[0] = half(1.0)
    out[1] = half(unit((x - n.x) / WIDTH_PX))
    out[2] = half(unit((y - n.y) / HEIGHT_PX))
    out[3] = half(unit(pose.vx / SPEED_SCALE))
    out[4] = half(unit(pose.vy / SPEED_SCALE))
    out[5] = half(unit(pose.nx))
    out[6] = half(unit(pose.ny))
    out[7] = half(pose.mode)
    out[8] = half(pose.radius / RADIUS_SCALE)
    out[9] = half(pose.phase)
    out[10] = half(pose.timer)
    out[11] = half(unit((pose.aim_x - n.x) / WIDTH_PX)) if pose.aims else 0
    out[12] = half(unit((pose.aim_y - n.y) / HEIGHT_PX)) if pose.aims else 0
    for k in range(FIRST_KIND, ENTITY_FEATURES):
        out[k] = 0
    out[FIRST_KIND + column] = half(1.0)


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
    cdef double[MOST_ENTITIES] squares
    cdef int[MOST_ENTITIES] chosen
    cdef int count = 0
    cdef int i
    cdef double x, y, d
    for i in range(w.level.n_entities + w.level.n_movers):
        if place_of(w, i, &x, &y):
            d = (x - w.ninja.x) * (x - w.ninja.x) + (y - w.ninja.y) * (y - w.ninja.y)
            count = keep_nearest(squares, chosen, count, view.capacity.max_entities, d, i)
    for i in range(count):
        write_entity(view, chosen[i], out + i * ENTITY_FEATURES)
    for i in range(count * ENTITY_FEATURES, view.capacity.max_entities * ENTITY_FEATURES):
        out[i] = 0


cdef void write_switch_states(View* view, unsigned short* out) noexcept nogil:
    """Up to five of exits, then locked doors, then trap doors: switch and door relative to the ninja, and the state."""
    cdef World* w = &view.world
    cdef int[3] wanted = [EXIT, LOCKED_DOOR, TRAP_DOOR]
    cdef Entity* e
    cdef int i, k
    cdef int room = SWITCHES_SHOWN
    for k in range(SWITCHES_SHOWN * SWITCH_FEATURES):
        out[k] = 0
    for k in range(3):
        for i in range(w.level.n_entities):
            e = &w.level.entities[i]
            if e.kind != wanted[k]:
                continue
            if room == 0:
                return
            out[0] = half(unit((e.x - w.ninja.x) / WIDTH_PX))
            out[1] = half(unit((e.y - w.ninja.y) / HEIGHT_PX))
            out[2] = half(unit((e.x0 - w.ninja.x) / WIDTH_PX))
            out[3] = half(unit((e.y0 - w.ninja.y) / HEIGHT_PX))
            out[4] = half(1.0 if w.flags[e.slot] & DOOR_OPEN else 0.0)
            out += SWITCH_FEATURES
            room -= 1


cdef void write_spatial_context(View* view, unsigned short* out) noexcept nogil:
    """How solid the 11 x 11 half cells around the ninja are, its place in the middle one, and the nearest mines."""
    cdef World* w = &view.world
    cdef Level* level = w.level
    cdef int ci = ifloor(w.ninja.x / 12)
    cdef int cj = ifloor(w.ninja.y / 12)
    cdef double[MINES_SHOWN] squares
    cdef int[MINES_SHOWN] chosen
    cdef int count = 0
    cdef int i, j
    cdef int k = 0
    cdef int e, m
    cdef double dx, dy, d
    for j in range(cj - GRID_SIDE // 2, cj + GRID_SIDE // 2 + 1):
        for i in range(ci - GRID_SIDE // 2, ci + GRID_SIDE // 2 + 1):
            if i < 0 or i >= HALF_COLUMNS or j < 0 or j >= HALF_ROWS:
                out[k] = half(1.0)
            else:
                out[k] = half(level.solid[j * HALF_COLUMNS + i] / HALF_CELL_PIXELS)
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
            out[k + 3] = half(1.0 if j == MINE_ARMED else 0.5 if j == MINE_ARMING else 0.0)
        else:
            out[k] = 0
            out[k + 1] = 0
            out[k + 2] = 0
            out[k + 3] = 0
        k += 4


WRITERS = {
    "entity_states": halves(write_entity_states),
    "switch_states": halves(write_switch_states),
    "spatial_context": halves(write_spatial_context),
}
