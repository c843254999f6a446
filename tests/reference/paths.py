"""Ways through a graph by the rules of `docs/graph.md`, and what the policy and the shaping see of them.

Where the rules leave a choice (several nearest nodes, several equally good next hops), the functions here give every
permitted answer.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import networkx
import numpy as np

from reference.graph import COLUMNS, EXIT, EXIT_SWITCH, HALF, ROWS

PATH_SCALE = 4000
SHORTEST_TOTAL = 48
ORDERED_DOORS = 5
TOLD_EXITS = 8
LOCKED, TRAP = 6, 8
# Equal lengths may have been added up in another order.
SAME = 1e-3
NOWHERE = math.inf


@dataclass(frozen=True)
class Configuration:
    """Which doors had their switch taken, which of several exits are open, and the node of the spawn."""

    doors: frozenset[int]
    exits: frozenset[int]
    spawn: int | None


@dataclass
class Way:
    """To the nearest of some goals: length from every node that has a way, and its permitted next hops."""

    length: dict[int, float]
    hops: dict[int, list[int]]


@dataclass
class Fields:
    switch: Way
    exit: Way
    plan: Way
    now: set[int]  # nodes that are reached from the spawn
    later: set[int]  # nodes that are reached from it once doors are opened
    total: float  # length of the plan from the spawn
    share: float


def nodes_at(graph, x, y) -> list[int]:
    """The node of a position: one, or several that are equally near, or none."""
    column = min(max(math.floor(x / HALF), 0), COLUMNS - 1)
    row = min(max(math.floor(y / HALF), 0), ROWS - 1)
    label = graph.label[HALF * row : HALF * row + HALF, HALF * column : HALF * column + HALF]
    py, px = np.nonzero(label >= 0)
    if len(py) and label[py, px].min() == label[py, px].max():
        return [int(label[py[0], px[0]])]
    if len(py):
        own_x, own_y = (round(min(max(value, 0.0), 11.0)) for value in (x - HALF * column, y - HALF * row))
        nearest = np.argmin((px - own_x) ** 2 + (py - own_y) ** 2)
        return [int(label[py[nearest], px[nearest]])]
    py, px = (2 * part for part in np.nonzero(graph.label[::2, ::2] >= 0))
    if len(py) == 0:
        return []
    best = np.full(len(py), 1 << 30)
    for own_y in range(HALF * row, HALF * row + HALF, 2):
        for own_x in range(HALF * column, HALF * column + HALF, 2):
            dx, dy = np.abs(px - own_x) // 2, np.abs(py - own_y) // 2
            far, near = np.maximum(dx, dy), np.minimum(dx, dy)
            # Knight's moves, and what remains straight or diagonally.
            steps = np.where(
                2 * near <= far, 11 * near + 5 * (far - 2 * near), 11 * (far - near) + 7 * (2 * near - far)
            )
            best = np.minimum(best, steps)
    there = best == best.min()
    return sorted(set(graph.label[py[there], px[there]].tolist()))


def configurations_of(graph, scene) -> list[Configuration]:
    """The configuration of a scene, once for every node that the spawn may count as."""
    doors = frozenset(k for k, door in enumerate(scene.of_kind(LOCKED, TRAP)) if door.taken)
    exits = scene.of_kind(3)
    told = 2 <= len(exits) <= TOLD_EXITS
    opened = frozenset(k for k, place in enumerate(exits) if told and place.taken)
    return [Configuration(doors, opened, spawn) for spawn in nodes_at(graph, *graph.spawn) or [None]]


def is_open(door, taken) -> bool:
    return taken if door.kind == LOCKED else not taken


def passages(graph, doors) -> Any:
    """The open edges."""
    opened = [is_open(door, number in doors) for number, door in enumerate(graph.doors)]
    result: Any = networkx.DiGraph()
    result.add_nodes_from(range(len(graph.x)))
    result.add_weighted_edges_from(
        (*edge, length)
        for edge, length in zip(graph.edges, graph.lengths, strict=True)
        if all(opened[door] for door in graph.gates.get(edge, ()))
    )
    return result


def lengths_to(network, goals) -> dict[Any, float]:
    """Length of the shortest way from every node that has one, to goals with some more to go."""
    network.add_weighted_edges_from((goal, "end", more) for goal, more in goals.items() if more < NOWHERE)
    if "end" not in network:
        return {}
    found = networkx.single_source_dijkstra_path_length(network.reverse(copy=False), "end")
    network.remove_node("end")
    del found["end"]
    return found


def way_to(graph, network, config, name, goals) -> Way:
    length = lengths_to(network, goals)
    hops: dict[int, list[int]] = {}
    for node in range(graph.lattice):
        if node in length:
            hops[node] = [
                other
                for other, edge in network[node].items()
                if (other < graph.lattice or other in goals)
                and abs(length.get(other, NOWHERE) + edge["weight"] - length[node]) < SAME
            ]
    over_switches(graph, network, config, name, length, hops)
    for end in range(graph.lattice, len(graph.x)):
        if end in goals:
            continue
        touching = {
            node: length[node] + edge["weight"] for node, _, edge in network.in_edges(end, data=True) if node in length
        }
        if touching:
            length[end] = min(touching.values())
    return Way({node: float(np.float32(value)) for node, value in length.items()}, hops)


def over_switches(graph, network, config, name, length, hops) -> None:
    """Ways over the switches of locked doors, from the nodes that have none so far."""
    closed = [k for k, door in enumerate(graph.doors) if door.kind == LOCKED and k not in config.doors]
    seeds: dict[int, dict[int, float]] = {}
    for door in closed:
        switch = graph.door_switch[door]
        for node, _, edge in network.in_edges(switch, data=True):
            if node in length:
                continue
            opened = {door} if len(closed) <= ORDERED_DOORS else set(closed)
            after = getattr(fields_of(graph, Configuration(config.doors | opened, config.exits, config.spawn)), name)
            if node in after.length:
                seeds.setdefault(node, {})[switch] = 2 * edge["weight"] + after.length[node]
    detours = lengths_to(network, {node: min(ways.values()) for node, ways in seeds.items()})
    for node, detour in detours.items():
        if node in length or node >= graph.lattice:
            continue
        hops[node] = [
            other
            for other, edge in network[node].items()
            if other < graph.lattice and abs(detours.get(other, NOWHERE) + edge["weight"] - detour) < SAME
        ]
        hops[node] += [switch for switch, ways in seeds.get(node, {}).items() if abs(ways - detour) < SAME]
    length.update({node: detour for node, detour in detours.items() if node < graph.lattice and node not in length})


def reached(graph, network, spawn) -> set[int]:
    return set() if spawn is None else {spawn} | networkx.descendants(network, spawn)


def reached_by_opening(graph, config, now) -> set[int]:
    doors = set(config.doors)
    while True:
        found = {
            k
            for k, door in enumerate(graph.doors)
            if door.kind == LOCKED and k not in doors and graph.door_switch[k] in now
        }
        if not found:
            return now
        doors |= found
        now = reached(graph, passages(graph, doors), config.spawn)


def fields_of(graph, config) -> Fields:
    """All ways in a configuration, searched once."""
    if config in graph.fields:
        return graph.fields[config]
    network = passages(graph, config.doors)
    switches, exits = graph.nodes_of(EXIT_SWITCH), graph.nodes_of(EXIT)
    goals = [exits[k] for k in sorted(config.exits)] or exits
    switch = way_to(graph, network, config, "switch", dict.fromkeys(switches, 0.0))
    way_out = way_to(graph, network, config, "exit", dict.fromkeys(goals, 0.0))
    more = {node: way_out.length.get(node, NOWHERE) for node in switches}
    if 2 <= len(exits) <= TOLD_EXITS and not config.exits:
        for k, node in enumerate(switches):
            alone = fields_of(graph, Configuration(config.doors, frozenset({k}), config.spawn))
            more[node] = alone.exit.length.get(node, NOWHERE)
    plan = way_to(graph, network, config, "plan", more)
    now = reached(graph, network, config.spawn)
    later = reached_by_opening(graph, config, now)
    share = sum(node < graph.lattice for node in now) / max(graph.lattice, 1)
    total = plan.length.get(config.spawn, NOWHERE)
    graph.fields[config] = Fields(switch, way_out, plan, now, later, total, float(np.float32(share)))
    return graph.fields[config]


def distances_from(graph, way, node, x, y):
    """Path lengths from a position whose node is given, with the direction of the next hop: one for each hop."""
    for hop in way.hops.get(node, []):
        dx, dy = graph.x[hop] - x, graph.y[hop] - y
        straight = math.hypot(dx, dy)
        yield way.length[hop] + straight, direction(dx, dy, straight)


def direction(dx, dy, straight):
    return (dx / straight, dy / straight) if straight > 0 else (0.0, 0.0)


def goal_columns(graph, way, node, x, y):
    """The four numbers of a goal (length, direction, reachable): each permitted choice."""
    found = [
        (min(length / PATH_SCALE, 1.0), *towards, 1.0) for length, towards in distances_from(graph, way, node, x, y)
    ]
    return found or [(1.0, 0.0, 0.0, 0.0)]


def reachability_rows(graph, scene) -> list[tuple[float, ...]]:
    """`reachability_features`: every permitted row."""
    x, y, taken = scene.ninja.x, scene.ninja.y, scene.ninja.switches > 0
    rows = []
    for config in configurations_of(graph, scene):
        fields = fields_of(graph, config)
        nodes = nodes_at(graph, x, y)
        if not nodes:
            rows.append((1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, fields.share, 0.0, 0.0))
        for node in nodes:
            switch = [(0.0, 0.0, 0.0, 0.0)] if taken else goal_columns(graph, fields.switch, node, x, y)
            way_out = goal_columns(graph, fields.exit, node, x, y)
            whole = goal_columns(graph, fields.exit if taken else fields.plan, node, x, y)
            for a, b, c in itertools.product(switch, way_out, whole):
                rows.append((*a[:3], *b[:3], c[0], fields.share, a[3], b[3]))
    return rows


def potentials(graph, scene) -> list[float]:
    """The shaping potential of a scene that goes on: every permitted value."""
    x, y, taken = scene.ninja.x, scene.ninja.y, scene.ninja.switches > 0
    values = []
    for config in configurations_of(graph, scene):
        fields = fields_of(graph, config)
        way = fields.exit if taken else fields.plan
        lengths = [length for node in nodes_at(graph, x, y) for length, _ in distances_from(graph, way, node, x, y)]
        if not lengths or fields.total == NOWHERE:
            values.append(0.0)
        else:
            values += [max(-1.0, 1 - length / max(fields.total, SHORTEST_TOTAL)) for length in lengths]
    return values


def node_columns(graph, scene):
    """Columns 2, 3, 5, 6 and 7 of `graph_node_feats`, without padding: every permitted list of rows."""
    ninja = scene.ninja
    choices = []
    place = np.stack([(np.array(graph.x) - ninja.x) / 1056, (np.array(graph.y) - ninja.y) / 600], axis=1)
    for config in configurations_of(graph, scene):
        fields = fields_of(graph, config)
        length = (fields.exit if ninja.switches > 0 else fields.plan).length
        nodes = range(len(graph.x))
        far = [min(length.get(node, NOWHERE) / PATH_SCALE, 1.0) for node in nodes]
        reach = [1.0 if node in fields.now else 0.5 if node in fields.later else 0.0 for node in nodes]
        for here in nodes_at(graph, ninja.x, ninja.y) or [None]:
            choices.append(np.column_stack([np.clip(place, -1, 1), far, reach, [node == here for node in nodes]]))
    return choices
