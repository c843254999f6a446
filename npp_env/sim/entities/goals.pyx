"""Gold, and exits with their switches (physics 6.2, 6.3)."""

from npp_env.sim.body cimport touches, win
from npp_env.sim.entities.passes cimport kinds
from npp_env.sim.grid cimport list_at_end
from npp_env.sim.layout cimport CELEBRATING, EXIT, GOLD, Entity, Mover, World, cell_of
from npp_env.sim.sweeps cimport sweep_point

from npp_env.level.entity_kinds import OPEN_EXIT_RADIUS_PX

cdef double EXIT_RADIUS = OPEN_EXIT_RADIUS_PX
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
    if w.flags[e.slot] == 0:
        if touches(w, e.x, e.y, kinds[EXIT].radius):
            w.flags[e.slot] = 1
            if w.ninja.switches < MOST_SWITCHES_COUNTED:
                w.ninja.switches += 1
            list_at_end(w, door, cell_of(door.x, door.y))
    elif touches(w, door.x, door.y, EXIT_RADIUS):
        win(w)
        w.ninja.fraction = sweep_point(
            door.x, door.y, w.xo, w.yo, w.ninja.x - w.xo, w.ninja.y - w.yo, EXIT_RADIUS + 10
        )
    return 0.0


kinds[GOLD].touch = touch_gold
kinds[EXIT].touch = touch_exit
