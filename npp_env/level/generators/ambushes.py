"""Ambushes: a hall full of islands, and above them turrets and drones that look for the ninja."""

from __future__ import annotations

from npp_env.level.entity_kinds import EntityKind
from npp_env.level.generators.canvas import DOWN, LEFT, RIGHT, UP, Canvas

_LEFT, _RIGHT, _FLOOR = 3, 40, 20
_DRONES = (EntityKind.CHASER_DRONE, EntityKind.LASER_DRONE, EntityKind.CHAINGUN_DRONE)
_TURRETS = (EntityKind.ROCKET_TURRET, EntityKind.GAUSS_TURRET)
_SAFE_COLUMNS = 8
"""So far from the ninja nobody waits for it."""


def draw(canvas: Canvas, difficulty: float) -> None:
    """Draw a level of this family; `difficulty` from 0 to 1."""
    rng = canvas.rng
    top = rng.randint(5, 9)
    canvas.carve(_LEFT, top, _RIGHT, _FLOOR)
    canvas.spawn(_LEFT + 1, _FLOOR)
    _raise_islands(canvas, top)
    end = canvas.open_above(_RIGHT - 1, _FLOOR)
    if rng.random() < 0.2 + 0.5 * difficulty:
        canvas.goal((_LEFT + 3, _FLOOR), end)
    else:
        canvas.goal(end, canvas.open_above(rng.randint(16, 26), _FLOOR - 1))
    canvas.round_corners(0.8)
    for _ in range(1 + round(4 * difficulty)):
        _post_hunter(canvas, top)
    for column in range(_LEFT + _SAFE_COLUMNS, _RIGHT - 4):
        place = (column, _FLOOR)
        if place not in canvas.reserved and canvas.is_open(*place) and rng.random() < 0.15 * difficulty:
            canvas.mine(*place)
    canvas.scatter_gold(3 + int(5 * difficulty))


def _raise_islands(canvas: Canvas, top: int) -> None:
    """Cover: pillars on the floor that a jump clears, and blocks in the air above them."""
    rng = canvas.rng
    for column in range(_LEFT + 5, _RIGHT - 5, 6):
        left = column + rng.randint(0, 2)
        width = rng.randint(2, 3)
        if rng.random() < 0.6:
            canvas.fill(left, _FLOOR - rng.randint(0, 2), left + width - 1, _FLOOR)
        row = rng.randint(top + 3, _FLOOR - 6)
        canvas.fill(left, row, left + width - 1, row + rng.randint(0, 1))


def _post_hunter(canvas: Canvas, top: int) -> None:
    """A turret or drone in the air, or nothing where there is no room."""
    rng = canvas.rng
    kind = rng.choice(rng.choice((_TURRETS, _DRONES)))
    place = (rng.randint(_LEFT + _SAFE_COLUMNS, _RIGHT - 1), rng.randint(top, _FLOOR - 3))
    if place in canvas.reserved or not canvas.is_open(*place):
        return
    if kind in _DRONES:
        canvas.add(kind, *place, rng.choice((RIGHT, DOWN, LEFT, UP)), mode=rng.randrange(4))
    else:
        canvas.add(kind, *place)
