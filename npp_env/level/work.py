"""How long a tick of a level takes at most, and how long it may take.

Most of what a map holds costs nothing unless the ninja is near. The exceptions are what acts by itself, and doors in
its way: whoever looks along a wall looks at every door of that place. The numbers were measured on the crowded maps of
`tests/hostile`, in nanoseconds of an ordinary processor.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from npp_env.level.entity_kinds import SIMULATED_ROWS, EntityKind

MAX_TICK_NS = 16_000_000
"""A level must be playable: a tick may take as long as a frame of the game."""

_TICK_NS = 300
_RESTING_NS = 2
_RESTING_NEAR_NS = 20

_ACTING = {kind: row for kind, row in SIMULATED_ROWS.items() if row.movers and {"advance", "react"} & set(row.rules)}
"""What has a turn of its own in every tick; mines, doors and pads at rest are nearly free."""

# By family: for each of its entities; for each of them and each door in 3 x 3 tiles; and for each door of the map.
_ACTING_NS = {
    "bounce_blocks": (300.0, 0.0, 2.5),
    "death_balls": (4500.0, 11.0, 0.0),
    "drones": (60.0, 0.0, 2.5),
    "floor_guards": (40.0, 0.0, 2.5),
    "lasers": (1500.0, 52.0, 0.0),
    "shove_thwumps": (200.0, 0.0, 2.5),
    "thwumps": (210.0, 0.0, 2.5),
}
_UNMEASURED_NS = (1500.0, 52.0, 2.5)
_BALL_PAIR_NS = 3
_RAY_DOOR_NS = 16
_RAY_CELLS = 70
_UNITS_PER_CELL = 4
_NEVER_TOO_MANY = 512
"""So few records are never too slow, whatever they are."""

_IS_DOOR = np.zeros(256, np.bool_)
_IS_DOOR[[int(kind) for kind, row in SIMULATED_ROWS.items() if row.family == "doors"]] = True
_GRID_CELLS = 256 // _UNITS_PER_CELL


def tick_ns(records: NDArray[np.uint8], counts: NDArray[np.uint16]) -> int:
    """Nanoseconds that a tick takes at most, roughly.

    Args:
        records: Entity records (n, 5).
        counts: Counts table (40,); death balls read theirs.
    """
    present = np.bincount(records[:, 0], minlength=256)
    in_cell, nearby, doors = _in_one_place(records[_IS_DOOR[records[:, 0]]])
    total = float(_TICK_NS + _RESTING_NS * len(records) + _RESTING_NEAR_NS * _in_one_place(records)[1])
    for kind, row in _ACTING.items():
        number = int(present[kind])
        if number == 0:
            continue
        alone, with_near, with_any = _ACTING_NS.get(row.family, _UNMEASURED_NS)
        total += number * (alone + with_near * nearby + with_any * doors)
        if row.family not in _ACTING_NS or row.family == "lasers":
            total += number * _RAY_DOOR_NS * min(doors, _RAY_CELLS * in_cell)
    balls = int(present[EntityKind.DEATH_BALL])
    total += _BALL_PAIR_NS * balls * min(balls, int(counts[EntityKind.DEATH_BALL]) & 0xFF)
    return int(total)


def find_overload(records: NDArray[np.uint8], counts: NDArray[np.uint16]) -> str | None:
    """Say why a level would be too slow to be played; None if it is not."""
    if len(records) <= _NEVER_TOO_MANY:
        return None
    needed = tick_ns(records, counts)
    if needed <= MAX_TICK_NS:
        return None
    present = np.bincount(records[:, 0], minlength=256)
    acting = [f"{present[kind]} of {kind.label}" for kind in _ACTING if present[kind]]
    _, nearby, doors = _in_one_place(records[_IS_DOOR[records[:, 0]]])
    crowd = [f"{doors} doors ({nearby} of them in one place)"] * (doors > 0)
    return (
        f"a tick would take up to {needed / 1e6:.0f} ms with {', '.join(acting + crowd)}; at most "
        f"{MAX_TICK_NS / 1e6:.0f} ms are accepted, the length of a frame: take some of them away"
    )


def _in_one_place(records: NDArray[np.uint8]) -> tuple[int, int, int]:
    """Records in the fullest tile, in the fullest 3 x 3 tiles, and in all."""
    columns, rows = records[:, 1] // _UNITS_PER_CELL, records[:, 2] // _UNITS_PER_CELL
    cells = columns.astype(np.int64) * _GRID_CELLS + rows
    grid = np.bincount(cells, minlength=_GRID_CELLS**2).reshape(_GRID_CELLS, _GRID_CELLS)
    padded = np.pad(grid, 1)
    strips = padded[:-2] + padded[1:-1] + padded[2:]
    around = strips[:, :-2] + strips[:, 1:-1] + strips[:, 2:]
    return int(grid.max()), int(around.max()), len(records)
