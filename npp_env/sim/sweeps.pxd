from npp_env.sim.layout cimport World

cdef double sweep(World* w, double x, double y, double vx, double vy, double rho) noexcept nogil
cdef double sweep_point(double a, double b, double x, double y, double vx, double vy, double rho) noexcept nogil
cdef double ray_length(World* w, double x, double y, double dx, double dy) noexcept nogil
