"""Observations and the shaping potential that come from path distances."""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import rint, sqrt
    from cython.cimports.npp_env.observe.view import Paths, View, half
    from cython.cimports.npp_env.sim.layout import Ninja, ifloor
else:
    from math import sqrt

    from npp_env.observe.plain import half, rint
    from npp_env.sim.structs import ifloor

from npp_env.sim.uncompiled import address_of

NO_NODE = cython.declare(cython.int, 65535)
UNREACHABLE = cython.declare(cython.double, 1e30)
DISTANCE_SCALE = cython.declare(cython.double, 4000.0)
SHORTEST_PLAN_PX = cython.declare(cython.double, 48.0)


@cython.cclass
class PathHandle:
    """The arrays of a navigation graph and of the distances in one door configuration, as the kernel sees them.

    Args:
        arrays: By name and type: nearest uint16 (4400,), split_half uint16 and split_node uint16 (144 each), node_x and
            node_y float32, node_kind uint8, edge_start uint32, edge_target uint16, edge_kind uint8; switch_distance
            and exit_distance float32, switch_next and exit_next uint16, reachable uint8. They are kept alive, not
            copied.
        spawn_switch_distance: Path length from the spawn to the switch, infinite if there is none.
        switch_exit_distance: Path length from the switch to the exit, infinite if there is none.
        reachable_share: Share of the nodes that can be reached from the spawn.
    """

    def __init__(
        self,
        arrays: Any,
        spawn_switch_distance: cython.double,
        switch_exit_distance: cython.double,
        reachable_share: cython.double,
    ) -> None:
        spawn_distance: cython.double = spawn_switch_distance + switch_exit_distance
        self.arrays = dict(arrays)
        self.spawn_distance = spawn_distance
        if cython.compiled:
            p: cython.pointer(Paths) = cython.address(self.paths)
            p.n_nodes = len(arrays["node_x"])
            p.n_edges = len(arrays["edge_target"])
            p.nearest = cython.cast(cython.pointer(cython.ushort), locate(arrays, "nearest", np.uint16))
            p.node_x = cython.cast(cython.pointer(cython.float), locate(arrays, "node_x", np.float32))
            p.node_y = cython.cast(cython.pointer(cython.float), locate(arrays, "node_y", np.float32))
            p.node_kind = cython.cast(cython.pointer(cython.uchar), locate(arrays, "node_kind", np.uint8))
            p.n_split = len(arrays["split_half"])
            p.split_half = cython.cast(cython.pointer(cython.ushort), locate(arrays, "split_half", np.uint16))
            p.split_node = cython.cast(cython.pointer(cython.ushort), locate(arrays, "split_node", np.uint16))
            p.edge_start = cython.cast(cython.pointer(cython.uint), locate(arrays, "edge_start", np.uint32))
            p.edge_target = cython.cast(cython.pointer(cython.ushort), locate(arrays, "edge_target", np.uint16))
            p.edge_kind = cython.cast(cython.pointer(cython.uchar), locate(arrays, "edge_kind", np.uint8))
            p.switch_distance = cython.cast(cython.pointer(cython.float), locate(arrays, "switch_distance", np.float32))
            p.exit_distance = cython.cast(cython.pointer(cython.float), locate(arrays, "exit_distance", np.float32))
            p.switch_next = cython.cast(cython.pointer(cython.ushort), locate(arrays, "switch_next", np.uint16))
            p.exit_next = cython.cast(cython.pointer(cython.ushort), locate(arrays, "exit_next", np.uint16))
            p.reachable = cython.cast(cython.pointer(cython.uchar), locate(arrays, "reachable", np.uint8))
            p.switch_exit_distance = switch_exit_distance
            p.spawn_distance = spawn_distance
            p.reachable_share = reachable_share
            self.address = cython.cast(cython.size_t, p)
        else:
            self.paths = PlainPaths(arrays, switch_exit_distance, spawn_distance, reachable_share)
            self.address = id(self)


class PlainPaths:
    """The same as lists, for the uncompiled kernel."""

    def __init__(self, arrays: Any, switch_exit_distance: float, spawn_distance: float, reachable_share: float) -> None:
        for name, array in arrays.items():
            setattr(self, name, array.reshape(-1).tolist())
        self.n_split = len(self.split_half)
        self.n_nodes = len(self.node_x)
        self.n_edges = len(self.edge_target)
        self.switch_exit_distance = switch_exit_distance
        self.spawn_distance = spawn_distance
        self.reachable_share = reachable_share


