"""What can be reached if doors open as their switches are met."""

import numpy as np


cdef class Flood:
    """Spreads over the edges of a graph; a gate lets through once the last of its doors has opened.

    Args:
        start: uint32 (n + 1,), edges of node i are start[i] to start[i + 1].
        target: uint16 (m,), where each edge leads.
        gate: int16 (m,), the gate of each edge, -1 for none.
        gate_start: uint16 (g + 1,), where the doors of each gate begin in `gate_door`.
        gate_door: uint16, doors by gate.
        is_open: bool, whether each door is open at the start.
    """

    cdef const unsigned int[::1] start
    cdef const unsigned short[::1] target
    cdef const short[::1] gate
    cdef int[::1] closed  # by gate: doors that are closed
    cdef int[::1] waiting  # by gate: the first edge that waits for it, -1 for none
    cdef int[::1] next_waiting  # by edge
    cdef unsigned char[::1] reached
    cdef unsigned short[::1] stack
    cdef Py_ssize_t height

    def __init__(self, start, target, gate, gate_start, gate_door, is_open) -> None:
        self.start = start
        self.target = target
        self.gate = gate
        shut = np.concatenate([[0], np.cumsum(~is_open[gate_door])])
        self.closed = np.diff(shut[gate_start]).astype(np.int32)
        self.waiting = np.full(len(gate_start) - 1, -1, np.int32)
        self.next_waiting = np.full(len(target), -1, np.int32)
        self.reached = np.zeros(len(start) - 1, np.uint8)
        self.stack = np.zeros(len(start), np.uint16)
        self.height = 0

    cdef void visit(self, unsigned short node) noexcept:
        """Put a node on the stack if it is new."""
        if self.reached[node] == 0:
            self.reached[node] = 1
            self.stack[self.height] = node
            self.height += 1

    cdef void open_gate(self, int gate) noexcept:
        """One of its doors has opened; let those through that wait if it was the last."""
        cdef int edge
        self.closed[gate] -= 1
        if self.closed[gate] == 0:
            edge = self.waiting[gate]
            while edge >= 0:
                self.visit(self.target[edge])
                edge = self.next_waiting[edge]

    def run(
        self, unsigned short seed, const int[::1] door_of_node, const int[::1] gates_start, const int[::1] gates
    ) -> np.ndarray:
        """Spread from a node.

        Args:
            seed: The node.
            door_of_node: int32 (n,), the closed door whose switch a node is, -1 for all other nodes.
            gates_start: int32 (doors + 1,), where the gates of each door begin in `gates`.
            gates: int32, gates by door.

        Returns:
            uint8 (n,), 1 where the flood came; the flood's own array.
        """
        cdef unsigned short node
        cdef Py_ssize_t edge, k
        cdef int gate
        self.visit(seed)
        while self.height > 0:
            self.height -= 1
            node = self.stack[self.height]
            if door_of_node[node] >= 0:
                for k in range(gates_start[door_of_node[node]], gates_start[door_of_node[node] + 1]):
                    self.open_gate(gates[k])
            for edge in range(self.start[node], self.start[node + 1]):
                gate = self.gate[edge]
                if gate < 0 or self.closed[gate] == 0:
                    self.visit(self.target[edge])
                else:
                    self.next_waiting[edge] = self.waiting[gate]
                    self.waiting[gate] = edge
        return np.asarray(self.reached)
