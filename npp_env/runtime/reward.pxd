# The reward: what happened in a step, plus potential-based shaping.
#
# The shaping term is `shaping_weight * (discount * after - before)` with the potential of `npp_env.observe`: 0 at the
# spawn, 1 at the exit, over the switch. A terminal state has potential 0, so that over an episode the discounted terms
# telescope to minus the potential of the first state, whatever the policy did: the best policy stays the best.
from npp_env.sim.layout cimport Ninja

# `npp_env.config.RewardConfig`, filled by field name.
cdef struct Weights:
    double switch_weight
    double exit_weight
    double death_weight
    double time_weight
    double gold_weight
    double shaping_weight
    double discount

cdef inline double event_reward(Weights* weights, Ninja* before, Ninja* ninja, int ticks) noexcept nogil:
    # For what happened during some ticks, from one state of the ninja to another.
    cdef double total = weights.time_weight * ticks + weights.gold_weight * (ninja.gold - before.gold)
    if before.switches == 0 and ninja.switches > 0:
        total += weights.switch_weight
    if ninja.state == 8:
        total += weights.exit_weight
    elif ninja.state == 6:
        total += weights.death_weight
    return total

cdef inline double shaping_reward(Weights* weights, double before, double after, bint terminated) noexcept nogil:
    # For the way between two potentials.
    if terminated:
        after = 0.0
    return weights.shaping_weight * (weights.discount * after - before)
