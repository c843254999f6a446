"""Distances to switch and exit, next hops and reachability, for each configuration of the doors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.graph.checks import check_distances
from npp_env.graph.dijkstra import spread
from npp_env.graph.flood import Flood
from npp_env.graph.layout import DISTANCES_FORMAT, GRAPH_FORMAT, NO_NODE, NODE_WAYS, NodeKind, spawn_numbers
from npp_env.graph.navigation import GRAPH, NavigationGraph, graph_of
from npp_env.level.cache import Artifact, LevelCache, default_cache
from npp_env.level.model import Level

MAX_ORDERED_DOORS = 5
"""Up to so many closed locked doors, every order of opening them is tried; beyond, the first one opens all."""

DIRECTLY, AFTER_OPENING = 1, 2
"""Values of `reachable`: in this configuration, or once locked doors were opened whose switches can be reached."""


class DistanceFields:
    """Shortest ways in one door configuration; read-only arrays, all of them views of one block.

    A distance is infinite, and a next hop 65535, where there is no way. Where a goal can only be reached after opening
    locked doors, the distance leads by their switches, and `blocked` is set. At an end the distances are those of the
    best place to touch it from.

    Args:
        block: uint8 array as made by `fields_of`; may be memory-mapped. It is not copied.

    Raises:
        StateError: The block is not a set of distance fields of this version.
    """

    __slots__ = (
        "__weakref__",
        "block",
        "blocked",
        "exit_distance",
        "exit_next",
        "exit_node",
        "node_count",
        "plan_distance",
        "plan_next",
        "reachable",
        "reachable_share",
        "spawn_exit_distance",
        "spawn_node",
        "spawn_plan_distance",
        "spawn_switch_distance",
        "switch_distance",
        "switch_exit_distance",
        "switch_next",
        "switch_node",
        "ways",
    )

    def __init__(self, block: NDArray[np.uint8]) -> None:
        numbers, arrays = DISTANCES_FORMAT.open(block)
        self.block = block
        self.node_count, self.spawn_node, _ = numbers[:3]
        self.switch_node, self.exit_node = numbers[3:5]  # the ones nearest to the spawn, 65535 if there is none
        (
            self.spawn_switch_distance,
            self.spawn_exit_distance,
            self.spawn_plan_distance,
            self.switch_exit_distance,
            self.reachable_share,
        ) = spawn_numbers(numbers)
        self.ways: NDArray[Any] = arrays["ways"]  # (n,) NODE_WAYS; all that follow are views of it
        self.switch_distance: NDArray[np.float32] = self.ways["switch_distance"]  # (n,) px to the nearest exit switch
        self.exit_distance: NDArray[np.float32] = self.ways["exit_distance"]  # (n,) px to the nearest open exit
        self.plan_distance: NDArray[np.float32] = self.ways["plan_distance"]  # (n,) px over a switch to an exit
        self.switch_next: NDArray[np.uint16] = self.ways["switch_next"]  # (n,)
        self.exit_next: NDArray[np.uint16] = self.ways["exit_next"]  # (n,)
        self.plan_next: NDArray[np.uint16] = self.ways["plan_next"]  # (n,)
        self.reachable: NDArray[np.uint8] = self.ways["reachable"]  # (n,) from the spawn: 0, DIRECTLY, AFTER_OPENING
        self.blocked: NDArray[np.uint8] = self.ways["blocked"]  # (n,) bits: 0 switch, 1 exit, 2 plan


@dataclass(slots=True)
class Neighbours:
    """Edges by one of their ends."""

    start: NDArray[np.uint32]
    node: NDArray[np.uint16]
    length: NDArray[np.float32]


@dataclass(slots=True)
class _Passages:
    """The open edges of a configuration, in both directions."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    length: NDArray[np.float32]
    forth: Neighbours
    back: Neighbours


@dataclass(slots=True)
class _Way:
    """Distance to a goal, next hop, and whether locked doors are on the way."""

    distance: NDArray[np.float64]
    following: NDArray[np.uint16]
    blocked: NDArray[np.uint8]


