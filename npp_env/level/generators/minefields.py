"""Minefields: rough ground sown with mines, on the floor and in the air."""

from __future__ import annotations

from npp_env.level.entity_kinds import EntityKind
from npp_env.level.generators.canvas import Canvas

_LEFT, _RIGHT = 3, 40


def draw(canvas: Canvas, difficulty: float) -> None:
    """Draw a level of this family; `difficulty` from 0 to 1."""
    rng = canvas.rng
    top = rng.randint(5, 10)
    canvas.carve(_LEFT, top, _RIGHT, 21)
    ground = rng.randint(18, 20)
    heights: list[int] = []
    column = _LEFT
    while column <= _RIGHT:
        length = min(rng.randint(3, 6), _RIGHT - column + 1)
        if heights:
            ground = min(max(ground + rng.choice((-2, -1, -1, 0, 1, 1, 2)), 16), 21)
        heights += [ground] * length
        if ground < 21:
            canvas.fill(column, ground + 1, column + length - 1, 21)
        column += length
    canvas.spawn(_LEFT + 1, heights[1])
    end = (_RIGHT - 1, heights[-2])
    if rng.random() < 0.3 + 0.5 * difficulty:
        canvas.goal((_LEFT + 3, heights[3]), end)
    else:
        column = rng.randint(17, 26)
        canvas.goal(end, (column, ground_at(heights, column) - 2))
    canvas.round_corners(0.6)
    _sow(canvas, heights, difficulty)
    _hang(canvas, heights, top, difficulty)
    canvas.scatter_gold(3 + int(5 * difficulty))


def ground_at(heights: list[int], column: int) -> int:
    """Lowest free row of a column."""
    return heights[column - _LEFT]


def _sow(canvas: Canvas, heights: list[int], difficulty: float) -> None:
    """Mines on the floor, in patches that a jump clears, with ground to land on between them."""
    rng = canvas.rng
    column = _LEFT + 6
    while column < _RIGHT - 5:
        for c in range(column, column + rng.randint(1, 1 + round(2 * difficulty))):
            row = ground_at(heights, c)
            if (c, row) not in canvas.reserved and canvas.is_open(c, row):
                canvas.mine(c, row)
            column = c
        column += rng.randint(4, 7 - round(2 * difficulty))


def _hang(canvas: Canvas, heights: list[int], top: int, difficulty: float) -> None:
    """Mines in the air, higher than a jump need go."""
    rng = canvas.rng
    for _ in range(round(3 + 12 * difficulty)):
        column = rng.randint(_LEFT + 4, _RIGHT - 4)
        lowest = min(heights[max(0, column - _LEFT - 3) : column - _LEFT + 4]) - 5
        if lowest > top:
            row = rng.randint(top, lowest)
            if (column, row) not in canvas.reserved:
                canvas.add(EntityKind.MINE, column, row)
