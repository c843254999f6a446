"""Boost pads: more speed for a ninja that enters (physics 6.11)."""

from libc.math cimport sqrt
from npp_env.sim.body cimport is_target, touches
from npp_env.sim.entities.passes cimport Pose, kinds
from npp_env.sim.layout cimport BOOST_PAD, Entity, Ninja, World
from npp_env.sim.validity cimport Check, expect_flag


cdef void advance_pad(World* w, Entity* e) noexcept nogil:
    """Boost once, and again only after the ninja has left."""
    cdef Ninja* n = w.ninja
    cdef unsigned char* inside = &w.flags[e.slot]
    cdef double speed, ax, ay
    if not is_target(w) or not touches(w, e.x, e.y, kinds[BOOST_PAD].radius):
        inside[0] = False
        return
    if not inside[0]:
        speed = sqrt(n.vx * n.vx + n.vy * n.vy)
        if speed > 0:
            ax = 2 * n.vx / speed
            ay = 2 * n.vy / speed
            n.vx += ax
            n.vy += ay
    inside[0] = True


cdef void pose_pad(World* w, Entity* e, Pose* pose) noexcept nogil:
    """Whether the ninja is inside."""
    pose.mode = w.flags[e.slot]


cdef void check_pad(World* w, Entity* e, Check* check) noexcept nogil:
    """Whether the ninja is inside."""
    expect_flag(check, w.flags[e.slot], 1 << False | 1 << True)


kinds[BOOST_PAD].advance = advance_pad
kinds[BOOST_PAD].pose = pose_pad
kinds[BOOST_PAD].check = check_pad
