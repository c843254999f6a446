from npp_env.sim.layout cimport World

cdef void advance_entities(World* w) noexcept nogil
cdef void react_entities(World* w) noexcept nogil
