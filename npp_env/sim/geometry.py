"""Compile a level into flat read-only arrays: walls by cell, grid edges, entity table, initial state.

All arrays of a level lie in one block of bytes, so that it can be stored as one file and mapped into many
processes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.level.block import BlockFormat, require
from npp_env.level.cache import Artifact, LevelCache, default_cache
from npp_env.level.entity_kinds import EntityKind, kinds_where
from npp_env.level.model import Level
from npp_env.level.validation import count_records
from npp_env.sim.cover import build_cover
from npp_env.sim.entities.build import build_entities, initial_ninja
from npp_env.sim.geometry_check import wrong_section
from npp_env.sim.kernel import LevelHandle, complete_initial_state
from npp_env.sim.state_size import state_bytes_of
from npp_env.sim.structs import (
    CELLS,
    COLUMNS,
    DOOR,
    EDGE_COLUMNS,
    EDGE_HAS_DOOR,
    EDGE_ROWS,
    ENTITY,
    MOST_OUTLOOKS,
    ROWS,
    SWITCHED_EXIT,
    WALL,
    WALL_HORIZONTAL,
    WALL_SLANTED,
    WALL_VERTICAL,
)
from npp_env.sim.tiles import (
    HORIZONTAL_FACING,
    HORIZONTAL_VALUE,
    TILE_SHAPES,
    VERTICAL_FACING,
    VERTICAL_VALUE,
    solid_pixels,
)

GEOMETRY_FORMAT = BlockFormat(
    "compiled level",
    magic=0x4750504E,  # "NPPG"
    version=6,
    sections=(
        ("scalars", "<i4"),
        ("wall_start", "<u2"),
        ("walls", WALL),
        ("listed_start", "<u2"),
        ("listed", "<u2"),
        ("near", "u1"),
        ("around", "<u4"),
        ("lines", "<u8"),
        ("edges_h", "u1"),
        ("edges_v", "u1"),
        ("doors", DOOR),
        ("entities", ENTITY),
        ("mover_entity", "<u2"),
        ("advance_order", "<u2"),
        ("react_order", "<u2"),
        ("mines", "<u2"),
        ("balls", "<u2"),
        ("cover", "u1"),
        ("outlooks", "u1"),
        ("solid", "u1"),
        ("initial", "u1"),
        ("digest", "u1"),
    ),
)

_WATCHING = sorted(kinds_where(watches=True))
_TURRETS = sorted(kinds_where(family="rockets") | kinds_where(family="gauss_turrets"))


class Geometry:
    """The compiled form of a level: one block of bytes with named, typed, read-only sections in it.

    Args:
        block: uint8 array as made by `compile_level`; may be memory-mapped. It is not copied.

    Raises:
        StateError: The block is not a compiled level of this version.
    """

    __slots__ = ("block", "sections")

    def __init__(self, block: NDArray[np.uint8]) -> None:
        self.block = block
        self.sections: Mapping[str, NDArray[Any]] = GEOMETRY_FORMAT.open(block)[1]

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A section; a read-only view of the block."""
        return self.sections[name]

    @property
    def nbytes(self) -> int:
        """Size of the whole block."""
        return int(self.block.nbytes)


def full_tiles(level: Level) -> NDArray[np.uint8]:
    """Tiles by [column, row] with the solid ring around the map."""
    tiles = np.ones((COLUMNS, ROWS), np.uint8)
    tiles[1:-1, 1:-1] = level.tiles.T
    return tiles


