"""The edges of a navigation graph: where a free pixel of one node touches a free pixel of another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.graph.free_space import HALF_PX, HEIGHT_PX, WIDTH_PX, line_stamp
from npp_env.graph.one_ways import OneWay
from npp_env.level.sorted_sets import sorted_difference, sorted_unique

STEPS = ((0, 1), (1, 0), (1, 1), (1, -1), (0, -1), (-1, 0), (-1, -1), (-1, 1))
"""(dy, dx) from a pixel to its neighbours."""

_ALL, _BUT_LAST, _BUT_FIRST = slice(None), slice(None, -1), slice(1, None)
# Every way across a border between half cells, there and back: whether the border is vertical, the step, the side of
# the border that it starts from, and which pixels along the border go with which.
_CROSSINGS = (
    (True, 0, 0, _ALL, _ALL),
    (True, 2, 0, _BUT_LAST, _BUT_FIRST),
    (True, 3, 1, _BUT_LAST, _BUT_FIRST),
    (False, 1, 0, _ALL, _ALL),
    (False, 2, 0, _BUT_LAST, _BUT_FIRST),
    (False, 3, 0, _BUT_FIRST, _BUT_LAST),
)
_NODE_BITS = 16


def make_keys(sources: NDArray[Any], targets: NDArray[Any]) -> NDArray[np.int64]:
    """Directed edges between labels (nodes counted from 1) as sortable numbers."""
    return (sources.astype(np.int64) << _NODE_BITS) | targets.astype(np.int64)


def split_keys(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Source and target label of keys."""
    return keys >> _NODE_BITS, keys & ((1 << _NODE_BITS) - 1)


@dataclass(frozen=True, slots=True)
class Special:
    """A place that the ninja reaches by touching it.

    Attributes:
        label: Its node, counted from 1.
        x, y: Its centre.
        touch_px: Distance of the centres below which it is touched.
    """

    label: int
    x: float
    y: float
    touch_px: float


@dataclass(slots=True)
class EdgeSet:
    """Edges with free passage while every door is open, and the doors that close some of them."""

    keys: NDArray[np.int64]  # sorted
    doors_of: dict[int, tuple[int, ...]] = field(default_factory=dict)  # key -> doors that gate it


class Contacts:
    """Finds which nodes touch each other.

    Args:
        labels: Node of every pixel, 0 where the ninja does not fit.
        one_ways: Surfaces that only let through in one direction.
        specials: Places reached by touch.
    """

    def __init__(self, labels: NDArray[np.uint16], one_ways: list[OneWay], specials: list[Special]) -> None:
        self.labels = labels
        self.one_ways = one_ways
        self.specials = specials
        self.stops = _stops(one_ways) if one_ways else None

    def find(self, doors: list[tuple[float, float, float, float]]) -> EdgeSet:
        """All edges; a door (x1, y1, x2, y2) gates those that its closed line leaves no passage for."""
        rows, columns = slice(0, HEIGHT_PX), slice(0, WIDTH_PX)
        edges = EdgeSet(self._between(rows, columns, self.specials))
        for number, line in enumerate(doors):
            self._close(edges, number, line)
        return edges

    def _close(self, edges: EdgeSet, number: int, line: tuple[float, float, float, float]) -> None:
        stamp_rows, stamp_columns, near = line_stamp(*line)
        if near.size == 0:
            return
        rows = _widen(stamp_rows, HEIGHT_PX)
        columns = _widen(stamp_columns, WIDTH_PX)
        specials = [
            special
            for special in self.specials
            if rows.start <= special.y + special.touch_px
            and special.y - special.touch_px < rows.stop
            and columns.start <= special.x + special.touch_px
            and special.x - special.touch_px < columns.stop
        ]
        before = self._between(rows, columns, specials)
        covered = self.labels[stamp_rows, stamp_columns]
        kept = covered[near]
        covered[near] = 0
        after = self._between(rows, columns, specials)
        covered[near] = kept
        for key in sorted_difference(before, after).tolist():
            edges.doors_of[key] = (*edges.doors_of.get(key, ()), number)

    def _between(self, rows: slice, columns: slice, specials: list[Special]) -> NDArray[np.int64]:
        keys = self._pixel_keys(self.labels[rows, columns], rows, columns)
        return sorted_unique(np.concatenate([keys, _touch_keys(self.labels, specials)])) if specials else keys

    def _pixel_keys(self, labels: NDArray[np.uint16], rows: slice, columns: slice) -> NDArray[np.int64]:
        """Sorted edges inside a window that begins and ends at half cells."""
        sides = (_border_sides(labels, vertical=False), _border_sides(labels, vertical=True))
        found = []
        for vertical, step, source_side, source_cut, target_cut in _CROSSINGS:
            a = sides[vertical][source_side][:, source_cut]
            b = sides[vertical][1 - source_side][:, target_cut]
            forth = back = (a > 0) & (b > 0)
            if self.stops is not None:
                stop_forth = _border_sides(self.stops[step, rows, columns], vertical)[source_side][:, source_cut]
                stop_back = _border_sides(self.stops[step + 4, rows, columns], vertical)[1 - source_side]
                forth, back = forth & ~stop_forth, back & ~stop_back[:, target_cut]
            found += [_distinct(a[forth], b[forth]), _distinct(b[back], a[back])]
        if self.stops is not None:
            found += self._under_surfaces(labels, rows, columns)
        return sorted_unique(np.concatenate(found))

    def _under_surfaces(self, labels: NDArray[np.uint16], rows: slice, columns: slice) -> list[NDArray[np.int64]]:
        """Contacts within a half cell, which only the surface of a platform makes."""
        assert self.stops is not None
        found = []
        for one_way in self.one_ways:
            top, bottom = _cut(one_way.window[0], rows)
            left, right = _cut(one_way.window[1], columns)
            if bottom - top < 3 or right - left < 3:
                continue
            inner = labels[top:bottom, left:right]
            height, width = inner.shape
            a = inner[1:-1, 1:-1]
            for number, (dy, dx) in enumerate(STEPS):
                b = inner[1 + dy : height - 1 + dy, 1 + dx : width - 1 + dx]
                y, x = rows.start + top + 1, columns.start + left + 1
                stopped = self.stops[number, y : y + height - 2, x : x + width - 2]
                there = (a > 0) & (b > 0) & (a != b) & ~stopped
                found.append(sorted_unique(make_keys(a[there], b[there])))
        return found


