"""Turn the records of a map into the kernel's entity table and initial state."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.level.entity_kinds import SIMULATED_ROWS, EntityKind, kinds_where
from npp_env.level.layout import UNIT_PX
from npp_env.level.model import Level
from npp_env.level.validation import switch_distance
from npp_env.sim.structs import (
    CELLS,
    COLUMNS,
    DOOR,
    EDGE_COLUMNS,
    EDGE_ROWS,
    ENTITY,
    FACING_LEFT,
    FACING_RIGHT,
    MAX_TOLD_EXITS,
    MOVER,
    NEAR_MINE,
    NEAR_PUSHING,
    NEAR_TOUCHABLE,
    NINJA,
    NO_EDGE,
    ORIENTATION_VECTORS,
    PLACE,
    ROWS,
    SWITCHED_DOOR,
    SWITCHED_EXIT,
    WALL,
    WALL_HORIZONTAL,
    WALL_VERTICAL,
    column_of,
    row_of,
)

_MINES = sorted(kinds_where(family="mines"))
_PUSHING = [kind for kind, row in SIMULATED_ROWS.items() if "push" in row.rules]


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
    history_ticks: int

    def initial_state(self, level: Level) -> NDArray[np.uint8]:
        """The bytes of the state after loading."""
        parts = [initial_ninja(level).view(np.uint8), self.movers.view(np.uint8).reshape(-1), self.flags]
        size = sum(part.size for part in parts)
        return np.concatenate([*parts, np.zeros(-size % 8 + self.history_ticks * PLACE.itemsize, np.uint8)])


def initial_ninja(level: Level) -> NDArray[Any]:
    """The ninja at the spawn; a fresh array (1,)."""
    ninja = np.zeros(1, NINJA)
    ninja["x"], ninja["y"] = level.spawn
    ninja["g"] = float.fromhex("0x1.1111111111110p-4")
    ninja["drag"] = float.fromhex("0x1.fc94b94afbccdp-1")
    ninja["fny"] = -1.0
    ninja["cny"] = 1.0
    for buffer in ("b_jump", "b_floor", "b_wall", "b_pad"):
        ninja[buffer] = -1
    return ninja


def cell_of(x: float, y: float) -> int:
    """Index of the cell that a point lies in; cells of one column follow each other."""
    return column_of(x) * ROWS + row_of(y)


def _door_parts(switched: int, x: float, y: float, orientation: int, flag: int) -> tuple[Any, Any, int]:
    """Grid edges, wall line and owning cell of a door."""
    ox, oy = ORIENTATION_VECTORS[orientation]
    c, r = column_of(x - 12 * ox), row_of(y - 12 * oy)
    if orientation in (FACING_RIGHT, FACING_LEFT):
        edge = (2 * c + 2) * EDGE_ROWS + 2 * r
        wall = (x, y - 12, x, y + 12, flag, WALL_VERTICAL, 0)
    else:
        edge = (2 * r + 2) * EDGE_COLUMNS + 2 * c
        wall = (x - 12, y, x + 12, y, flag, WALL_HORIZONTAL, 0)
    return (edge, edge + 1, flag, wall[5] == WALL_VERTICAL, switched), wall, c * ROWS + r


def told_exits(entities: NDArray[Any]) -> NDArray[np.int64]:
    """Rows of the exits that are told apart: all of them if there are two to eight, else none."""
    exits = np.flatnonzero(entities["kind"] == EntityKind.EXIT)
    return exits if 2 <= len(exits) <= MAX_TOLD_EXITS else exits[:0]


def build_entities(level: Level) -> EntityTable:
    """Read the records of a level in map order; kinds without a family create nothing."""
    records = level.records.tolist()
    exit_count, ball_count = (int(level.counts[kind]) & 0xFF for kind in (EntityKind.EXIT, EntityKind.DEATH_BALL))
    entities: list[Any] = []
    doors: list[Any] = []
    door_walls: list[Any] = []
    door_cells: list[int] = []
    movers: list[Any] = []
    mover_entity: list[int] = []
    flags: list[int] = []
    listed: list[tuple[int, int]] = []
    slots: dict[int, list[int]] = defaultdict(list)

    for position, (kind, xc, yc, orientation, mode) in enumerate(records):
        row = SIMULATED_ROWS.get(kind)
        if row is None:
            continue
        index, slot, link = len(entities), -1, len(slots[kind])
        x0, y0 = float(UNIT_PX * xc), float(UNIT_PX * yc)
        x, y = x0, y0
        if row.switch is not None:
            _, xc, yc, _, _ = records[position + switch_distance(kind, exit_count)]
            x, y = float(UNIT_PX * xc), float(UNIT_PX * yc)
        if row.flag is not None:
            slot = len(flags)
            flags.append(row.flag)
            link = len(movers) if row.movers else link
        elif row.movers:
            slot = len(movers)
        if row.movers:
            cell = cell_of(x0, y0) if row.moves and row.listed else -1
            movers.append((x0, y0, 0.0, 0.0, index if row.moves else 0, cell, 0, 0))
            movers += [(0.0, 0.0, 0.0, 0.0, 0, -1, 0, 0)] * (row.movers - 1)
            mover_entity += [index] * row.movers
        if row.family == "doors":
            door, wall, cell = _door_parts(SWITCHED_DOOR if row.switch else 0, x0, y0, orientation, slot)
            doors.append(door)
            door_walls.append(wall)
            door_cells.append(cell)
        if row.listed and not row.moves:
            listed.append((cell_of(x, y), index))
        slots[kind].append(slot)
        entities.append((x, y, x0, y0, slot, link, kind, orientation, mode, 0))

    table = np.array(entities, ENTITY)
    exits = table["slot"][told_exits(table)].tolist()
    doors += [(NO_EDGE, NO_EDGE, slot, 0, SWITCHED_EXIT) for slot in exits]
    listed.sort()
    cells = np.array([cell for cell, _ in listed], np.int64)
    indices = np.array([index for _, index in listed], np.uint16)
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
        advance_order=_pass_order(table, "advance"),
        react_order=_pass_order(table, "react"),
        mines=np.flatnonzero(np.isin(table["kind"], _MINES)).astype(np.uint16),
        balls=np.array(slots[EntityKind.DEATH_BALL], np.uint16),
        ball_count=ball_count,
        history_ticks=sum(SIMULATED_ROWS[EntityKind(kind)].history_ticks for kind in table["kind"].tolist()),
    )


def _pass_order(table: NDArray[Any], rule: str) -> NDArray[np.uint16]:
    """Entities with a rule, by kind and then in map order; the first one stands for a family that acts together."""
    order: list[int] = []
    acting: set[str] = set()
    of_kind: dict[int, list[int]] = {}
    for index, type_id in enumerate(table["kind"].tolist()):
        of_kind.setdefault(type_id, []).append(index)
    for kind, row in SIMULATED_ROWS.items():
        indices = of_kind.get(kind, []) if rule in row.rules else []
        if row.together and indices:
            indices = [] if row.family in acting else indices[:1]
            acting.add(row.family)
        order += indices
    return np.array(order, np.uint16)


def _near_flags(cells: NDArray[np.int64], kinds: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """For each cell what is listed in the 3 x 3 cells around it."""
    own = np.zeros(CELLS, np.uint8)
    np.bitwise_or.at(own, cells, NEAR_TOUCHABLE)
    np.bitwise_or.at(own, cells[np.isin(kinds, _PUSHING)], NEAR_PUSHING)
    np.bitwise_or.at(own, cells[np.isin(kinds, _MINES)], NEAR_MINE)
    padded = np.zeros((COLUMNS + 2, ROWS + 2), np.uint8)
    padded[1:-1, 1:-1] = own.reshape(COLUMNS, ROWS)
    near = np.zeros((COLUMNS, ROWS), np.uint8)
    for dc in range(3):
        for dr in range(3):
            near |= padded[dc : dc + COLUMNS, dr : dr + ROWS]
    return near.reshape(-1)
