from npp_env.sim.entities.passes cimport Pose
from npp_env.sim.layout cimport Entity, Mover, World

# From goal to goal; the steps of all drones but mini drones are the same.
cdef enum:
    STEP_PX = 24, MINI_STEP_PX = 12

cdef int direction_x(int direction) noexcept nogil
cdef int direction_y(int direction) noexcept nogil
cdef void place_drone(World* w, Entity* e) noexcept nogil
cdef bint can_go(World* w, Mover* b, int direction, double radius, double step) noexcept nogil
cdef int first_turn(int mode) noexcept nogil
cdef bint turn_by_mode(World* w, Entity* e, double step) noexcept nogil
cdef double reach_goal(Mover* b, double speed) noexcept nogil
cdef void go_on(Mover* b, double rest) noexcept nogil
cdef bint fly(World* w, Entity* e, double step) noexcept nogil
cdef void pose_drone(World* w, Entity* e, Pose* pose) noexcept nogil
