from npp_env.sim.layout cimport World

cdef int is_target(World* w) noexcept nogil
cdef int touches(World* w, double x, double y, double radius) noexcept nogil
cdef void kill(World* w) noexcept nogil
cdef void win(World* w) noexcept nogil
cdef int segment_hits(World* w, double x1, double y1, double x2, double y2, double rho) noexcept nogil
