"""The node of a position, for Python."""

from npp_env.sim.structs import address_of


def find_node(nearest, split_half, split_node, double x, double y) -> int:
    """The node of a position in pixels.

    Args:
        nearest: uint16 (4400,), a node for each half cell.
        split_half: uint16 (s,), the half cells that have several nodes, ascending.
        split_node: uint16 (s, 144), the node of each of their pixels.
        x: Position.
        y: Position.
    """
    cdef NodeTable table
    table.n_split = len(split_half)
    table.nearest = <unsigned short*><size_t>address_of(nearest)
    table.split_half = <unsigned short*><size_t>address_of(split_half)
    table.split_node = <unsigned short*><size_t>address_of(split_node)
    return node_at(&table, x, y)
