"""The rules of all kinds, and the passes of a tick that apply them (physics 1.2, 1.3, 5.4, 5.6)."""

from libc.math cimport fabs
from libc.string cimport memmove
from npp_env.sim.body cimport NINJA_RADIUS, is_target, kill, touches
from npp_env.sim.layout cimport (
    COLUMNS, NEAR_PUSHING, NEAR_TOUCHABLE, ROWS, Entity, Level, Mover, World, column_of, eighth_x, eighth_y, mover_of,
    row_of,
)
from npp_env.sim.sight cimport watch
from npp_env.sim.validity cimport Check, expect, expect_velocity

from npp_env.errors import KernelError
from npp_env.level.entity_kinds import ENTITY_TABLE, RULES


# Of the cells one after the other, from the first of nine around a place to the last: these nine, their upper three.
cdef enum:
    SPAN = 2 * ROWS + 2
cdef unsigned long long UPPER_CELLS = 1 | 1 << 25 | 1 << 50
cdef unsigned long long NEAR_CELLS = 7 * (1 | 1 << 25 | 1 << 50)


cdef void place_entities(World* w) noexcept nogil:
    """Complete the initial state of the kinds that need more than a place."""
    cdef int k
    cdef Entity* e
    for k in range(w.level.n_entities):
        e = &w.level.entities[k]
        if kinds[e.kind].place != NULL:
            kinds[e.kind].place(w, e)


cdef void advance_entities(World* w) noexcept nogil:
    """Run the advance rules, by type and then in map order."""
    cdef int k
    cdef Entity* e
    for k in range(w.level.n_advance):
        e = &w.level.entities[w.level.advance_order[k]]
        kinds[e.kind].advance(w, e)


cdef void react_entities(World* w) noexcept nogil:
    """Run the react rules, by type and then in map order."""
    cdef int k
    cdef Entity* e
    if w.level.n_cover:
        watch(w)
    for k in range(w.level.n_react):
        e = &w.level.entities[w.level.react_order[k]]
        kinds[e.kind].react(w, e)


cdef void gather_movers(World* w, int c, int r) noexcept nogil:
    """List the movers in the 3 x 3 cells around (c, r), by cell and then by their place in its list."""
    if w.candidates_cell == c * ROWS + r:
        return
    w.candidates_cell = c * ROWS + r
    w.n_candidates = 0
    # A bit for each cell from the first of the nine to the last, without those of other rows.
    cdef unsigned long long around = NEAR_CELLS
    cdef int first = (c - 1) * ROWS + r - 1
    cdef int m, k, o, cell, high
    if r == 0:
        around &= ~UPPER_CELLS
    elif r == ROWS - 1:
        around &= ~(UPPER_CELLS << 2)
    for m in range(w.level.n_movers):
        cell = w.movers[m].cell
        if cell < 0 or <unsigned int>(cell - first) > SPAN or not around >> (cell - first) & 1:
            continue
        # Its place among the others is sought by halves: there may be thousands in a cell.
        k = 0
        high = w.n_candidates
        while k < high:
            o = w.candidates[(k + high) >> 1]
            if w.movers[o].cell < cell or (w.movers[o].cell == cell and w.movers[o].stamp < w.movers[m].stamp):
                k = ((k + high) >> 1) + 1
            else:
                high = (k + high) >> 1
        memmove(&w.candidates[k + 1], &w.candidates[k], (w.n_candidates - k) * sizeof(w.candidates[0]))
        w.candidates[k] = m
        w.n_candidates += 1


cdef inline double meet(World* w, Entity* e, bint pushing) noexcept nogil:
    """Apply the push or touch rule of an entity."""
    cdef Kind* kind = &kinds[e.kind]
    if pushing:
        return kind.push(w, e) if kind.push != NULL else 0.0
    return kind.touch(w, e)


cdef inline bint in_reach(World* w, Entity* e) noexcept nogil:
    """Whether an entity at rest may touch the ninja; most of those listed near it do not."""
    cdef double reach = kinds[e.kind].reach
    return fabs(w.ninja.x - e.x) < reach and fabs(w.ninja.y - e.y) < reach and takes_part(w, e)


