"""Turn the records of a map into the kernel's entity table and initial state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.level.entity_kinds import EntityKind
from npp_env.level.model import Level
from npp_env.sim.structs import (
    CELLS,
    COLUMNS,
    DOOR,
    EDGE_COLUMNS,
    EDGE_ROWS,
    ENTITY,
    MAX_TOLD_EXITS,
    MOVER,
    NEAR_MINE,
    NEAR_ONE_WAY,
    NEAR_TOUCHABLE,
    NINJA,
    NO_EDGE,
    ORIENTATION_VECTORS,
    ROWS,
    SWITCHED_DOOR,
    SWITCHED_EXIT,
    WALL,
    WALL_HORIZONTAL,
    WALL_VERTICAL,
    column_of,
    row_of,
)

MAP_UNIT_PX = 6

FLAGGED_KINDS = frozenset({1, 2, 3, 5, 6, 8, 21, 24})
STATELESS_KINDS = frozenset({10, 11})
MOVING_KINDS = frozenset({14, 16, 17, 20, 23, 25, 26, 28})
SIMULATED_KINDS = FLAGGED_KINDS | STATELESS_KINDS | MOVING_KINDS
LISTED_STATIC_KINDS = frozenset({1, 2, 3, 5, 6, 8, 10, 11, 21})
ADVANCING_KINDS = (14, 16, 17, 20, 24, 26)
REACTING_KINDS = (5, 16, 20, 23, 25, 28)  # mines have a list of their own

OPEN = 1  # bit 0 of a door's flag
TOGGLE_IDLE = 1


@dataclass(slots=True)
class EntityTable:
    """What `build_entities` gathers; the names are those of the sections of a compiled level."""

    entities: NDArray[Any]
    doors: NDArray[Any]
    door_walls: NDArray[Any]
    door_cells: NDArray[np.int64]
    listed: NDArray[np.uint16]
    listed_cells: NDArray[np.int64]
    near: NDArray[np.uint8]
    movers: NDArray[Any]
    mover_entity: NDArray[np.uint16]
    flags: NDArray[np.uint8]
    advance_order: NDArray[np.uint16]
    react_order: NDArray[np.uint16]
    mines: NDArray[np.uint16]
    balls: NDArray[np.uint16]
    ball_count: int

    def initial_state(self, level: Level) -> NDArray[np.uint8]:
        """The bytes of the state after loading."""
        ninja = np.zeros(1, NINJA)
        ninja["x"], ninja["y"] = level.spawn
        ninja["g"] = float.fromhex("0x1.1111111111110p-4")
        ninja["drag"] = float.fromhex("0x1.fc94b94afbccdp-1")
        ninja["fny"] = -1.0
        ninja["cny"] = 1.0
        for buffer in ("b_jump", "b_floor", "b_wall", "b_pad"):
            ninja[buffer] = -1
        parts = [ninja.view(np.uint8), self.movers.view(np.uint8).reshape(-1), self.flags]
        size = sum(part.size for part in parts)
        return np.concatenate([*parts, np.zeros(-size % 8, np.uint8)])


def cell_of(x: float, y: float) -> int:
    """Index of the cell that a point lies in; cells of one column follow each other."""
    return column_of(x) * ROWS + row_of(y)


def _door_parts(kind: int, x: float, y: float, orientation: int, flag: int) -> tuple[Any, Any, int]:
    """Grid edges, wall line and owning cell of a door."""
    ox, oy = ORIENTATION_VECTORS[orientation]
    c, r = column_of(x - 12 * ox), row_of(y - 12 * oy)
    if orientation in (0, 4):
        edge = (2 * c + 2) * EDGE_ROWS + 2 * r
        door = (edge, edge + 1, flag, 1, SWITCHED_DOOR if kind != 5 else 0)
        wall = (x, y - 12, x, y + 12, flag, WALL_VERTICAL, 0)
    else:
        edge = (2 * r + 2) * EDGE_COLUMNS + 2 * c
        door = (edge, edge + 1, flag, 0, SWITCHED_DOOR if kind != 5 else 0)
        wall = (x - 12, y, x + 12, y, flag, WALL_HORIZONTAL, 0)
    return door, wall, c * ROWS + r


def _new_mover(kind: int, x: float, y: float, orientation: int, mode: int, entity: int) -> Any:
    u = v = 0.0
    phase = turn = 0
    cell = cell_of(x, y)
    if kind in (14, 26):
        u, v, turn = x, y, orientation // 2
    elif kind == 23:
        ox, oy = ORIENTATION_VECTORS[orientation]
        u, phase, cell = math.atan2(oy, ox), -1 if mode == 1 else 1, -1
    return (x, y, u, v, entity, cell, phase, turn)


def told_exits(entities: NDArray[Any]) -> NDArray[np.int64]:
    """Rows of the exits that are told apart: all of them if there are two to eight, else none."""
    exits = np.flatnonzero(entities["kind"] == EntityKind.EXIT)
    return exits if 2 <= len(exits) <= MAX_TOLD_EXITS else exits[:0]


def build_entities(level: Level) -> EntityTable:
    """Read the records of a level in map order; later ninjas and unsimulated types create nothing."""
    records = level.records.tolist()
    exit_count, ball_count = int(level.counts[3]) & 0xFF, int(level.counts[25]) & 0xFF
    entities: list[Any] = []
    doors: list[Any] = []
    door_walls: list[Any] = []
    door_cells: list[int] = []
    movers: list[Any] = []
    mover_entity: list[int] = []
    flags: list[int] = []
    listed: list[tuple[int, int]] = []
    balls: list[int] = []

    def add_mover(row: Any, entity: int) -> int:
        movers.append(row)
        mover_entity.append(entity)
        return len(movers) - 1

    for position, (kind, xc, yc, orientation, mode) in enumerate(records):
        if kind not in SIMULATED_KINDS:
            continue
        index = len(entities)
        x0, y0 = float(MAP_UNIT_PX * xc), float(MAP_UNIT_PX * yc)
        x, y = x0, y0
        slot, link = -1, -1
        if kind in FLAGGED_KINDS:
            slot = len(flags)
            flags.append(TOGGLE_IDLE if kind == 21 else OPEN if kind == 8 else 0)
        if kind == 3 or kind in (6, 8):
            switch = records[position + (exit_count if kind == 3 else 1)]
            x, y = float(MAP_UNIT_PX * switch[1]), float(MAP_UNIT_PX * switch[2])
        if kind == 3:
            link = add_mover((x0, y0, 0.0, 0.0, 0, -1, 0, 0), index)
        elif kind in (5, 6, 8):
            door, wall, cell = _door_parts(kind, x0, y0, orientation, slot)
            doors.append(door)
            door_walls.append(wall)
            door_cells.append(cell)
        elif kind in MOVING_KINDS:
            slot = add_mover(_new_mover(kind, x0, y0, orientation, mode, index), index)
            if kind == 23:
                add_mover((0.0, 0.0, 0.0, 0.0, 0, -1, 0, 0), index)
            elif kind == 25:
                link = len(balls)
                balls.append(slot)
        if kind in LISTED_STATIC_KINDS:
            listed.append((cell_of(x, y), index))
        entities.append((x, y, x0, y0, slot, link, kind, orientation, mode, 0))

    table = np.array(entities, ENTITY)
    exits = table["slot"][told_exits(table)].tolist()
    doors += [(NO_EDGE, NO_EDGE, slot, 0, SWITCHED_EXIT) for slot in exits]
    listed.sort()
    cells = np.array([cell for cell, _ in listed], np.int64)
    indices = np.array([index for _, index in listed], np.uint16)
    by_kind = {kind: np.flatnonzero(table["kind"] == kind) for kind in SIMULATED_KINDS}
    return EntityTable(
        entities=table,
        doors=np.array(doors, DOOR),
        door_walls=np.array(door_walls, WALL),
        door_cells=np.array(door_cells, np.int64),
        listed=indices,
        listed_cells=cells,
        near=_near_flags(cells, table["kind"][indices]),
        movers=np.array(movers, MOVER),
        mover_entity=np.array(mover_entity, np.uint16),
        flags=np.array(flags, np.uint8),
        advance_order=np.concatenate([by_kind[kind] for kind in ADVANCING_KINDS]).astype(np.uint16),
        react_order=np.concatenate([by_kind[kind] for kind in REACTING_KINDS]).astype(np.uint16),
        mines=np.sort(np.concatenate([by_kind[1], by_kind[21]])).astype(np.uint16),
        balls=np.array(balls, np.uint16),
        ball_count=ball_count,
    )


def _near_flags(cells: NDArray[np.int64], kinds: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """For each cell what is listed in the 3 x 3 cells around it."""
    own = np.zeros(CELLS, np.uint8)
    np.bitwise_or.at(own, cells, NEAR_TOUCHABLE)
    np.bitwise_or.at(own, cells[kinds == 11], NEAR_ONE_WAY)
    np.bitwise_or.at(own, cells[(kinds == 1) | (kinds == 21)], NEAR_MINE)
    padded = np.zeros((COLUMNS + 2, ROWS + 2), np.uint8)
    padded[1:-1, 1:-1] = own.reshape(COLUMNS, ROWS)
    near = np.zeros((COLUMNS, ROWS), np.uint8)
    for dc in range(3):
        for dr in range(3):
            near |= padded[dc : dc + COLUMNS, dr : dr + ROWS]
    return near.reshape(-1)
