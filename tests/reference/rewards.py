"""The events of the reward, read a second time from the docstring of `RewardConfig`."""

from __future__ import annotations

from collections.abc import Mapping

from reference.scene import CELEBRATING, DEAD, Scene

GOLD, EXIT = 2, 3


def event_reward(before: Scene, after: Scene, weights: Mapping[str, float]) -> float:
    """Of a step between two scenes, without shaping; all five weights must be given."""
    ticks = after.ninja.frame - before.ninja.frame
    pieces = taken(after, GOLD) - taken(before, GOLD)
    first_switch = taken(before, EXIT) == 0 and taken(after, EXIT) > 0
    won = after.ninja.state == CELEBRATING and before.ninja.state != CELEBRATING
    died = after.ninja.state == DEAD and before.ninja.state != DEAD
    return (
        weights["time_weight"] * ticks
        + weights["gold_weight"] * pieces
        + weights["switch_weight"] * first_switch
        + weights["exit_weight"] * won
        + weights["death_weight"] * died
    )


def taken(scene: Scene, kind: int) -> int:
    return sum(entity.taken for entity in scene.of_kind(kind))
