"""Launch pads (physics 5.7, 6.5)."""

from libc.math cimport sqrt
from npp_env.sim.body cimport NINJA_RADIUS, is_target, touches
from npp_env.sim.entities.passes cimport kinds, pose_facing
from npp_env.sim.layout cimport FALLING, G_FALL, LAUNCH_PAD, RISING, Entity, Ninja, World, eighth_x, eighth_y


cdef void launch(World* w, double fx, double fy) noexcept nogil:
    """The boost; revives a ninja that was doomed earlier in the same tick."""
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
    if n.state == RISING:
        n.g = G_FALL
    n.state = FALLING


cdef double touch_pad(World* w, Entity* e) noexcept nogil:
    """Boosts a ninja that comes from its front, most of all upwards."""
    cdef Ninja* n = w.ninja
    cdef double nx = eighth_x(e.orientation)
    cdef double ny = eighth_y(e.orientation)
    cdef double speed = kinds[LAUNCH_PAD].speed
    if not is_target(w) or not touches(w, e.x, e.y, kinds[LAUNCH_PAD].radius):
        return 0.0
    if (e.x - (n.x - NINJA_RADIUS * nx)) * nx + (e.y - (n.y - NINJA_RADIUS * ny)) * ny >= -0.1:
        launch(w, nx * speed, ny * speed * (1 - ny if ny < 0 else 1.0))
    return 0.0


kinds[LAUNCH_PAD].touch = touch_pad
kinds[LAUNCH_PAD].pose = pose_facing
