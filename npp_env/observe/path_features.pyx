"""Observations and the shaping potential that come from path distances."""

import numpy as np

from libc.math cimport sqrt
from npp_env.graph.node_lookup cimport NO_NODE, node_at
from npp_env.level.sections cimport Places
from npp_env.observe.view cimport Paths, View, half, halves
from npp_env.sim.layout cimport Ninja

from npp_env.sim.structs import address_of

cdef double UNREACHABLE = 1e30
cdef double DISTANCE_SCALE = 4000.0
cdef double SHORTEST_PLAN_PX = 48.0
cdef unsigned long long handles_made = 0


# Path lengths to something from every node, and the node after it on the way there.
cdef struct Goal:
    float* distance
    unsigned short* hop


cdef class PathHandle:
    """The arrays of a navigation graph and of the distances in one door configuration, as the kernel sees them.

    Args:
        arrays: By name and type: nearest_node uint16 (4400,), split_half uint16 and split_node uint16 (144 each),
            node_x, node_y, place_x and place_y float32, place_of_x, place_of_y and node_kind uint8, edge_start uint32,
            edge_target uint16, edge_kind uint8; switch_distance, exit_distance and plan_distance float32, switch_next,
            exit_next and plan_next uint16, reachable uint8. They are kept alive, not copied.
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
        p.n_nodes = len(arrays["node_x"])
        p.n_edges = len(arrays["edge_target"])
        p.table.nearest = <unsigned short*>locate(arrays, "nearest_node", np.uint16)
        p.node_x = <float*>locate(arrays, "node_x", np.float32)
        p.node_y = <float*>locate(arrays, "node_y", np.float32)
        p.n_places = len(arrays["place_x"])
        p.place_x = <float*>locate(arrays, "place_x", np.float32)
        p.place_y = <float*>locate(arrays, "place_y", np.float32)
        p.place_of_x = <unsigned char*>locate(arrays, "place_of_x", np.uint8)
        p.place_of_y = <unsigned char*>locate(arrays, "place_of_y", np.uint8)
        p.node_kind = <unsigned char*>locate(arrays, "node_kind", np.uint8)
        p.table.n_split = len(arrays["split_half"])
        p.table.split_half = <unsigned short*>locate(arrays, "split_half", np.uint16)
        p.table.split_node = <unsigned short*>locate(arrays, "split_node", np.uint16)
        p.edge_start = <unsigned int*>locate(arrays, "edge_start", np.uint32)
        p.edge_target = <unsigned short*>locate(arrays, "edge_target", np.uint16)
        p.edge_kind = <unsigned char*>locate(arrays, "edge_kind", np.uint8)
        p.switch_distance = <float*>locate(arrays, "switch_distance", np.float32)
        p.exit_distance = <float*>locate(arrays, "exit_distance", np.float32)
        p.plan_distance = <float*>locate(arrays, "plan_distance", np.float32)
        p.switch_next = <unsigned short*>locate(arrays, "switch_next", np.uint16)
        p.exit_next = <unsigned short*>locate(arrays, "exit_next", np.uint16)
        p.plan_next = <unsigned short*>locate(arrays, "plan_next", np.uint16)
        p.reachable = <unsigned char*>locate(arrays, "reachable", np.uint8)
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


cdef int node_here(View* view) noexcept nogil:
    """The node that stands for the ninja's position, or NO_NODE."""
    return node_at(&view.paths.table, view.world.ninja.x, view.world.ninja.y)


cdef double distance_over(View* view, int node, Goal goal) noexcept nogil:
    """Path length from the ninja's true position: over the next hop, or over its node where the path ends there."""
    cdef Ninja* n = view.world.ninja
    cdef int over = node
    cdef double dx, dy
    if goal.hop[node] != NO_NODE and goal.distance[goal.hop[node]] < UNREACHABLE:
        over = goal.hop[node]
    dx = view.paths.node_x[over] - n.x
    dy = view.paths.node_y[over] - n.y
    return goal.distance[over] + sqrt(dx * dx + dy * dy)


cdef double objective_distance(View* view) noexcept nogil:
    """Path length to the end: over the switch while it is not taken, then to the exit; huge if there is none."""
    cdef int node = node_here(view)
    cdef Paths* p = view.paths
    cdef Goal goal = Goal(p.plan_distance, p.plan_next)
    if view.world.ninja.switches > 0:
        goal = Goal(p.exit_distance, p.exit_next)
    if node == NO_NODE or not goal.distance[node] < UNREACHABLE:
        return UNREACHABLE
    return distance_over(view, node, goal)


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


cdef int write_goal(View* view, int node, Goal goal, unsigned short* out) noexcept nogil:
    """Distance to a goal and the direction of the next hop; returns whether it can be reached."""
    cdef Ninja* n = view.world.ninja
    cdef int hop
    cdef double d, dx, dy
    if not goal.distance[node] < UNREACHABLE:
        out[0] = half(1.0)
        out[1] = 0
        out[2] = 0
        return 0
    d = distance_over(view, node, goal) / DISTANCE_SCALE
    out[0] = half(1.0 if d > 1 else d)
    hop = goal.hop[node] if goal.hop[node] != NO_NODE else node
    dx = view.paths.node_x[hop] - n.x
    dy = view.paths.node_y[hop] - n.y
    d = sqrt(dx * dx + dy * dy)
    out[1] = half(dx / d if d > 0 else 0.0)
    out[2] = half(dy / d if d > 0 else 0.0)
    return 1


cdef void write_reachability(View* view, unsigned short* out) noexcept nogil:
    """The numbers of `reachability_features`; `REACHABILITY_FIELDS` names them."""
    cdef int node = node_here(view)
    cdef Paths* p = view.paths
    cdef int k
    cdef double d
    for k in range(10):
        out[k] = 0
    out[7] = half(view.paths.reachable_share)
    if node == NO_NODE:
        out[0] = half(1.0)
        out[3] = half(1.0)
        out[6] = half(1.0)
        return
    if view.world.ninja.switches == 0:
        out[8] = half(write_goal(view, node, Goal(p.switch_distance, p.switch_next), out))
    out[9] = half(write_goal(view, node, Goal(p.exit_distance, p.exit_next), out + 3))
    d = objective_distance(view) / DISTANCE_SCALE
    out[6] = half(1.0 if d > 1 else d)


WRITERS = {"reachability_features": halves(write_reachability)}
