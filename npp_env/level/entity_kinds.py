"""The entity table: one row per kind of the game, read by every part that treats kinds differently.

To let the physics know a kind, its row names the file of `npp_env.sim.entities` that holds them, its rules,
and the state that it needs; a rule that is claimed but missing, or there but not claimed, is an error at import.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType

from npp_env.level.evidence import Evidence


class EntityKind(IntEnum):
    """Type byte of an entity record; `sim/layout.pxd` has the same numbers for the kernel.

    Example:
        >>> EntityKind.THWUMP.label
        'thwump'
        >>> EntityKind.EXIT_SWITCH.simulated
        True
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
    def row(self) -> EntityRow:
        """Its row of the entity table."""
        return ENTITY_TABLE[self]

    @property
    def simulated(self) -> bool:
        """Whether the physics gives this type an effect (a switch acts through its door or exit)."""
        return not self.row.ignored


DIRECTIONS = ("right", "down-right", "down", "down-left", "left", "up-left", "up", "up-right")
"""Names of the orientations 0..7; y grows downwards."""

# What a drone tries first when it has to choose: its right or left hand, or straight ahead with the hand second.
DRONE_MODES = ("clockwise", "anticlockwise", "ahead-clockwise", "ahead-anticlockwise")
LASER_MODES = ("clockwise", "anticlockwise")

EVIL_NINJA_DELAY_TICKS = 120
"""The first evil ninja repeats the ninja's path so many ticks later, each further one so many ticks behind the last."""

GUN_DRONE_RADIUS_PX = 7.5
"""A choice: nothing tells how much room chaingun and laser drones need; that of zap drones is known."""

RULES = ("place", "advance", "react", "push", "touch", "pose", "pose_emerged", "check")
"""What a family may do for a kind: at load, in the passes of a tick, to tell policies how it stands, and to refuse a
restored state; `check` is a must for every kind that has state."""


class Shape(IntEnum):
    """What the frames can draw; `render/frames.pyx` has the same numbers."""

    DISC = 0
    BOX = 1
    DOOR_LINE = 2
    """A box turned into the line of a door: half its thickness and half its length."""
    PLATE = 3
    """A bar across the orientation, of some half length, with a dot on the side that it faces."""
    FACE = 4
    """The lethal side of a thwump: a box at some distance along its orientation."""
    BEAM = 5
    """From a shooter to where the beam or bullet of this tick ends."""
    LINE = 6
    """From a shooter to where it aims."""
    CROSS = 7
    """Two bars of some half length where it aims."""
    TRAIL = 8
    """A bar of some length behind what has emerged."""


AIMED_SHAPES = frozenset({Shape.BEAM, Shape.LINE, Shape.CROSS, Shape.TRAIL})
"""Shapes that the pose of an entity tells the place of."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One stroke of an entity in the frames that policies see.

    Attributes:
        shape: What to draw.
        size: Radius, half sides or distance in pixels, as the shape takes them.
        grey: Dark harms, bright helps.
        flag: Only while the flag, or the phase of what moves, has this value in the bits of `mask`; None for always.
        mask: Bits of the flag that count.
        at_record: Where the record puts the door or exit, not at its switch.
        emerged: Of what has emerged, where that is.
        detail: Left out where it would be smaller than a pixel.
    """

    shape: Shape
    size: tuple[float, float]
    grey: int
    flag: int | None = None
    mask: int = 0xFF
    at_record: bool = False
    emerged: bool = False
    detail: bool = False


@dataclass(frozen=True, slots=True)
class Emerged:
    """What becomes an entity of its own while its mover is listed: an exit whose switch was taken, a rocket in flight.

    Attributes:
        name: Of its column in `entity_states`.
        column: Column of its one-hot kind there.
        radius_px: Its radius; it is touched at it.
    """

    name: str
    column: int
    radius_px: float


