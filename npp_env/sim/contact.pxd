from npp_env.sim.layout cimport World

cdef double meet_entities(World* w, bint pushing) noexcept nogil
