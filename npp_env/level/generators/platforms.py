"""Platforms: a wide room with a chain of floating platforms over mines."""

from __future__ import annotations

from npp_env.level.generators.canvas import Canvas

_TOP, _BOTTOM = 4, 21


def draw(canvas: Canvas, difficulty: float) -> None:
    """Draw a level of this family; `difficulty` from 0 to 1."""
    rng = canvas.rng
    canvas.carve(3, _TOP, 40, _BOTTOM)
    row = rng.randint(13, 17)
    canvas.fill(3, row, 6, _BOTTOM)
    spawn = (4, row - 1)
    canvas.spawn(*spawn)
    column = 7
    tops: list[tuple[int, int]] = []
    while column < 34:
        gap = rng.randint(2, 3 + round(2 * difficulty))
        width = rng.randint(2, 5 - round(2 * difficulty))
        row = min(max(row + rng.randint(-2, 3), 9), 18)
        column += gap
        if column + width > 36:
            break
        deep = _BOTTOM if rng.random() < 0.25 else row + rng.randint(0, 1)
        canvas.fill(column, row, column + width - 1, deep)
        tops.append((column + width // 2, row - 1))
        column += width
    row = min(max(row + rng.randint(-2, 2), 9), 18)
    canvas.fill(38, row, 40, _BOTTOM)
    end = (39, row - 1)
    if rng.random() < 0.3 + 0.5 * difficulty:
        canvas.goal((3, spawn[1]) if rng.random() < 0.5 else tops[0], end)
    else:
        canvas.goal(end, rng.choice(tops))
    for c in range(7, 38):
        if canvas.is_open(c, _BOTTOM) and rng.random() < 0.3 + difficulty:
            canvas.mine(c, _BOTTOM)
    canvas.round_corners(0.5)
    canvas.scatter_gold(3 + int(5 * difficulty))
