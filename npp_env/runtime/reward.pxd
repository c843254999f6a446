# The reward: what happened in a step, plus what the way to the end is worth.
#
# The potential of a state is `1 - d / total`, but at least -1: d is the path length from the ninja's true position over
# the switch to the exit (see `reachability_features`; not cut), total that from the spawn's node in the same
# configuration of doors and exits, but at least 48 px. Both lead over the switch to the exit; once a switch is taken, d
# leads straight to the exit. So it is about 0 at the spawn and 1 at the exit. Without a way from the ninja or from the
# spawn it is 0.
#
# With `keeps_progress` a step gets `shaping_weight * (after - before)`, the potentials of the states after and before
# it, and one that ends the episode by death or victory nothing of this kind: an episode is worth how far it came.
#
# Without, `shaping_weight * (discount * after - before)`, and after a step that ends the episode by death or victory
# `after` is 0 (not so when time runs out), so that over an episode the discounted terms telescope to minus the
# potential of the first state, whatever the policy did: the best policy stays the best.
from npp_env.sim.layout cimport CELEBRATING, DEAD, Ninja

# `npp_env.config.RewardConfig`, filled by field name.
cdef struct Weights:
    double switch_weight
    double exit_weight
    double death_weight
    double time_weight
    double gold_weight
    double shaping_weight
    double discount
    bint keeps_progress

cdef inline double event_reward(Weights* weights, Ninja* before, Ninja* ninja, int ticks) noexcept nogil:
    # For what happened during some ticks, from one state of the ninja to another; none are carried out after the end.
    if ticks == 0:
        return 0.0
    cdef double total = weights.time_weight * ticks + weights.gold_weight * (ninja.gold - before.gold)
    if before.switches == 0 and ninja.switches > 0:
        total += weights.switch_weight
    if ninja.state == CELEBRATING:
        total += weights.exit_weight
    elif ninja.state == DEAD:
        total += weights.death_weight
    return total

cdef inline double shaping_reward(Weights* weights, double before, double after, bint terminated) noexcept nogil:
    # For the way between two potentials.
    if weights.keeps_progress:
        return 0.0 if terminated else weights.shaping_weight * (after - before)
    if terminated:
        after = 0.0
    return weights.shaping_weight * (weights.discount * after - before)
