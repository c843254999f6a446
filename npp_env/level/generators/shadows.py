"""Shadows: storeys of rooms whose doorways are kept by evil ninjas, and a switch at the far end."""

from __future__ import annotations

from itertools import pairwise

from npp_env.level.entity_kinds import EntityKind
from npp_env.level.generators.canvas import Canvas

_LEFT, _RIGHT = 3, 40
_FLOORS = (20, 13)
_HEIGHT = 6
_WALLS = (13, 22, 31)
_SHAFT_WIDTH = 3


def draw(canvas: Canvas, difficulty: float) -> None:
    """Draw a level of this family; `difficulty` from 0 to 1."""
    rng = canvas.rng
    storeys = 1 + (rng.random() < 0.2 + 0.8 * difficulty)
    walls = rng.sample([(c + rng.randint(-1, 1), floor) for c in _WALLS for floor in _FLOORS[:storeys]], k=3)
    keepers = 1 + round(2 * difficulty)
    for floor in _FLOORS[:storeys]:
        canvas.carve(_LEFT, floor - _HEIGHT + 1, _RIGHT, floor)
        _furnish(canvas, floor, [column for column, row in walls if row == floor])
    if storeys > 1:
        # The upper storey is reached at the right end, over a ledge.
        canvas.carve(_RIGHT - _SHAFT_WIDTH + 1, _FLOORS[1] + 1, _RIGHT, _FLOORS[0] - _HEIGHT)
        canvas.fill(_RIGHT, _FLOORS[0] - 2, _RIGHT, _FLOORS[0] - 2)
    for number, (column, floor) in enumerate(walls):
        canvas.fill(column, floor - _HEIGHT + 1, column, floor - 1)
        canvas.reserved.update({(column - 1, floor), (column + 1, floor)})
        if number < keepers:
            canvas.add(EntityKind.EVIL_NINJA, column, floor)
    canvas.spawn(_LEFT + 1, _FLOORS[0])
    far = (_RIGHT - 1, _FLOORS[0]) if storeys == 1 else (_LEFT + 1, _FLOORS[1])
    if rng.random() < 0.3 + 0.5 * difficulty:
        canvas.goal((_LEFT + 3, _FLOORS[0]), far)
    else:
        canvas.goal(far, (_LEFT + 6, _FLOORS[0]))
    canvas.round_corners(0.4)
    canvas.scatter_gold(3 + int(5 * difficulty))


def _furnish(canvas: Canvas, floor: int, walls: list[int]) -> None:
    """A block in the air of each room, to go around when somebody follows; now and then a step below it."""
    rng = canvas.rng
    ends = [_LEFT - 1, *sorted(walls), _RIGHT - _SHAFT_WIDTH]
    for left, right in pairwise(ends):
        if right - left > 6:
            column = rng.randint(left + 3, right - 4)
            canvas.fill(column, floor - 3, column + 1, floor - 2 - rng.randint(0, 1))
