from npp_env.sim.layout cimport Entity, World

# From goal to goal; the steps of all drones but mini drones are the same.
cdef enum:
    STEP_PX = 24, MINI_STEP_PX = 12

cdef int direction_x(int direction) noexcept nogil
cdef int direction_y(int direction) noexcept nogil
cdef void place_drone(World* w, Entity* e) noexcept nogil
cdef bint fly(World* w, Entity* e, double step) noexcept nogil
