"""Faults in the reward."""

from __future__ import annotations

from ..faults import Fault

ENGINE = "npp_env/runtime/engine.pyx"
PATHS = "npp_env/observe/path_features.pyx"
ROWS = "npp_env/runtime/episode_rows.pyx"
REWARD = "npp_env/runtime/reward.pxd"

FAULTS = [
    Fault(
        "kept-progress-backwards",
        REWARD,
        "weights.shaping_weight * (after - before)",
        "weights.shaping_weight * (before - after)",
        "shaping",
        "sign",
    ),
    Fault(
        "kept-progress-of-the-end",
        REWARD,
        "return 0.0 if terminated else weights.shaping_weight",
        "return weights.shaping_weight",
        "shaping",
        "dropped-condition",
    ),
    Fault(
        "progress-lent-instead-of-kept",
        REWARD,
        "if weights.keeps_progress:",
        "if not weights.keeps_progress:",
        "shaping",
        "sign",
    ),
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
        "if before.switches == 0 and ninja.switches > 0:",
        "if ninja.switches > before.switches:",
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
    Fault(
        "time-per-step",
        REWARD,
        "weights.time_weight * ticks",
        "weights.time_weight",
        "reward",
        "dropped-condition",
    ),
    Fault(
        "gold-paid-again-and-again", REWARD, "(ninja.gold - before.gold)", "ninja.gold", "reward", "dropped-condition"
    ),
    Fault(
        "steps-after-the-end-pay",
        REWARD,
        "if ticks == 0:",
        "if ticks < 0:",
        "reward",
        "dropped-condition",
    ),
    Fault(
        "death-pays-the-other-way",
        REWARD,
        "total += weights.death_weight",
        "total -= weights.death_weight",
        "reward",
        "sign",
    ),
    Fault("end-has-a-potential", REWARD, "if terminated:", "if not terminated:", "reward", "sign"),
    Fault(
        "shaping-without-discount",
        REWARD,
        "(weights.discount * after - before)",
        "(after - before)",
        "reward",
        "dropped-condition",
    ),
    Fault(
        "shaping-backwards",
        REWARD,
        "(weights.discount * after - before)",
        "(before - weights.discount * after)",
        "reward",
        "sign",
    ),
    Fault(
        "time-and-gold-weight-exchanged",
        REWARD,
        "weights.gold_weight * (",
        "weights.time_weight * (",
        "reward",
        "exchanged-fields",
    ),
    Fault(
        "shortest-plan-of-a-tile",
        PATHS,
        "SHORTEST_PLAN_PX = 48.0",
        "SHORTEST_PLAN_PX = 24.0",
        "reward",
        "neighbouring-constant",
    ),
    Fault(
        "potential-never-negative",
        PATHS,
        "return -1.0 if d < -1 else d",
        "return 0.0 if d < 0 else d",
        "reward",
        "neighbouring-constant",
    ),
    Fault("potential-falls-towards-the-exit", PATHS, "d = 1 - d / total", "d = d / total", "reward", "sign"),
    Fault(
        "potential-where-the-spawn-has-no-way",
        PATHS,
        " or not total < UNREACHABLE:",
        ":",
        "reward",
        "dropped-condition",
    ),
    Fault(
        "terminal-potential-kept",
        ROWS,
        "slot.potential = 0.0 if slot.terminated else after",
        "slot.potential = after",
        "reward",
        "dropped-condition",
    ),
    Fault(
        "first-potential-forgotten",
        ROWS,
        "slot.potential = potential(&view) if slot.paths != NULL else 0.0",
        "slot.potential = 0.0",
        "reward",
        "dropped-condition",
        within="restart_one",
    ),
    Fault(
        "potential-of-the-dead-after-a-restore",
        ENGINE,
        "slot.paths == NULL or is_over(view.world.ninja)",
        "slot.paths == NULL",
        "reward",
        "dropped-condition",
    ),
    Fault(
        "gold-and-switches-before-exchanged",
        REWARD,
        "(ninja.gold - before.gold)",
        "(ninja.gold - before.switches)",
        "reward",
        "exchanged-fields",
    ),
    Fault(
        "weights-of-switch-and-exit-exchanged",
        REWARD,
        "total += weights.switch_weight\n    if ninja.state == CELEBRATING:\n        total += weights.exit_weight",
        "total += weights.exit_weight\n    if ninja.state == CELEBRATING:\n        total += weights.switch_weight",
        "reward",
        "exchanged-fields",
    ),
]
