"""Floor guards: they run at a ninja on their level (physics 6.8)."""

from npp_env.sim.body cimport is_target
from npp_env.sim.entities.passes cimport Pose, kinds, touch_to_kill
from npp_env.sim.grid cimport col_free, floor_value, relist, way_free
from npp_env.sim.layout cimport EDGE_SOLID, FLOOR_GUARD, Entity, Mover, Ninja, World, ifloor, mover_of
from npp_env.sim.validity cimport Check, expect, expect_unused

cdef double STOP_PX = 6 + 0.01


cdef void advance_guard(World* w, Entity* e) noexcept nogil:
    """Run until a wall or the end of the floor."""
    cdef Mover* b = mover_of(w, e)
    cdef int run = b.run
    if run == 0:
        return
    cdef double new = b.x + run * kinds[FLOOR_GUARD].speed
    cdef int i = ifloor((b.x + run * 6) / 12)
    cdef int i_new = ifloor((new + run * 6) / 12)
    cdef int j
    if i != i_new:
        j = ifloor(b.y / 12)
        if not col_free(w, i, j, j, run) or floor_value(w, i_new, j + 1) != EDGE_SOLID:
            new = 12 * (i + 1 if run == 1 else i) - STOP_PX * run
            b.run = 0
    b.x = new
    relist(w, b)


cdef void react_guard(World* w, Entity* e) noexcept nogil:
    """Start when the way to a ninja on the same level is free."""
    cdef Mover* b = mover_of(w, e)
    cdef Ninja* n = w.ninja
    if b.run != 0 or not is_target(w):
        return
    if not (b.y + 6 - 24 <= n.y and n.y <= b.y + 6):
        return
    if way_free(w, ifloor(b.x / 12), ifloor(n.x / 12), ifloor(b.y / 12), False):
        b.run = (n.x > b.x) - (n.x < b.x)


cdef void pose_guard(World* w, Entity* e, Pose* pose) noexcept nogil:
    """Where it runs."""
    pose.mode = mover_of(w, e).run
    pose.vx = pose.mode * kinds[FLOOR_GUARD].speed


cdef void check_guard(World* w, Entity* e, Check* check) noexcept nogil:
    """Resting or running, at its height."""
    cdef Mover* b = mover_of(w, e)
    expect(check, b"y", b.y, e.y0, e.y0)
    expect_unused(check, b.vx, b.vy)
    expect(check, b"run", b.run, -1, 1)
    expect(check, b"turn", b.direction, 0, 0)


kinds[FLOOR_GUARD].advance = advance_guard
kinds[FLOOR_GUARD].react = react_guard
kinds[FLOOR_GUARD].touch = touch_to_kill
kinds[FLOOR_GUARD].pose = pose_guard
kinds[FLOOR_GUARD].check = check_guard
