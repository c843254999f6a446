"""The navigation graph as padded arrays; a graph larger than the capacity is cut, edges to cut nodes with it."""

from libc.math cimport sqrt
from libc.string cimport memset
from npp_env.observe.path_features cimport node_here
from npp_env.observe.view cimport Paths, TO_END, TO_EXIT, View, half, halves, octets, unit

cdef double UNREACHABLE = 1e30
cdef double DISTANCE_SCALE = 4000.0
cdef double EDGE_SCALE = 24.0
cdef double KIND_SCALE = 8.0

cdef enum:
    NODE_FEATURES = 8
    DX = 2  # columns of the node features
    DY = 3
    HERE = 7
    EDGE_FEATURES = 4
    MOST_PLACES = 256  # a byte numbers them


cdef void write_node_offsets(View* view, int count, unsigned short* out) noexcept nogil:
    """The only columns of the node features that change with every step: where the first nodes lie from the ninja."""
    cdef Paths* p = view.paths
    cdef double x = view.world.ninja.x
    cdef double y = view.world.ninja.y
    cdef unsigned short[MOST_PLACES] dx
    cdef unsigned short[MOST_PLACES] dy
    cdef int i
    if p.n_places == 0:
        for i in range(count):
            out[NODE_FEATURES * i + DX] = half(unit((p.node_x[i] - x) / 1056.0))
            out[NODE_FEATURES * i + DY] = half(unit((p.node_y[i] - y) / 600.0))
        return
    for i in range(p.n_places):
        dx[i] = half(unit((p.place_x[i] - x) / 1056.0))
        dy[i] = half(unit((p.place_y[i] - y) / 600.0))
    for i in range(count):
        out[NODE_FEATURES * i + DX] = dx[p.place_of_x[i]]
        out[NODE_FEATURES * i + DY] = dy[p.place_of_y[i]]


cdef void write_node_feats(View* view, unsigned short* out) noexcept nogil:
    """Where each node lies, also relative to the ninja, and how far it is from the end; `NODE_FIELDS` names them."""
    cdef Paths* p = view.paths
    cdef int taken = view.world.ninja.switches > 0
    cdef int here = node_here(view)
    cdef int count = node_count(view)
    if view.held == NULL or view.held.serial != p.serial or view.held.taken != taken:
        write_steady_columns(view, taken, out)
        clear_halves(out, count * NODE_FEATURES, nodes_held(view) * NODE_FEATURES)
    elif view.held.here < count:
        out[NODE_FEATURES * view.held.here + HERE] = 0
    write_node_offsets(view, count, out)
    if here < count:
        out[NODE_FEATURES * here + HERE] = half(1.0)


cdef void write_steady_columns(View* view, int taken, unsigned short* out) noexcept nogil:
    """What of the node features stays the same until a door or the switch changes; nobody is here yet."""
    cdef Paths* p = view.paths
    cdef int i
    cdef int k = 0
    cdef double d
    for i in range(node_count(view)):
        d = p.ways[i].distance[TO_EXIT if taken else TO_END]
        out[k] = half(unit(p.node_x[i] / 528.0 - 1))
        out[k + 1] = half(unit(p.node_y[i] / 300.0 - 1))
        out[k + 4] = half(p.node_kind[i] / KIND_SCALE)
        out[k + 5] = half(unit(d / DISTANCE_SCALE) if d < UNREACHABLE else 1.0)
        out[k + 6] = half(1.0 if p.ways[i].reachable == 1 else 0.5 if p.ways[i].reachable == 2 else 0.0)
        out[k + HERE] = 0
        k += NODE_FEATURES


cdef void remember(View* view) noexcept nogil:
    """Say what the row holds, once all its graph arrays are written."""
    view.held.serial = view.paths.serial
    view.held.graph = view.paths.graph
    view.held.nodes = node_count(view)
    view.held.edges = edge_count(view)
    view.held.here = node_here(view)
    view.held.taken = view.world.ninja.switches > 0


cdef inline bint holds_graph(View* view) noexcept nogil:
    """Whether the row holds what is static of this level."""
    return view.held != NULL and view.held.graph == view.paths.graph


cdef inline int nodes_held(View* view) noexcept nogil:
    """Nodes behind which the row holds zeros, as far as that is known."""
    return view.capacity.max_nodes if view.held == NULL else view.held.nodes


cdef inline int edges_held(View* view) noexcept nogil:
    """Edges behind which the row holds zeros, as far as that is known."""
    return view.capacity.max_edges if view.held == NULL else view.held.edges


cdef inline void clear_halves(unsigned short* out, int start, int end) noexcept nogil:
    """Zeros from start to end, if there is anything between them."""
    if end > start:
        memset(out + start, 0, (end - start) * sizeof(unsigned short))


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


cdef inline int next_edge(Paths* p, int nodes, int i, int* source) noexcept nogil:
    """The first edge from number i on that leads to a node which is shown; `source` goes along to where it begins."""
    while p.edge_target[i] >= nodes:
        i += 1
    while p.edge_start[source[0] + 1] <= <unsigned int>i:
        source[0] += 1
    return i


cdef void write_edge_index(View* view, unsigned short* out) noexcept nogil:
    """Source nodes, then target nodes; zeros behind them."""
    if holds_graph(view):
        return
    cdef Paths* p = view.paths
    cdef int nodes = node_count(view)
    cdef int count = edge_count(view)
    cdef int node = 0
    cdef int i = 0
    cdef int k
    for k in range(count):
        i = next_edge(p, nodes, i, &node)
        out[k] = node
        out[view.capacity.max_edges + k] = p.edge_target[i]
        i += 1
    clear_halves(out, count, edges_held(view))
    clear_halves(out + view.capacity.max_edges, count, edges_held(view))


cdef void write_edge_feats(View* view, unsigned short* out) noexcept nogil:
    """Offset, length and kind of each edge; `EDGE_FIELDS` names them."""
    if holds_graph(view):
        return
    cdef Paths* p = view.paths
    cdef int nodes = node_count(view)
    cdef int count = edge_count(view)
    cdef int node = 0
    cdef int i = 0
    cdef int k
    cdef double dx, dy
    for k in range(count):
        i = next_edge(p, nodes, i, &node)
        dx = p.node_x[p.edge_target[i]] - p.node_x[node]
        dy = p.node_y[p.edge_target[i]] - p.node_y[node]
        out[4 * k] = half(unit(dx / EDGE_SCALE))
        out[4 * k + 1] = half(unit(dy / EDGE_SCALE))
        out[4 * k + 2] = half(unit(sqrt(dx * dx + dy * dy) / EDGE_SCALE))
        out[4 * k + 3] = half(p.edge_kind[i] / KIND_SCALE)
        i += 1
    clear_halves(out, count * EDGE_FEATURES, edges_held(view) * EDGE_FEATURES)


cdef void write_node_mask(View* view, unsigned char* out) noexcept nogil:
    """Which rows of the node features are nodes."""
    if not holds_graph(view):
        memset(out, 0, nodes_held(view))
        memset(out, 1, node_count(view))


cdef void write_edge_mask(View* view, unsigned char* out) noexcept nogil:
    """Which columns of the edge index are edges."""
    if not holds_graph(view):
        memset(out, 0, edges_held(view))
        memset(out, 1, edge_count(view))


WRITERS = {
    "graph_node_feats": halves(write_node_feats),
    "graph_edge_index": halves(write_edge_index),
    "graph_edge_feats": halves(write_edge_feats),
    "graph_node_mask": octets(write_node_mask),
    "graph_edge_mask": octets(write_edge_mask),
}
