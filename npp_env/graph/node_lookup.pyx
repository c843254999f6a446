"""The node of a position, for Python."""

import numpy as np

from npp_env.sim.structs import address_of


def nodes_at(nearest, split_half, split_node, x, y):
    """The nodes of positions in pixels; a fresh uint16 array (n,).

    Args:
        nearest: uint16 (4400,), a node for each half cell.
        split_half: uint16 (s,), the half cells that have several nodes, ascending.
        split_node: uint16 (s, 144), the node of each of their pixels.
        x: Positions (n,).
        y: Positions (n,).
    """
    cdef NodeTable table
    cdef const double[::1] columns = np.ascontiguousarray(x, np.float64)
    cdef const double[::1] rows = np.ascontiguousarray(y, np.float64)
    nodes = np.empty(columns.shape[0], np.uint16)
    cdef unsigned short[::1] out = nodes
    cdef Py_ssize_t k
    if rows.shape[0] != columns.shape[0]:
        raise ValueError(f"{columns.shape[0]} x for {rows.shape[0]} y")
    table.n_split = len(split_half)
    table.nearest = <unsigned short*><size_t>address_of(nearest)
    table.split_half = <unsigned short*><size_t>address_of(split_half)
    table.split_node = <unsigned short*><size_t>address_of(split_node)
    for k in range(columns.shape[0]):
        out[k] = node_at(&table, columns[k], rows[k])
    return nodes
