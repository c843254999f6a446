"""Build the navigation graph of a level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.graph.edges import Contacts, EdgeSet, Line, Touches, split_keys
from npp_env.graph.free_space import HALF_COLUMNS, HALF_PX, HALF_ROWS, HEIGHT_PX, WIDTH_PX, blocked_image, solid_image
from npp_env.graph.layout import GRAPH_FORMAT, MAX_NODES, EdgeKind, NodeKind, require_room
from npp_env.graph.node_lookup import nodes_at
from npp_env.graph.nodes import LatticeNodes, find_nodes
from npp_env.graph.one_ways import OneWay, find_one_ways
from npp_env.graph.pieces import keep_open
from npp_env.level.cache import LevelCache
from npp_env.level.entity_kinds import EntityKind
from npp_env.level.model import Level
from npp_env.sim.entities.build import told_exits
from npp_env.sim.geometry import Geometry, full_tiles, geometry_of

JUMP_HEIGHT_PX = 76.9
"""Of a jump from level ground with the button held."""
NINJA_RADIUS_PX = 10
_MOST_PLACES = 256  # a byte numbers them

# Kind of node by kind of entity, with the radius in which the entity is touched and whether the node stands where the
# entity acts (a switch) or where its record puts it (a door or an exit). The physics gives the radii.
_SPECIALS: tuple[tuple[EntityKind, NodeKind, int, bool], ...] = (
    (EntityKind.EXIT, NodeKind.EXIT_SWITCH, 6, True),
    (EntityKind.EXIT, NodeKind.EXIT, 12, False),
    (EntityKind.LOCKED_DOOR, NodeKind.LOCKED_DOOR_SWITCH, 5, True),
    (EntityKind.TRAP_DOOR, NodeKind.TRAP_DOOR_SWITCH, 5, True),
    (EntityKind.DOOR, NodeKind.DOOR, 10, False),
    (EntityKind.LOCKED_DOOR, NodeKind.LOCKED_DOOR, 10, False),
    (EntityKind.TRAP_DOOR, NodeKind.TRAP_DOOR, 10, False),
)
GATING_KINDS = (EntityKind.LOCKED_DOOR, EntityKind.TRAP_DOOR)


@dataclass(slots=True)
class _Ends:
    """Nodes that are reached by touch, in columns."""

    x: NDArray[np.float32]
    y: NDArray[np.float32]
    kind: NDArray[np.uint8]
    entity: NDArray[np.int16]
    touch_px: NDArray[np.float32]


def build_graph(level: Level, cache: LevelCache) -> NDArray[np.uint8]:
    """The block of a level's navigation graph."""
    geometry = geometry_of(level, cache)
    tiles = full_tiles(level)
    blocked = blocked_image(geometry["walls"], tiles)
    free = _reachable_from_outside(~blocked, solid_image(tiles), level.spawn)
    one_ways = find_one_ways(geometry["entities"])
    nodes = find_nodes(free, one_ways)
    ends = _find_ends(geometry["entities"])
    count = len(nodes.half)
    require_room("nodes", count + len(ends.x), MAX_NODES)
    touches = Touches.of(np.stack([ends.x, ends.y, ends.touch_px], axis=1).astype(np.float64), count + 1)
    doors, lines = _gating_doors(geometry)
    edges = Contacts(nodes.labels, one_ways, touches).find(lines)
    arrays = {
        **_node_sections(nodes, ends),
        **_edge_sections(nodes, ends, edges, _footing(nodes, one_ways)),
        **_door_sections(geometry["entities"], doors, count, ends),
    }
    spawn = int(nodes_at(nodes.nearest, nodes.split_half, nodes.split_node, *np.array(level.spawn)[:, None])[0])
    return GRAPH_FORMAT.pack(arrays, [count + len(ends.x), count, len(edges.keys), len(doors), spawn])


def _reachable_from_outside(
    free: NDArray[np.bool_], solid: NDArray[np.bool_], spawn: tuple[float, float]
) -> NDArray[np.bool_]:
    """Free pixels without the cavities that lie wholly in matter, unless the ninja starts in one."""
    row, column = min(int(spawn[1]), HEIGHT_PX - 1), min(int(spawn[0]), WIDTH_PX - 1)
    return keep_open(free.view(np.uint8), solid.view(np.uint8), row, column)


def _find_ends(entities: NDArray[Any]) -> _Ends:
    rows = []
    for entity_kind, node_kind, radius, acting in _SPECIALS:
        for index in np.flatnonzero(entities["kind"] == entity_kind).tolist():
            entity = entities[index]
            x, y = (entity["x"], entity["y"]) if acting else (entity["x0"], entity["y0"])
            rows.append((x, y, node_kind, index, radius + NINJA_RADIUS_PX))
    columns = list(zip(*rows, strict=True)) if rows else [()] * 5
    return _Ends(
        np.array(columns[0], np.float32),
        np.array(columns[1], np.float32),
        np.array(columns[2], np.uint8),
        np.array(columns[3], np.int16),
        np.array(columns[4], np.float32),
    )


def _gating_doors(geometry: Geometry) -> tuple[NDArray[np.int64], list[Line]]:
    """Entities of the doors that close passages, and their lines."""
    entities, walls = geometry["entities"], geometry["walls"]
    doors = np.flatnonzero(np.isin(entities["kind"], GATING_KINDS))
    line_of = {int(wall["door"]): wall for wall in walls[walls["door"] >= 0]}
    lines = []
    for index in doors.tolist():
        wall = line_of[int(entities["slot"][index])]
        lines.append((float(wall["x1"]), float(wall["y1"]), float(wall["x2"]), float(wall["y2"])))
    return doors, lines


