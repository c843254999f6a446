"""Observations and the shaping potential that come from path distances."""

import numpy as np

from libc.math cimport sqrt
from libc.string cimport memset
from npp_env.graph.node_lookup cimport NO_NODE, node_at
from npp_env.level.sections cimport Places
from npp_env.observe.view cimport NodeWays, Paths, TO_END, TO_EXIT, TO_SWITCH, View, half, halves
from npp_env.sim.layout cimport Ninja

from npp_env.errors import NppError
from npp_env.graph.layout import NODE_WAYS
from npp_env.sim.structs import address_of

cdef double UNREACHABLE = 1e30
cdef double DISTANCE_SCALE = 4000.0
cdef double SHORTEST_PLAN_PX = 48.0
cdef unsigned long long handles_made = 0

cdef enum:
    REACHABILITY_FEATURES = 10

if sizeof(NodeWays) != NODE_WAYS.itemsize:
    raise NppError(f"compiled struct of {sizeof(NodeWays)} bytes for a dtype of {NODE_WAYS.itemsize}")


# The next hop of a way, from the ninja's true position.
cdef struct Hop:
    double dx, dy
    double length
    double distance     # path length over it, or over the ninja's node where the path ends there


cdef class PathHandle:
    """The arrays of a navigation graph and of the distances in one door configuration, as the kernel sees them.

    Args:
        arrays: By name and type: nearest_node uint16 (4400,), split_half uint16 and split_node uint16 (144 each),
            node_x, node_y, place_x and place_y float32, place_of_x, place_of_y and node_kind uint8, edge_start uint32,
            edge_target uint16, edge_kind uint8; ways `NODE_WAYS`. They are kept alive, not copied.
        graph: A number that no other graph has, and not 0.
        spawn_distance: Path length from the spawn over the switch to the exit, infinite if there is none.
        reachable_share: Share of the nodes that can be reached from the spawn.
    """

    def __init__(self, arrays, unsigned long long graph, double spawn_distance, double reachable_share) -> None:
        global handles_made
        self.arrays = arrays
        self.spawn_distance = spawn_distance
        cdef Paths* p = &self.paths
        handles_made += 1
        p.serial = handles_made
        p.graph = graph
        p.n_nodes = count_of(arrays, "node_x")
        p.n_edges = count_of(arrays, "edge_target")
        p.table.nearest = <unsigned short*>locate(arrays, "nearest_node", np.uint16)
        p.node_x = <float*>locate(arrays, "node_x", np.float32)
        p.node_y = <float*>locate(arrays, "node_y", np.float32)
        p.n_places = count_of(arrays, "place_x")
        p.place_x = <float*>locate(arrays, "place_x", np.float32)
        p.place_y = <float*>locate(arrays, "place_y", np.float32)
        p.place_of_x = <unsigned char*>locate(arrays, "place_of_x", np.uint8)
        p.place_of_y = <unsigned char*>locate(arrays, "place_of_y", np.uint8)
        p.node_kind = <unsigned char*>locate(arrays, "node_kind", np.uint8)
        p.table.n_split = count_of(arrays, "split_half")
        p.table.split_half = <unsigned short*>locate(arrays, "split_half", np.uint16)
        p.table.split_node = <unsigned short*>locate(arrays, "split_node", np.uint16)
        p.edge_start = <unsigned int*>locate(arrays, "edge_start", np.uint32)
        p.edge_target = <unsigned short*>locate(arrays, "edge_target", np.uint16)
        p.edge_kind = <unsigned char*>locate(arrays, "edge_kind", np.uint8)
        p.ways = <NodeWays*>locate(arrays, "ways", NODE_WAYS)
        p.spawn_distance = spawn_distance
        p.reachable_share = reachable_share
        self.address = <size_t>p


