"""Whether blocks can be the graph and the distances of a level, before compiled code follows the indices in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.graph.free_space import HALF_COLUMNS, HALF_ROWS
from npp_env.graph.layout import NO_DOOR, NO_NODE, EdgeKind, NodeKind
from npp_env.level.block import check_range, check_starts, require
from npp_env.level.layout import MAX_RECORDS

_HALF_CELLS = HALF_COLUMNS * HALF_ROWS
_PIXELS = 144
_MOST_PLACES = 256
_FARTHEST_PX = 8192.0
_LARGEST_HALF_BITS = 0x7BFF  # greater ones are infinite, no numbers, or negative
_AFTER_OPENING = 2
_BLOCKED_BITS = 7
_NODE_FIELDS = ("node_x", "node_y", "node_kind", "node_entity")
_DOOR_FIELDS = ("door_entity", "door_slot", "door_trap", "door_switch_node")


def check_graph(numbers: list[int], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Hold the numbers and sections of a navigation graph within their bounds.

    Raises:
        StateError: They cannot be those of a level; the message names the section.
    """
    nodes, lattice, edges, doors, spawn = numbers
    require(0 <= lattice <= nodes <= NO_NODE and edges >= 0 and doors >= 0, "numbers")
    require(0 <= spawn < lattice or spawn == NO_NODE, "numbers")
    for name in _NODE_FIELDS:
        require(arrays[name].size == nodes, name)
    for name in _DOOR_FIELDS:
        require(arrays[name].size == doors, name)
    check_range("node_x", arrays["node_x"], 0, _FARTHEST_PX)
    check_range("node_y", arrays["node_y"], 0, _FARTHEST_PX)
    check_range("node_kind", arrays["node_kind"], 0, max(NodeKind))
    check_range("node_entity", arrays["node_entity"], -1, MAX_RECORDS - 1)

    places = arrays["place_x"].size
    require(places == arrays["place_y"].size and places <= _MOST_PLACES, "place_x")
    for name in ("place_x", "place_y"):
        check_range(name, arrays[name], 0, _FARTHEST_PX)
    for name in ("place_of_x", "place_of_y"):
        require(arrays[name].size == (nodes if places else 0), name)
        check_range(name, arrays[name], 0, places - 1)

    check_starts("edge_start", arrays["edge_start"], edges)
    require(arrays["edge_start"].size == nodes + 1, "edge_start")
    for name in ("edge_target", "edge_door", "edge_kind"):
        require(arrays[name].size == edges, name)
    require(arrays["edge_features"].size == 3 * edges, "edge_features")
    gates = arrays["gate_start"].size - 1
    check_range("edge_target", arrays["edge_target"], 0, nodes - 1)
    check_range("edge_door", arrays["edge_door"], NO_DOOR, gates - 1)
    check_range("edge_kind", arrays["edge_kind"], 0, max(EdgeKind))
    # Lengths that are negative, infinite or no numbers would keep searches from ending.
    check_range("edge_features", arrays["edge_features"].view("<u2")[2::3], 0, _LARGEST_HALF_BITS)

    require(arrays["nearest_node"].size == _HALF_CELLS, "nearest_node")
    check_range("nearest_node", arrays["nearest_node"], 0, lattice - 1, NO_NODE)
    split = arrays["split_half"]
    require(bool((split[1:] > split[:-1]).all()), "split_half")
    check_range("split_half", split, 0, _HALF_CELLS - 1)
    require(arrays["split_node"].size == _PIXELS * split.size, "split_node")
    check_range("split_node", arrays["split_node"], 0, lattice - 1, NO_NODE)

    check_starts("gate_start", arrays["gate_start"], arrays["gate_door"].size)
    check_range("gate_door", arrays["gate_door"], 0, doors - 1)
    check_range("door_trap", arrays["door_trap"], 0, 1)
    check_range("door_switch_node", arrays["door_switch_node"], lattice, nodes - 1)
    for name in ("door_entity", "door_slot", "exit_slot"):
        check_range(name, arrays[name], 0, MAX_RECORDS - 1)


def check_distances(numbers: list[int], arrays: Mapping[str, NDArray[Any]], graph_numbers: list[int]) -> None:
    """Hold the numbers and sections of distance fields within the bounds of their graph.

    Raises:
        StateError: They cannot be those of this graph; the message names the section.
    """
    nodes, _, _, _, spawn = graph_numbers
    require(numbers[0] == nodes and numbers[1] == spawn and 0 <= numbers[2] <= nodes, "numbers")
    require(all(0 <= node < nodes or node == NO_NODE for node in numbers[3:5]), "numbers")
    check_range("numbers", np.array(numbers[5:], "<i4").view("<f4"), 0, np.inf)
    ways = arrays["ways"]
    require(ways.size == nodes, "ways")
    for goal in ("switch", "exit", "plan"):
        check_range(f"ways.{goal}_distance", ways[f"{goal}_distance"], 0, np.inf)
        check_range(f"ways.{goal}_next", ways[f"{goal}_next"], 0, nodes - 1, NO_NODE)
    check_range("ways.reachable", ways["reachable"], 0, _AFTER_OPENING)
    check_range("ways.blocked", ways["blocked"], 0, _BLOCKED_BITS)