def _footing(nodes: LatticeNodes, one_ways: list[OneWay]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which lattice nodes have ground to stand on, and which have a wall at the side."""
    labels, free = nodes.labels, nodes.labels > 0
    standing = np.zeros(len(nodes.half) + 1, np.bool_)
    walled = np.zeros_like(standing)
    standing[labels[:-1][free[:-1] & ~free[1:]]] = True
    walled[labels[:, :-1][free[:, :-1] & ~free[:, 1:]]] = True
    walled[labels[:, 1:][free[:, 1:] & ~free[:, :-1]]] = True
    for one_way in one_ways:
        if one_way.holds_up:
            inner = labels[one_way.window]
            standing[inner[:-1][one_way.above[:-1] & one_way.under[1:]]] = True
    standing[0] = walled[0] = False
    return standing[1:], walled[1:]


def _height_over_ground(nodes: LatticeNodes, standing: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Of each lattice node, straight down; infinite over nothing."""
    rows, columns = np.divmod(nodes.half, HALF_COLUMNS)
    grid = np.full((HALF_ROWS, HALF_COLUMNS), np.inf, np.float32)
    present = np.zeros(grid.shape, np.bool_)
    present[rows, columns] = True
    grid[rows[standing], columns[standing]] = 0.0
    for row in range(HALF_ROWS - 2, -1, -1):
        below = np.where(present[row + 1], grid[row + 1] + HALF_PX, np.inf)
        grid[row] = np.where(present[row], np.minimum(grid[row], below), np.inf)
    return np.asarray(grid[rows, columns])


def _edge_kinds(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    dy: NDArray[np.float32],
    nodes: LatticeNodes,
    footing: tuple[NDArray[np.bool_], NDArray[np.bool_]],
) -> NDArray[np.uint8]:
    standing, walled = footing
    height = _height_over_ground(nodes, standing)
    count = len(nodes.half)
    touch = target >= count
    end = np.where(touch, source, target)
    choices = (
        (touch, EdgeKind.TOUCH),
        (standing[source] & standing[end], EdgeKind.WALK),
        (dy > 0, EdgeKind.FALL),
        (height[end] <= JUMP_HEIGHT_PX, EdgeKind.JUMP),
        (walled[source] | walled[end], EdgeKind.WALL),
    )
    return np.select([c for c, _ in choices], [int(k) for _, k in choices], int(EdgeKind.AIR)).astype(np.uint8)


def _place_sections(x: NDArray[Any], y: NDArray[Any]) -> dict[str, NDArray[Any]]:
    (xs, of_x), (ys, of_y) = (np.unique(values.astype(np.float32), return_inverse=True) for values in (x, y))
    count = max(len(xs), len(ys))
    if count > _MOST_PLACES:
        return {name: np.zeros(0) for name in ("place_x", "place_y", "place_of_x", "place_of_y")}
    return {
        "place_x": np.resize(xs, count),
        "place_y": np.resize(ys, count),
        "place_of_x": of_x.reshape(-1),
        "place_of_y": of_y.reshape(-1),
    }


def _node_sections(nodes: LatticeNodes, ends: _Ends) -> dict[str, NDArray[Any]]:
    lattice = len(nodes.half)
    x, y = np.concatenate([nodes.x, ends.x]), np.concatenate([nodes.y, ends.y])
    return {
        "node_x": x,
        "node_y": y,
        **_place_sections(x, y),
        "node_kind": np.concatenate([np.zeros(lattice, np.uint8), ends.kind]),
        "node_entity": np.concatenate([np.full(lattice, -1, np.int16), ends.entity]),
        "nearest_node": nodes.nearest,
        "split_half": nodes.split_half,
        "split_node": nodes.split_node,
    }


def _edge_sections(
    nodes: LatticeNodes,
    ends: _Ends,
    edges: EdgeSet,
    footing: tuple[NDArray[np.bool_], NDArray[np.bool_]],
) -> dict[str, NDArray[Any]]:
    x, y = np.concatenate([nodes.x, ends.x]), np.concatenate([nodes.y, ends.y])
    source, target = (labels - 1 for labels in split_keys(edges.keys))
    dx, dy = x[target] - x[source], y[target] - y[source]
    return {
        "edge_start": np.searchsorted(source, np.arange(len(x) + 1)),
        "edge_target": target,
        "edge_door": edges.gate,
        "edge_features": np.stack([dx, dy, np.hypot(dx, dy)], axis=1),
        "edge_kind": _edge_kinds(source, target, dy, nodes, footing),
        "gate_start": np.cumsum([0, *(len(gate) for gate in edges.gates)]),
        "gate_door": np.array([door for gate in edges.gates for door in gate], np.uint16),
    }


def _door_sections(
    entities: NDArray[Any], doors: NDArray[np.int64], lattice: int, ends: _Ends
) -> dict[str, NDArray[Any]]:
    switches = np.isin(ends.kind, (NodeKind.LOCKED_DOOR_SWITCH, NodeKind.TRAP_DOOR_SWITCH))
    switch_of = {int(ends.entity[k]): lattice + k for k in np.flatnonzero(switches).tolist()}
    return {
        "door_entity": doors,
        "door_slot": entities["slot"][doors],
        "door_trap": entities["kind"][doors] == EntityKind.TRAP_DOOR,
        "door_switch_node": np.array([switch_of[door] for door in doors.tolist()], np.uint16),
        "exit_slot": entities["slot"][told_exits(entities)],
    }