cdef inline double meet_listed(World* w, int first, int last, bint pushing, double result) noexcept nogil:
    """Apply the rules of all that is listed in the cells from first to last."""
    cdef double answer
    cdef int i
    cdef Entity* e
    for i in range(w.level.listed_start[first], w.level.listed_start[last + 1]):
        e = &w.level.entities[w.level.listed[i]]
        answer = meet(w, e, pushing) if pushing or in_reach(w, e) else 0.0
        if pushing or result == 0:
            result += answer
    return result


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
    cdef int above = r - 1 if r > 0 else 0
    cdef int below = r + 1 if r < ROWS - 1 else r
    cdef int k = 0
    cdef int col, row, cell, i, end
    cdef Entity* e
    if level.n_movers:
        gather_movers(w, c, r)
    if w.n_candidates == 0 and (level.near[c * ROWS + r] & (NEAR_PUSHING if pushing else NEAR_TOUCHABLE)) == 0:
        return 0.0
    for col in range(c - 1 if c > 0 else 0, (c + 1 if c < COLUMNS - 1 else c) + 1):
        if k == w.n_candidates:
            # Nothing comes in between what is listed in the cells of a column.
            result = meet_listed(w, col * ROWS + above, col * ROWS + below, pushing, result)
            continue
        for row in range(above, below + 1):
            cell = col * ROWS + row
            i = level.listed_start[cell]
            end = level.listed_start[cell + 1]
            while True:
                if (
                    k < w.n_candidates
                    and w.movers[w.candidates[k]].cell == cell
                    and (i >= end or w.movers[w.candidates[k]].stamp < level.listed[i])
                ):
                    answer = meet(w, &level.entities[level.mover_entity[w.candidates[k]]], pushing)
                    k += 1
                elif i < end:
                    e = &level.entities[level.listed[i]]
                    answer = meet(w, e, pushing) if pushing or in_reach(w, e) else 0.0
                    i += 1
                else:
                    break
                if pushing or result == 0:
                    result += answer
    return result


cdef double touch_to_kill(World* w, Entity* e) noexcept nogil:
    """A moving circle that kills."""
    cdef Mover* b = mover_of(w, e)
    if is_target(w) and touches(w, b.x, b.y, kinds[e.kind].radius):
        kill(w)
    return 0.0


cdef void pose_facing(World* w, Entity* e, Pose* pose) noexcept nogil:
    """Where it faces."""
    pose.nx = eighth_x(e.orientation)
    pose.ny = eighth_y(e.orientation)


cdef void pose_flying(World* w, Entity* e, Pose* pose) noexcept nogil:
    """Where it flies."""
    pose.vx = mover_of(w, e).vx
    pose.vy = mover_of(w, e).vy


cdef void check_flying(World* w, Entity* e, Check* check) noexcept nogil:
    """A velocity, and nothing else."""
    cdef Mover* b = mover_of(w, e)
    expect_velocity(check, b.vx, b.vy)
    expect(check, b"phase", b.phase, 0, 0)
    expect(check, b"turn", b.direction, 0, 0)


def fill_kinds() -> None:
    """Take over what the kernel needs of the entity table."""
    cdef Kind* kind
    for number, row in ENTITY_TABLE.items():
        if number >= KINDS:
            raise KernelError(f"{number.label} has the number {int(number)}; the kernel has room for {KINDS} kinds")
        kind = &kinds[<int>number]
        kind.radius = row.radius_px
        kind.speed = row.speed_px
        kind.reach = row.radius_px + NINJA_RADIUS
        kind.moves = row.moves
        kind.deactivates = row.active_flag is not None
        kind.active_flag = row.active_flag or 0
        kind.column = -1 if row.column is None else row.column
        if row.emerged is not None:
            kind.emerges = True
            kind.emerged_column = row.emerged.column
            kind.emerged_radius = row.emerged.radius_px


def check_rules() -> None:
    """Compare the rules that the families entered with those that the rows claim.

    Raises:
        KernelError: A kind lacks a rule, or has one that its row does not claim; or it has state that nothing checks.
    """
    cdef Kind* kind
    for number, row in ENTITY_TABLE.items():
        kind = &kinds[<int>number]
        there = (
            kind.place != NULL,
            kind.advance != NULL,
            kind.react != NULL,
            kind.push != NULL,
            kind.touch != NULL,
            kind.pose != NULL,
            kind.pose_emerged != NULL,
            kind.check != NULL,
        )
        found = {rule for rule, entered in zip(RULES, there, strict=True) if entered}
        if found != set(row.rules):
            raise KernelError(
                f"the row of {number.label} claims the rules {sorted(row.rules)}, its family has {sorted(found)}"
            )
        if (row.flag is not None or row.movers > 0) != ("check" in found):
            raise KernelError(f"{number.label} needs the rule 'check' exactly if its row gives it a flag or movers")


fill_kinds()
