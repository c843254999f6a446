# How entities push the ninja (physics 4.5, 5.4).
from libc.math cimport fabs
from npp_env.sim.layout cimport World

cdef struct Push:
    double nx, ny   # normal of the nearest side
    double depth    # through that side
    double other    # through the nearest side of the other axis

cdef inline bint inside_square(World* w, double x, double y, double half_side, Push* push) noexcept nogil:
    # Whether the ninja's centre lies in the square; if so fills the push.
    cdef double dx = w.ninja.x - x
    cdef double dy = w.ninja.y - y
    cdef double px = half_side - fabs(dx)
    cdef double py = half_side - fabs(dy)
    if not (px > 0 and py > 0):
        return False
    if py <= px:
        push.nx = 0.0
        push.ny = -1.0 if dy < 0 else 1.0
        push.depth = py
        push.other = px
    else:
        push.nx = -1.0 if dx < 0 else 1.0
        push.ny = 0.0
        push.depth = px
        push.other = py
    return True

cdef inline void count_contact(World* w, double nx, double ny, double rise) noexcept nogil:
    # A surface with this normal was met: as ceiling or wall, or if it rises as floor (5.4 and 5.5, step 6).
    if rise >= -0.0001:
        w.n_ceiling += 1
        w.ceiling_x += nx
        w.ceiling_y += ny
    else:
        w.n_floor += 1
        w.floor_x += nx
        w.floor_y += ny

cdef inline void count_crush(World* w, double qx, double qy, double length) noexcept nogil:
    w.crush_x += qx
    w.crush_y += qy
    w.crush_length += length

cdef inline void shove_ninja(World* w, double nx, double ny, double length) noexcept nogil:
    # Move the ninja out and hand on the motion (5.4, steps 1, 4 and 6).
    cdef double qx = nx * length
    cdef double qy = ny * length
    w.ninja.x += qx
    w.ninja.y += qy
    w.ninja.vx += qx
    w.ninja.vy += qy
    count_contact(w, nx, ny, ny)