cdef void* locate(arrays, name, dtype):
    """Address of a named array, after a check of its type, which sections of a block need not."""
    if isinstance(arrays, Places):
        return (<Places>arrays).address(name)
    array = arrays[name]
    if array.dtype != dtype:
        raise TypeError(f"{name} is {array.dtype}, want {np.dtype(dtype)}")
    return <void*><size_t>address_of(array)


cdef Py_ssize_t count_of(arrays, name) except -1:
    """Elements of a named array."""
    return (<Places>arrays).count(name) if isinstance(arrays, Places) else len(arrays[name])


cdef int node_here(View* view) noexcept nogil:
    """The node that stands for the ninja's position, or NO_NODE."""
    if view.node < 0:
        view.node = node_at(&view.paths.table, view.world.ninja.x, view.world.ninja.y)
    return view.node


cdef inline double length(double dx, double dy) noexcept nogil:
    return sqrt(dx * dx + dy * dy)


cdef Hop next_hop(View* view, int goal) noexcept nogil:
    """How the way to a goal goes on, which can be reached from the ninja's node."""
    cdef Hop hop
    cdef Ninja* n = view.world.ninja
    cdef NodeWays* here = &view.paths.ways[view.node]
    cdef NodeWays* over = here
    if here.following[goal] != NO_NODE:
        over = &view.paths.ways[here.following[goal]]
    hop.dx = over.x - n.x
    hop.dy = over.y - n.y
    hop.length = length(hop.dx, hop.dy)
    hop.distance = over.distance[goal] + hop.length
    if not over.distance[goal] < UNREACHABLE:
        hop.distance = here.distance[goal] + length(here.x - n.x, here.y - n.y)
    return hop


cdef bint leads_to(View* view, int goal) noexcept nogil:
    """Whether there is a way from the ninja's node, which is looked up here."""
    return node_here(view) != NO_NODE and view.paths.ways[view.node].distance[goal] < UNREACHABLE


cdef double objective_distance(View* view) noexcept nogil:
    """Path length to the end: over the switch while it is not taken, then to the exit; huge if there is none."""
    cdef int goal = TO_EXIT if view.world.ninja.switches > 0 else TO_END
    if view.objective < 0:
        view.objective = next_hop(view, goal).distance if leads_to(view, goal) else UNREACHABLE
    return view.objective


cdef double potential(View* view) noexcept nogil:
    """Progress along the way: 0 at the spawn, 1 at the exit, not below -1; 0 where no path is known."""
    cdef double total = view.paths.spawn_distance
    cdef double d = objective_distance(view)
    if not d < UNREACHABLE or not total < UNREACHABLE:
        return 0.0
    if total < SHORTEST_PLAN_PX:
        total = SHORTEST_PLAN_PX
    d = 1 - d / total
    return -1.0 if d < -1 else d


cdef void write_goal(View* view, int goal, unsigned short* out, unsigned short* reachable) noexcept nogil:
    """Distance to a goal, the direction of the next hop, and whether it can be reached."""
    cdef Hop hop
    cdef double d
    if not leads_to(view, goal):
        out[0] = half(1.0)
        return
    hop = next_hop(view, goal)
    d = hop.distance / DISTANCE_SCALE
    out[0] = half(1.0 if d > 1 else d)
    if hop.length > 0:
        out[1] = half(hop.dx / hop.length)
        out[2] = half(hop.dy / hop.length)
    reachable[0] = half(1.0)


cdef void write_reachability(View* view, unsigned short* out) noexcept nogil:
    """The numbers of `reachability_features`; `REACHABILITY_FIELDS` names them."""
    cdef double d
    memset(out, 0, REACHABILITY_FEATURES * sizeof(unsigned short))
    out[7] = half(view.paths.reachable_share)
    if node_here(view) == NO_NODE or view.world.ninja.switches == 0:
        write_goal(view, TO_SWITCH, out, &out[8])
    write_goal(view, TO_EXIT, out + 3, &out[9])
    d = objective_distance(view) / DISTANCE_SCALE
    out[6] = half(1.0 if d > 1 else d)


WRITERS = {"reachability_features": halves(write_reachability)}
