# The node of a position.
from libc.math cimport rint
from npp_env.sim.layout cimport HALF_COLUMNS, HALF_ROWS

cdef enum:
    NO_NODE = 65535
    HALF_PX = 12

# Nodes by half cell (row by row), and by pixel for the half cells that have several.
cdef struct NodeTable:
    int n_split
    unsigned short* nearest
    unsigned short* split_half
    unsigned short* split_node

cdef inline int pixel_of(double offset) noexcept nogil:
    # The nearest pixel of a half cell, ties to even.
    return HALF_PX - 1 if offset > HALF_PX - 1 else <int>rint(offset)

cdef inline double inside(double z, double end) noexcept nogil:
    # Written so that a NaN is inside, too.
    return end if z > end else z if z > 0 else 0.0

cdef inline int half_cell_at(double x, double y) noexcept nogil:
    # The half cell of a position, clamped to the map.
    x = inside(x, HALF_PX * HALF_COLUMNS - 0.5)
    y = inside(y, HALF_PX * HALF_ROWS - 0.5)
    return <int>(y / HALF_PX) * HALF_COLUMNS + <int>(x / HALF_PX)

cdef inline int node_at(NodeTable* table, double x, double y) noexcept nogil:
    # The node that stands for a position, by its half cell, and by the nearest pixel where that has several nodes;
    # NO_NODE only if the level has no place where the ninja fits.
    x = inside(x, HALF_PX * HALF_COLUMNS - 0.5)
    y = inside(y, HALF_PX * HALF_ROWS - 0.5)
    cdef int i = <int>(x / HALF_PX)
    cdef int j = <int>(y / HALF_PX)
    cdef int half_cell = j * HALF_COLUMNS + i
    cdef int low = 0
    cdef int high = table.n_split
    cdef int middle
    while low < high:
        middle = (low + high) // 2
        if table.split_half[middle] < half_cell:
            low = middle + 1
        else:
            high = middle
    if low < table.n_split and table.split_half[low] == half_cell:
        middle = pixel_of(y - HALF_PX * j) * HALF_PX + pixel_of(x - HALF_PX * i)
        return table.split_node[low * HALF_PX * HALF_PX + middle]
    return table.nearest[half_cell]