def build_walls(tiles: NDArray[np.uint8]) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """Wall pieces of the tiles, with the cell that owns each and its rank within the cell."""
    h_sum = np.zeros((EDGE_COLUMNS - 1, EDGE_ROWS), np.int8)
    v_sum = np.zeros((EDGE_COLUMNS, EDGE_ROWS - 1), np.int8)
    h_sum[:, 0], h_sum[:, -1] = 1, -1
    v_sum[0, :], v_sum[-1, :] = 1, -1
    h_facing, v_facing = HORIZONTAL_FACING[tiles], VERTICAL_FACING[tiles]
    for line in range(3):
        for half in range(2):
            h_sum[half::2, line : line + 49 : 2] += h_facing[:, :, 2 * line + half]
            v_sum[line : line + 87 : 2, half::2] += v_facing[:, :, 2 * line + half]

    i, j = np.nonzero(h_sum)
    facing = h_sum[i, j]
    h_walls = np.zeros(len(i), WALL)
    h_walls["x1"], h_walls["x2"] = 12 * i + 12 * (facing < 0), 12 * i + 12 * (facing > 0)
    h_walls["y1"] = h_walls["y2"] = 12 * j
    h_walls["kind"] = WALL_HORIZONTAL
    # A piece that faces down or right belongs to the tile above or to the left of an edge between tiles.
    h_cells = (i // 2) * ROWS + (j - (facing > 0)) // 2
    h_ranks = 10_000 + 100 * i + j

    i, j = np.nonzero(v_sum)
    facing = v_sum[i, j]
    v_walls = np.zeros(len(i), WALL)
    v_walls["x1"] = v_walls["x2"] = 12 * i
    v_walls["y1"], v_walls["y2"] = 12 * j + 12 * (facing > 0), 12 * j + 12 * (facing < 0)
    v_walls["kind"] = WALL_VERTICAL
    v_cells = ((i - (facing > 0)) // 2) * ROWS + j // 2
    v_ranks = 20_000 + 100 * i + j

    cells = [(c, r) for c, r in np.argwhere((tiles >= 6) & (tiles <= 33)).tolist()]
    slanted = np.zeros(len(cells), WALL)
    for k, (c, r) in enumerate(cells):
        extra = TILE_SHAPES[tiles[c, r]].extra
        assert extra is not None
        x, y = 24 * c, 24 * r
        # Of an arc, (x2, y2) is its quadrant and stays as it is.
        is_line = extra.kind == WALL_SLANTED
        slanted[k] = (
            x + extra.x1,
            y + extra.y1,
            x * is_line + extra.x2,
            y * is_line + extra.y2,
            -1,
            extra.kind,
            0,
        )
    s_cells = np.array([c * ROWS + r for c, r in cells], np.int64)
    walls = np.concatenate([slanted, h_walls, v_walls])
    walls["door"] = -1
    return (
        walls,
        np.concatenate([s_cells, h_cells, v_cells]),
        np.concatenate([np.zeros(len(cells), np.int64), h_ranks, v_ranks]),
    )


def build_edges(tiles: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Tile values of the grid edges, horizontal as [line, column], vertical as [line, row], padded by one."""
    h_value, v_value = HORIZONTAL_VALUE[tiles], VERTICAL_VALUE[tiles]
    h = np.zeros((EDGE_ROWS, EDGE_COLUMNS), np.uint8)
    v = np.zeros((EDGE_COLUMNS, EDGE_ROWS), np.uint8)
    for half in range(2):
        h[1::2, half:88:2] = h_value[:, :, 2 + half].T
        v[1::2, half:50:2] = v_value[:, :, 2 + half]
        # An edge between two tiles is solid if exactly one of them makes it so.
        above, below = h_value[:, :-1, 4 + half].T, h_value[:, 1:, half].T
        h[2:50:2, half:88:2] = np.where((above != 0) & (below != 0), 0, above + below)
        left, right = v_value[:-1, :, 4 + half], v_value[1:, :, half]
        v[2:88:2, half:50:2] = np.where((left != 0) & (right != 0), 0, left + right)
    return h.reshape(-1), v.reshape(-1)


def build_solid(tiles: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """How many of the 144 pixels of each half cell [row, column] are solid."""
    quarters = solid_pixels()[tiles]  # (44, 25, 2, 2): column, row, lower half, right half
    flat: NDArray[np.uint8] = quarters.transpose(1, 2, 0, 3).reshape(-1).astype(np.uint8)
    return flat


def starts_by_cell(cells: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Where each cell begins in an array sorted by cell, with the end appended."""
    counts = np.bincount(cells, minlength=CELLS)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.uint16)


def _sights(
    tiles: NDArray[np.uint8], entities: NDArray[Any], walls: NDArray[Any], cells: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Cover and outlooks, where something watches the ninja; numbers the turrets that have an outlook."""
    none = np.zeros(0, np.uint8)
    cover = build_cover(walls, cells) if np.isin(entities["kind"], _WATCHING).any() else none
    if not len(cover):
        return cover, none
    # Whoever opens compiled levels does without, and without the memory that it takes.
    from npp_env.sim.outlook import build_outlooks

    turrets = np.flatnonzero(np.isin(entities["kind"], _TURRETS))[:MOST_OUTLOOKS]
    entities["outlook"][turrets] = 1 + np.arange(len(turrets))
    places = np.stack([entities["x"][turrets], entities["y"][turrets]], axis=1).astype(np.float64)
    return cover, build_outlooks(tiles, walls, cells, places).reshape(-1)


def compile_level(level: Level) -> Geometry:
    """Precompute all that the kernel needs of a level; a fresh, read-only block."""
    tiles = full_tiles(level)
    table = build_entities(level)
    walls, cells, ranks = build_walls(tiles)
    walls = np.concatenate([walls, table.door_walls])
    cells = np.concatenate([cells, table.door_cells])
    ranks = np.concatenate([ranks, 30_000 + np.arange(len(table.door_cells))])
    order = np.lexsort((ranks, cells))
    edges_h, edges_v = build_edges(tiles)
    for door in table.doors[table.doors["switched"] != SWITCHED_EXIT]:
        edges = edges_v if door["vertical"] else edges_h
        edges[[door["edge_a"], door["edge_b"]]] |= EDGE_HAS_DOOR
    cover, outlooks = _sights(tiles, table.entities, walls, cells)
    walls, wall_start = walls[order], starts_by_cell(cells)
    # Whoever opens compiled levels does without, and without the memory that it takes.
    from npp_env.sim.wall_tables import build_around, build_lines

    sections = {
        "scalars": np.array([table.ball_count, len(table.flags), table.history_ticks], "<i4"),
        "wall_start": wall_start,
        "walls": walls,
        "listed_start": starts_by_cell(table.listed_cells),
        "listed": table.listed,
        "near": table.near,
        "around": build_around(tiles, walls, wall_start),
        "lines": build_lines(walls),
        "edges_h": edges_h,
        "edges_v": edges_v,
        "doors": table.doors,
        "entities": table.entities,
        "mover_entity": table.mover_entity,
        "advance_order": table.advance_order,
        "react_order": table.react_order,
        "mines": table.mines,
        "balls": table.balls,
        "cover": cover,
        "outlooks": outlooks,
        "solid": build_solid(tiles),
        "initial": table.initial_state(level),
        "digest": np.frombuffer(bytes.fromhex(level.hash), np.uint8),
    }
    geometry = Geometry(GEOMETRY_FORMAT.pack(sections))
    complete_initial_state(geometry)
    return geometry


def _build_block(level: Level, cache: LevelCache) -> NDArray[np.uint8]:
    return compile_level(level).block


def _check_block(level: Level, cache: LevelCache, block: NDArray[np.uint8]) -> None:
    wrong = wrong_section(
        LevelHandle(Geometry(block)),
        level.records,
        int(level.counts[EntityKind.DEATH_BALL]) & 0xFF,
        bytes.fromhex(level.hash),
        initial_ninja(level).tobytes(),
        int(state_bytes_of(count_records(level.records)[None])[0]),
    )
    require(wrong is None, str(wrong))


GEOMETRY = Artifact("geometry", GEOMETRY_FORMAT.version, _build_block, check=_check_block)
"""The compiled level as the level cache keeps it."""


def geometry_of(level: Level, cache: LevelCache | None = None) -> Geometry:
    """The compiled level from a cache (the process's own if None); a fresh object over the shared block."""
    return Geometry((default_cache() if cache is None else cache).get(level, GEOMETRY))
