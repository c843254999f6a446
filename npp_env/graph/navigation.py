"""The navigation graph of a level: where the ninja fits, and from where to where there is free passage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError
from npp_env.graph.checks import check_graph
from npp_env.graph.layout import GRAPH_FORMAT, NO_DOOR, EdgeKind, NodeKind
from npp_env.graph.node_lookup import nodes_at
from npp_env.level.cache import Artifact, LevelCache, default_cache
from npp_env.level.model import Level

if TYPE_CHECKING:
    import networkx


class NavigationGraph:
    """A directed graph in flat read-only arrays, all of them views of one block.

    Nodes are the connected pieces of free space within the half cells (12 px) of the world, followed by the ends:
    places that are reached by touch. Edges of node i are those from `edge_start[i]` to `edge_start[i + 1]`.

    Args:
        block: uint8 array as made by `graph_of`; may be memory-mapped. It is not copied.

    Raises:
        StateError: The block is not a navigation graph of this version.
    """

    def __init__(self, block: NDArray[np.uint8]) -> None:
        numbers, arrays = GRAPH_FORMAT.open(block)
        self.block = block
        self.node_count, self.lattice_count, _, _, self.spawn_node = numbers
        self.node_x: NDArray[np.float32] = arrays["node_x"]  # (n,)
        self.node_y: NDArray[np.float32] = arrays["node_y"]  # (n,)
        # The different coordinates of nodes, both padded to one length, and which of them a node has. Nodes lie on a
        # grid, so they are few; all four are empty where they are more than a byte can number.
        self.place_x: NDArray[np.float32] = arrays["place_x"]
        self.place_y: NDArray[np.float32] = arrays["place_y"]
        self.place_of_x: NDArray[np.uint8] = arrays["place_of_x"]  # (n,)
        self.place_of_y: NDArray[np.uint8] = arrays["place_of_y"]  # (n,)
        self.node_kind: NDArray[np.uint8] = arrays["node_kind"]  # (n,) NodeKind
        self.node_entity: NDArray[np.int16] = arrays["node_entity"]  # (n,) row of the entity table, -1 for the lattice
        self.nearest_node: NDArray[np.uint16] = arrays["nearest_node"]  # (4400,) by half row * 88 + half column
        self.edge_start: NDArray[np.uint32] = arrays["edge_start"]  # (n + 1,)
        self.edge_target: NDArray[np.uint16] = arrays["edge_target"]  # (m,)
        self.edge_features: NDArray[np.float16] = arrays["edge_features"].reshape(-1, 3)  # (m, 3) dx, dy, length in px
        self.edge_kind: NDArray[np.uint8] = arrays["edge_kind"]  # (m,) EdgeKind
        self.edge_door: NDArray[np.int16] = arrays["edge_door"]  # (m,) gate, -1 for none; gate d < doors is door d
        self.gate_start: NDArray[np.uint16] = arrays["gate_start"]  # (gates + 1,) into gate_door
        self.gate_door: NDArray[np.uint16] = arrays["gate_door"]  # doors that must all be open
        self.split_half: NDArray[np.uint16] = arrays["split_half"]  # (s,) half cells with several nodes
        self.split_node: NDArray[np.uint16] = arrays["split_node"].reshape(-1, 144)  # (s, 144) node by pixel
        self.door_entity: NDArray[np.int16] = arrays["door_entity"]  # (doors,) row of the entity table
        self.door_slot: NDArray[np.int16] = arrays["door_slot"]  # (doors,) place in the flags of a state
        self.door_trap: NDArray[np.uint8] = arrays["door_trap"]  # (doors,) 1 for a trap door, 0 for a locked one
        self.door_switch_node: NDArray[np.uint16] = arrays["door_switch_node"]  # (doors,)
        self.exit_slot: NDArray[np.int16] = arrays["exit_slot"]  # (exits,) place in the flags; none for a single exit

    @property
    def door_count(self) -> int:
        """Locked and trap doors; a bit each of a configuration."""
        return len(self.door_entity)

    @property
    def exit_count(self) -> int:
        """Exits that are told apart, behind the doors a bit each of a configuration; 0 where there is only one."""
        return len(self.exit_slot)

    @property
    def edge_count(self) -> int:
        """Directed edges."""
        return len(self.edge_target)

    @property
    def nbytes(self) -> int:
        """Size of the whole block."""
        return int(self.block.nbytes)

    def node_at(self, x: float, y: float) -> int:
        """The node of a position in pixels; 65535 only if the level has no place where the ninja fits."""
        return int(self.nodes_at(np.array([x]), np.array([y]))[0])

    def nodes_at(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.uint16]:
        """The node of each position in pixels; a fresh array (n,)."""
        return nodes_at(self.nearest_node, self.split_half, self.split_node, x, y)

    def nodes_of_kind(self, kind: NodeKind) -> NDArray[np.int64]:
        """All nodes of a kind, ascending; a fresh array."""
        return np.flatnonzero(self.node_kind == kind)

    def configuration(self, config: bytes | int) -> bytes:
        """The canonical form of a configuration, given as a bit mask or as bytes (bit 0 of byte 0 is door 0).

        Raises:
            ConfigError: It names doors or exits that the level does not have.
        """
        bits = self.door_count + self.exit_count
        number = int.from_bytes(config, "little") if isinstance(config, bytes) else int(config)
        if number < 0 or number >> bits:
            exits = f" and {self.exit_count} exits" if self.exit_count else ""
            raise ConfigError(
                f"door configuration {number:#x}: the level has {self.door_count} locked and trap doors{exits}"
            )
        return number.to_bytes(-(-bits // 8), "little")

    def open_doors(self, config: bytes | int) -> NDArray[np.bool_]:
        """Which locked and trap doors are open in a door configuration; a fresh array (doors,)."""
        bits = np.frombuffer(self.configuration(config), np.uint8)
        taken = np.unpackbits(bits, count=self.door_count, bitorder="little")
        return np.asarray(taken != self.door_trap)

    def open_edges(self, config: bytes | int) -> NDArray[np.bool_]:
        """Which edges have free passage in a door configuration; a fresh array (m,)."""
        is_open = self.open_doors(config)[self.gate_door]
        gates = np.logical_and.reduceat(is_open, self.gate_start[:-1]) if len(is_open) else is_open
        # The last place answers for edges without a gate, whose number is -1.
        return np.append(gates, True)[self.edge_door]

    def edge_sources(self) -> NDArray[np.int64]:
        """Source of every edge; a fresh array (m,)."""
        return np.repeat(np.arange(self.node_count), np.diff(self.edge_start))

    def to_networkx(self, config: bytes | int | None = None) -> networkx.DiGraph[int]:
        """A fresh networkx graph with the same numbers as node and edge attributes.

        Args:
            config: Leave out the edges that are closed in this door configuration; None keeps all.
        """
        import networkx

        graph: networkx.DiGraph[int] = networkx.DiGraph()
        for node in range(self.node_count):
            graph.add_node(
                node,
                x=float(self.node_x[node]),
                y=float(self.node_y[node]),
                kind=NodeKind(int(self.node_kind[node])).name.lower(),
            )
        passable = np.ones(self.edge_count, np.bool_) if config is None else self.open_edges(config)
        sources = self.edge_sources()
        for edge in np.flatnonzero(passable).tolist():
            dx, dy, length = (float(value) for value in self.edge_features[edge])
            gate = int(self.edge_door[edge])
            doors = () if gate == NO_DOOR else self.gate_door[self.gate_start[gate] : self.gate_start[gate + 1]]
            graph.add_edge(
                int(sources[edge]),
                int(self.edge_target[edge]),
                dx=dx,
                dy=dy,
                length=length,
                kind=EdgeKind(int(self.edge_kind[edge])).name.lower(),
                doors=tuple(int(door) for door in doors),
            )
        return graph


def _build(level: Level, cache: LevelCache) -> NDArray[Any]:
    from npp_env.graph.builder import build_graph

    return build_graph(level, cache)


def _check(level: Level, cache: LevelCache, block: NDArray[Any]) -> None:
    check_graph(*GRAPH_FORMAT.open(block))


GRAPH = Artifact("graph", GRAPH_FORMAT.version, _build, check=_check)
"""The navigation graph as the level cache keeps it."""


def graph_of(level: Level, cache: LevelCache | None = None) -> NavigationGraph:
    """The navigation graph of a level, built on first need; a fresh object over the shared block.

    Args:
        level: The level.
        cache: Where to look; the process's own cache if None.

    Example:
        >>> from npp_env.level.cache import LevelCache
        >>> from npp_env.level.shipped import load_shipped
        >>> graph = graph_of(load_shipped("first_steps/walk"), LevelCache(persist=False))
        >>> graph.spawn_node == graph.node_at(*load_shipped("first_steps/walk").spawn)
        True
    """
    return NavigationGraph((default_cache() if cache is None else cache).get(level, GRAPH))
