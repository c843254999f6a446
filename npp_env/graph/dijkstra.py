"""Shortest distances over flat arrays (Dijkstra with a binary heap)."""

from __future__ import annotations

import cython
import numpy as np


@cython.cfunc
@cython.exceptval(check=False)
def push(
    keys: cython.double[::1],
    nodes: cython.ushort[::1],
    size: cython.Py_ssize_t,
    key: cython.double,
    node: cython.int,
) -> cython.void:
    """Add an entry to a heap of this size."""
    place: cython.Py_ssize_t = size
    parent: cython.Py_ssize_t
    while place > 0:
        parent = (place - 1) >> 1
        if keys[parent] <= key:
            break
        keys[place] = keys[parent]
        nodes[place] = nodes[parent]
        place = parent
    keys[place] = key
    nodes[place] = node


@cython.cfunc
@cython.exceptval(check=False)
def pop(keys: cython.double[::1], nodes: cython.ushort[::1], size: cython.Py_ssize_t) -> cython.void:
    """Remove the first entry of a heap that had this size."""
    last: cython.Py_ssize_t = size - 1
    key: cython.double = keys[last]
    node: cython.int = nodes[last]
    place: cython.Py_ssize_t = 0
    child: cython.Py_ssize_t = 1
    while child < last:
        if child + 1 < last and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[place] = keys[child]
        nodes[place] = nodes[child]
        place = child
        child = 2 * place + 1
    keys[place] = key
    nodes[place] = node


def spread(
    start: cython.uint[::1],
    neighbour: cython.ushort[::1],
    length: cython.float[::1],
    distance: cython.double[::1],
    came_from: cython.ushort[::1],
) -> None:
    """Lower the distances of all nodes to what the seeds and the edges give.

    Args:
        start: uint32 (n + 1,), edges of node i are start[i] to start[i + 1].
        neighbour: uint16 (m,), where each edge leads.
        length: float32 (m,), not negative.
        distance: float64 (n,), a number at the seeds and infinity elsewhere; overwritten with the result.
        came_from: uint16 (n,); overwritten with the node before on the shortest way from a seed, where there is one.
    """
    count: cython.Py_ssize_t = distance.shape[0]
    keys_array = np.empty(count + neighbour.shape[0] + 1, np.float64)
    nodes_array = np.empty(count + neighbour.shape[0] + 1, np.uint16)
    keys: cython.double[::1] = keys_array
    nodes: cython.ushort[::1] = nodes_array
    size: cython.Py_ssize_t = 0
    node: cython.int
    other: cython.int
    edge: cython.Py_ssize_t
    key: cython.double
    candidate: cython.double
    for node in range(count):
        if distance[node] < float("inf"):
            push(keys, nodes, size, distance[node], node)
            size += 1
    while size > 0:
        key = keys[0]
        node = nodes[0]
        pop(keys, nodes, size)
        size -= 1
        if key > distance[node]:
            continue
        for edge in range(start[node], start[node + 1]):
            other = neighbour[edge]
            candidate = key + length[edge]
            if candidate < distance[other]:
                distance[other] = candidate
                came_from[other] = node
                push(keys, nodes, size, candidate, other)
                size += 1
