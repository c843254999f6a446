"""Levels flipped left to right; `npp_env.recording.mirror` does the same to recordings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import LevelError
from npp_env.level.entity_kinds import DRONE_MODES, LASER_MODES, EntityKind, EntityRow, type_label
from npp_env.level.layout import KNOWN_TILES, UNIT_PX, WORLD_WIDTH_PX
from npp_env.level.model import Level

WIDTH_UNITS = WORLD_WIDTH_PX // UNIT_PX
_FIRST_CORNERED, _LAST_CORNERED = 6, 33


def _mirrored_tiles() -> NDArray[np.uint8]:
    table = np.arange(256, dtype=np.uint8)
    # In every family the solid corner goes round: top left, top right, bottom right, bottom left.
    for tile in range(_FIRST_CORNERED, _LAST_CORNERED + 1):
        table[tile] = tile + 1 if tile % 2 == 0 else tile - 1
    for right, left in ((3, 5), (35, 37)):
        table[right], table[left] = left, right
    return table


TILE_MIRROR = _mirrored_tiles()
"""Tile id of the mirror image, by tile id (256,)."""

assert TILE_MIRROR[KNOWN_TILES:].tolist() == list(range(KNOWN_TILES, 256))

# Orientations go round clockwise from right in steps of 45 degrees.
_DIRECTION_MIRROR = (4, 3, 2, 1, 0, 7, 6, 5)


def mirror_level(level: Level) -> Level:
    """The level flipped left to right; its name, header and metadata stay.

    Raises:
        LevelError: An entity lies so far outside the map that its mirror image has no coordinates.

    Example:
        >>> from npp_env.level.shipped import load_shipped
        >>> level = load_shipped("slopes/chute")
        >>> mirror_level(level) == level, mirror_level(mirror_level(level)) == level
        (False, True)
    """
    records = level.records.copy()
    outside = np.flatnonzero(records[:, 1] > WIDTH_UNITS)
    if len(outside):
        index = int(outside[0])
        raise LevelError(
            f"record {index}, {type_label(int(records[index, 0]))}, has x {records[index, 1]}; only up to "
            f"{WIDTH_UNITS} can be mirrored"
        )
    records[:, 1] = WIDTH_UNITS - records[:, 1]
    for record in records:
        if record[0] < len(EntityKind):
            record[3], record[4] = _mirrored_pose(EntityKind(int(record[0])).row, int(record[3]), int(record[4]))
    return Level(
        tiles=TILE_MIRROR[level.tiles[:, ::-1]],
        records=records,
        counts=level.counts,
        header=level.header,
        metadata=level.metadata,
    )


def _mirrored_pose(row: EntityRow, orientation: int, mode: int) -> tuple[int, int]:
    """Orientation and mode of the mirror image."""
    if not row.directed or orientation >= len(_DIRECTION_MIRROR):
        return orientation, mode
    if row.modes == DRONE_MODES:
        # A drone goes the way of half its orientation: two of them mean the same.
        direction, odd = divmod(orientation, 2)
        return 2 * (2 - direction if direction != 3 else 3) + odd, mode ^ 1
    if row.modes == LASER_MODES:
        return _DIRECTION_MIRROR[orientation], 0 if mode == 1 else 1
    # An upright door stands on the left border of a cell in either orientation, but stops drones there only in one.
    if orientation in (0, 4) and row.family == "doors":
        return orientation, mode
    return _DIRECTION_MIRROR[orientation], mode
