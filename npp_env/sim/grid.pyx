"""Grid edges: what stops drones, floor guards and thwumps; and the cell in which a mover is listed."""

from npp_env.sim.layout cimport World, column_of, row_of


cdef inline int clamp(int n, int high) noexcept nogil:
    """The number in 0..high that is nearest to n."""
    if n < 0:
        return 0
    if n > high:
        return high
    return n


cdef int door_closes(World* w, int edge, int vertical) noexcept nogil:
    """Whether a closed door lies on this edge."""
    cdef int d, on_edge
    for d in range(w.level.n_doors):
        if w.level.doors[d].vertical != vertical:
            continue
        on_edge = w.level.doors[d].edge_a == edge or w.level.doors[d].edge_b == edge
        if on_edge and (w.flags[w.level.doors[d].flag] & 1) == 0:
            return 1
    return 0


cdef int col_free(World* w, int i, int j1, int j2, int step) noexcept nogil:
    """Whether one may leave half column i in direction step over half rows j1..j2."""
    cdef int e = clamp(i + 1 if step > 0 else i, 88)
    cdef int j, value, edge
    for j in range(j1, j2 + 1):
        edge = e * 51 + clamp(j, 50)
        value = w.level.edges_v[edge]
        if value & 3:
            return 0
        if value != 0 and door_closes(w, edge, 1):
            return 0
    return 1


cdef int row_free(World* w, int i1, int i2, int j, int step) noexcept nogil:
    """Whether one may leave half row j in direction step over half columns i1..i2."""
    cdef int e = clamp(j + 1 if step > 0 else j, 50)
    cdef int i, value, edge
    for i in range(i1, i2 + 1):
        edge = e * 89 + clamp(i, 88)
        value = w.level.edges_h[edge]
        if value & 3:
            return 0
        if value != 0 and door_closes(w, edge, 0):
            return 0
    return 1


cdef int floor_value(World* w, int i, int j) noexcept nogil:
    """Tile value of a horizontal edge, doors left aside."""
    return w.level.edges_h[clamp(j, 50) * 89 + clamp(i, 88)] & 3


cdef void relist(World* w, int m) noexcept nogil:
    """Move a mover to the end of the list of the cell that it has entered."""
    cdef int cell = column_of(w.movers[m].x) * 25 + row_of(w.movers[m].y)
    if cell != w.movers[m].cell:
        w.movers[m].cell = cell
        w.movers[m].stamp = w.level.n_entities + w.ninja.stamp
        w.ninja.stamp += 1
