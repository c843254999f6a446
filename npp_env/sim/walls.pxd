from npp_env.sim.layout cimport CELL_PX, COLUMNS, DOOR_OPEN, ROWS, Level, WallPoint, World

cdef enum:
    ARC_RADIUS = 24

cdef WallPoint nearest_point(World* w, double x, double y, double rho) noexcept nogil
cdef WallPoint nearest_to_ninja(World* w, double x, double y, unsigned int known) noexcept nogil
cdef WallPoint nearest_plain(World* w, double x, double y, double reach) noexcept nogil
cdef double touched_wall(World* w, double x, double y) noexcept nogil

cdef inline int third(unsigned int offset, unsigned int second, unsigned int last) noexcept nogil:
    # Which part of a cell an offset in it lies in, of three.
    return (offset >= second) + (offset >= last)

cdef inline unsigned int known_around(Level* level, double x, double y) noexcept nogil:
    # The bits AROUND_FREE and AROUND_FRONT of the part of a cell that a point lies in; none outside of the map.
    cdef unsigned int c, r
    if not (x >= 0 and y >= 0 and x < CELL_PX * COLUMNS and y < CELL_PX * ROWS):
        return 0
    c = <unsigned int><int>x // CELL_PX
    r = <unsigned int><int>y // CELL_PX
    return level.around[c * ROWS + r] >> (3 * third(<int>x - CELL_PX * c, 10, 14) + third(<int>y - CELL_PX * r, 10, 14))

cdef inline bint is_open(World* w, int i) noexcept nogil:
    # Whether wall i is the line of an open door.
    return w.level.walls[i].door >= 0 and (w.flags[w.level.walls[i].door] & DOOR_OPEN) != 0
