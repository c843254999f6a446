from npp_env.sim.layout cimport Ninja, World
from npp_env.sim.validity cimport Check

cdef void decide(World* w) noexcept nogil
cdef void check_ninja(Ninja* n, Check* check) noexcept nogil
