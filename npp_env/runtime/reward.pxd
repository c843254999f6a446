from npp_env.observe.view cimport View
from npp_env.sim.layout cimport Ninja

cdef struct Weights:
    double switch_weight
    double exit_weight
    double death_weight
    double time_weight
    double gold_weight
    double shaping_weight
    double discount

cdef double event_reward(Weights* weights, Ninja* ninja, int ticks, int gold_before, int switches_before) noexcept nogil
cdef double shaping_reward(Weights* weights, double before, double after, int terminated) noexcept nogil
