"""What a state says, read from the level's records and the bytes of the state alone: the input of every reference.

The references of this folder are a second reading of the documentation. They share nothing with the code that they
check; all that they know of a state is what `Scene` holds.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# Where the physics puts things: a map unit is 6 px.
MAP_UNIT = 6
NINJA_BYTES, MOVER_BYTES = 144, 40
_NINJA = struct.Struct("<14d4i12bi")
_MOVER = struct.Struct("<4dihbb")
_PLACE = struct.Struct("<2d")
# Of the ninja's past so much is kept for each evil ninja.
PAST_TICKS = 120
_NINJA_FIELDS = [
    "x",
    "y",
    "vx",
    "vy",
    "gravity",
    "drag",
    "wall_normal",
    "floor_x",
    "floor_y",
    "ceiling_x",
    "ceiling_y",
    "pad_x",
    "pad_y",
    "fraction",
    "frame",
    "gold",
    "stamp",
    "arming",
    "state",
    "airborne",
    "walled",
    "last_h",
    "last_jump",
    "hold",
    "jump_buffer",
    "floor_buffer",
    "wall_buffer",
    "pad_buffer",
    "switches",
]

STANDING, RUNNING, SKIDDING, RISING, FALLING, SLIDING, DEAD, DOOMED, CELEBRATING = range(9)

# Kinds whose state is one byte, and kinds whose state is a mover.
_BYTE_KINDS = (1, 2, 3, 5, 6, 8, 18, 21, 24)
_MOVER_KINDS = (12, 13, 14, 15, 16, 17, 19, 20, 22, 23, 25, 26, 28)
_PLAIN_KINDS = (10, 11)
# How many movers a kind has: a laser turret a second one for its wall, drones that shoot one for their line of fire; an
# exit and a rocket turret one for what emerges from them.
_MOVERS = {**dict.fromkeys(_MOVER_KINDS, 1), 12: 2, 13: 2, 23: 2, 3: 1, 18: 1}


@dataclass
class Ninja:
    """The ninja of a state, by the names of the physics."""

    x: float
    y: float
    vx: float
    vy: float
    gravity: float
    wall_normal: float
    floor_x: float
    floor_y: float
    ceiling_x: float
    ceiling_y: float
    pad_x: float
    pad_y: float
    frame: int
    gold: int
    state: int
    airborne: int
    walled: int
    last_h: int
    last_jump: int
    hold: int
    jump_buffer: int
    floor_buffer: int
    wall_buffer: int
    pad_buffer: int
    switches: int


@dataclass
class Entity:
    """One record of the map that takes part in the physics, as it stands now.

    Attributes:
        kind: The game's type id.
        x, y: Where it is now; of a door or an exit, its switch.
        place_x, place_y: Where the record puts it: of a door or an exit, the door or exit itself.
        orientation, mode: The record's bytes.
        flag: Byte of a kind that does not move (see `physics` names in the methods), else None.
        u, v: Goal of a drone, velocity of a bounce block or death ball, direction of a shove thwump, angle (u) of a
            laser's beam, aim point of a gauss turret, number and first tick of an evil ninja.
        phase: Run of a floor guard, phase of a thwump, shove thwump, shooter, chaser or evil ninja, sense of a laser
            turret.
        turn: Direction 0..3 of a drone.
        ticks: How long the phase of a shooter lasts; of a gauss turret that targets, in half ticks.
        mover: Number of its (first) mover; of an exit or rocket turret, that of what emerges.
        line: Where a drone shoots: unit vector, and the side (-1, 0, 1) that its bullets wander to.
        rocket: One that flies: place and direction.
    """

    kind: int
    x: float
    y: float
    place_x: float
    place_y: float
    orientation: int
    mode: int
    flag: int | None = None
    u: float = 0.0
    v: float = 0.0
    phase: int = 0
    turn: int = 0
    ticks: int = 0
    mover: int = -1
    line: tuple[float, float, int] = (0.0, 0.0, 0)
    rocket: tuple[float, float, float, float] | None = None

    @property
    def taken(self) -> bool:
        """Of gold, an exit switch or the switch of a locked or trap door: it was touched and is gone."""
        assert self.flag is not None
        if self.kind in (6, 8):
            return bool(self.flag & 2)
        return self.flag != 0

    @property
    def open(self) -> bool:
        """Of a door of any kind: nothing stands in the way. Of an exit: its switch was taken."""
        assert self.flag is not None
        return bool(self.flag & 1)

    @property
    def mine_mode(self) -> int:
        """Of a mine: 0 armed, 1 idle, 2 arming."""
        assert self.flag is not None
        return self.flag


@dataclass
class Scene:
    """A level and everything in it at one moment."""

    tiles: Any  # uint8 (44, 25), by [column, row], with the solid ring
    spawn: tuple[float, float]
    ninja: Ninja
    entities: list[Entity] = field(default_factory=list)  # in map order
    limit_frames: int = 0  # 0: never truncated
    past: list[tuple[float, float]] = field(default_factory=list)  # where the ninja was, by tick modulo their number

    def place_after(self, tick: int) -> tuple[float, float]:
        """Where the ninja was after a tick that an evil ninja has yet to repeat."""
        return self.past[tick % len(self.past)]

    def of_kind(self, *kinds: int) -> list[Entity]:
        return [entity for entity in self.entities if entity.kind in kinds]


def movers_of(level: Any) -> int:
    """Number of movers in a state of a level."""
    return sum(_MOVERS.get(kind, 0) for kind in level.records[:, 0].tolist())


def state_bytes(level: Any) -> int:
    """Size of a state of a level; whole words of 8 bytes."""
    kinds = level.records[:, 0].tolist()
    size = NINJA_BYTES + MOVER_BYTES * movers_of(level) + sum(kind in _BYTE_KINDS for kind in kinds)
    return size + -size % 8 + _PLACE.size * PAST_TICKS * kinds.count(22)


def scene_of(level: Any, state: Any, limit_frames: int = 0) -> Scene:
    """Read a scene from a `Level` and the bytes of one of its states."""
    data = bytes(state)
    values = dict(zip(_NINJA_FIELDS, _NINJA.unpack_from(data), strict=False))
    ninja = Ninja(**{name: values[name] for name in Ninja.__dataclass_fields__})
    records = level.records.tolist()
    exits = int(level.counts[3]) & 0xFF
    flags = data[NINJA_BYTES + MOVER_BYTES * movers_of(level) :]
    tiles = np.ones((44, 25), np.uint8)
    tiles[1:43, 1:24] = level.tiles.T
    scene = Scene(tiles, (MAP_UNIT * records[0][1], MAP_UNIT * records[0][2]), ninja)
    scene.limit_frames = limit_frames
    end = state_bytes(level)
    begin = end - _PLACE.size * PAST_TICKS * sum(record[0] == 22 for record in records)
    scene.past = list(_PLACE.iter_unpack(data[begin:end]))
    next_flag = next_mover = 0
    for position, (kind, xc, yc, orientation, mode) in enumerate(records):
        if kind not in _BYTE_KINDS + _MOVER_KINDS + _PLAIN_KINDS:
            continue
        place = (float(MAP_UNIT * xc), float(MAP_UNIT * yc))
        entity = Entity(kind, *place, *place, orientation, mode)
        if kind in (3, 6, 8):
            switch = records[position + (exits if kind == 3 else 1)]
            entity.x, entity.y = float(MAP_UNIT * switch[1]), float(MAP_UNIT * switch[2])
        if kind in _BYTE_KINDS:
            entity.flag = flags[next_flag]
            next_flag += 1
        if kind in _MOVERS:
            entity.mover = next_mover
        offset = NINJA_BYTES + MOVER_BYTES * next_mover
        if kind in _MOVER_KINDS:
            entity.x, entity.y, entity.u, entity.v, stamp, _, entity.phase, entity.turn = _MOVER.unpack_from(
                data, offset
            )
            entity.ticks = stamp if kind in (12, 13, 19) else 0
        if kind in (12, 13):
            _, _, u, v, _, _, side, _ = _MOVER.unpack_from(data, offset + MOVER_BYTES)
            entity.line = (u, v, side)
        if kind == 18:
            *flight, _, cell, _, entity.ticks = _MOVER.unpack_from(data, offset)
            entity.phase = entity.flag or 0
            entity.rocket = (flight[0], flight[1], flight[2], flight[3]) if cell >= 0 else None
        next_mover += _MOVERS.get(kind, 0)
        scene.entities.append(entity)
    return scene
