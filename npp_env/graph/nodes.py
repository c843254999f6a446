"""The nodes of a navigation graph: one for each connected piece of free space within a half cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from npp_env.graph.free_space import HALF_COLUMNS, HALF_PX, HALF_ROWS
from npp_env.graph.images import spread_labels
from npp_env.graph.layout import MAX_NODES, NO_NODE, require_room
from npp_env.graph.one_ways import OneWay
from npp_env.graph.pieces import describe_pieces, label_half_cells

HALF_CELLS = HALF_ROWS * HALF_COLUMNS
PIXELS = HALF_PX * HALF_PX
_COARSE = 2


@dataclass(slots=True)
class LatticeNodes:
    """Nodes in the order of their half cells, and within one of their first pixels.

    Attributes:
        labels: Node of every pixel [y, x], counted from 1; 0 where the ninja does not fit.
        x, y: A place of the node where the ninja fits, the nearest to the centre of its half cell.
        half: Half cell of each node, row * 88 + column.
        nearest: Node for every half cell.
        split_half: Half cells that have several nodes.
        split_node: Node of each of their pixels.
    """

    labels: NDArray[np.uint16]  # (600, 1056)
    x: NDArray[np.float32]  # (n,)
    y: NDArray[np.float32]  # (n,)
    half: NDArray[np.uint16]  # (n,)
    nearest: NDArray[np.uint16]  # (4400,)
    split_half: NDArray[np.uint16]  # (s,)
    split_node: NDArray[np.uint16]  # (s, 144)


def find_nodes(free: NDArray[np.bool_], one_ways: list[OneWay]) -> LatticeNodes:
    """Split the free pixels into nodes; the surface of a one-way platform divides a half cell."""
    count, labels = label_half_cells(free.view(np.uint8))
    if one_ways:
        count, labels = _divide(labels, one_ways)
    half, best, first = describe_pieces(labels, count)
    if one_ways:
        order = np.lexsort((first[1:], half[1:]))
        rank = np.zeros(count, np.uint16)
        rank[1 + order] = np.arange(1, count)
        half[1:], best[1:], labels = half[1:][order], best[1:][order], rank[labels]
    half, best = half[1:], best[1:]
    x = HALF_PX * (half % HALF_COLUMNS) + best % HALF_PX
    y = HALF_PX * (half // HALF_COLUMNS) + best // HALF_PX
    nearest, split_half, split_node = _tables(labels, half)
    return LatticeNodes(
        labels, x.astype(np.float32), y.astype(np.float32), half.astype(np.uint16), nearest, split_half, split_node
    )


def half_cells(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.int64]:
    """Index of the half cell that each point lies in, clamped to the world; a fresh array (n,)."""
    column = np.clip(np.floor(x / HALF_PX), 0, HALF_COLUMNS - 1)
    row = np.clip(np.floor(y / HALF_PX), 0, HALF_ROWS - 1)
    return np.asarray(row * HALF_COLUMNS + column, np.int64)


def _divide(pieces: NDArray[np.uint16], one_ways: list[OneWay]) -> tuple[int, NDArray[np.uint16]]:
    """Tell apart pixels of a piece that lie under the surface of different one-way platforms."""
    image = pieces.astype(np.int64)
    code = np.zeros(image.shape, np.uint64)
    for k, one_way in enumerate(one_ways):
        # Sums of random numbers tell sets of platforms apart, as a hash does.
        code[one_way.window] += one_way.under * np.uint64(_random_bits(k + 1))
    inside = (image > 0) & (code != 0)
    first = int(image.max()) + 1
    piece, covered = image[inside], code[inside]
    order = np.lexsort((covered.view(np.int64), piece))
    piece, covered = piece[order], covered[order]
    begins = (np.diff(piece, prepend=piece[:1]) != 0) | (covered != np.roll(covered, 1))
    begins[:1] = False
    numbers = np.empty(len(order), np.int64)
    numbers[order] = first + np.cumsum(begins)
    image[inside] = numbers
    # Pieces that lie wholly under a surface have lost their old number.
    used = np.bincount(image.reshape(-1)) > 0
    used[0] = True
    require_room("nodes", int(np.count_nonzero(used)) - 1, MAX_NODES)
    renumbered = (np.cumsum(used) - 1).astype(np.uint16)
    return int(renumbered[-1]) + 1, renumbered[image]


def _random_bits(number: int) -> int:
    """64 bits that look random (the mixing of splitmix64); 0 only for 0."""
    z = (number * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return z ^ (z >> 31)


def _tables(
    labels: NDArray[np.uint16], half: NDArray[np.int64]
) -> tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.uint16]]:
    """Nearest node by half cell, and by pixel where a half cell has several."""
    nearest = np.full(HALF_CELLS, NO_NODE, np.uint16)
    cells, first, counts = np.unique(half, return_index=True, return_counts=True)
    several = cells[counts > 1]
    split = np.zeros((len(several), PIXELS), np.uint16)
    if len(half):
        nearest[:] = _nearest_by_half_cell(labels) - 1
        nearest[cells] = first
    for place, cell in enumerate(several.tolist()):
        row, column = divmod(cell, HALF_COLUMNS)
        y, x = HALF_PX * row, HALF_PX * column
        own = labels[y : y + HALF_PX, x : x + HALF_PX].reshape(-1)
        free = np.flatnonzero(own)
        split[place] = own[free[_pixel_distances()[:, free].argmin(axis=1)]] - 1
        # Without looking closer, the larger piece is the better guess.
        nearest[cell] = np.bincount(own[free]).argmax() - 1
    return nearest, several.astype(np.uint16), split


def _nearest_by_half_cell(labels: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Label of the free pixel that comes nearest to any pixel of a half cell; every other pixel is looked at."""
    distance, spread = spread_labels(labels[::_COARSE, ::_COARSE])
    size = HALF_PX // _COARSE
    shape = (HALF_ROWS, size, HALF_COLUMNS, size)
    closest = distance.reshape(shape).transpose(0, 2, 1, 3).reshape(HALF_CELLS, size * size).argmin(axis=1)
    near = spread.reshape(shape).transpose(0, 2, 1, 3).reshape(HALF_CELLS, size * size)
    return np.asarray(near[np.arange(HALF_CELLS), closest])


@lru_cache(maxsize=1)
def _pixel_distances() -> NDArray[np.int64]:
    """Squared distance between any two pixels of a half cell (144, 144)."""
    y, x = np.divmod(np.arange(PIXELS), HALF_PX)
    return np.asarray((x[:, None] - x) ** 2 + (y[:, None] - y) ** 2)