@dataclass(frozen=True, slots=True)
class EntityRow:
    """What a kind is.

    Attributes:
        evidence: What its rules rest on; docs/fidelity.md has the details.
        family: File of `npp_env.sim.entities` with its rules; empty if the physics give it none.
        rules: The rules that it has, of `RULES`.
        together: One call of its react rule serves all entities of the family.
        listed: Whether the ninja meets it from the start, at its place or its switch.
        flag: Initial value of its flag byte; None if it has no flag.
        active_flag: Value of the flag while it takes part; None if it always does.
        movers: Blocks of moving state that it takes; the first one holds its place.
        history_ticks: So many of the ninja's last places each of them adds to the state.
        most: How many of them a level may have, where that is bounded.
        ignored: Kept in a level, but without any effect.
        radius_px: Its radius or half its side, as policies are told; circles are touched at it.
        speed_px: Its (highest) speed in pixels a tick.
        column: Column of its one-hot kind in `entity_states`; None if it has no place there.
        watches: Its rules ask whether it sees the ninja.
        emerged: What its first mover becomes in the course of play; None where it moves itself.
        directed: The orientation byte is a direction that matters.
        any_orientation: A direction beyond 7 has a meaning as well.
        modes: Names of the mode values from 0 on; empty where the mode has no meaning.
        switch: Kind of the record that holds its switch.
        frame: How it is drawn in the frames that policies see.
        mark: Character and ANSI colour in a terminal; None if it is left out.
    """

    evidence: Evidence
    family: str = ""
    rules: tuple[str, ...] = ()
    together: bool = False
    listed: bool = False
    flag: int | None = None
    active_flag: int | None = None
    movers: int = 0
    history_ticks: int = 0
    most: int | None = None
    ignored: bool = False
    radius_px: float = 0.0
    speed_px: float = 0.0
    column: int | None = None
    watches: bool = False
    emerged: Emerged | None = None
    directed: bool = False
    any_orientation: bool = False
    modes: tuple[str, ...] = ()
    switch: EntityKind | None = None
    frame: tuple[Mark, ...] = ()
    mark: tuple[str, int] | None = None

    @property
    def moves(self) -> bool:
        """Whether its place is part of the state."""
        return self.movers > 0 and self.flag is None

    @property
    def aims(self) -> bool:
        """Whether frames draw something of it elsewhere than where it is."""
        return any(mark.shape in AIMED_SHAPES for mark in self.frame)


def _disc(radius: float, grey: int, flag: int | None = None, **how: bool) -> Mark:
    return Mark(Shape.DISC, (radius, radius), grey, flag, **how)


def _box(
    half_width: float, half_height: float, grey: int, flag: int | None = None, mask: int = 0xFF, **how: bool
) -> Mark:
    return Mark(Shape.BOX, (half_width, half_height), grey, flag, mask, **how)


def _door(grey: int) -> Mark:
    return Mark(Shape.DOOR_LINE, (2.0, 12.0), grey, flag=0, mask=1, at_record=True)


def _mine(armed_grey: int) -> tuple[Mark, ...]:
    return _disc(5.0, armed_grey, 0), _disc(3.5, 96, 1), _disc(5.0, 52, 2)


def _gun_drone(grey: int, *shots: Mark) -> tuple[Mark, ...]:
    eyes = (_disc(3.0, bright, phase, detail=True) for phase, bright in enumerate((72, 176, 176, 72)))
    return (*shots, _disc(7.5, grey), *eyes)


_ROCKET_TURRET = (
    *(_disc(6.0, grey, phase) for phase, grey in enumerate((44, 0, 92))), _disc(3.0, 160, detail=True),
    Mark(Shape.TRAIL, (12.0, 1.0), 100, emerged=True), _disc(4.0, 0, emerged=True),
)  # fmt: skip
_GAUSS_TURRET = (
    Mark(Shape.BEAM, (1.5, 0.0), 8),
    *(_box(6.0, 6.0, grey, phase) for phase, grey in enumerate((44, 44, 0, 92))), _box(3.0, 3.0, 160, detail=True),
    Mark(Shape.CROSS, (8.0, 1.0), 60, flag=1), Mark(Shape.CROSS, (8.0, 1.0), 0, flag=2),
)  # fmt: skip

_RED, _GREEN, _YELLOW, _BLUE, _VIOLET, _CYAN, _WHITE = 91, 92, 93, 94, 95, 96, 97

