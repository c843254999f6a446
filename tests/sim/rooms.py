"""Small constructed levels, and a look inside them, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from npp_env.level import Level
from npp_env.level.validation import count_records
from npp_env.sim import Simulation

NOTHING, JUMP, RIGHT, LEFT = 0, 1, 2, 4
G_FALL = float.fromhex("0x1.1111111111110p-4")
DRAG = float.fromhex("0x1.fc94b94afbccdp-1")
FLOOR_ROW = 20
"""The room's floor is the top of this map row (counted from 1): y = 24 * 20."""
FLOOR_Y = 24.0 * FLOOR_ROW
STANDING_Y = FLOOR_Y - 10
STAND = 78
"""Record coordinate (quarter tiles) of a ninja just above the floor: 6 * 78 = 480 - 12."""


def room(
    *records: Sequence[int],
    ninja: tuple[int, int] = (20, STAND),
    walls: Sequence[tuple[int, int]] = (),
    holes: Sequence[tuple[int, int]] = (),
    shapes: Mapping[tuple[int, int], int] | None = None,
    counts: dict[int, int] | None = None,
) -> Level:
    """An empty room with a floor.

    Args:
        records: (type, x, y, orientation, mode), zeros may be left out.
        ninja: Where it starts.
        walls: (column, row) from 1 of tiles that are solid.
        holes: Those that are empty.
        shapes: Ids of other tiles by (column, row).
        counts: Entries of the counts table that differ from the records.
    """
    tiles = np.zeros((23, 42), np.uint8)
    tiles[FLOOR_ROW - 1 :] = 1
    for places, tile in ((walls, 1), (holes, 0)):
        for column, row in places:
            tiles[row - 1, column - 1] = tile
    for (column, row), tile in (shapes or {}).items():
        tiles[row - 1, column - 1] = tile
    rows = np.array([(0, *ninja, 0, 0), *((*record, 0, 0, 0, 0)[:5] for record in records)])
    table = count_records(rows)
    for kind, number in (counts or {}).items():
        table[kind] = number
    return Level.from_parts(tiles, rows, counts=table)


def play(level: Level, *inputs: int | tuple[int, int]) -> Simulation:
    """A fresh simulation after these inputs, each a byte or (byte, ticks)."""
    simulation = Simulation(level)
    for item in inputs:
        byte, ticks = item if isinstance(item, tuple) else (item, 1)
        simulation.advance(byte, ticks)
    return simulation


def hover(simulation: Simulation, x: float, y: float, vx: float = 0.0, vy: float = 0.0) -> None:
    """Put the ninja at a place in the air so that the next tick gives it this velocity and moves it by that."""
    n = simulation.ninja
    n["x"], n["y"] = x - vx, y - vy
    n["vx"], n["vy"] = vx / DRAG, (vy - G_FALL) / DRAG


def run_until(simulation: Simulation, byte: int, condition, limit: int = 600) -> int:
    """Advance under one input until a condition holds; returns the ticks, fails at the limit."""
    for tick in range(1, limit + 1):
        simulation.advance(byte)
        if condition(simulation):
            return tick
    raise AssertionError(f"the condition never held in {limit} ticks")


# One level with every simulated type, and one per type: what independence of history is tested on.
EVERY_TYPE = {
    1: [(1, 60, 78)],
    2: [(2, 30, 78), (2, 50, 78)],
    3: [(3, 100, 77), (4, 40, 77)],
    5: [(5, 40, 78, 0)],
    6: [(6, 48, 78, 0), (7, 30, 78)],
    8: [(8, 48, 78, 0), (9, 30, 78)],
    10: [(10, 36, 79, 7)],
    11: [(11, 20, 72, 6), (11, 40, 72, 6)],
    12: [(12, 60, 60, 0, 0), (12, 70, 70, 4, 1)],
    13: [(13, 60, 60, 0, 2), (13, 70, 70, 2, 3)],
    14: [(14, 60, 50, 0, 1), (14, 80, 50, 2, 2)],
    15: [(15, 60, 70, 0, 0), (15, 90, 78, 4, 1)],
    16: [(16, 80, 79)],
    17: [(17, 40, 77), (17, 46, 60)],
    18: [(18, 60, 60), (18, 30, 40)],
    19: [(19, 60, 60), (19, 30, 40)],
    20: [(20, 60, 77, 4), (20, 22, 40, 2)],
    21: [(21, 40, 78), (21, 44, 78)],
    22: [(22, 13, 78), (22, 30, 78)],
    23: [(23, 60, 50, 2), (23, 60, 79, 0, 1)],
    24: [(24, 36, 78), (24, 60, 78)],
    25: [(25, 70, 60), (25, 72, 60)],
    26: [(26, 60, 60, 0, 0), (26, 70, 60, 4, 3)],
    28: [(28, 40, 76), (28, 44, 66)],
}


def level_of_every_type() -> Level:
    """All types in one room; exits first, since their switches are found by number."""
    records = [*EVERY_TYPE[3]]
    for kind, rows in EVERY_TYPE.items():
        if kind != 3:
            records += rows
    return room(*records, ninja=(10, STAND))
