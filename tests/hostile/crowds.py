"""Levels that are full of one kind: in one place or all over the map, with and without doors in the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from npp_env.errors import LevelError
from npp_env.level import Level
from npp_env.level.entity_kinds import SIMULATED_ROWS, EntityKind
from npp_env.level.layout import COLUMNS, MAX_RECORDS, ROWS

NINJA_AT, CROWD_AT = (80, 40), (84, 40)
DOORS = 4000
LEAST = 300
"""Fewer of a kind are no crowd."""
_SWITCHES = frozenset(row.switch for row in SIMULATED_ROWS.values() if row.switch is not None)
KINDS = tuple(kind for kind in SIMULATED_ROWS if kind is not EntityKind.NINJA and kind not in _SWITCHES)


@dataclass(frozen=True)
class Crowd:
    """What a level is full of.

    Attributes:
        kind: What it is full of.
        doors: How many regular doors there are besides.
        scattered: Whether all of it lies all over the map, or in one place beside the ninja.
    """

    kind: EntityKind
    doors: int
    scattered: bool

    @property
    def name(self) -> str:
        return f"{self.kind.label}{'-doors' * (self.doors > 0)}{'-scattered' * self.scattered}"

    def level(self, count: int) -> Level:
        """The level with so many of the kind.

        Raises:
            LevelError: They are too many.
        """
        rng = np.random.default_rng(count)
        row = self.kind.row

        def place() -> tuple[int, int]:
            return (int(rng.integers(4, 172)), int(rng.integers(4, 96))) if self.scattered else CROWD_AT

        tiles = np.zeros((ROWS, COLUMNS), np.uint8)
        tiles[2::4, 2::4] = rng.integers(2, 34, tiles[2::4, 2::4].shape)
        records = [(0, *NINJA_AT, 0, 0)]
        switches = []
        for _ in range(count):
            mode = int(rng.integers(len(row.modes))) if row.modes else 0
            records.append((int(self.kind), *place(), 2 * int(rng.integers(4)), mode))
            if row.switch is not None:
                switch = (int(row.switch), *place(), 0, 0)
                (switches if self.kind is EntityKind.EXIT else records).append(switch)
        records += switches
        records += [(int(EntityKind.DOOR), *place(), 2 * int(rng.integers(2)), 0) for _ in range(self.doors)]
        return Level.from_parts(tiles, records, name=self.name)

    def largest(self) -> Level | None:
        """The level with as many of the kind as are accepted, roughly; None if even few are refused."""
        row = self.kind.row
        count = (MAX_RECORDS - 2 - self.doors) // (1 if row.switch is None else 2)
        count = min(count, row.most or count)
        while count >= min(LEAST, row.most or LEAST):
            try:
                return self.level(count)
            except LevelError:
                count = int(count * 0.8)
        return None


def crowds() -> Iterator[Crowd]:
    """Every kind in every way."""
    for doors in (0, DOORS):
        for scattered in (False, True):
            for kind in KINDS:
                yield Crowd(kind, doors, scattered)
