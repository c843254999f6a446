from npp_env.sim.layout cimport World

cdef int nearest_point(World* w, double x, double y, double rho) noexcept nogil
cdef int nearest_plain(World* w, double x, double y, double reach) noexcept nogil
cdef double touched_wall(World* w, double x, double y) noexcept nogil
cdef double sweep(World* w, double x, double y, double vx, double vy, double rho) noexcept nogil
cdef double sweep_point(double a, double b, double x, double y, double vx, double vy, double rho) noexcept nogil
cdef double ray_length(World* w, double x, double y, double dx, double dy) noexcept nogil
