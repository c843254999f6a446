from npp_env.sim.layout cimport World

cdef int col_free(World* w, int i, int j1, int j2, int step) noexcept nogil
cdef int row_free(World* w, int i1, int i2, int j, int step) noexcept nogil
cdef int floor_value(World* w, int i, int j) noexcept nogil
cdef void relist(World* w, int m) noexcept nogil
