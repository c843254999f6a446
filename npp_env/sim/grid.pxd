from npp_env.sim.layout cimport Mover, World, cell_of

cdef bint col_free(World* w, int i, int j1, int j2, int step) noexcept nogil
cdef bint row_free(World* w, int i1, int i2, int j, int step) noexcept nogil
cdef bint way_free(World* w, int start, int end, int across, bint upright) noexcept nogil
cdef int floor_value(World* w, int i, int j) noexcept nogil

cdef inline void list_at_end(World* w, Mover* b, int cell) noexcept nogil:
    # Append a mover to the list of a cell (physics 1.3).
    b.cell = cell
    b.stamp = w.level.n_entities + w.ninja.stamp
    w.ninja.stamp += 1

cdef inline void relist(World* w, Mover* b) noexcept nogil:
    # Move a mover to the end of the list of the cell that it has entered.
    cdef int cell = cell_of(b.x, b.y)
    if cell != b.cell:
        list_at_end(w, b, cell)
