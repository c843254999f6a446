"""The edges of a navigation graph: where a free pixel of one node touches a free pixel of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.graph.contacts import ContactImage, TouchImage, stop_image
from npp_env.graph.free_space import line_stamp
from npp_env.graph.layout import NO_DOOR, require_room
from npp_env.graph.one_ways import OneWay

MAX_EDGES = 1 << 19
"""Edges of a graph; an empty map has 30,000."""
MAX_CLOSED = 1 << 18
"""Edges that doors close, counted for each place of a door."""
MAX_GATES = (1 << 15) - 1
"""Sets of doors that close an edge together."""
MAX_GATE_DOORS = (1 << 16) - 1
"""Doors of all gates."""

_NODE_BITS = 16

Line = tuple[float, float, float, float]
"""The closed line of a door: x1, y1, x2, y2."""


def make_keys(sources: NDArray[Any], targets: NDArray[Any]) -> NDArray[np.int64]:
    """Directed edges between labels (nodes counted from 1) as sortable numbers."""
    return (sources.astype(np.int64) << _NODE_BITS) | targets.astype(np.int64)


def split_keys(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Source and target label of keys."""
    return keys >> _NODE_BITS, keys & ((1 << _NODE_BITS) - 1)


@dataclass(slots=True)
class Touches:
    """Places that the ninja reaches by touching them; of those that coincide only one is looked at.

    Attributes:
        places: x, y and the distance of the centres below which a place is touched.
        labels: For each place the nodes that stand there, counted from 1.
    """

    places: NDArray[np.float64]  # (p, 3)
    labels: list[NDArray[np.int64]]

    @classmethod
    def of(cls, ends: NDArray[np.float64], first_label: int) -> Touches:
        """The places of ends (n, 3), which are the nodes from `first_label` on."""
        numbers: dict[tuple[float, ...], list[int]] = {}
        for label, place in enumerate(ends.tolist(), first_label):
            numbers.setdefault(tuple(place), []).append(label)
        places = np.array(list(numbers), np.float64).reshape(-1, 3)
        return cls(places, [np.array(labels, np.int64) for labels in numbers.values()])


@dataclass(slots=True)
class EdgeSet:
    """Edges with free passage while every door is open, and the doors that close some of them.

    Attributes:
        keys: Of the edges, sorted.
        gate: Of each edge, `NO_DOOR` for none.
        gates: The doors of each gate; the first gates are the single doors.
    """

    keys: NDArray[np.int64]
    gate: NDArray[np.int64]
    gates: list[tuple[int, ...]]


