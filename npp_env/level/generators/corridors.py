"""Corridors: one to three storeys that wind to and fro, with bumps, pits and low ceilings."""

from __future__ import annotations

from npp_env.level.generators.canvas import Canvas

LEFT_END, RIGHT_END = 3, 40
_STOREY_DISTANCE = 6
"""Rows from floor to floor: a fall that the ninja survives."""


def draw(canvas: Canvas, difficulty: float) -> None:
    """Draw a level of this family; `difficulty` from 0 to 1."""
    rng = canvas.rng
    storeys = 1 + (rng.random() < 0.3 + difficulty) + (rng.random() < difficulty)
    height = 4 if storeys == 3 else rng.randint(4, 5)
    floors = [22 - (storeys - 1 - k) * _STOREY_DISTANCE for k in range(storeys)]
    starts_left = rng.random() < 0.5
    for k, floor in enumerate(floors):
        canvas.carve(LEFT_END, floor - height + 1, RIGHT_END, floor)
        furnish_storey(canvas, floor, height, difficulty)
        if k:
            # The way down lies at the far end of the storey above.
            at_right = starts_left == (k % 2 == 1)
            column = RIGHT_END - 2 if at_right else LEFT_END
            canvas.carve(column, floors[k - 1], column + 2, floor)
    first, last = (LEFT_END + 1, RIGHT_END - 1) if starts_left else (RIGHT_END - 1, LEFT_END + 1)
    canvas.spawn(first, floors[0])
    end = last if storeys % 2 else first
    back = first if storeys % 2 else last
    if rng.random() < difficulty:
        canvas.goal(
            (back, floors[-1]) if storeys > 1 else (first + (2 if starts_left else -2), floors[0]), (end, floors[-1])
        )
    else:
        canvas.goal((end, floors[-1]), canvas.open_above(rng.randint(18, 25), floors[-1] - 1))
    canvas.round_corners(0.5)
    canvas.scatter_gold(3 + int(5 * difficulty))


def furnish_storey(canvas: Canvas, floor: int, height: int, difficulty: float) -> None:
    """Put bumps, pits and beams into a storey, leaving its ends free."""
    rng = canvas.rng
    column = LEFT_END + 5
    while column < RIGHT_END - 6:
        width = rng.randint(1, 2 + round(2 * difficulty))
        kind = rng.random()
        if kind < 0.4:
            canvas.fill(column, floor - (rng.random() < difficulty and height > 4), column + width - 1, floor)
        elif kind < 0.4 + 0.35 * difficulty + 0.1:
            for c in range(column, column + width):
                canvas.mine(c, floor)
        elif kind < 0.85 and height > 4:
            canvas.fill(column, floor - height + 1, column + width - 1, floor - height + 1)
        column += width + rng.randint(3, 5)