def fields_of(level: Level, config: bytes | int = 0, cache: LevelCache | None = None) -> DistanceFields:
    """The distance fields of a door configuration, computed on first need; a fresh object over the shared block.

    Args:
        level: The level.
        config: Which locked and trap doors had their switch taken, and behind them which exits where there are
            several, as a bit mask (bytes, little-endian, or int).
        cache: Where to look; the process's own cache if None.

    Raises:
        ConfigError: The level has fewer doors.
    """
    cache = default_cache() if cache is None else cache
    return fields_in(graph_of(level, cache), level, config, cache)


def fields_in(graph: NavigationGraph, level: Level, config: bytes | int, cache: LevelCache) -> DistanceFields:
    """The same as `fields_of`, for whoever has opened the graph of the level."""
    return DistanceFields(cache.get(level, distances_artifact(graph.configuration(config))))


def distances_artifact(config: bytes) -> Artifact:
    """The artifact of a configuration in its canonical form; only that of the start is worth a file."""
    variant = config.hex()
    version = 1000 * GRAPH.version + DISTANCES_FORMAT.version
    return Artifact("distances", version, partial(_build, config), variant, persisted=not any(config), check=_check)


def _check(level: Level, cache: LevelCache, block: NDArray[Any]) -> None:
    check_distances(*DISTANCES_FORMAT.open(block), GRAPH_FORMAT.numbers_in(cache.get(level, GRAPH)))


def _build(config: bytes, level: Level, cache: LevelCache) -> NDArray[np.uint8]:
    graph = graph_of(level, cache)
    passages = _open_passages(graph, config)
    children = _Children(graph, config, level, cache)
    from_spawn = _reach(graph, passages)
    switches, exits = graph.nodes_of_kind(NodeKind.EXIT_SWITCH), graph.nodes_of_kind(NodeKind.EXIT)
    opened = _opened_exits(graph, config)
    goals = exits[opened] if opened else exits
    switch = _way_to(graph, passages, children, "switch", switches, np.zeros(len(switches)))
    way_out = _way_to(graph, passages, children, "exit", goals, np.zeros(len(goals)))
    from_switch = way_out.distance[switches]
    if graph.exit_count and not opened:
        from_switch = _ways_out(graph, config, switches, level, cache)
    plan = _way_to(graph, passages, children, "plan", switches, from_switch)

    reachable = np.where(np.isfinite(from_spawn), DIRECTLY, 0).astype(np.uint8)
    reachable[_reach_with_switches(graph, config) & (reachable == 0)] = AFTER_OPENING
    directly = int(np.count_nonzero(reachable[: graph.lattice_count] == DIRECTLY))
    spawn = graph.spawn_node
    switch_node, exit_node = _nearest(switches, from_spawn), _nearest(goals, from_spawn)
    floats = np.array(
        [
            _value(switch, spawn),
            _value(way_out, spawn),
            _value(plan, spawn),
            float(from_switch[switches == switch_node].min(initial=np.inf)),
            directly / max(graph.lattice_count, 1),
        ],
        "<f4",
    )
    ways = np.zeros(graph.node_count, NODE_WAYS)
    for name, way in (("switch", switch), ("exit", way_out), ("plan", plan)):
        ways[f"{name}_distance"], ways[f"{name}_next"] = way.distance, way.following
    ways["x"], ways["y"] = graph.node_x, graph.node_y
    ways["reachable"] = reachable
    ways["blocked"] = switch.blocked | way_out.blocked << 1 | plan.blocked << 2
    numbers = [graph.node_count, spawn, directly, switch_node, exit_node, *floats.view("<i4").tolist()]
    return DISTANCES_FORMAT.pack({"ways": ways}, numbers)


def _opened_exits(graph: NavigationGraph, config: bytes) -> list[int]:
    """Numbers of the exits whose switch was taken, where there are several."""
    number = int.from_bytes(config, "little") >> graph.door_count
    return [k for k in range(graph.exit_count) if number >> k & 1]


