"""Grid edges: what stops drones, floor guards and thwumps (physics 3.4).

Beyond the grid every edge is like the last one: however far apart two places are, no walk is longer than the grid.
"""

from npp_env.sim.layout cimport DOOR_OPEN, EDGE_COLUMNS, EDGE_ROWS, EDGE_TILE_MASK, World


cdef inline int clamp(int n, int high) noexcept nogil:
    """The number in 0..high that is nearest to n."""
    if n < 0:
        return 0
    if n > high:
        return high
    return n


cdef inline int vertical_edge(int line, int j) noexcept nogil:
    """Where V(line, j) stands; the padding beyond the last row is free."""
    return clamp(line, EDGE_COLUMNS - 1) * EDGE_ROWS + clamp(j, EDGE_ROWS - 1)


cdef inline int horizontal_edge(int i, int line) noexcept nogil:
    """Where H(i, line) stands; the padding beyond the last column is free."""
    return clamp(line, EDGE_ROWS - 1) * EDGE_COLUMNS + clamp(i, EDGE_COLUMNS - 1)


cdef bint door_closes(World* w, int edge, bint vertical) noexcept nogil:
    """Whether a closed door lies on this edge."""
    cdef int d
    cdef bint on_edge
    for d in range(w.level.n_doors):
        if w.level.doors[d].vertical != vertical:
            continue
        on_edge = w.level.doors[d].edge_a == edge or w.level.doors[d].edge_b == edge
        if on_edge and (w.flags[w.level.doors[d].flag] & DOOR_OPEN) == 0:
            return True
    return False


cdef inline bint blocks(World* w, unsigned char* edges, int edge, bint vertical) noexcept nogil:
    """Whether a tile or a closed door blocks an edge."""
    cdef int value = edges[edge]
    return value & EDGE_TILE_MASK or (value != 0 and door_closes(w, edge, vertical))


cdef bint col_free(World* w, int i, int j1, int j2, int step) noexcept nogil:
    """Whether one may leave half column i in direction step over half rows j1..j2."""
    cdef int j
    for j in range(clamp(j1, EDGE_ROWS - 1), clamp(j2, EDGE_ROWS - 1) + 1):
        if blocks(w, w.level.edges_v, vertical_edge(i + 1 if step > 0 else i, j), True):
            return False
    return True


cdef bint row_free(World* w, int i1, int i2, int j, int step) noexcept nogil:
    """Whether one may leave half row j in direction step over half columns i1..i2."""
    cdef int i
    for i in range(clamp(i1, EDGE_COLUMNS - 1), clamp(i2, EDGE_COLUMNS - 1) + 1):
        if blocks(w, w.level.edges_h, horizontal_edge(i, j + 1 if step > 0 else j), False):
            return False
    return True


cdef bint way_free(World* w, int start, int end, int across, bint upright) noexcept nogil:
    """Whether one may go along half row `across` between two half columns, or upright along a half column.

    Either of start and end may be the greater.
    """
    cdef unsigned char* edges = w.level.edges_h if upright else w.level.edges_v
    cdef int last = (EDGE_ROWS if upright else EDGE_COLUMNS) - 1
    cdef int line, edge
    if start == end:
        return True
    for line in range(clamp(min(start, end) + 1, last), clamp(max(start, end), last) + 1):
        edge = horizontal_edge(across, line) if upright else vertical_edge(line, across)
        if blocks(w, edges, edge, not upright):
            return False
    return True


cdef int floor_value(World* w, int i, int j) noexcept nogil:
    """Tile value of a horizontal edge, doors left aside."""
    return w.level.edges_h[horizontal_edge(i, j)] & EDGE_TILE_MASK
