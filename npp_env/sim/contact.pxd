from npp_env.sim.layout cimport World

cdef int push_from_entities(World* w) noexcept nogil
cdef double touch_entities(World* w) noexcept nogil
