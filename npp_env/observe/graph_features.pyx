"""The navigation graph as padded arrays; a graph larger than the capacity is cut, edges to cut nodes with it."""

from libc.math cimport sqrt
from npp_env.observe.path_features cimport node_here
from npp_env.observe.view cimport Paths, View, half, halves, octets, unit

cdef double UNREACHABLE = 1e30
cdef double DISTANCE_SCALE = 4000.0
cdef int NODE_FEATURES = 8
cdef int EDGE_FEATURES = 4
cdef double EDGE_SCALE = 24.0
cdef double KIND_SCALE = 8.0


cdef void write_node_offsets(View* view, int count, unsigned short* out) noexcept nogil:
    """The only columns of the node features that change with every step: where the first nodes lie from the ninja."""
    cdef Paths* p = view.paths
    cdef double x = view.world.ninja.x
    cdef double y = view.world.ninja.y
    cdef int i
    cdef int k = 2
    for i in range(count):
        out[k] = half(unit((p.node_x[i] - x) / 1056.0))
        out[k + 1] = half(unit((p.node_y[i] - y) / 600.0))
        k += NODE_FEATURES


cdef void write_node_feats(View* view, unsigned short* out) noexcept nogil:
    """Where each node lies, also relative to the ninja, and how far it is from the end; `NODE_FIELDS` names them."""
    cdef Paths* p = view.paths
    cdef int taken = view.world.ninja.switches > 0
    cdef int here = node_here(view)
    cdef int count = node_count(view)
    cdef int i
    cdef int k = 0
    cdef double d
    for i in range(count):
        d = p.exit_distance[i] if taken else p.plan_distance[i]
        out[k] = half(unit(p.node_x[i] / 528.0 - 1))
        out[k + 1] = half(unit(p.node_y[i] / 300.0 - 1))
        out[k + 4] = half(p.node_kind[i] / KIND_SCALE)
        out[k + 5] = half(unit(d / DISTANCE_SCALE) if d < UNREACHABLE else 1.0)
        out[k + 6] = half(1.0 if p.reachable[i] == 1 else 0.5 if p.reachable[i] == 2 else 0.0)
        out[k + 7] = half(1.0 if i == here else 0.0)
        k += NODE_FEATURES
    write_node_offsets(view, count, out)
    for i in range(k, view.capacity.max_nodes * NODE_FEATURES):
        out[i] = 0


cdef inline int node_count(View* view) noexcept nogil:
    """How many nodes fit."""
    return view.paths.n_nodes if view.paths.n_nodes < view.capacity.max_nodes else view.capacity.max_nodes


cdef int edge_count(View* view) noexcept nogil:
    """How many edges fit of those between nodes that fit."""
    cdef Paths* p = view.paths
    cdef int nodes = node_count(view)
    cdef int count = p.n_edges
    cdef int i
    if nodes < p.n_nodes:
        count = 0
        for i in range(<int>p.edge_start[nodes]):
            if p.edge_target[i] < nodes:
                count += 1
    return count if count < view.capacity.max_edges else view.capacity.max_edges


cdef void write_edge_index(View* view, unsigned short* out) noexcept nogil:
    """Source nodes, then target nodes; zeros behind them."""
    cdef Paths* p = view.paths
    cdef int nodes = node_count(view)
    cdef int count = edge_count(view)
    cdef int node = 0
    cdef int i = 0
    cdef int k
    for k in range(count):
        while p.edge_target[i] >= nodes:
            i += 1
        while p.edge_start[node + 1] <= <unsigned int>i:
            node += 1
        out[k] = node
        out[view.capacity.max_edges + k] = p.edge_target[i]
        i += 1
    for k in range(count, view.capacity.max_edges):
        out[k] = 0
        out[view.capacity.max_edges + k] = 0


cdef void write_edge_feats(View* view, unsigned short* out) noexcept nogil:
    """Offset, length and kind of each edge; `EDGE_FIELDS` names them."""
    cdef Paths* p = view.paths
    cdef int nodes = node_count(view)
    cdef int count = edge_count(view)
    cdef int node = 0
    cdef int i = 0
    cdef int k
    cdef double dx, dy
    for k in range(count):
        while p.edge_target[i] >= nodes:
            i += 1
        while p.edge_start[node + 1] <= <unsigned int>i:
            node += 1
        dx = p.node_x[p.edge_target[i]] - p.node_x[node]
        dy = p.node_y[p.edge_target[i]] - p.node_y[node]
        out[4 * k] = half(unit(dx / EDGE_SCALE))
        out[4 * k + 1] = half(unit(dy / EDGE_SCALE))
        out[4 * k + 2] = half(unit(sqrt(dx * dx + dy * dy) / EDGE_SCALE))
        out[4 * k + 3] = half(p.edge_kind[i] / KIND_SCALE)
        i += 1
    for k in range(count * EDGE_FEATURES, view.capacity.max_edges * EDGE_FEATURES):
        out[k] = 0


cdef void write_mask(unsigned char* out, int valid, int capacity) noexcept nogil:
    """Ones for what is there, zeros for the padding."""
    cdef int i
    for i in range(capacity):
        out[i] = i < valid


cdef void write_node_mask(View* view, unsigned char* out) noexcept nogil:
    """Which rows of the node features are nodes."""
    write_mask(out, node_count(view), view.capacity.max_nodes)


cdef void write_edge_mask(View* view, unsigned char* out) noexcept nogil:
    """Which columns of the edge index are edges."""
    write_mask(out, edge_count(view), view.capacity.max_edges)


WRITERS = {
    "graph_node_feats": halves(write_node_feats),
    "graph_edge_index": halves(write_edge_index),
    "graph_edge_feats": halves(write_edge_feats),
    "graph_node_mask": octets(write_node_mask),
    "graph_edge_mask": octets(write_edge_mask),
}
