from npp_env.sim.layout cimport World

# How far a ray reaches.
cdef enum:
    RAY_PX = 2000

cdef double sweep(World* w, double x, double y, double vx, double vy, double rho) noexcept nogil
cdef double sweep_point(double a, double b, double x, double y, double vx, double vy, double rho) noexcept nogil
cdef double ray_in_cell(World* w, int cell, double x, double y, double dx, double dy) noexcept nogil
cdef double ray_length(World* w, double x, double y, double dx, double dy) noexcept nogil
