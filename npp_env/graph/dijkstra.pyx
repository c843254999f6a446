"""Shortest distances over flat arrays (Dijkstra with a binary heap)."""

import numpy as np


cdef void push(double[::1] keys, unsigned short[::1] nodes, Py_ssize_t size, double key, int node) noexcept:
    """Add an entry to a heap of this size."""
    cdef Py_ssize_t place = size
    cdef Py_ssize_t parent
    while place > 0:
        parent = (place - 1) >> 1
        if keys[parent] <= key:
            break
        keys[place] = keys[parent]
        nodes[place] = nodes[parent]
        place = parent
    keys[place] = key
    nodes[place] = node


cdef void pop(double[::1] keys, unsigned short[::1] nodes, Py_ssize_t size) noexcept:
    """Remove the first entry of a heap that had this size."""
    cdef Py_ssize_t last = size - 1
    cdef double key = keys[last]
    cdef int node = nodes[last]
    cdef Py_ssize_t place = 0
    cdef Py_ssize_t child = 1
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
    unsigned int[::1] start, unsigned short[::1] neighbour, float[::1] length, double[::1] distance,
    unsigned short[::1] came_from
) -> None:
    """Lower the distances of all nodes to what the seeds and the edges give.

    Args:
        start: uint32 (n + 1,), edges of node i are start[i] to start[i + 1].
        neighbour: uint16 (m,), where each edge leads.
        length: float32 (m,), not negative.
        distance: float64 (n,), a number at the seeds and infinity elsewhere; overwritten with the result.
        came_from: uint16 (n,); overwritten with the node before on the shortest way from a seed, where there is one.
    """
    cdef Py_ssize_t count = distance.shape[0]
    keys_array = np.empty(count + neighbour.shape[0] + 1, np.float64)
    nodes_array = np.empty(count + neighbour.shape[0] + 1, np.uint16)
    cdef double[::1] keys = keys_array
    cdef unsigned short[::1] nodes = nodes_array
    cdef Py_ssize_t size = 0
    cdef int node, other
    cdef Py_ssize_t edge
    cdef double key, candidate
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
