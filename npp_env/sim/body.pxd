# The ninja as entities see it: can it be hurt, does it touch, kill it, let it win (physics 4.5, 5.2, 5.6).
from libc.math cimport sqrt
from npp_env.sim.layout cimport CELEBRATING, DEAD, DOOMED, G_FALL, RISING, World

cdef enum:
    NINJA_RADIUS = 10

cdef inline bint is_target(World* w) noexcept nogil:
    return w.ninja.state < DEAD or w.ninja.state == DOOMED

cdef inline bint touches(World* w, double x, double y, double radius) noexcept nogil:
    # Whether a circle overlaps the ninja.
    cdef double dx = x - w.ninja.x
    cdef double dy = y - w.ninja.y
    return sqrt(dx * dx + dy * dy) < radius + NINJA_RADIUS

cdef inline bint segment_hits(World* w, double x1, double y1, double x2, double y2, double rho) noexcept nogil:
    # Whether a segment comes nearer to the ninja's centre than rho.
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

cdef inline void end_as(World* w, int state) noexcept nogil:
    # Only a living ninja ends; one that rises falls from then on.
    if w.ninja.state < DEAD:
        if w.ninja.state == RISING:
            w.ninja.g = G_FALL
        w.ninja.state = state

cdef inline void kill(World* w) noexcept nogil:
    # The end of the tick makes a doomed ninja dead.
    end_as(w, DOOMED)

cdef inline void win(World* w) noexcept nogil:
    end_as(w, CELEBRATING)