class Contacts:
    """Finds which nodes touch each other.

    Args:
        labels: Node of every pixel, 0 where the ninja does not fit.
        one_ways: Surfaces that only let through in one direction.
        touches: Places reached by touch.
    """

    def __init__(self, labels: NDArray[np.uint16], one_ways: list[OneWay], touches: Touches) -> None:
        self._contacts = ContactImage(labels, stop_image(one_ways, labels.shape))
        self._touches = touches
        self._touching = TouchImage(labels, touches.places)
        self._ends_of_entry = np.repeat(
            np.array([len(labels) for labels in touches.labels], np.int64), np.diff(self._touching.start)
        )
        self._place_of_entry = np.repeat(np.arange(len(touches.places)), np.diff(self._touching.start))
        first_labels = np.array([labels[0] for labels in touches.labels], np.int64)
        self._first_keys = make_keys(self._touching.node, first_labels[self._place_of_entry])

    def find(self, doors: Sequence[Line]) -> EdgeSet:
        """All edges; a door gates those that its closed line leaves no passage for.

        Raises:
            LevelError: There are more edges, or more that doors close, than a graph holds.
        """
        contacts = self._contacts.all_keys()
        require_room("edges", len(contacts) + int(self._ends_of_entry.sum()), MAX_EDGES)
        touches, entry_of_touch = self._keys_of_entries()
        keys = np.sort(np.concatenate([contacts, np.sort(touches)]), kind="stable")  # which merges what is sorted
        lines: dict[Line, list[int]] = {}
        for number, line in enumerate(doors):
            lines.setdefault(line, []).append(number)
        closed, closing = self._closed_edges(list(lines))
        gates, edge, gate_of_edge = _number_gates(closed, closing, list(lines.values()), len(doors))
        gate = np.full(len(keys), NO_DOOR, np.int64)
        gate[np.searchsorted(keys, edge)] = gate_of_edge
        # The edges to all ends of a place share what closes the first of them.
        gate[np.searchsorted(keys, touches)] = gate[np.searchsorted(keys, self._first_keys[entry_of_touch])]
        return EdgeSet(keys, gate, gates)

    def _keys_of_entries(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Edges from nodes to the ends that they touch, and which entry each comes from."""
        ends = [self._touches.labels[place] for place in self._place_of_entry.tolist()]
        origin = np.repeat(np.arange(len(ends)), self._ends_of_entry)
        return make_keys(self._touching.node[origin], np.concatenate([np.zeros(0, np.int64), *ends])), origin

    def _closed_edges(self, lines: Sequence[Line]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Edges that lines close, of those to one place only the first: a key and the number of a line for each."""
        x, y, touch_px = self._touches.places.T
        closed, counts = [np.zeros(0, np.int64)], [0]
        for line in lines:
            rows, columns, near = line_stamp(*line)
            if near.size == 0:
                counts.append(counts[-1])
                continue
            mask = near.view(np.uint8)
            in_reach = (rows.start <= y + touch_px) & (y - touch_px < rows.stop)
            in_reach &= (columns.start <= x + touch_px) & (x - touch_px < columns.stop)
            entries = self._touching.entries_cut_by(mask, rows.start, columns.start, np.flatnonzero(in_reach))
            closed += [self._contacts.keys_cut_by(mask, rows.start, columns.start), self._first_keys[entries]]
            counts.append(counts[-1] + len(closed[-1]) + len(closed[-2]))
            require_room("edges closed by doors", counts[-1], MAX_CLOSED)
        return np.concatenate(closed), np.repeat(np.arange(len(lines)), np.diff(counts))


def _number_gates(
    closed: NDArray[np.int64], closing: NDArray[np.int64], doors_of_line: list[list[int]], door_count: int
) -> tuple[list[tuple[int, ...]], NDArray[np.int64], NDArray[np.int64]]:
    """Number the sets of doors that close edges: by their first door, then by their first edge.

    Returns:
        The gates; and the closed edges with the gate of each.
    """
    gates: list[tuple[int, ...]] = [(door,) for door in range(door_count)]
    order = np.lexsort((closing, closed))
    closed, closing = closed[order], closing[order]
    starts = np.flatnonzero(np.diff(closed, prepend=-1))
    ends = np.append(starts[1:], len(closed))
    edge, first_line = closed[starts], closing[starts]
    order = np.lexsort((edge, first_line))
    number_of = {doors: number for number, doors in enumerate(gates)}
    number_of_lines: dict[bytes, int] = {}
    numbers, members = [], door_count
    for start, end in zip(starts[order].tolist(), ends[order].tolist(), strict=True):
        lines = closing[start:end]
        number = number_of_lines.get(lines.tobytes())
        if number is None:
            doors = tuple(sorted(door for line in lines.tolist() for door in doors_of_line[line]))
            number = number_of_lines[lines.tobytes()] = number_of.setdefault(doors, len(gates))
            if number == len(gates):
                gates.append(doors)
                members += len(doors)
                require_room("sets of doors that close an edge", len(gates), MAX_GATES)
                require_room("doors in sets that close an edge", members, MAX_GATE_DOORS)
        numbers.append(number)
    return gates, edge[order], np.array(numbers, np.int64)
