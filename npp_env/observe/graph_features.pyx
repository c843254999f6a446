"""The navigation graph as padded arrays; a graph larger than the capacity is cut, edges to cut nodes with it."""

from libc.math cimport sqrt
from libc.string cimport memcpy, memset
from npp_env.observe.path_features cimport node_here
from npp_env.observe.streams cimport put_node
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


# Where the different coordinates of nodes lie from the ninja.
cdef struct Offsets:
    unsigned short dx[MOST_PLACES]
    unsigned short dy[MOST_PLACES]


cdef inline unsigned short offset_x(View* view, float x) noexcept nogil:
    return half(unit((x - view.world.ninja.x) / 1056.0))


cdef inline unsigned short offset_y(View* view, float y) noexcept nogil:
    return half(unit((y - view.world.ninja.y) / 600.0))


cdef void find_offsets(View* view, Offsets* offsets) noexcept nogil:
    """Offsets by place."""
    cdef int i
    for i in range(view.paths.n_places):
        offsets.dx[i] = offset_x(view, view.paths.place_x[i])
        offsets.dy[i] = offset_y(view, view.paths.place_y[i])


cdef void write_node_offsets(View* view, int count, unsigned short* out) noexcept nogil:
    """The only columns of the node features that change with every step: where the first nodes lie from the ninja."""
    cdef Paths* p = view.paths
    cdef Offsets offsets
    cdef int i
    if p.n_places == 0:
        for i in range(count):
            out[NODE_FEATURES * i + DX] = offset_x(view, p.node_x[i])
            out[NODE_FEATURES * i + DY] = offset_y(view, p.node_y[i])
        return
    find_offsets(view, &offsets)
    for i in range(count):
        out[NODE_FEATURES * i + DX] = offsets.dx[p.place_of_x[i]]
        out[NODE_FEATURES * i + DY] = offsets.dy[p.place_of_y[i]]


cdef void write_nodes_anew(
    View* view, int count, const unsigned short* steady, unsigned short* out, bint streamed
) noexcept nogil:
    """Features of the first nodes, given those that only hang on the doors and zeros for all others.

    Args:
        view: The state.
        count: How many nodes.
        steady: Their features before.
        out: Where they go.
        streamed: Whether that is better written around the caches; rows must then begin where `can_stream` says so.
    """
    cdef Paths* p = view.paths
    cdef Offsets offsets
    # Local, so that the compiler knows that no store changes them.
    cdef const unsigned char* of_x = p.place_of_x
    cdef const unsigned char* of_y = p.place_of_y
    cdef Py_ssize_t i
    if p.n_places == 0:
        memcpy(out, steady, count * NODE_FEATURES * sizeof(unsigned short))
        write_node_offsets(view, count, out)
    else:
        find_offsets(view, &offsets)
        for i in range(count):
            put_node(
                out + NODE_FEATURES * i, steady + NODE_FEATURES * i, offsets.dx[of_x[i]], offsets.dy[of_y[i]], streamed
            )
    mark_here(view, count, out)


cdef void write_node_feats(View* view, unsigned short* out) noexcept nogil:
    """Where each node lies, also relative to the ninja, and how far it is from the end; `NODE_FIELDS` names them."""
    cdef Paths* p = view.paths
    cdef int taken = view.world.ninja.switches > 0
    cdef int count = node_count(view)
    if view.held == NULL or view.held.serial != p.serial or view.held.taken != taken:
        write_steady_columns(view, taken, out)
        clear_halves(out, count * NODE_FEATURES, nodes_held(view) * NODE_FEATURES)
    elif view.held.here < count:
        out[NODE_FEATURES * view.held.here + HERE] = 0
    write_node_offsets(view, count, out)
    mark_here(view, count, out)


cdef inline void mark_here(View* view, int count, unsigned short* out) noexcept nogil:
    """Mark the ninja's node, if it is one of the first."""
    cdef int here = node_here(view)
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


# The edges that are shown, one after the other.
cdef struct Edge:
    int number      # among those of the graph
    int source
    int target


cdef inline void find_edge(View* view, Edge* edge) noexcept nogil:
    """Go on to the next edge that leads to a node which is shown; from number -1 and source 0 to the first."""
    cdef Paths* p = view.paths
    edge.number += 1
    while p.edge_target[edge.number] >= node_count(view):
        edge.number += 1
    edge.target = p.edge_target[edge.number]
    while p.edge_start[edge.source + 1] <= <unsigned int>edge.number:
        edge.source += 1


cdef void write_edge_index(View* view, unsigned short* out) noexcept nogil:
    """Source nodes, then target nodes; zeros behind them."""
    cdef Edge edge = Edge(-1, 0, 0)
    cdef int count, k
    if holds_graph(view):
        return
    count = edge_count(view)
    for k in range(count):
        find_edge(view, &edge)
        out[k] = edge.source
        out[view.capacity.max_edges + k] = edge.target
    clear_halves(out, count, edges_held(view))
    clear_halves(out + view.capacity.max_edges, count, edges_held(view))


cdef void write_edge_feats(View* view, unsigned short* out) noexcept nogil:
    """Offset, length and kind of each edge; `EDGE_FIELDS` names them."""
    cdef Paths* p = view.paths
    cdef Edge edge = Edge(-1, 0, 0)
    cdef int count, k
    cdef double dx, dy
    if holds_graph(view):
        return
    count = edge_count(view)
    for k in range(count):
        find_edge(view, &edge)
        dx = p.node_x[edge.target] - p.node_x[edge.source]
        dy = p.node_y[edge.target] - p.node_y[edge.source]
        out[4 * k] = half(unit(dx / EDGE_SCALE))
        out[4 * k + 1] = half(unit(dy / EDGE_SCALE))
        out[4 * k + 2] = half(unit(sqrt(dx * dx + dy * dy) / EDGE_SCALE))
        out[4 * k + 3] = half(p.edge_kind[edge.number] / KIND_SCALE)
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
