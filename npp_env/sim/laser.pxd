from npp_env.sim.layout cimport World

cdef void react_laser(World* w, int e) noexcept nogil
cdef void place_laser(World* w, int e) noexcept nogil
