"""What makes entity records unusable (faults), and what is merely worth telling (warnings)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import LevelError
from npp_env.level.doubts import NOT_SIMULATED, doubtful_types, type_bits
from npp_env.level.entity_kinds import (
    DRONE_MODES,
    FIRST_UNKNOWN_TYPE,
    SIMULATED_ROWS,
    EntityKind,
    kinds_where,
    type_label,
)
from npp_env.level.layout import (
    COLUMNS,
    COUNT_TYPES,
    HEADER_BYTES,
    KNOWN_TILES,
    UNIT_PX,
    WORLD_HEIGHT_PX,
    WORLD_WIDTH_PX,
    record_offset,
)

RESERVED_KEYS = frozenset({"name", "header", "counts", "tiles", "entities"})
MAX_METADATA_KEYS = 64
MAX_METADATA_CHARACTERS = 1000
_KEY = re.compile(r"[a-z][a-z0-9_-]{0,39}")

_EIGHT_DIRECTIONS = kinds_where(directed=True, any_orientation=False)
_DRONES = kinds_where(modes=DRONE_MODES)
_SWITCHED = {kind: row.switch for kind, row in SIMULATED_ROWS.items() if row.switch is not None}
_BOUNDED = {kind: row.most for kind, row in SIMULATED_ROWS.items() if row.most is not None}
_SWITCH_FOLLOWS = frozenset(_SWITCHED) - {EntityKind.EXIT}
_UNCOUNTED = [int(_SWITCHED[kind]) for kind in _SWITCH_FOLLOWS]
"""The game leaves the switches that follow their doors out of the counts table (physics 2.1)."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The first record that the physics could not load."""

    record: int
    byte: int
    message: str