@cython.cfunc
def locate(arrays: Any, name: Any, dtype: Any) -> cython.p_void:
    """Address of a named array, after a check of its type."""
    array = arrays[name]
    if array.dtype != dtype:
        raise TypeError(f"{name} is {array.dtype}, want {np.dtype(dtype)}")
    return cython.cast(cython.p_void, cython.cast(cython.size_t, address_of(array)))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def pixel_of(offset: cython.double) -> cython.int:
    """The nearest pixel of a half cell, ties to even."""
    if offset < 0:
        return 0
    if offset > 11:
        return 11
    return cython.cast(cython.int, rint(offset))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def node_here(view: cython.pointer(View)) -> cython.int:
    """The node that stands for the ninja's position, or NO_NODE."""
    x: cython.double = view.world.ninja.x
    y: cython.double = view.world.ninja.y
    i: cython.int = ifloor(x / 12)
    j: cython.int = ifloor(y / 12)
    low: cython.int = 0
    high: cython.int = view.paths.n_split
    middle: cython.int
    half_cell: cython.int
    i = 0 if i < 0 else 87 if i > 87 else i
    j = 0 if j < 0 else 49 if j > 49 else j
    half_cell = j * 88 + i
    while low < high:
        middle = (low + high) // 2
        if view.paths.split_half[middle] < half_cell:
            low = middle + 1
        else:
            high = middle
    if low < view.paths.n_split and view.paths.split_half[low] == half_cell:
        return view.paths.split_node[low * 144 + pixel_of(y - 12 * j) * 12 + pixel_of(x - 12 * i)]
    return view.paths.nearest[half_cell]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def distance_over(
    view: cython.pointer(View),
    node: cython.int,
    hop: cython.int,
    at_node: cython.double,
    at_hop: cython.double,
) -> cython.double:
    """Path length from the ninja's true position: over the next hop, or over its node where the path ends there."""
    n: cython.pointer(Ninja) = view.world.ninja
    dx: cython.double
    dy: cython.double
    if hop != NO_NODE and at_hop < UNREACHABLE:
        dx = view.paths.node_x[hop] - n.x
        dy = view.paths.node_y[hop] - n.y
        return at_hop + sqrt(dx * dx + dy * dy)
    dx = view.paths.node_x[node] - n.x
    dy = view.paths.node_y[node] - n.y
    return at_node + sqrt(dx * dx + dy * dy)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def objective_distance(view: cython.pointer(View)) -> cython.double:
    """Path length to the end: over the switch while it is not taken, then to the exit; huge if there is none."""
    node: cython.int = node_here(view)
    hop: cython.int
    if node == NO_NODE:
        return UNREACHABLE
    if view.world.ninja.switches > 0:
        if not view.paths.exit_distance[node] < UNREACHABLE:
            return UNREACHABLE
        hop = view.paths.exit_next[node]
        return distance_over(
            view,
            node,
            hop,
            view.paths.exit_distance[node],
            view.paths.exit_distance[hop] if hop != NO_NODE else 0.0,
        )
    if not view.paths.switch_distance[node] + view.paths.switch_exit_distance < UNREACHABLE:
        return UNREACHABLE
    hop = view.paths.switch_next[node]
    return view.paths.switch_exit_distance + distance_over(
        view,
        node,
        hop,
        view.paths.switch_distance[node],
        view.paths.switch_distance[hop] if hop != NO_NODE else 0.0,
    )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def potential(view: cython.pointer(View)) -> cython.double:
    """Progress along the way: 0 at the spawn, 1 at the exit, not below -1; 0 where no path is known."""
    total: cython.double = view.paths.spawn_distance
    d: cython.double = objective_distance(view)
    if not d < UNREACHABLE or not total < UNREACHABLE:
        return 0.0
    if total < SHORTEST_PLAN_PX:
        total = SHORTEST_PLAN_PX
    d = 1 - d / total
    return -1.0 if d < -1 else d


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_goal(
    view: cython.pointer(View),
    node: cython.int,
    hop: cython.int,
    at_node: cython.double,
    at_hop: cython.double,
    out: cython.pointer(cython.ushort),
) -> cython.int:
    """Distance to a goal and the direction of the next hop; returns whether it can be reached."""
    n: cython.pointer(Ninja) = view.world.ninja
    d: cython.double
    dx: cython.double
    dy: cython.double
    if not at_node < UNREACHABLE:
        out[0] = half(1.0)
        out[1] = 0
        out[2] = 0
        return 0
    d = distance_over(view, node, hop, at_node, at_hop) / DISTANCE_SCALE
    out[0] = half(1.0 if d > 1 else d)
    if hop == NO_NODE:
        hop = node
    dx = view.paths.node_x[hop] - n.x
    dy = view.paths.node_y[hop] - n.y
    d = sqrt(dx * dx + dy * dy)
    out[1] = half(dx / d if d > 0 else 0.0)
    out[2] = half(dy / d if d > 0 else 0.0)
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_reachability(view: cython.pointer(View), out: cython.pointer(cython.ushort)) -> cython.void:
    """The numbers of `reachability_features`; `REACHABILITY_FIELDS` names them."""
    node: cython.int = node_here(view)
    hop: cython.int
    k: cython.int
    reached: cython.int
    d: cython.double
    for k in range(10):
        out[k] = 0
    out[7] = half(view.paths.reachable_share)
    if node == NO_NODE:
        out[0] = half(1.0)
        out[3] = half(1.0)
        out[6] = half(1.0)
        return
    if view.world.ninja.switches == 0:
        hop = view.paths.switch_next[node]
        reached = write_goal(
            view,
            node,
            hop,
            view.paths.switch_distance[node],
            view.paths.switch_distance[hop] if hop != NO_NODE else 0.0,
            out,
        )
        out[8] = half(reached)
    hop = view.paths.exit_next[node]
    reached = write_goal(
        view,
        node,
        hop,
        view.paths.exit_distance[node],
        view.paths.exit_distance[hop] if hop != NO_NODE else 0.0,
        out + 3 if cython.compiled else out[3:],
    )
    out[9] = half(reached)
    d = objective_distance(view) / DISTANCE_SCALE
    out[6] = half(1.0 if d > 1 else d)
