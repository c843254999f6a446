"""Faults in the reward."""

from __future__ import annotations

from ..faults import Fault

REWARD = "npp_env/runtime/reward.pyx"

FAULTS = [
    Fault(
        "discount-on-the-potential-before",
        REWARD,
        "(weights.discount * after - before)",
        "(after - weights.discount * before)",
        "reward",
        "swapped-arguments",
    ),
    Fault(
        "every-switch-pays",
        REWARD,
        "if switches_before == 0 and ninja.switches > 0:",
        "if ninja.switches > switches_before:",
        "reward",
        "dropped-condition",
    ),
    Fault(
        "exit-and-death-weight-exchanged",
        REWARD,
        "total += weights.exit_weight",
        "total += weights.death_weight",
        "reward",
        "exchanged-fields",
    ),
]