def _ways_out(
    graph: NavigationGraph, config: bytes, switches: NDArray[np.int64], level: Level, cache: LevelCache
) -> NDArray[np.float64]:
    """Distance from every exit switch to its own exit: nodes of both kinds are in the order of the map."""
    doors = int.from_bytes(config, "little") & ((1 << graph.door_count) - 1)
    found = []
    for k, switch in enumerate(switches.tolist()):
        alone = (doors | 1 << (graph.door_count + k)).to_bytes(len(config), "little")
        fields = DistanceFields(cache.get(level, distances_artifact(alone)))
        found.append(float(fields.exit_distance[switch]))
    return np.array(found)


def _nearest(nodes: NDArray[np.int64], from_spawn: NDArray[np.float64]) -> int:
    return int(nodes[from_spawn[nodes].argmin()]) if len(nodes) else NO_NODE


def _value(way: _Way, node: int) -> float:
    return float("inf") if node == NO_NODE else float(way.distance[node])


def _open_passages(graph: NavigationGraph, config: bytes) -> _Passages:
    is_open = graph.open_edges(config)
    source = graph.edge_sources()[is_open]
    target = graph.edge_target[is_open].astype(np.int64)
    length = graph.edge_features[is_open, 2].astype(np.float32)
    return _Passages(
        source,
        target,
        length,
        group_edges(graph.node_count, source, target, length),
        group_edges(graph.node_count, target, source, length),
    )


def group_edges(count: int, by: NDArray[Any], other: NDArray[Any], length: NDArray[np.float32]) -> Neighbours:
    """Edges of a graph of `count` nodes, grouped by one of their ends."""
    order = np.argsort(by.astype(np.uint16), kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(by, minlength=count))]).astype(np.uint32)
    return Neighbours(start, other[order].astype(np.uint16), length[order])


def spread_seeds(neighbours: Neighbours, seeds: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.uint16]]:
    """Distance of every node from the best seed, each of which begins with its own; and the node before it."""
    distance = seeds.copy()
    came_from = np.full(len(seeds), NO_NODE, np.uint16)
    spread(neighbours.start, neighbours.node, neighbours.length, distance, came_from)
    return distance, came_from


def _way_to(
    graph: NavigationGraph,
    passages: _Passages,
    children: _Children,
    name: str,
    goals: NDArray[np.int64],
    from_goal: NDArray[np.float64],
) -> _Way:
    """The way to the best goal, where each goal has some distance more to go."""
    seeds = np.full(graph.node_count, np.inf)
    seeds[goals] = from_goal
    distance, following = spread_seeds(passages.back, seeds)
    blocked = _by_switches(graph, passages, name, distance, following, children)
    _complete_ends(graph, passages, goals, distance, following)
    return _Way(distance, following, blocked)


def _reach(graph: NavigationGraph, passages: _Passages) -> NDArray[np.float64]:
    """Distance of every node from the spawn."""
    seeds = np.full(graph.node_count, np.inf)
    if graph.spawn_node != NO_NODE:
        seeds[graph.spawn_node] = 0.0
    return spread_seeds(passages.forth, seeds)[0]


def _closed_locked_doors(graph: NavigationGraph, config: bytes) -> NDArray[np.int64]:
    return np.flatnonzero(~graph.open_doors(config) & (graph.door_trap == 0))


def _reach_with_switches(graph: NavigationGraph, config: bytes) -> NDArray[np.bool_]:
    """What can be reached if every locked door is opened whose switch is found on the way."""
    if graph.spawn_node == NO_NODE:
        return np.zeros(graph.node_count, np.bool_)
    doors = _closed_locked_doors(graph, config)
    door_of_node = np.full(graph.node_count, -1, np.int32)
    door_of_node[graph.door_switch_node[doors]] = doors
    gates = np.repeat(np.arange(len(graph.gate_start) - 1, dtype=np.int32), np.diff(graph.gate_start))
    by_door = np.argsort(graph.gate_door, kind="stable")
    starts = np.searchsorted(graph.gate_door[by_door], np.arange(graph.door_count + 1)).astype(np.int32)
    flood = Flood(
        graph.edge_start,
        graph.edge_target,
        graph.edge_door,
        graph.gate_start,
        graph.gate_door,
        graph.open_doors(config),
    )
    reached: NDArray[np.bool_] = flood.run(graph.spawn_node, door_of_node, starts, gates[by_door]).view(np.bool_)
    return reached