def count_records(records: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """The counts table that the game writes, shape (40,): the number of records of each type.

    Of switches of locked doors and trap doors it says 0.
    """
    counts = np.bincount(records[:, 0], minlength=256)[:COUNT_TYPES].astype(np.uint16)
    counts[_UNCOUNTED] = 0
    return counts


def switch_distance(kind: EntityKind, exit_count: int) -> int:
    """How many records behind a door or exit its switch stands (physics 2.1)."""
    return exit_count if kind == EntityKind.EXIT else 1


def find_fault(records: NDArray[np.uint8], counts: NDArray[np.uint16]) -> Fault | None:
    """Find the first record that cannot be simulated.

    Args:
        records: Shape (n, 5), n >= 1.
        counts: Shape (40,); an exit finds its switch through the number of exits in it.
    """
    types, orientations, modes = records[:, 0], records[:, 3], records[:, 4]
    indices = np.arange(len(records))
    exit_count = int(counts[EntityKind.EXIT]) & 0xFF
    bad_orientation = _is_any(types, _EIGHT_DIRECTIONS) & (orientations >= 8)
    bad_mode = _is_any(types, _DRONES) & (modes >= len(DRONE_MODES))
    lost_exit_switch = (types == EntityKind.EXIT) & (indices + exit_count >= len(records))
    lost_door_switch = _is_any(types, _SWITCH_FOLLOWS) & (indices == len(records) - 1)
    too_many = np.zeros(len(records), bool)
    for kind, most in _BOUNDED.items():
        too_many[np.flatnonzero(types == kind)[most:]] = True
    faulty = np.flatnonzero(bad_orientation | bad_mode | lost_exit_switch | lost_door_switch | too_many)
    if not len(faulty):
        return None
    index = int(faulty[0])
    label = type_label(int(types[index]))
    if bad_orientation[index]:
        return Fault(index, 3, f"{label} has orientation {orientations[index]}; it takes 0 to 7")
    if bad_mode[index]:
        return Fault(index, 4, f"{label} has mode {modes[index]}; it takes 0 to {len(DRONE_MODES) - 1}")
    if too_many[index]:
        return Fault(
            index, 0, f"the level has more than {_BOUNDED[EntityKind(types[index])]} of {label}, the most it may"
        )
    if lost_exit_switch[index]:
        return Fault(
            index,
            0,
            f"exit has no switch: with {exit_count} exits its switch is record {index + exit_count}, but "
            f"there are only {len(records)}; list all exits, then as many exit switches in the same order",
        )
    return Fault(index, 0, f"{label} is the last record; its switch must be the record after it")


def find_warnings(tiles: NDArray[np.uint8], records: NDArray[np.uint8], counts: NDArray[np.uint16]) -> tuple[str, ...]:
    """Describe everything odd that the physics nevertheless takes, one sentence each."""
    warnings = []
    types = records[:, 0]
    if types[0] != EntityKind.NINJA:
        warnings.append(f"record 0 is {type_label(int(types[0]))}, not ninja; the ninja starts there all the same")
    if np.count_nonzero(types[1:] == EntityKind.NINJA):
        warnings.append("later ninja records are ignored")
    if not np.count_nonzero(types == EntityKind.EXIT):
        warnings.append("no exit: the level cannot be won")
    warnings.extend(_doubts(types))
    for type_id in np.flatnonzero(counts != count_records(records)).tolist():
        present = np.count_nonzero(types == type_id)
        if counts[type_id] != present:
            said = f"the counts table says {counts[type_id]} of {type_label(type_id)}"
            warnings.append(f"{said}, the records hold {present}")
    warnings.extend(_switch_warnings(types, int(counts[EntityKind.EXIT]) & 0xFF))
    odd_tiles = np.argwhere(tiles >= KNOWN_TILES)
    if len(odd_tiles):
        row, column = odd_tiles[0].tolist()
        warnings.append(
            f"{len(odd_tiles)} tiles have an unknown id and act as empty, the first is id "
            f"{tiles[row, column]} in column {column + 1}, row {row + 1} "
            f"(offset {HEADER_BYTES + column + COLUMNS * row})"
        )
    outside = (records[:, 1] > WORLD_WIDTH_PX // UNIT_PX) | (records[:, 2] > WORLD_HEIGHT_PX // UNIT_PX)
    if outside.any():
        warnings.append(f"{np.count_nonzero(outside)} records lie outside the map, the first is {outside.argmax()}")
    return tuple(warnings)


def check_metadata(metadata: Mapping[str, str]) -> None:
    """Raise LevelError unless every key and value can stand in one line of the text format."""
    if len(metadata) > MAX_METADATA_KEYS:
        raise LevelError(f"{len(metadata)} metadata keys; at most {MAX_METADATA_KEYS} are allowed")
    for key, value in metadata.items():
        check_metadata_entry(key, value)


def check_metadata_entry(key: str, value: str) -> None:
    """Raise LevelError unless this metadata line could be written and read back unchanged."""
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise LevelError(
            f"metadata key {shorten(key)} is not allowed; use up to 40 lower-case letters, digits, '-' and "
            f"'_', beginning with a letter"
        )
    if key in RESERVED_KEYS:
        raise LevelError(f"metadata key {key!r} is reserved; it is not free for metadata")
    if not isinstance(value, str) or not value.isprintable() or value != value.strip():
        raise LevelError(
            f"metadata {key!r} is {shorten(value)}; it must be one line of printable text without spaces around it"
        )
    if len(value) > MAX_METADATA_CHARACTERS:
        raise LevelError(f"metadata {key!r} has {len(value)} characters; at most {MAX_METADATA_CHARACTERS} are allowed")


def shorten(value: object) -> str:
    """Quote a value for an error message without letting it flood the message."""
    if isinstance(value, (str, bytes)):
        text = repr(value[:60])
    elif isinstance(value, int) and value.bit_length() > 256:
        # Python refuses to write out the digits of a very large one.
        text = f"a whole number of {value.bit_length()} bits"
    else:
        text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _doubts(types: NDArray[np.uint8]) -> Iterator[str]:
    """Name what is not simulated, and what is by rules that nothing of the real game bears out."""
    for type_id in doubtful_types(type_bits(types)):
        places = np.flatnonzero(types == type_id)
        label, first = type_label(type_id), f"the first is record {places[0]} (offset {record_offset(int(places[0]))})"
        if not NOT_SIMULATED >> type_id & 1:
            evidence = EntityKind(type_id).row.evidence.value
            yield f"{label} is unverified: {len(places)} follow rules that rest on {evidence}, {first}"
        else:
            reason = "unknown to the game" if type_id >= FIRST_UNKNOWN_TYPE else "not simulated"
            yield f"{label} is {reason}: {len(places)} kept without effect, {first}"


def _switch_warnings(types: NDArray[np.uint8], exit_count: int) -> Iterator[str]:
    """Name doors and exits whose switch lies at a record of another kind: mostly lines in the wrong order."""
    for kind, switch in _SWITCHED.items():
        distance = switch_distance(kind, exit_count)
        places = np.flatnonzero(types == kind)
        wrong = places[types[places + distance] != switch]
        if len(wrong):
            found = type_label(int(types[wrong[0] + distance]))
            yield (
                f"{len(wrong)} of {kind.label} have no {switch.label} in the place of their switch, the "
                f"first is record {wrong[0]}: it takes the position of record {wrong[0] + distance}, {found}"
            )


def _is_any(types: NDArray[np.uint8], kinds: frozenset[EntityKind]) -> NDArray[np.bool_]:
    table = np.zeros(256, dtype=np.bool_)
    table[[int(kind) for kind in kinds]] = True
    return table[types]