_RECORDINGS, _ONE_SOURCE, _NOTHING = Evidence.RECORDINGS, Evidence.ONE_SOURCE, Evidence.NOTHING

# fmt: off
ENTITY_TABLE: Mapping[EntityKind, EntityRow] = MappingProxyType({
    EntityKind.NINJA: EntityRow(_RECORDINGS, mark=("@", _WHITE)),
    EntityKind.MINE: EntityRow(_RECORDINGS,
        family="mines", rules=("react", "touch", "pose", "check"), together=True, listed=True, flag=0,
        radius_px=4.0, column=0, frame=_mine(0), mark=("*", _RED)),
    EntityKind.GOLD: EntityRow(_RECORDINGS,
        family="goals", rules=("touch", "check"), listed=True, flag=0, active_flag=0,
        radius_px=6.0, column=1, frame=(_disc(4.0, 200, 0),), mark=("$", _YELLOW)),
    EntityKind.EXIT: EntityRow(_RECORDINGS,
        family="goals", rules=("touch", "check"), listed=True, flag=0, active_flag=0, movers=1,
        radius_px=6.0, column=2, switch=EntityKind.EXIT_SWITCH, mark=("E", _GREEN),
        emerged=Emerged("open_exit", 18, 12.0),
        frame=(_disc(12.0, 192, 0, at_record=True), _disc(8.0, 96, 0, at_record=True), _box(6.0, 4.0, 230, 0),
               _disc(12.0, 230, 1, at_record=True), _disc(6.0, 180, 1, at_record=True))),
    EntityKind.EXIT_SWITCH: EntityRow(_RECORDINGS, mark=("e", _GREEN)),
    EntityKind.DOOR: EntityRow(_RECORDINGS,
        family="doors", rules=("react", "touch", "pose", "check"), listed=True, flag=0, directed=True,
        radius_px=10.0, column=3, frame=(_door(160),), mark=("D", _CYAN)),
    EntityKind.LOCKED_DOOR: EntityRow(_RECORDINGS,
        family="doors", rules=("touch", "pose", "check"), listed=True, flag=0, active_flag=0, directed=True,
        radius_px=5.0, column=4, switch=EntityKind.LOCKED_DOOR_SWITCH,
        frame=(_door(28), _box(4.0, 4.0, 190, 0, 1)), mark=("L", _CYAN)),
    EntityKind.LOCKED_DOOR_SWITCH: EntityRow(_RECORDINGS, mark=("l", _CYAN)),
    EntityKind.TRAP_DOOR: EntityRow(_RECORDINGS,
        family="doors", rules=("touch", "pose", "check"), listed=True, flag=1, active_flag=1, directed=True,
        radius_px=5.0, column=5, switch=EntityKind.TRAP_DOOR_SWITCH,
        frame=(_door(36), _box(4.0, 4.0, 88, 1, 1)), mark=("T", _CYAN)),
    EntityKind.TRAP_DOOR_SWITCH: EntityRow(_RECORDINGS, mark=("t", _CYAN)),
    EntityKind.LAUNCH_PAD: EntityRow(_RECORDINGS,
        family="launch_pads", rules=("touch", "pose"), listed=True, directed=True,
        radius_px=6.0, speed_px=36 / 7, column=6, frame=(Mark(Shape.PLATE, (6.0, 0.0), 214),), mark=("^", _BLUE)),
    EntityKind.ONE_WAY: EntityRow(_RECORDINGS,
        family="one_ways", rules=("push", "touch", "pose"), listed=True, directed=True,
        radius_px=12.0, column=7, frame=(Mark(Shape.PLATE, (12.0, 0.0), 176),), mark=("-", _BLUE)),
    EntityKind.CHAINGUN_DRONE: EntityRow(_ONE_SOURCE,
        family="gun_drones", rules=("place", "advance", "react", "pose", "check"), movers=2, watches=True,
        directed=True, modes=DRONE_MODES, radius_px=GUN_DRONE_RADIUS_PX, speed_px=3 / 7, column=19,
        frame=_gun_drone(8, Mark(Shape.BEAM, (1.0, 0.0), 0)), mark=("C", _VIOLET)),
    EntityKind.LASER_DRONE: EntityRow(_ONE_SOURCE,
        family="gun_drones", rules=("place", "advance", "react", "pose", "check"), movers=2, watches=True,
        directed=True, modes=DRONE_MODES, radius_px=GUN_DRONE_RADIUS_PX, speed_px=2 / 7, column=20,
        frame=_gun_drone(36, Mark(Shape.LINE, (1.0, 0.0), 104, flag=1), Mark(Shape.BEAM, (2.0, 0.0), 8)),
        mark=("X", _VIOLET)),
    EntityKind.ZAP_DRONE: EntityRow(_RECORDINGS,
        family="drones", rules=("place", "advance", "touch", "pose", "check"), listed=True, movers=1, directed=True,
        modes=DRONE_MODES, radius_px=7.5, speed_px=8 / 7, column=8,
        frame=(_disc(7.5, 20), _disc(3.0, 160, detail=True)), mark=("Z", _VIOLET)),
    EntityKind.CHASER_DRONE: EntityRow(_ONE_SOURCE,
        family="chasers", rules=("place", "advance", "touch", "pose", "check"), listed=True, movers=1, directed=True,
        modes=DRONE_MODES, radius_px=7.5, speed_px=16 / 7, column=24,
        frame=(_disc(7.5, 26, 0), _disc(7.5, 2, 1), _disc(3.0, 160, detail=True)), mark=("Y", _VIOLET)),
    EntityKind.FLOOR_GUARD: EntityRow(_RECORDINGS,
        family="floor_guards", rules=("advance", "react", "touch", "pose", "check"), listed=True, movers=1,
        radius_px=6.0, speed_px=float.fromhex("0x1.b6db6db6db6dap+1"), column=9,
        frame=(_box(6.0, 6.0, 20),), mark=("G", _VIOLET)),
    EntityKind.BOUNCE_BLOCK: EntityRow(_RECORDINGS,
        family="bounce_blocks", rules=("advance", "push", "touch", "pose", "check"), listed=True, movers=1,
        radius_px=9.0, column=10, frame=(_box(9.0, 9.0, 184), _box(6.0, 6.0, 156)), mark=("B", _BLUE)),
    EntityKind.ROCKET_TURRET: EntityRow(_ONE_SOURCE,
        family="rockets", rules=("react", "touch", "pose", "pose_emerged", "check"), flag=0, movers=1, watches=True,
        radius_px=6.0, speed_px=16 / 7, column=21, emerged=Emerged("rocket", 23, 0.0),
        frame=_ROCKET_TURRET, mark=("K", _RED)),
    EntityKind.GAUSS_TURRET: EntityRow(_ONE_SOURCE,
        family="gauss_turrets", rules=("place", "react", "pose", "check"), movers=1, watches=True,
        radius_px=6.0, column=22, frame=_GAUSS_TURRET, mark=("A", _RED)),
    EntityKind.THWUMP: EntityRow(_RECORDINGS,
        family="thwumps", rules=("advance", "react", "push", "touch", "pose", "check"), listed=True, movers=1,
        directed=True, any_orientation=True, radius_px=9.0, speed_px=20 / 7, column=11,
        frame=(_box(9.0, 9.0, 156), Mark(Shape.FACE, (2.0, 8.0), 0)), mark=("W", _VIOLET)),
    EntityKind.TOGGLE_MINE: EntityRow(_RECORDINGS,
        family="mines", rules=("react", "touch", "pose", "check"), together=True, listed=True, flag=1,
        radius_px=4.0, column=12, frame=_mine(12), mark=("%", _RED)),
    EntityKind.EVIL_NINJA: EntityRow(_ONE_SOURCE,
        family="evil_ninjas", rules=("react", "touch", "pose", "check"), listed=True, movers=1,
        history_ticks=EVIL_NINJA_DELAY_TICKS, most=256, radius_px=10.0, column=25,
        frame=(_disc(10.0, 104), _disc(6.0, 28, 0), Mark(Shape.CROSS, (8.0, 1.0), 60, flag=2), _disc(6.0, 4, 3)),
        mark=("N", _RED)),
    EntityKind.LASER_TURRET: EntityRow(_RECORDINGS,
        family="lasers", rules=("place", "react", "pose", "check"), movers=2, watches=True, directed=True,
        modes=LASER_MODES,
        radius_px=5.9, column=13, mark=("R", _RED),
        frame=(Mark(Shape.BEAM, (1.0, 0.0), 16), _disc(6.0, 0), _disc(2.5, 160, detail=True))),
    EntityKind.BOOST_PAD: EntityRow(_RECORDINGS,
        family="boost_pads", rules=("advance", "pose", "check"), flag=0,
        radius_px=6.0, column=14, frame=(_disc(7.0, 172), _disc(4.0, 136, detail=True)), mark=("+", _BLUE)),
    EntityKind.DEATH_BALL: EntityRow(_RECORDINGS,
        family="death_balls", rules=("react", "touch", "pose", "check"), listed=True, movers=1,
        radius_px=5.0, column=15, frame=(_disc(8.0, 44), _disc(5.0, 0)), mark=("O", _RED)),
    EntityKind.MINI_DRONE: EntityRow(_RECORDINGS,
        family="drones", rules=("place", "advance", "touch", "pose", "check"), listed=True, movers=1, directed=True,
        modes=DRONE_MODES, radius_px=4.0, speed_px=1.3, column=16,
        frame=(_disc(4.5, 20), _disc(1.5, 160, detail=True)), mark=("z", _VIOLET)),
    EntityKind.UNUSED_27: EntityRow(_NOTHING, ignored=True),
    EntityKind.SHOVE_THWUMP: EntityRow(_RECORDINGS,
        family="shove_thwumps", rules=("react", "push", "touch", "pose", "check"), listed=True, movers=1,
        radius_px=12.0, speed_px=4.0, column=17, frame=(_box(12.0, 12.0, 156), _disc(8.0, 0)), mark=("S", _VIOLET)),
})
# fmt: on