def _cut(inner: slice, outer: slice) -> tuple[int, int]:
    """The common part of two slices, relative to the outer one."""
    return max(inner.start, outer.start) - outer.start, min(inner.stop, outer.stop) - outer.start


def _widen(stamp: slice, limit: int) -> slice:
    """To whole half cells, and one more on either side."""
    first, last = stamp.start // HALF_PX - 1, -(-stamp.stop // HALF_PX) + 1
    return slice(max(0, first * HALF_PX), min(limit, last * HALF_PX))


def _border_sides(image: NDArray[Any], vertical: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """Pixels before and behind each border between half cells, one border a row."""
    lines = image.T if vertical else image
    return np.ascontiguousarray(lines[HALF_PX - 1 : -1 : HALF_PX]), np.ascontiguousarray(lines[HALF_PX::HALF_PX])


def _distinct(sources: NDArray[np.uint16], targets: NDArray[np.uint16]) -> NDArray[np.int64]:
    """Keys, most repetitions removed: they follow each other along a border."""
    keys = make_keys(sources, targets)
    return keys if len(keys) == 0 else keys[np.concatenate([[True], keys[1:] != keys[:-1]])]


def _touch_keys(labels: NDArray[np.uint16], specials: list[Special]) -> NDArray[np.int64]:
    """Edges from the nodes that have a pixel within touch of a special."""
    found = [np.zeros(0, np.int64)]
    for special in specials:
        reach = int(special.touch_px) + 1
        x, y = int(special.x), int(special.y)
        rows = slice(max(0, y - reach), max(0, min(HEIGHT_PX, y + reach + 1)))
        columns = slice(max(0, x - reach), max(0, min(WIDTH_PX, x + reach + 1)))
        py, px = np.ogrid[rows, columns]
        near = (px - special.x) ** 2 + (py - special.y) ** 2 < special.touch_px**2
        touching = labels[rows, columns][near]
        sources = sorted_unique(touching[touching > 0])
        found.append(make_keys(sources, np.full(len(sources), special.label)))
    return sorted_unique(np.concatenate(found))


def _stops(one_ways: list[OneWay]) -> NDArray[np.bool_]:
    """For each step and pixel, whether that step goes down through a surface (8, 600, 1056)."""
    stops = np.zeros((len(STEPS), HEIGHT_PX, WIDTH_PX), np.bool_)
    for one_way in one_ways:
        rows, columns = one_way.window
        height, width = one_way.above.shape
        for number, (dy, dx) in enumerate(STEPS):
            a_rows = slice(max(0, -dy), height - max(0, dy))
            a_columns = slice(max(0, -dx), width - max(0, dx))
            b_rows = slice(max(0, dy), height - max(0, -dy))
            b_columns = slice(max(0, dx), width - max(0, -dx))
            through = one_way.above[a_rows, a_columns] & one_way.under[b_rows, b_columns]
            stops[number, rows, columns][a_rows, a_columns] |= through
    return stops
