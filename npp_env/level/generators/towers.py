"""Towers: a shaft with ledges to climb."""

from __future__ import annotations

from npp_env.level.entity_kinds import EntityKind
from npp_env.level.generators.canvas import UP, Canvas


def draw(canvas: Canvas, difficulty: float) -> None:
    """Draw a level of this family; `difficulty` from 0 to 1."""
    rng = canvas.rng
    width = rng.randint(8, 14)
    left = rng.randint(4, 38 - width)
    right = left + width
    canvas.carve(left, 2, right, 22)
    canvas.spawn(rng.randint(left + 1, right - 1), 22)
    row, on_left = 22, rng.random() < 0.5
    ledges: list[tuple[int, int]] = []
    while row > 6:
        # Three rows are as high as a jump goes, and only straight up.
        row -= rng.randint(2, 3) if width < 12 else 2
        length = rng.randint(2, max(2, width // 2 - 1 - round(2 * difficulty)))
        first = left if on_left else right - length + 1
        if rng.random() < 0.25:
            for c in range(first, first + length):
                canvas.add(EntityKind.ONE_WAY, c, row, UP, drop=-2)
        else:
            canvas.fill(first, row, first + length - 1, row)
        ledges.append((first if on_left else first + length - 1, row - 1))
        if length > 2 and rng.random() < 0.5 * difficulty:
            canvas.mine(first + length - 1 if on_left else first, row - 1)
        on_left = not on_left
    top = ledges[-1]
    if rng.random() < 0.5 * difficulty:
        canvas.goal(ledges[0], top)
    else:
        canvas.goal(top, ledges[rng.randrange(len(ledges) // 2, len(ledges) - 1)])
    if rng.random() < difficulty:
        drone = (left + width // 2, rng.randint(6, 16))
        if canvas.is_open(*drone):
            canvas.add(EntityKind.ZAP_DRONE, *drone, orientation=rng.choice((2, 6)), mode=2)
    canvas.round_corners(0.5)
    canvas.scatter_gold(3 + int(5 * difficulty))
