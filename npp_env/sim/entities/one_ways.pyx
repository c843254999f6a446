"""One-way platforms (physics 6.6)."""

from libc.math cimport fabs
from npp_env.sim.contact cimport Push, count_contact, count_crush
from npp_env.sim.entities.passes cimport kinds, pose_facing
from npp_env.sim.layout cimport ONE_WAY, Entity, Ninja, World, eighth_x, eighth_y


cdef bint holds(World* w, Entity* e, Push* push) noexcept nogil:
    """The hold test; fills the push."""
    cdef Ninja* n = w.ninja
    cdef double nx = eighth_x(e.orientation)
    cdef double ny = eighth_y(e.orientation)
    cdef double dx = n.x - e.x
    cdef double dy = n.y - e.y
    cdef double lateral = dy * nx - dx * ny
    cdef double motion = (n.vy * nx - n.vx * ny) * lateral
    cdef double width = 0.90 if motion < 0 else 0.51
    if not fabs(lateral) < width * 10 + 12:
        return False
    cdef double dist = dx * nx + dy * ny
    if not (dist > 0 and dist <= 10):
        return False
    if not n.vx * nx + n.vy * ny <= 0:
        return False
    cdef double old = (w.xo - e.x) * nx + (w.yo - e.y) * ny
    if not 10 - old <= 1.1:
        return False
    push.nx = nx
    push.ny = ny
    push.depth = 10 - dist
    return True


cdef bint push_from_one_way(World* w, Entity* e) noexcept nogil:
    """Moves the ninja out and keeps only its motion along the platform (5.4)."""
    cdef Ninja* n = w.ninja
    cdef Push push
    cdef double qx, qy, c
    if not holds(w, e, &push):
        return False
    qx = push.nx * push.depth
    qy = push.ny * push.depth
    n.x += qx
    n.y += qy
    count_crush(w, qx, qy, push.depth)
    c = n.vx * push.ny - n.vy * push.nx
    n.vx = c * push.ny
    n.vy = c * -push.nx
    count_contact(w, push.nx, push.ny, push.ny)
    return True


cdef double touch_one_way(World* w, Entity* e) noexcept nogil:
    """An upright one is a wall."""
    cdef Push push
    if holds(w, e, &push) and fabs(push.nx) == 1:
        return push.nx
    return 0.0


kinds[ONE_WAY].push = push_from_one_way
kinds[ONE_WAY].touch = touch_one_way
kinds[ONE_WAY].pose = pose_facing
