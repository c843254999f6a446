from npp_env.sim.layout cimport World

cdef void decide(World* w) noexcept nogil
