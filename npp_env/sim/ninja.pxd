from npp_env.sim.layout cimport World

cdef void ninja_pass(World* w) noexcept nogil
