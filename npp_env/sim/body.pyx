"""The ninja as entities see it: can it be hurt, does it touch, kill it, let it win."""

from libc.math cimport sqrt
from npp_env.sim.layout cimport G_FALL, World


cdef int is_target(World* w) noexcept nogil:
    """Whether the ninja can be hurt: neither dead nor celebrating."""
    return w.ninja.state < 6 or w.ninja.state == 7


cdef int touches(World* w, double x, double y, double radius) noexcept nogil:
    """Whether a circle overlaps the ninja."""
    cdef double dx = x - w.ninja.x
    cdef double dy = y - w.ninja.y
    return sqrt(dx * dx + dy * dy) < radius + 10


cdef int segment_hits(World* w, double x1, double y1, double x2, double y2, double rho) noexcept nogil:
    """Whether a segment comes nearer to the ninja's centre than rho."""
    cdef double ex = x2 - x1
    cdef double ey = y2 - y1
    cdef double square = ex * ex + ey * ey
    cdef double u = 0.0
    if square > 0:
        u = ((w.ninja.x - x1) * ex + (w.ninja.y - y1) * ey) / square
    if u < 0:
        u = 0
    if u > 1:
        u = 1
    cdef double dx = w.ninja.x - (x1 + u * ex)
    cdef double dy = w.ninja.y - (y1 + u * ey)
    return dx * dx + dy * dy < rho * rho


cdef void kill(World* w) noexcept nogil:
    """Doom a living ninja; the end of the tick makes it dead."""
    if w.ninja.state < 6:
        if w.ninja.state == 3:
            w.ninja.g = G_FALL
        w.ninja.state = 7


cdef void win(World* w) noexcept nogil:
    """Let a living ninja celebrate."""
    if w.ninja.state < 6:
        if w.ninja.state == 3:
            w.ninja.g = G_FALL
        w.ninja.state = 8
