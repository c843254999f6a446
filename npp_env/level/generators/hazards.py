"""Hazards: a hall with drones, guards, thwumps, death balls and bounce blocks, one after the other."""

from __future__ import annotations

from collections.abc import Callable

from npp_env.level.entity_kinds import EntityKind
from npp_env.level.generators.canvas import DOWN, LEFT, RIGHT, Canvas

_LEFT, _RIGHT, _FLOOR = 3, 40, 20
_SECTION = 7


def draw(canvas: Canvas, difficulty: float) -> None:
    """Draw a level of this family; `difficulty` from 0 to 1."""
    rng = canvas.rng
    top = rng.randint(11, 14)
    canvas.carve(_LEFT, top, _RIGHT, _FLOOR)
    canvas.spawn(_LEFT + 1, _FLOOR)
    sections = list(range(_LEFT + 5, _RIGHT - 6, _SECTION))
    busy = max(1, round((0.3 + 0.7 * difficulty) * len(sections)))
    dangers = rng.sample(sections, busy)
    for column in sections:
        if column in dangers:
            rng.choice(_DANGERS)(canvas, column, top)
        elif rng.random() < 0.7:
            canvas.fill(column + 2, _FLOOR - rng.randint(0, 1), column + 3, _FLOOR)
    if rng.random() < 0.6 * difficulty - 0.1:
        canvas.add(EntityKind.DEATH_BALL, rng.randint(20, 36), top + 1)
    if rng.random() < 0.2 + 0.5 * difficulty:
        canvas.goal((_LEFT + 3, _FLOOR), (_RIGHT - 1, _FLOOR))
    else:
        canvas.goal((_RIGHT - 1, _FLOOR), canvas.open_above(rng.randint(18, 24), _FLOOR - 2))
    canvas.round_corners(0.4)
    canvas.scatter_gold(3 + int(5 * difficulty))


def _patrol(canvas: Canvas, column: int, top: int) -> None:
    canvas.fill(column, _FLOOR, column, _FLOOR)
    canvas.fill(column + 6, _FLOOR, column + 6, _FLOOR)
    canvas.add(EntityKind.ZAP_DRONE, column + 3, _FLOOR, canvas.rng.choice((LEFT, RIGHT)), mode=2)


def _carousel(canvas: Canvas, column: int, top: int) -> None:
    canvas.fill(column + 2, _FLOOR - 3, column + 4, _FLOOR - 2)
    canvas.add(EntityKind.ZAP_DRONE, column + 2, _FLOOR - 4, RIGHT)


def _swarm(canvas: Canvas, column: int, top: int) -> None:
    canvas.fill(column + 1, _FLOOR, column + 1, _FLOOR)
    canvas.fill(column + 5, _FLOOR, column + 5, _FLOOR)
    canvas.add(EntityKind.MINI_DRONE, column + 3, _FLOOR, LEFT, mode=3)


def _guard(canvas: Canvas, column: int, top: int) -> None:
    canvas.fill(column, _FLOOR, column, _FLOOR)
    canvas.fill(column + 6, _FLOOR, column + 6, _FLOOR)
    canvas.add(EntityKind.FLOOR_GUARD, column + 3, _FLOOR, drop=1)


def _press(canvas: Canvas, column: int, top: int) -> None:
    canvas.add(EntityKind.THWUMP, column + 3, top, DOWN)


def _piston(canvas: Canvas, column: int, top: int) -> None:
    canvas.fill(column + 4, _FLOOR - 1, column + 5, _FLOOR)
    canvas.add(EntityKind.THWUMP, column + 3, _FLOOR, LEFT)


def _shover(canvas: Canvas, column: int, top: int) -> None:
    canvas.add(EntityKind.SHOVE_THWUMP, column + 3, _FLOOR)
    canvas.add(EntityKind.SHOVE_THWUMP, column + 3, _FLOOR - 1)


def _bridge(canvas: Canvas, column: int, top: int) -> None:
    canvas.carve(column, _FLOOR + 1, column + 6, _FLOOR + 2)
    for c in range(column, column + 7):
        canvas.mine(c, _FLOOR + 2)
        if c % 2 == column % 2:
            canvas.add(EntityKind.BOUNCE_BLOCK, c, _FLOOR + 1)


def _toggles(canvas: Canvas, column: int, top: int) -> None:
    for c in (column + 2, column + 4):
        canvas.add(EntityKind.TOGGLE_MINE, c, _FLOOR, drop=1)


_DANGERS: tuple[Callable[[Canvas, int, int], None], ...] = (
    _patrol,
    _carousel,
    _swarm,
    _guard,
    _press,
    _piston,
    _shover,
    _bridge,
    _toggles,
)
