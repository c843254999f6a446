"""Faults in distances and next hops of the navigation graph."""

from __future__ import annotations

from ..faults import Fault

DIJKSTRA = "npp_env/graph/dijkstra.pyx"
DISTANCES = "npp_env/graph/distances.py"
DOORS = "npp_env/sim/doors.py"
FLOOD = "npp_env/graph/flood.pyx"
NAVIGATION = "npp_env/graph/navigation.py"

FAULTS = [
    Fault(
        "flood-passes-closed-gates",
        FLOOD,
        "self.closed[gate] == 0:\n                    self.visit",
        "True:\n                    self.visit",
        "graph",
        "dropped-condition",
    ),
    Fault(
        "exits-read-from-the-bits-of-doors",
        DISTANCES,
        '"little") >> graph.door_count',
        '"little")',
        "graph",
        "wrong-index",
        within="_opened_exits",
    ),
    Fault(
        "closed-exits-are-goals", DISTANCES, "exits[opened] if opened else exits", "exits", "graph", "dropped-condition"
    ),
    Fault("way-out-by-the-bit-of-a-door", DISTANCES, "1 << (graph.door_count + k)", "1 << k", "graph", "wrong-index"),
    Fault(
        "behind-doors-counts-as-reachable",
        DISTANCES,
        "(reachable == 0)] = AFTER_OPENING",
        "(reachable == 0)] = DIRECTLY",
        "graph",
        "neighbouring-constant",
    ),
    Fault(
        "share-of-all-nodes",
        DISTANCES,
        "directly / max(graph.lattice_count, 1)",
        "directly / max(graph.node_count, 1)",
        "graph",
        "wrong-index",
    ),
    Fault(
        "plan-of-the-spawn-ends-at-the-switch",
        DISTANCES,
        "_value(plan, spawn)",
        "_value(switch, spawn)",
        "shaping",
        "exchanged-fields",
    ),
    Fault(
        "ways-backwards-through-one-ways",
        DISTANCES,
        "group_edges(graph.node_count, target, source, length)",
        "group_edges(graph.node_count, source, target, length)",
        "graph",
        "swapped-arguments",
    ),
    Fault(
        "few-doors-opened-in-order",
        DISTANCES,
        "MAX_ORDERED_DOORS = 5",
        "MAX_ORDERED_DOORS = 2",
        "graph",
        "neighbouring-constant",
    ),
    Fault(
        "touching-an-end-costs-nothing",
        DISTANCES,
        "distance[touching] + passages.back.length[edges]",
        "distance[touching]",
        "graph",
        "dropped-condition",
    ),
    Fault(
        "way-on-counted-from-the-switch",
        DISTANCES,
        "children.distance(doors, name)[touching]",
        "children.distance(doors, name)[passages.target[edges]]",
        "graph",
        "wrong-index",
    ),
    Fault(
        "no-hop-to-the-switch-of-a-door",
        DISTANCES,
        "np.where(hop == NO_NODE, first_hop, hop)",
        "hop",
        "graph",
        "dropped-condition",
    ),
    Fault(
        "last-edge-of-a-node-left-out",
        DIJKSTRA,
        "range(start[node], start[node + 1])",
        "range(start[node], start[node + 1] - 1)",
        "graph",
        "off-by-one",
    ),
    Fault(
        "flag-bits-of-doors-and-exits-exchanged",
        DOORS,
        'SWITCHED_EXIT - switched["switched"]',
        'switched["switched"] - 1',
        "paths",
        "exchanged-fields",
    ),
    Fault(
        "one-open-door-of-a-gate-is-enough", NAVIGATION, "logical_and.reduceat", "logical_or.reduceat", "graph", "sign"
    ),
    Fault(
        "networkx-edges-transposed",
        NAVIGATION,
        "dx, dy, length = (float",
        "dy, dx, length = (float",
        "graph",
        "exchanged-fields",
    ),
]
