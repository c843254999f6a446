"""Levels for comparisons: random ones that hold everything the game has, rooms full of one kind, and the shipped ones.

random_level(seed)           every kind and every tile; four seeds in a row hold every variant of every kind
crowded_room(kind, ...)      one variant of one kind, many times, around the ninja's way
hall(records, ...)           a bare room with a floor and the records given
shipped_levels()             (name, level) of all that come with the package
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from npp_env.level import Level
from npp_env.level.shipped import load_shipped, shipped_level_names

KINDS = (1, 2, 3, 5, 6, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 28)
SWITCH_OF = {3: 4, 6: 7, 8: 9}
DEADLY = (1, 12, 13, 14, 15, 16, 18, 19, 20, 23, 25, 26)
TILES = 38
COLUMNS, ROWS = 42, 23
SPREAD = 4
"""So many random levels in a row share the variants of the kinds."""

EIGHT, FOUR = range(8), range(0, 8, 2)
# (orientation, mode) that make a difference, by kind; all others have one variant.
VARIANTS: dict[int, list[tuple[int, int]]] = {kind: [(0, 0)] for kind in KINDS}
VARIANTS.update({kind: [(o, 0) for o in EIGHT] for kind in (5, 6, 8, 10, 11)})
VARIANTS.update({kind: [(o, m) for o in FOUR for m in range(4)] for kind in (12, 13, 14, 15, 26)})
VARIANTS.update({20: [(o, 0) for o in FOUR], 23: [(o, m) for o in EIGHT for m in (0, 1)]})

FLOOR_ROW = 20
STAND = 78
"""Height, in map units, of a ninja just above the floor of a hall."""


def random_level(seed: int) -> Level:
    """A level with every tile, every kind, several exits and doors, crowded around the start.

    Every third has no gold, one of five has no mine; the variants of the kinds are dealt out over four seeds.
    """
    rng = np.random.default_rng([seed, 12])
    start = (int(rng.integers(8, 34)), int(rng.integers(6, 17)))
    tiles = _random_tiles(rng, start)
    records = [(0, 4 * start[0] + 6, 4 * start[1] + 6, 0, 0)]
    kinds = [kind for kind in KINDS if not (kind == 2 and seed % 3 == 2) and not (kind in (1, 21) and seed % 5 == 4)]
    exits = int(rng.integers(1, 7))
    for kind, count in ((3, exits), (4, exits)):
        records += [(kind, *_place(rng, start, near=kind == 4), 0, 0) for _ in range(count)]
    rest: list[list[tuple[int, ...]]] = []
    for kind in kinds:
        if kind == 3:
            continue
        variants = VARIANTS[kind][seed % SPREAD :: SPREAD] or VARIANTS[kind]
        copies = {1: 6, 2: 8, 21: 8, 17: 3, 24: 3, 28: 3}.get(kind, 1)
        for orientation, mode in variants * copies:
            group = [(kind, *_place(rng, start, near=kind not in DEADLY), orientation, mode)]
            if kind in SWITCH_OF:
                group.append((SWITCH_OF[kind], *_place(rng, start, near=True), 0, 0))
            rest.append(group)
    rng.shuffle(rest)
    for group in rest:
        records += group
    return Level.from_parts(tiles, np.array(records), name=f"random {seed}")


def _random_tiles(rng: np.random.Generator, start: tuple[int, int]) -> np.ndarray:
    tiles = np.where(rng.random((ROWS, COLUMNS)) < 0.3, rng.integers(0, TILES, (ROWS, COLUMNS)), 0)
    for row in range(3, ROWS, 4):
        first = int(rng.integers(0, COLUMNS - 12))
        tiles[row, first : first + int(rng.integers(5, 12))] = 1
    places = rng.permutation(ROWS * COLUMNS)[:TILES]
    tiles.reshape(-1)[places] = rng.permutation(TILES)
    column, row = start
    tiles[row - 1 : row + 1, column - 2 : column + 3] = 0
    tiles[row + 1, column - 2 : column + 3] = rng.choice([1, 1, 6, 18, 22, 8, 20, 12], 5)
    tiles[row + 1, column] = 1
    return tiles.astype(np.uint8)


def _place(rng: np.random.Generator, start: tuple[int, int], near: bool) -> tuple[int, int]:
    """In map units: around the start, or anywhere but there."""
    x, y = 4 * start[0] + 6, 4 * start[1] + 6
    if near and rng.random() < 0.7:
        return int(np.clip(x + rng.integers(-40, 41), 4, 172)), int(np.clip(y + rng.integers(-20, 17), 4, 96))
    while True:
        px, py = int(rng.integers(4, 173)), int(rng.integers(4, 97))
        if abs(px - x) > 14 or abs(py - y) > 14:
            return px, py


def hall(
    records: Sequence[Sequence[int]],
    ninja: tuple[int, int] = (20, STAND),
    tiles: dict[tuple[int, int], int] | None = None,
    name: str = "hall",
) -> Level:
    """An empty room with a floor.

    Args:
        records: (type, x, y, orientation, mode) in map units; zeros at the end may be left out.
        ninja: Where it starts.
        tiles: Tiles by (column, row), counted from 1.
        name: The level's name.
    """
    grid = np.zeros((ROWS, COLUMNS), np.uint8)
    grid[FLOOR_ROW - 1 :] = 1
    for (column, row), tile in (tiles or {}).items():
        grid[row - 1, column - 1] = tile
    rows = [(0, *ninja, 0, 0), *((*record, 0, 0, 0, 0)[:5] for record in records)]
    return Level.from_parts(grid, np.array(rows), name=name)


def crowded_room(kind: int, orientation: int = 0, mode: int = 0) -> Level:
    """Six of one variant at several heights in a walled room, on both sides of the ninja."""
    heights = {3: (78,), 5: (78, 78, 66), 16: (79,), 20: (77, 66, 50), 28: (76, 68, 50), 17: (77, 68, 60)}
    height = heights.get(kind, (78, 70, 58))
    places = [(32 + 12 * i, height[k % len(height)]) for k, i in enumerate((1, 2, -1, 4, -2, 8))]
    records: list[tuple[int, ...]] = []
    if kind == 3:
        records = [(3, x, y) for x, y in places] + [(4, x + 6, y) for x, y in places]
    else:
        for x, y in places:
            records.append((kind, x, y, orientation, mode))
            if kind in SWITCH_OF:
                records.append((SWITCH_OF[kind], x - 6, y))
    walls = {(column, row): 1 for row in range(9, FLOOR_ROW) for column in (1, 38)}
    return hall(records, (32, STAND), walls, f"kind {kind} orientation {orientation} mode {mode}")


def crowded_rooms() -> Iterator[Level]:
    """One room for every variant of every kind."""
    for kind in KINDS:
        for orientation, mode in VARIANTS[kind]:
            yield crowded_room(kind, orientation, mode)


@cache
def shipped_levels() -> tuple[tuple[str, Level], ...]:
    """Names and levels of all that come with the package."""
    return tuple((name, load_shipped(name)) for name in shipped_level_names())
