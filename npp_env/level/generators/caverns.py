"""Caverns: caves grown by a cellular automaton."""

from __future__ import annotations

import numpy as np

from npp_env.level.generators.canvas import EMPTY, FULL, Canvas
from npp_env.level.layout import COLUMNS, ROWS

_GROWTH_STEPS = 4
_LEAST_FLOORS = 12


def draw(canvas: Canvas, difficulty: float) -> None:
    """Draw a level of this family; `difficulty` from 0 to 1."""
    rng = canvas.rng
    while True:
        _grow(canvas, 0.43 + 0.03 * difficulty)
        _keep_largest_cave(canvas)
        _hang_ledges(canvas)
        floors = _floors(canvas)
        if len(floors) >= _LEAST_FLOORS:
            break
    canvas.reserved.clear()
    floors.sort()
    # Farther apart means harder: from a short stroll to the whole width of the cave.
    reach = 0.3 + 0.7 * difficulty
    first = rng.randrange(max(1, len(floors) // 6))
    last = min(len(floors) - 1, first + max(3, int(reach * (len(floors) - 1))))
    middle = rng.randint(first + 1, last - 1)
    places = [floors[first], floors[middle], floors[last]]
    if rng.random() < 0.5:
        places.reverse()
    canvas.spawn(*places[0])
    canvas.goal(places[2], places[1])
    for place in floors:
        near = min(abs(place[0] - other[0]) + abs(place[1] - other[1]) for other in places)
        if near > 3 and rng.random() < 0.15 * difficulty:
            canvas.mine(*place)
    canvas.round_corners(0.7)
    canvas.scatter_gold(3 + int(5 * difficulty))


def _grow(canvas: Canvas, density: float) -> None:
    seeds = np.frombuffer(canvas.rng.randbytes(ROWS * COLUMNS), np.uint8).reshape(ROWS, COLUMNS)
    tiles = np.ones((ROWS + 2, COLUMNS + 2), np.uint8)
    tiles[2:-2, 2:-2] = seeds[1:-1, 1:-1] < density * 256
    for _ in range(_GROWTH_STEPS):
        around = np.zeros((ROWS, COLUMNS), np.uint8)
        for dy in range(3):
            for dx in range(3):
                around += tiles[dy : ROWS + dy, dx : COLUMNS + dx]
        tiles[2:-2, 2:-2] = (around >= 5)[1:-1, 1:-1]
    canvas.tiles[:] = tiles


def _keep_largest_cave(canvas: Canvas) -> None:
    """Fill all caves but the largest."""
    left = {(c, r) for r, c in np.argwhere(canvas.tiles == EMPTY).tolist()}
    largest: set[tuple[int, int]] = set()
    while left:
        cave = canvas.open_component(*min(left))
        left -= cave
        if len(cave) > len(largest):
            largest = cave
    canvas.tiles[:] = FULL
    for c, r in largest:
        canvas.tiles[r, c] = EMPTY


def _hang_ledges(canvas: Canvas) -> None:
    """Put ledges where it is high, so that what lies above can be reached by jumps."""
    for row in range(ROWS - 3, 4, -3):
        column = canvas.rng.randint(3, 6)
        while column < COLUMNS - 4:
            around = canvas.tiles[row - 2 : row + 3, column - 1 : column + 4]
            if not around.any():
                canvas.fill(column, row, column + canvas.rng.randint(1, 2), row)
            column += canvas.rng.randint(4, 8)


def _floors(canvas: Canvas) -> list[tuple[int, int]]:
    """Empty tiles with floor below and room above."""
    tiles = canvas.tiles
    places = (tiles[1:-1] == EMPTY) & (tiles[2:] == FULL) & (tiles[:-2] == EMPTY)
    return [(c, r + 1) for r, c in np.argwhere(places).tolist()]
