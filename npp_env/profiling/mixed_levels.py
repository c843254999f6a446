"""Levels with every kind of entity that the physics know, at random places: for long runs, not for play."""

from __future__ import annotations

import random

import numpy as np

from npp_env.level.entity_kinds import SIMULATED_ROWS, EntityKind
from npp_env.level.layout import COLUMNS, ROWS
from npp_env.level.model import Level

_OF_EACH = 3
_SOLID_SHARE = 0.25
_FIRST_SLOPE, _LAST_SLOPE = 2, 33
_SWITCHES = frozenset(row.switch for row in SIMULATED_ROWS.values() if row.switch is not None)


def mixed_level(seed: int) -> Level:
    """A level with three of each kind; the same seed always gives the same one.

    Example:
        >>> level = mixed_level(1)
        >>> level.count(EntityKind.THWUMP), level == mixed_level(1)
        (3, True)
    """
    chance = random.Random(f"mixed {seed}")
    tiles = np.zeros((ROWS, COLUMNS), np.uint8)
    for row in range(ROWS):
        for column in range(COLUMNS):
            if chance.random() < _SOLID_SHARE:
                tiles[row, column] = 1 if chance.random() < 0.6 else chance.randint(_FIRST_SLOPE, _LAST_SLOPE)
    free = [(row, column) for row, column in np.argwhere(tiles == 0).tolist()]
    chance.shuffle(free)

    def record(kind: EntityKind) -> tuple[int, int, int, int, int]:
        row, column = free.pop()
        properties = kind.row
        orientation = chance.randrange(8) if properties.directed else 0
        mode = chance.randrange(len(properties.modes)) if properties.modes else 0
        # Quarter tiles, from the corner of the ring around the map.
        return int(kind), 4 * column + 6, 4 * row + 6, orientation, mode

    records = [record(EntityKind.NINJA)]
    for kind, properties in SIMULATED_ROWS.items():
        if kind in (EntityKind.NINJA, EntityKind.EXIT) or kind in _SWITCHES:
            continue
        for _ in range(_OF_EACH):
            records.append(record(kind))
            if properties.switch is not None:
                records.append(record(properties.switch))
    records += [record(EntityKind.EXIT) for _ in range(_OF_EACH)]
    records += [record(EntityKind.EXIT_SWITCH) for _ in range(_OF_EACH)]
    return Level.from_parts(tiles, records, name=f"mixed {seed}")
