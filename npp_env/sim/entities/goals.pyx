"""Gold, and exits with their switches (physics 6.2, 6.3)."""

from npp_env.sim.body cimport NINJA_RADIUS, touches, win
from npp_env.sim.entities.passes cimport kinds
from npp_env.sim.grid cimport list_at_end
from npp_env.sim.layout cimport CELEBRATING, EXIT, GOLD, Entity, Mover, World, cell_of
from npp_env.sim.sweeps cimport sweep_point
from npp_env.sim.validity cimport Check, expect, expect_flag, expect_unused

cdef int MOST_SWITCHES_COUNTED = 127


cdef double touch_gold(World* w, Entity* e) noexcept nogil:
    """Collected, unless the ninja has already won."""
    if w.ninja.state != CELEBRATING and touches(w, e.x, e.y, kinds[GOLD].radius):
        w.ninja.gold += 1
        w.flags[e.slot] = 1
    return 0.0


cdef double touch_exit(World* w, Entity* e) noexcept nogil:
    """The switch lists the exit, and the exit lets the ninja win."""
    cdef Mover* door = &w.movers[e.link]
    cdef double radius = kinds[EXIT].emerged_radius
    if w.flags[e.slot] == 0:
        if touches(w, e.x, e.y, kinds[EXIT].radius):
            w.flags[e.slot] = 1
            if w.ninja.switches < MOST_SWITCHES_COUNTED:
                w.ninja.switches += 1
            list_at_end(w, door, cell_of(door.x, door.y))
    elif touches(w, door.x, door.y, radius):
        win(w)
        w.ninja.fraction = sweep_point(
            door.x, door.y, w.xo, w.yo, w.ninja.x - w.xo, w.ninja.y - w.yo, radius + NINJA_RADIUS
        )
    return 0.0


cdef void check_gold(World* w, Entity* e, Check* check) noexcept nogil:
    """There, or collected."""
    expect_flag(check, w.flags[e.slot], 1 << 0 | 1 << 1)
    check.gold += w.flags[e.slot]


cdef void check_exit(World* w, Entity* e, Check* check) noexcept nogil:
    """Closed, or open and then listed; it stays where it is."""
    cdef Mover* door = &w.movers[e.link]
    cdef int taken = w.flags[e.slot]
    cdef int cell = cell_of(e.x0, e.y0) if taken else -1
    expect_flag(check, taken, 1 << 0 | 1 << 1)
    if check.switches < MOST_SWITCHES_COUNTED:
        check.switches += taken
    expect(check, b"x", door.x, e.x0, e.x0)
    expect(check, b"y", door.y, e.y0, e.y0)
    expect_unused(check, door.vx, door.vy)
    expect(check, b"cell", door.cell, cell, cell)
    if not taken:
        expect(check, b"stamp", door.stamp, 0, 0)
    expect(check, b"phase", door.phase, 0, 0)
    expect(check, b"turn", door.direction, 0, 0)


kinds[GOLD].touch = touch_gold
kinds[EXIT].touch = touch_exit
kinds[GOLD].check = check_gold
kinds[EXIT].check = check_exit
