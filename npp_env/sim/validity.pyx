"""One check of every state that comes from outside: no number in it can lead the kernel astray.

Valid is what the kernel can itself produce, with room to spare: all numbers finite and within the bounds of
`validity.pxd`, enums and flags in their ranges, counts in line with what they count, places in lists such as the level
gives. A valid state need not be one that play can reach.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from npp_env.sim.decide cimport check_ninja
from npp_env.sim.entities.passes cimport kinds
from npp_env.sim.kernel cimport LevelHandle, bind
from npp_env.sim.layout cimport COLUMNS, ROWS, Entity, Level, Mover, Ninja, World

from npp_env.errors import StateError
from npp_env.level.entity_kinds import EntityKind


cdef void check_mover(World* w, Mover* b, Mover* initial, Check* check) noexcept nogil:
    """What all movers have in common: a place, two more numbers, and a place in the list of a cell."""
    cdef int n = w.level.n_entities
    expect(check, b"x", b.x, -FARTHEST_PX, FARTHEST_PX)
    expect(check, b"y", b.y, -FARTHEST_PX, FARTHEST_PX)
    expect(check, b"u", b.vx, -FARTHEST_PX, FARTHEST_PX)
    expect(check, b"v", b.vy, -FARTHEST_PX, FARTHEST_PX)
    # What is listed stays listed; where it entered a list during play, the ninja's count has gone on since. What is not
    # listed may count ticks instead, which its kind checks.
    expect(check, b"cell", b.cell, -1 if initial.cell < 0 else 0, COLUMNS * ROWS - 1)
    if b.cell >= 0 and b.stamp != initial.stamp:
        expect(check, b"stamp", b.stamp, n, n + w.ninja.stamp - 1)


cdef void check_counts(World* w, Check* check) noexcept nogil:
    """What the ninja counts is what the rules have counted."""
    expect(check, b"gold", w.ninja.gold, check.gold, check.gold)
    expect(check, b"switches", w.ninja.switches, check.switches, check.switches)
    expect(check, b"arming", w.ninja.arming, check.arming, check.arming)
    expect(check, b"followers", w.ninja.followers, check.followers, check.followers)


cdef void check_history(World* w, Check* check) noexcept nogil:
    """Nothing is remembered before there is somebody to repeat it; then places."""
    cdef double far = FARTHEST_PX if w.ninja.followers else 0
    cdef int k
    for k in range(w.level.history_ticks):
        expect(check, b"past x", w.history[k].x, -far, far)
        expect(check, b"past y", w.history[k].y, -far, far)


cdef bint is_valid(Level* level, unsigned char* block, Check* check) noexcept nogil:
    """Whether the bytes are a valid state of a level; if not, the check names the first number that is wrong."""
    cdef World world
    cdef World* w = &world
    cdef Mover* initial = initial_movers(level)
    cdef Entity* e
    cdef int k
    bind(w, level, block, NULL)
    check.field = NULL
    check.entity = -1
    check.gold = check.switches = check.arming = check.followers = 0
    check_ninja(w.ninja, check)
    if check.field != NULL:
        return False
    for k in range(level.n_movers):
        check_mover(w, &w.movers[k], &initial[k], check)
        if check.field != NULL:
            check.entity = level.mover_entity[k]
            return False
    for k in range(level.n_entities):
        e = &level.entities[k]
        if kinds[e.kind].check != NULL:
            kinds[e.kind].check(w, e, check)
            if check.field != NULL:
                check.entity = k
                return False
    check_counts(w, check)
    check_history(w, check)
    for k in range(sizeof(Ninja) + level.n_movers * sizeof(Mover) + level.n_flags, level.history_start):
        expect(check, b"padding", block[k], 0, 0)
    return check.field == NULL


def check_state(LevelHandle handle not None, state) -> None:
    """Refuse bytes that are no valid state of a level.

    Args:
        handle: The level.
        state: uint8 (handle.state_bytes,), contiguous.

    Raises:
        StateError: They are not; the message names the number that is wrong.
    """
    cdef Check check
    cdef Py_buffer view
    cdef bint valid
    PyObject_GetBuffer(state, &view, PyBUF_SIMPLE)
    try:
        if view.len != handle.state_bytes:
            raise StateError(f"the state has {view.len} bytes, its level needs {handle.state_bytes}")
        if <size_t>view.buf % 8:
            return check_state(handle, state.copy())
        valid = is_valid(&handle.level, <unsigned char*>view.buf, &check)
    finally:
        PyBuffer_Release(&view)
    if not valid:
        raise StateError(describe(handle.geometry, &check))


cdef str describe(object geometry, Check* check):
    """What a check found: whose number is wrong, which, and what it may be."""
    owner = "ninja"
    if check.entity >= 0:
        entity = geometry["entities"][check.entity]
        owner = f"{EntityKind(entity['kind']).label} at ({entity['x0']:g}, {entity['y0']:g})"
    wanted = f"{check.low:.17g}" if check.low == check.high else f"{check.low:.17g} to {check.high:.17g}"
    if check.low > check.high:
        wanted = "one of the values that this kind gives it"
    field = f"{check.field.decode()} of the {owner}"
    return f"no valid state of its level: {field} is {check.value:.17g}; it must be {wanted}"
