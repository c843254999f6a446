"""How far it still is: the length of the way over the remaining switches to an exit, for every place of a level.

The way depends on what has been switched already. A *configuration* is a bit set over the switches of a level: first
the locked and trap doors in the order of the graph, then the exits; a bit is set once its switch has been touched.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from npp_env.graph.distances import group_edges, spread_seeds
from npp_env.graph.layout import EdgeKind, NodeKind
from npp_env.graph.navigation import NavigationGraph
from npp_env.level.entity_kinds import EntityKind
from npp_env.sim.geometry import Geometry
from npp_env.sim.structs import MOVER, NINJA
from npp_env.sim.views import ninja_view

MAX_SWITCHES = 62
"""Switches beyond this number do not count towards a configuration, which has to fit an int64."""
MAX_ORDERED_SWITCHES = 8
"""Up to so many switches that are left, every order of touching them is tried; beyond, one acts for all of its kind."""
MAX_TABLES = 256
"""Configurations whose ways are worked out, about; others are judged by those of the start."""

# The graph says what is connected, not how hard it is. To fly where neither a jump nor a wall leads takes a launch
# pad, and a way close by a mine is better avoided.
_AIR_FACTOR = 2.0
_MINE_REACH_PX = 20.0
_MINE_COST_PX = 30.0


class Guide:
    """Remaining ways of one level, worked out for each configuration when it is first asked for.

    Args:
        graph: The graph of the level.
        geometry: The compiled level.
    """

    def __init__(self, graph: NavigationGraph, geometry: Geometry) -> None:
        self._graph = graph
        entities = geometry["entities"]
        exits = np.flatnonzero(entities["kind"] == EntityKind.EXIT)
        self._doors = min(graph.door_count, MAX_SWITCHES)
        self._exits = exits[: MAX_SWITCHES - self._doors]
        self._switch_nodes = [
            *graph.door_switch_node[: self._doors].tolist(),
            *(self._end_node(NodeKind.EXIT_SWITCH, entity) for entity in self._exits.tolist()),
        ]
        self._exit_nodes = [self._end_node(NodeKind.EXIT, entity) for entity in self._exits.tolist()]
        flags_start = NINJA.itemsize + len(geometry["mover_entity"]) * MOVER.itemsize
        slots = [*graph.door_slot[: self._doors].tolist(), *entities["slot"][self._exits].tolist()]
        self._columns = flags_start + np.array(slots, np.int64)
        self._initial = geometry["initial"][self._columns].copy()
        self._weights = np.int64(1) << np.arange(len(slots), dtype=np.int64)
        self._sources = graph.edge_sources()
        self._lengths = self._edge_lengths(geometry)
        self._tables: dict[int, NDArray[np.float32]] = {}

    @property
    def switch_flags(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Where in a state the flags of the switches stand, by bit, and what they are at first; its own arrays."""
        return self._columns, self._initial

    def configurations(self, states: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Configuration of each state (n, stride); a fresh array (n,)."""
        touched = states[:, self._columns] != self._initial
        result: NDArray[np.int64] = touched @ self._weights
        return result

    def judged(self, configurations: NDArray[np.int64]) -> NDArray[np.int64]:
        """The configurations whose tables speak for these: their own, as long as there are not too many; fresh (n,)."""
        found, places = np.unique(configurations, return_inverse=True)
        for k, configuration in enumerate(found.tolist()):
            if configuration not in self._tables:
                if len(self._tables) < MAX_TABLES:
                    self.table(configuration)
                else:
                    found[k] = 0
        return np.asarray(found[places.reshape(-1)])

    def table(self, configuration: int) -> NDArray[np.float32]:
        """Remaining way by node of the graph, in pixels; infinite where there is none.

        Returns:
            The guide's own array (nodes + 1,), not to be written to; the last place is for "no node".
        """
        if configuration not in self._tables:
            self._tables[configuration] = self._solve(configuration)
        return self._tables[configuration]

    def is_cut_off(self, state: NDArray[np.uint8]) -> bool:
        """Whether the graph knows where the ninja of a state (stride,) is, but no way from there to an exit."""
        ninja = ninja_view(state)
        node = int(self.nodes_at(ninja["x"][None], ninja["y"][None])[0])
        table = self.table(int(self.configurations(state[None])[0]))
        return node < self._graph.node_count and bool(np.isinf(table[node]))

    def nodes_at(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.uint16]:
        """The node of each position, or the number of nodes where there is none; a fresh array (n,)."""
        capped: NDArray[np.uint16] = np.minimum(self._graph.nodes_at(x, y), np.uint16(self._graph.node_count))
        return capped

    def _end_node(self, kind: NodeKind, entity: int) -> int:
        graph = self._graph
        return int(np.flatnonzero((graph.node_kind == kind) & (graph.node_entity == entity))[0])

    def _edge_lengths(self, geometry: Geometry) -> NDArray[np.float32]:
        graph = self._graph
        lengths = graph.edge_features[:, 2].astype(np.float32)
        lengths[graph.edge_kind == EdgeKind.AIR] *= _AIR_FACTOR
        entities = geometry["entities"]
        mines = entities[entities["kind"] == EntityKind.MINE]
        close = np.zeros(graph.node_count, np.bool_)
        for mine in mines:
            close |= np.hypot(graph.node_x - mine["x"], graph.node_y - mine["y"]) < _MINE_REACH_PX
        lengths[close[graph.edge_target]] += _MINE_COST_PX
        return lengths

    def _solve(self, configuration: int) -> NDArray[np.float32]:
        graph = self._graph
        is_open = graph.open_edges(configuration & ((1 << self._doors) - 1))
        exits = range(self._doors, self._doors + len(self._exit_nodes))
        waiting = [bit for bit in exits if not configuration >> bit & 1]
        locked = [door for door in range(self._doors) if not graph.door_trap[door] and not configuration >> door & 1]
        in_order = len(waiting) + len(locked) <= MAX_ORDERED_SWITCHES and len(self._tables) < MAX_TABLES
        goals = {self._exit_nodes[bit - self._doors]: 0.0 for bit in exits if configuration >> bit & 1}
        goals |= self._beyond(configuration, waiting, in_order, is_open)
        table = self._spread(goals, is_open)
        if np.isinf(table[graph.edge_target]).any():
            keys = self._beyond(configuration, locked, in_order, is_open)
            table = np.where(np.isfinite(table), table, self._spread(keys, is_open))
        return table

    def _beyond(
        self, configuration: int, bits: list[int], in_order: bool, is_open: NDArray[np.bool_]
    ) -> dict[int, float]:
        """For the nodes of some switches the way that is left once one, or else all of them, have been touched."""
        every = sum(1 << bit for bit in bits)
        found = {}
        for bit in bits:
            node = self._switch_nodes[bit]
            touching = self._sources[is_open & (self._graph.edge_target == node)]
            if len(touching):
                found[node] = float(self.table(configuration | (1 << bit if in_order else every))[touching].min())
        return found

    def _spread(self, goals: dict[int, float], is_open: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Distance of every node to the best goal, each of which has some way more to go."""
        graph = self._graph
        seeds = np.full(graph.node_count, np.inf)
        for node, beyond in goals.items():
            seeds[node] = min(seeds[node], beyond)
        ends, starts = graph.edge_target[is_open], self._sources[is_open]
        neighbours = group_edges(graph.node_count, ends, starts, self._lengths[is_open])
        return np.append(spread_seeds(neighbours, seeds)[0], np.inf).astype(np.float32)
