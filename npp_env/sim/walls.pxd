from npp_env.sim.layout cimport DOOR_OPEN, WallPoint, World

cdef enum:
    ARC_RADIUS = 24

cdef WallPoint nearest_point(World* w, double x, double y, double rho) noexcept nogil
cdef WallPoint nearest_plain(World* w, double x, double y, double reach) noexcept nogil
cdef double touched_wall(World* w, double x, double y) noexcept nogil

cdef inline bint is_open(World* w, int i) noexcept nogil:
    # Whether wall i is the line of an open door.
    return w.level.walls[i].door >= 0 and (w.flags[w.level.walls[i].door] & DOOR_OPEN) != 0
