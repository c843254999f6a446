"""Random levels with every tile shape and everything that changes passage."""

from __future__ import annotations

import numpy as np

from npp_env.level import Level

SHAPES = np.arange(2, 34)
SPAWN_COLUMN, SPAWN_ROW = 4, 4


def random_level(seed: int, *, glitched: bool = False) -> Level:
    """Caves of all tile shapes with one-way platforms, doors, launch pads, switches and exits."""
    rng = np.random.default_rng(seed)
    density = rng.uniform(0.1, 0.45)
    tiles = np.where(rng.random((23, 42)) < density, 1, 0).astype(np.uint8)
    shaped = rng.random((23, 42)) < rng.uniform(0.1, 0.5)
    tiles[shaped] = rng.choice(SHAPES, np.count_nonzero(shaped))
    if glitched:
        odd = rng.random((23, 42)) < 0.05
        tiles[odd] = rng.choice(np.arange(34, 39), np.count_nonzero(odd))
    tiles[SPAWN_ROW - 2 : SPAWN_ROW + 1, SPAWN_COLUMN - 2 : SPAWN_COLUMN + 2] = 0

    def place() -> list[int]:
        return [int(rng.integers(4, 172)), int(rng.integers(4, 96))]

    records = [[0, 4 * SPAWN_COLUMN + 2, 4 * SPAWN_ROW + 2, 0, 0]]
    exits = int(rng.integers(0, 3))
    records += [[3, *place(), 0, 0] for _ in range(exits)]
    records += [[4, *place(), 0, 0] for _ in range(exits)]
    for door, switch in ((6, 7), (8, 9)):
        for _ in range(int(rng.integers(0, 5))):
            column, row = int(rng.integers(1, 42)), int(rng.integers(1, 23))
            records.append(
                [door, 4 * column, 4 * row + 2, 0, 0] if rng.random() < 0.5 else [door, 4 * column + 2, 4 * row, 2, 0]
            )
            records.append([switch, *place(), 0, 0])
    records += [[5, *place(), int(rng.integers(0, 8)), 0] for _ in range(int(rng.integers(0, 3)))]
    records += [[11, *place(), int(rng.integers(0, 8)), 0] for _ in range(int(rng.integers(0, 40)))]
    records += [[10, *place(), int(rng.integers(0, 8)), 0] for _ in range(int(rng.integers(0, 20)))]
    return Level.from_parts(tiles, records, name=f"random {seed}")