FIRST_UNKNOWN_TYPE = len(EntityKind)
KIND_OF_LABEL = {kind.label: kind for kind in EntityKind}
SIMULATED_ROWS = MappingProxyType({kind: row for kind, row in ENTITY_TABLE.items() if row.family})
"""Rows of the kinds whose records become entities, by ascending id."""


def kinds_where(**wanted: object) -> frozenset[EntityKind]:
    """Kinds whose records become entities and whose rows have these values.

    Example:
        >>> sorted(kind.label for kind in kinds_where(family="goals"))
        ['exit', 'gold']
    """
    return frozenset(k for k, row in SIMULATED_ROWS.items() if all(getattr(row, n) == v for n, v in wanted.items()))


def entity_columns() -> tuple[str, ...]:
    """Names of the one-hot columns of `entity_states`, in order."""
    names: dict[int, str] = {}
    for kind, row in SIMULATED_ROWS.items():
        own = (row.column, (kind if row.switch is None else row.switch).name.lower())
        for column, name in (own, *([(row.emerged.column, row.emerged.name)] if row.emerged else [])):
            if column is None or column in names:
                raise ValueError(f"the row of {kind.label} needs a column of its own, not {column}")
            names[column] = name
    if sorted(names) != list(range(len(names))):
        raise ValueError(f"the columns of the entity table are {sorted(names)}; they must leave no gap")
    return tuple(names[column] for column in range(len(names)))


def _check_table() -> None:
    if list(ENTITY_TABLE) != list(EntityKind):
        raise ValueError("the entity table needs one row for each kind, in the order of their ids")
    for kind, row in SIMULATED_ROWS.items():
        if row.ignored or not set(row.rules) <= set(RULES) or not row.frame or row.mark is None:
            raise ValueError(f"the row of {kind.label} lacks a frame or mark, or claims a rule that does not exist")


_check_table()
ENTITY_COLUMNS = entity_columns()


def type_label(type_id: int) -> str:
    """Name of any type byte, such as `gold`; types unknown to the game are called by their number: `entity 77`."""
    return EntityKind(type_id).label if type_id < FIRST_UNKNOWN_TYPE else f"entity {type_id}"
