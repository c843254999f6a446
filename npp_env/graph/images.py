"""Two operations on images: numbering the connected pieces, and finding the piece that is nearest.

They stand here so that building a graph does not load an image library into every training process, which would cost it
more memory than a thousand environments.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

FAR = cython.declare(cython.int, 1000000000)
# Steps along an axis, diagonally and as a knight, in fifths of a pixel: within 2 % of the straight distance.
STRAIGHT = cython.declare(cython.int, 5)
DIAGONAL = cython.declare(cython.int, 7)
KNIGHT = cython.declare(cython.int, 11)


@cython.cfunc
@cython.exceptval(check=False)
def root_of(parents: cython.uint[::1], label: cython.uint) -> cython.uint:
    """The representative of a label; halves the way for the next one who asks."""
    while parents[label] != label:
        parents[label] = parents[parents[label]]
        label = parents[label]
    return label


def label_pieces(image: Any) -> tuple[int, Any]:
    """Number the connected pieces (8 neighbours) of the non-zero pixels.

    Args:
        image: uint8 (height, width), contiguous.

    Returns:
        One more than the number of pieces, and a fresh uint16 array with 0 for the background and 1.. for the pieces in
        the order in which a scan from the top left meets them.
    """
    source: cython.uchar[:, ::1] = image
    height: cython.Py_ssize_t = image.shape[0]
    width: cython.Py_ssize_t = image.shape[1]
    provisional: cython.uint[:, ::1] = np.zeros((height, width), np.uint32)
    parents: cython.uint[::1] = np.zeros(height * width // 2 + width + 2, np.uint32)
    numbers: cython.uint[::1] = np.zeros(height * width // 2 + width + 2, np.uint32)
    labels = np.zeros((height, width), np.uint16)
    final: cython.ushort[:, ::1] = labels
    count: cython.uint = 1
    pieces: cython.uint = 0
    label: cython.uint
    other: cython.uint
    y: cython.Py_ssize_t
    x: cython.Py_ssize_t
    for y in range(height):
        for x in range(width):
            if source[y, x] == 0:
                continue
            label = provisional[y, x - 1] if x > 0 else 0
            if y > 0:
                other = provisional[y - 1, x]
                if other == 0:
                    # A pixel straight above touches both of its neighbours, so only without it they may differ.
                    if x > 0 and provisional[y - 1, x - 1] != 0:
                        label = provisional[y - 1, x - 1] if label == 0 else label
                    if x + 1 < width:
                        other = provisional[y - 1, x + 1]
                if other != 0:
                    if label == 0:
                        label = other
                    else:
                        label = root_of(parents, label)
                        other = root_of(parents, other)
                        if other < label:
                            parents[label] = other
                            label = other
                        else:
                            parents[other] = label
            if label == 0:
                label = count
                parents[count] = count
                count += 1
            provisional[y, x] = label
    for y in range(height):
        for x in range(width):
            label = provisional[y, x]
            if label != 0:
                label = root_of(parents, label)
                if numbers[label] == 0:
                    pieces += 1
                    numbers[label] = pieces
                final[y, x] = numbers[label]
    if pieces > 65535:
        raise ValueError(f"{pieces} pieces do not fit into 16 bits")
    return int(pieces) + 1, labels


@cython.cfunc
@cython.exceptval(check=False)
def look_from(
    distances: cython.int[:, ::1],
    labels: cython.ushort[:, ::1],
    y: cython.Py_ssize_t,
    x: cython.Py_ssize_t,
    y2: cython.Py_ssize_t,
    x2: cython.Py_ssize_t,
    cost: cython.int,
) -> cython.void:
    """Take over the label of a neighbour if the way over it is shorter."""
    if y2 < 0 or x2 < 0 or y2 >= distances.shape[0] or x2 >= distances.shape[1]:
        return
    if distances[y2, x2] + cost < distances[y, x]:
        distances[y, x] = distances[y2, x2] + cost
        labels[y, x] = labels[y2, x2]


def spread_labels(image: Any) -> tuple[Any, Any]:
    """Give every pixel the label of the nearest labelled one.

    Args:
        image: uint16 (height, width), contiguous; 0 for pixels without a label.

    Returns:
        Fresh arrays: int32 distances in fifths of a pixel (0 where there was a label), and uint16 labels (0 only if the
        image has none).
    """
    height: cython.Py_ssize_t = image.shape[0]
    width: cython.Py_ssize_t = image.shape[1]
    found = np.array(image, np.uint16)
    measured = np.where(found != 0, 0, FAR).astype(np.int32)
    labels: cython.ushort[:, ::1] = found
    distances: cython.int[:, ::1] = measured
    y: cython.Py_ssize_t
    x: cython.Py_ssize_t
    for y in range(height):
        for x in range(width):
            if distances[y, x] != 0:
                look_from(distances, labels, y, x, y, x - 1, STRAIGHT)
                look_from(distances, labels, y, x, y - 1, x, STRAIGHT)
                look_from(distances, labels, y, x, y - 1, x - 1, DIAGONAL)
                look_from(distances, labels, y, x, y - 1, x + 1, DIAGONAL)
                look_from(distances, labels, y, x, y - 2, x - 1, KNIGHT)
                look_from(distances, labels, y, x, y - 2, x + 1, KNIGHT)
                look_from(distances, labels, y, x, y - 1, x - 2, KNIGHT)
                look_from(distances, labels, y, x, y - 1, x + 2, KNIGHT)
    for y in range(height - 1, -1, -1):
        for x in range(width - 1, -1, -1):
            if distances[y, x] != 0:
                look_from(distances, labels, y, x, y, x + 1, STRAIGHT)
                look_from(distances, labels, y, x, y + 1, x, STRAIGHT)
                look_from(distances, labels, y, x, y + 1, x + 1, DIAGONAL)
                look_from(distances, labels, y, x, y + 1, x - 1, DIAGONAL)
                look_from(distances, labels, y, x, y + 2, x + 1, KNIGHT)
                look_from(distances, labels, y, x, y + 2, x - 1, KNIGHT)
                look_from(distances, labels, y, x, y + 1, x + 2, KNIGHT)
                look_from(distances, labels, y, x, y + 1, x - 2, KNIGHT)
    return measured, found
