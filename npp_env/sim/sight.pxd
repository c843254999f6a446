from npp_env.sim.layout cimport Entity, World

cdef void watch(World* w) noexcept nogil
cdef bint is_in_the_open(World* w, int cell) noexcept nogil
cdef bint sees(World* w, double x, double y) noexcept nogil
cdef bint sees_from(World* w, Entity* turret) noexcept nogil
cdef bint can_meet(World* w, double x, double y, double dx, double dy) noexcept nogil
cdef void shoot(World* w, double x, double y, double dx, double dy) noexcept nogil
cdef bint end_of_shot(
    World* w, double x, double y, double dx, double dy, double* end_x, double* end_y
) noexcept nogil
