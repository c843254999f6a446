"""Faults in the navigation graph, its distances and its features."""

from __future__ import annotations

from ..faults import Fault

FAULTS = [
    Fault(
        "way-by-a-switch-without-the-way-back",
        "npp_env/graph/distances.py",
        "candidate = 2 * passages.length[edges]",
        "candidate = passages.length[edges]",
        "graph",
        "neighbouring-constant",
    ),
    Fault(
        "trap-doors-open-when-taken",
        "npp_env/graph/navigation.py",
        "is_open = taken != self.door_trap.astype(np.bool_)",
        "is_open = taken",
        "graph",
        "dropped-condition",
    ),
    Fault(
        "ninja-fits-only-at-full-radius",
        "npp_env/graph/free_space.py",
        "FIT_RADIUS_PX = 9.28",
        "FIT_RADIUS_PX = 10.0",
        "graph",
        "wrong-radius",
    ),
    Fault(
        "edge-points-backwards",
        "npp_env/observe/graph_features.pyx",
        "dx = p.node_x[p.edge_target[i]] - p.node_x[node]",
        "dx = p.node_x[node] - p.node_x[p.edge_target[i]]",
        "graph-features",
        "sign",
    ),
    Fault(
        "edge-of-the-node-before",
        "npp_env/observe/graph_features.pyx",
        "out[k] = node\n",
        "out[k] = node - 1 if node > 0 else 0\n",
        "graph-features",
        "off-by-one",
        within="write_edge_index",
    ),
]