class _Children:
    """The fields after one more locked door was opened, fetched only if something is blocked."""

    def __init__(self, graph: NavigationGraph, config: bytes, level: Level, cache: LevelCache) -> None:
        self._level, self._cache, self._config = level, cache, config
        self.doors = _closed_locked_doors(graph, config)
        self.in_order = len(self.doors) <= MAX_ORDERED_DOORS

    def groups(self) -> list[NDArray[np.int64]]:
        """Closed doors by the fields that follow on them: each its own, or all of them the same."""
        return [self.doors[k : k + 1] for k in range(len(self.doors))] if self.in_order else [self.doors]

    def distance(self, opened: NDArray[np.int64], name: str) -> NDArray[np.float32]:
        """The distances after these doors were opened."""
        number = int.from_bytes(self._config, "little")
        for door in opened.tolist():
            number |= 1 << door
        config = number.to_bytes(len(self._config), "little")
        fields = DistanceFields(self._cache.get(self._level, distances_artifact(config)))
        field: NDArray[np.float32] = getattr(fields, f"{name}_distance")
        return field


def _by_switches(
    graph: NavigationGraph,
    passages: _Passages,
    name: str,
    distance: NDArray[np.float64],
    following: NDArray[np.uint16],
    children: _Children,
) -> NDArray[np.uint8]:
    """Fill in, for nodes that cannot reach the goal, the way by the switch of a locked door; returns which."""
    via = np.zeros(graph.node_count, np.bool_)
    seeds = np.full(graph.node_count, np.inf)
    first_hop = np.full(graph.node_count, NO_NODE, np.uint16)
    stuck = np.isinf(distance)
    for doors in children.groups():
        is_switch = np.zeros(graph.node_count, np.bool_)
        is_switch[graph.door_switch_node[doors]] = True
        edges = np.flatnonzero(is_switch[passages.target] & stuck[passages.source])
        if len(edges) == 0:
            continue
        touching = passages.source[edges]
        # To the switch and back; whatever lies between it and the place it is touched from is no passage.
        candidate = 2 * passages.length[edges] + children.distance(doors, name)[touching]
        # The best switch of each node, of several the first.
        order = np.lexsort((passages.target[edges], candidate, touching))
        best = order[np.diff(touching[order], prepend=-1) > 0]
        best = best[candidate[best] < seeds[touching[best]]]
        seeds[touching[best]] = candidate[best]
        first_hop[touching[best]] = passages.target[edges[best]]
    if np.isfinite(seeds).any():
        detour, hop = spread_seeds(passages.back, seeds)
        hop = np.where(hop == NO_NODE, first_hop, hop)
        via = np.isinf(distance) & np.isfinite(detour)
        via[graph.lattice_count :] = False
        distance[via], following[via] = detour[via], hop[via]
    return via.astype(np.uint8)


def _complete_ends(
    graph: NavigationGraph,
    passages: _Passages,
    goals: NDArray[np.int64],
    distance: NDArray[np.float64],
    following: NDArray[np.uint16],
) -> None:
    """Give the ends, which no edge leaves, the distance of the best place to touch them from."""
    start = passages.back.start[graph.lattice_count :].astype(np.int64)
    touched = np.diff(start) > 0
    touched[goals - graph.lattice_count] = False
    ends = np.flatnonzero(touched)
    if len(ends) == 0:
        return
    counts = np.diff(start)[ends]
    first = np.cumsum(counts) - counts
    edges = np.repeat(start[ends] - first, counts) + np.arange(counts.sum())
    touching = passages.back.node[edges]
    total = distance[touching] + passages.back.length[edges]
    least = np.minimum.reduceat(total, first)
    # Of several places that are equally good, the first.
    equal = np.flatnonzero(total == np.repeat(least, counts))
    best = equal[np.searchsorted(equal, first)]
    known = np.isfinite(least)
    ends = graph.lattice_count + ends[known]
    distance[ends], following[ends] = least[known], touching[best[known]]
