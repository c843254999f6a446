"""The form in which the game itself writes a level (physics 2.1): its header, its counts, its order of records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import LevelError
from npp_env.level.entity_kinds import FIRST_UNKNOWN_TYPE, EntityKind
from npp_env.level.layout import RECORD_BYTES
from npp_env.level.model import Level, canonical_header
from npp_env.level.validation import count_records, switch_distance

SWITCHES = {
    EntityKind.EXIT: EntityKind.EXIT_SWITCH,
    EntityKind.LOCKED_DOOR: EntityKind.LOCKED_DOOR_SWITCH,
    EntityKind.TRAP_DOOR: EntityKind.TRAP_DOOR_SWITCH,
}
"""Kinds with a switch, and the kind of its record."""
ORIENTED = frozenset({5, 6, 8, 10, 11, 12, 13, 14, 15, 20, 23, 26})
"""Types of which the game keeps the orientation."""
WITH_MODE = frozenset({12, 13, 14, 15, 23, 26})
"""Types of which the game keeps the mode."""
MAX_EXITS = 255
"""An exit finds its switch through the low byte of the number of exits."""

Record = tuple[int, int, int, int, int]


def in_game_form(level: Level) -> Level:
    """The level as the game would write it; its name and metadata stay.

    Header and counts are the game's. Records are sorted by type, in map order within a type: all exits before all
    their switches, each locked door and trap door with its switch behind it. Bytes that mean nothing become 0, and
    switches that belong to nothing are left out.

    Every entity is there as before. But entities of different types that share a cell may be met in another order, and
    so the result is another level (another `Level.hash`): recordings of the one are refused for the other. A level that
    has this form already comes back unchanged.

    Raises:
        LevelError: There are so many exits that no order keeps their switches.
    """
    records = arrange_records(level)
    return Level(
        tiles=level.tiles,
        records=records,
        counts=count_records(records),
        header=canonical_header(level.name, len(records)),
        metadata=level.metadata,
    )


def arrange_records(level: Level) -> NDArray[np.uint8]:
    """The records of a level in the order of the game; a fresh array (n, 5).

    Raises:
        LevelError: There are so many exits that no order keeps their switches.
    """
    records: list[Record] = [tuple(record) for record in level.records.tolist()]
    if level.count(EntityKind.EXIT) > MAX_EXITS:
        raise LevelError(f"{level.count(EntityKind.EXIT)} exits; the game tells at most {MAX_EXITS} apart")
    by_type: dict[int, list[Record]] = {}
    if records[0][0] != EntityKind.NINJA:
        by_type[EntityKind.NINJA] = [(int(EntityKind.NINJA), records[0][1], records[0][2], 0, 0)]
    exit_count = int(level.counts[EntityKind.EXIT]) & 0xFF
    for index, record in enumerate(records):
        kind = record[0]
        if kind in SWITCHES.values():
            continue
        placed = by_type.setdefault(kind, [])
        placed.append(without_unused_bytes(record))
        if kind in SWITCHES:
            switch = SWITCHES[EntityKind(kind)]
            _, x, y, _, _ = records[index + switch_distance(EntityKind(kind), exit_count)]
            # Exits stand before all their switches, doors before their own.
            home = by_type.setdefault(switch, []) if kind == EntityKind.EXIT else placed
            home.append((int(switch), x, y, 0, 0))
    ordered = [record for kind in sorted(by_type) for record in by_type[kind]]
    return np.array(ordered, np.uint8).reshape(-1, RECORD_BYTES)


def without_unused_bytes(record: Record) -> Record:
    """The record with 0 for each byte that its type does not use; of types that the game does not have, as it is.

    Example:
        >>> without_unused_bytes((2, 10, 20, 3, 4))
        (2, 10, 20, 0, 0)
    """
    kind, x, y, orientation, mode = record
    if kind >= FIRST_UNKNOWN_TYPE:
        return record
    return kind, x, y, orientation if kind in ORIENTED else 0, mode if kind in WITH_MODE else 0
