"""The navigation graph as padded arrays; a graph larger than the capacity is cut, edges to cut nodes with it."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import sqrt
    from cython.cimports.npp_env.observe.path_features import node_here
    from cython.cimports.npp_env.observe.view import Paths, View, half, unit
else:
    from math import sqrt

    from npp_env.observe.path_features import node_here
    from npp_env.observe.plain import half, unit

UNREACHABLE = cython.declare(cython.double, 1e30)
DISTANCE_SCALE = cython.declare(cython.double, 4000.0)
NODE_FEATURES = cython.declare(cython.int, 8)
EDGE_FEATURES = cython.declare(cython.int, 4)
EDGE_SCALE = cython.declare(cython.double, 24.0)
KIND_SCALE = cython.declare(cython.double, 8.0)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_node_offsets(
    view: cython.pointer(View), count: cython.int, out: cython.pointer(cython.ushort)
) -> cython.void:
    """The only columns of the node features that change with every step: where the first nodes lie from the ninja."""
    p: cython.pointer(Paths) = view.paths
    x: cython.double = view.world.ninja.x
    y: cython.double = view.world.ninja.y
    i: cython.int
    k: cython.int = 2
    for i in range(count):
        out[k] = half(unit((p.node_x[i] - x) / 1056.0))
        out[k + 1] = half(unit((p.node_y[i] - y) / 600.0))
        k += NODE_FEATURES


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_node_feats(view: cython.pointer(View), out: cython.pointer(cython.ushort)) -> cython.void:
    """Where each node lies, also relative to the ninja, and how far it is from the end; `NODE_FIELDS` names them."""
    p: cython.pointer(Paths) = view.paths
    taken: cython.int = view.world.ninja.switches > 0
    here: cython.int = node_here(view)
    count: cython.int = p.n_nodes if p.n_nodes < view.max_nodes else view.max_nodes
    i: cython.int
    k: cython.int = 0
    d: cython.double
    for i in range(count):
        d = p.exit_distance[i] if taken else p.switch_distance[i] + p.switch_exit_distance
        out[k] = half(unit(p.node_x[i] / 528.0 - 1))
        out[k + 1] = half(unit(p.node_y[i] / 300.0 - 1))
        out[k + 4] = half(p.node_kind[i] / KIND_SCALE)
        out[k + 5] = half(unit(d / DISTANCE_SCALE) if d < UNREACHABLE else 1.0)
        out[k + 6] = half(1.0 if p.reachable[i] == 1 else 0.5 if p.reachable[i] == 2 else 0.0)
        out[k + 7] = half(1.0 if i == here else 0.0)
        k += NODE_FEATURES
    write_node_offsets(view, count, out)
    for i in range(k, view.max_nodes * NODE_FEATURES):
        out[i] = 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def edge_count(view: cython.pointer(View)) -> cython.int:
    """How many edges fit."""
    return view.paths.n_edges if view.paths.n_edges < view.max_edges else view.max_edges


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_edge_index(view: cython.pointer(View), out: cython.pointer(cython.ushort)) -> cython.void:
    """Source nodes, then target nodes; zeros behind them."""
    p: cython.pointer(Paths) = view.paths
    count: cython.int = edge_count(view)
    node: cython.int = 0
    i: cython.int
    for i in range(count):
        while p.edge_start[node + 1] <= cython.cast(cython.uint, i):
            node += 1
        out[i] = node
        out[view.max_edges + i] = p.edge_target[i]
    for i in range(count, view.max_edges):
        out[i] = 0
        out[view.max_edges + i] = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_edge_feats(view: cython.pointer(View), out: cython.pointer(cython.ushort)) -> cython.void:
    """Offset, length and kind of each edge; `EDGE_FIELDS` names them."""
    p: cython.pointer(Paths) = view.paths
    count: cython.int = edge_count(view)
    node: cython.int = 0
    i: cython.int
    dx: cython.double
    dy: cython.double
    for i in range(count):
        while p.edge_start[node + 1] <= cython.cast(cython.uint, i):
            node += 1
        dx = p.node_x[p.edge_target[i]] - p.node_x[node]
        dy = p.node_y[p.edge_target[i]] - p.node_y[node]
        out[4 * i] = half(unit(dx / EDGE_SCALE))
        out[4 * i + 1] = half(unit(dy / EDGE_SCALE))
        out[4 * i + 2] = half(unit(sqrt(dx * dx + dy * dy) / EDGE_SCALE))
        out[4 * i + 3] = half(p.edge_kind[i] / KIND_SCALE)
    for i in range(count * EDGE_FEATURES, view.max_edges * EDGE_FEATURES):
        out[i] = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_mask(out: cython.pointer(cython.uchar), valid: cython.int, capacity: cython.int) -> cython.void:
    """Ones for what is there, zeros for the padding."""
    i: cython.int
    for i in range(capacity):
        out[i] = i < valid
