"""The entity types of the game: ids, names, and what their orientation and mode bytes mean."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class EntityKind(IntEnum):
    """Type byte of an entity record.

    Example:
        >>> EntityKind.THWUMP.label
        'thwump'
        >>> EntityKind.ROCKET_TURRET.simulated
        False
    """

    NINJA = 0
    MINE = 1
    GOLD = 2
    EXIT = 3
    EXIT_SWITCH = 4
    DOOR = 5
    LOCKED_DOOR = 6
    LOCKED_DOOR_SWITCH = 7
    TRAP_DOOR = 8
    TRAP_DOOR_SWITCH = 9
    LAUNCH_PAD = 10
    ONE_WAY = 11
    CHAINGUN_DRONE = 12
    LASER_DRONE = 13
    ZAP_DRONE = 14
    CHASER_DRONE = 15
    FLOOR_GUARD = 16
    BOUNCE_BLOCK = 17
    ROCKET_TURRET = 18
    GAUSS_TURRET = 19
    THWUMP = 20
    TOGGLE_MINE = 21
    EVIL_NINJA = 22
    LASER_TURRET = 23
    BOOST_PAD = 24
    DEATH_BALL = 25
    MINI_DRONE = 26
    UNUSED_27 = 27
    SHOVE_THWUMP = 28

    @property
    def label(self) -> str:
        """Name in the text format, such as ``trap-door-switch``."""
        return self.name.lower().replace("_", "-")

    @property
    def simulated(self) -> bool:
        """Whether the physics gives this type an effect (a switch acts through its door or exit)."""
        return self not in NOT_SIMULATED


@dataclass(frozen=True, slots=True)
class RecordMeaning:
    """How a reader should understand the last two bytes of a record of some type."""

    directed: bool = False
    """The orientation byte is a direction that matters."""
    modes: tuple[str, ...] = ()
    """Names of the mode values from 0 on; empty where the mode has no meaning."""


DIRECTIONS = ("right", "down-right", "down", "down-left", "left", "up-left", "up", "up-right")
"""Names of the orientations 0..7; y grows downwards."""

# What a drone tries first when it has to choose a way: its own right or left hand, or straight ahead with the
# hand as second choice.
DRONE_MODES = ("clockwise", "anticlockwise", "ahead-clockwise", "ahead-anticlockwise")
LASER_MODES = ("clockwise", "anticlockwise")

DRONES = frozenset({EntityKind.ZAP_DRONE, EntityKind.MINI_DRONE})
SWITCH_FOLLOWS = frozenset({EntityKind.LOCKED_DOOR, EntityKind.TRAP_DOOR})
"""Kinds whose switch is the very next record."""
EIGHT_DIRECTIONS = DRONES | {
    EntityKind.DOOR,
    EntityKind.LOCKED_DOOR,
    EntityKind.TRAP_DOOR,
    EntityKind.LAUNCH_PAD,
    EntityKind.ONE_WAY,
    EntityKind.LASER_TURRET,
}
"""Kinds for which an orientation beyond 7 is an error; elsewhere it is ignored or falls into a default."""
NOT_SIMULATED = frozenset(
    {
        EntityKind.CHAINGUN_DRONE,
        EntityKind.LASER_DRONE,
        EntityKind.CHASER_DRONE,
        EntityKind.ROCKET_TURRET,
        EntityKind.GAUSS_TURRET,
        EntityKind.EVIL_NINJA,
        EntityKind.UNUSED_27,
    }
)

FIRST_UNKNOWN_TYPE = len(EntityKind)
KIND_OF_LABEL = {kind.label: kind for kind in EntityKind}

_DRONE = RecordMeaning(directed=True, modes=DRONE_MODES)
_PLAIN = RecordMeaning()
_MEANINGS = {
    **{kind: RecordMeaning(directed=True) for kind in (*EIGHT_DIRECTIONS, EntityKind.THWUMP)},
    EntityKind.CHAINGUN_DRONE: _DRONE,
    EntityKind.LASER_DRONE: _DRONE,
    EntityKind.ZAP_DRONE: _DRONE,
    EntityKind.CHASER_DRONE: _DRONE,
    EntityKind.MINI_DRONE: _DRONE,
    EntityKind.LASER_TURRET: RecordMeaning(directed=True, modes=LASER_MODES),
}


def record_meaning(kind: EntityKind) -> RecordMeaning:
    """What orientation and mode of a record of this kind mean.

    Example:
        >>> record_meaning(EntityKind.LASER_TURRET).modes
        ('clockwise', 'anticlockwise')
    """
    return _MEANINGS.get(kind, _PLAIN)


def type_label(type_id: int) -> str:
    """Name of any type byte; types unknown to the game are called by their number.

    Example:
        >>> type_label(2), type_label(77)
        ('gold', 'entity 77')
    """
    return EntityKind(type_id).label if type_id < FIRST_UNKNOWN_TYPE else f"entity {type_id}"
