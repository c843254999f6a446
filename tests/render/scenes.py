"""Levels in which every kind of entity stands alone, for the tests of this folder."""

from __future__ import annotations

import numpy as np

from npp_env.level import Level
from npp_env.level.entity_kinds import SIMULATED_ROWS
from npp_env.sim.simulation import Simulation

PLACE = (88, 50)
"""Record coordinates of the thing to look at; in pixels (528, 300)."""
SWITCH = (90, 56)
DEFAULT_SPAWN = (80, 50)

KINDS = tuple(int(kind) for kind in SIMULATED_ROWS)


def level_with(
    *records: tuple[int, ...], spawn: tuple[int, int] = DEFAULT_SPAWN, tiles: np.ndarray | None = None
) -> Level:
    rows = [(0, *spawn, 0, 0), *((*record, 0, 0)[:5] for record in records)]
    return Level.from_parts(np.zeros((23, 42), np.uint8) if tiles is None else tiles, rows, name="scene")


def level_of(kind: int, orientation: int = 2) -> Level:
    """One entity at PLACE, its switch at SWITCH if it has one."""
    records: list[tuple[int, ...]] = [(kind, *PLACE, orientation)]
    if kind in (3, 6, 8):
        records.append((kind + 1, *SWITCH))
    return level_with(*records)


def simulation_of(kind: int, orientation: int = 2) -> Simulation:
    return Simulation(level_of(kind, orientation))
