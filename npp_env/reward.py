"""The reward: what happened in a step, plus potential-based shaping.

The shaping term is `shaping_weight * (discount * after - before)` with the potential of `npp_env.observe`: 0 at the
spawn, 1 at the exit, over the switch. A terminal state has potential 0, so that over an episode the discounted terms
telescope to minus the potential of the first state, whatever the policy did: the best policy stays the best.
"""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.npp_env.sim.layout import Ninja


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def event_reward(
    weights: cython.pointer(Weights),
    ninja: cython.pointer(Ninja),
    ticks: cython.int,
    gold_before: cython.int,
    switches_before: cython.int,
) -> cython.double:
    """Reward for what happened during some ticks."""
    total: cython.double = weights.time_weight * ticks + weights.gold_weight * (ninja.gold - gold_before)
    if switches_before == 0 and ninja.switches > 0:
        total += weights.switch_weight
    if ninja.state == 8:
        total += weights.exit_weight
    elif ninja.state == 6:
        total += weights.death_weight
    return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def shaping_reward(
    weights: cython.pointer(Weights), before: cython.double, after: cython.double, terminated: cython.int
) -> cython.double:
    """The shaping term between the potentials of two states."""
    if terminated:
        after = 0.0
    return weights.shaping_weight * (weights.discount * after - before)
