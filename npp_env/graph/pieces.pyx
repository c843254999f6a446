"""Pieces of free space: stamped out of an image, numbered within half cells, and described."""

import numpy as np

from libc.string cimport memset
from npp_env.sim.layout cimport HALF_COLUMNS, HALF_PX, HALF_ROWS

cdef enum:
    PIXELS = HALF_PX * HALF_PX


def stamp(unsigned char[:, ::1] image, const long long[::1] rows, const long long[::1] columns, const int[:, ::1] runs):
    """Set pixels around some places.

    Args:
        image: The image; what is stamped lies within it.
        rows: Of the places.
        columns: Of the places.
        runs: Of a place, each a row and the columns from and to which pixels are set, relative to it.
    """
    cdef Py_ssize_t k, r
    for k in range(rows.shape[0]):
        for r in range(runs.shape[0]):
            memset(&image[rows[k] + runs[r, 0], columns[k] + runs[r, 1]], 1, runs[r, 2] - runs[r, 1])


def keep_open(const unsigned short[:, ::1] pieces, const unsigned char[:, ::1] solid, Py_ssize_t count, int always):
    """The pixels of pieces that do not lie wholly in matter.

    Args:
        pieces: Piece of every pixel, 0 for none.
        solid: Where there is matter.
        count: One more than the number of pieces.
        always: A piece that is kept in any case.

    Returns:
        A fresh bool image.
    """
    cdef unsigned char[::1] keep = np.zeros(count, np.uint8)
    kept = np.empty((pieces.shape[0], pieces.shape[1]), np.bool_)
    cdef unsigned char[:, ::1] out = kept.view(np.uint8)
    cdef Py_ssize_t y, x
    cdef unsigned short last = 0
    for y in range(pieces.shape[0]):
        for x in range(pieces.shape[1]):
            if pieces[y, x] != last and solid[y, x] == 0:
                last = pieces[y, x]
                keep[last] = 1
    keep[always] = 1
    keep[0] = 0
    for y in range(pieces.shape[0]):
        for x in range(pieces.shape[1]):
            out[y, x] = keep[pieces[y, x]]
    return kept


cdef int spread_in(unsigned short[:, ::1] pieces, const unsigned char[:, ::1] free, Py_ssize_t top, Py_ssize_t left,
                   Py_ssize_t first, unsigned short number) noexcept:
    """Number a piece of a half cell, from a pixel of it on; returns how many pixels it has."""
    cdef unsigned char[PIXELS] stack
    cdef int height = 1
    cdef int size = 0
    cdef Py_ssize_t y, x, y2, x2
    stack[0] = first
    pieces[top + first // HALF_PX, left + first % HALF_PX] = number
    while height > 0:
        height -= 1
        size += 1
        y = stack[height] // HALF_PX
        x = stack[height] % HALF_PX
        for y2 in range(max(y - 1, 0), min(y + 1, HALF_PX - 1) + 1):
            for x2 in range(max(x - 1, 0), min(x + 1, HALF_PX - 1) + 1):
                if free[top + y2, left + x2] and pieces[top + y2, left + x2] == 0:
                    pieces[top + y2, left + x2] = number
                    stack[height] = y2 * HALF_PX + x2
                    height += 1
    return size


cdef inline int count_free(const unsigned char[:, ::1] free, Py_ssize_t top, Py_ssize_t left) noexcept:
    """How many pixels of a half cell are free."""
    cdef int count = 0
    cdef Py_ssize_t y, x
    for y in range(top, top + HALF_PX):
        for x in range(left, left + HALF_PX):
            count += free[y, x]
    return count


def label_half_cells(const unsigned char[:, ::1] free):
    """Number the connected pieces (8 neighbours) within each half cell, in the order of their first pixels.

    Args:
        free: Image (600, 1056).

    Returns:
        One more than the number of pieces, and a fresh uint16 image, 0 where it is not free.
    """
    labels = np.zeros((HALF_ROWS * HALF_PX, HALF_COLUMNS * HALF_PX), np.uint16)
    cdef unsigned short[:, ::1] pieces = labels
    cdef Py_ssize_t row, column, top, left, pixel, y, x
    cdef int size
    cdef unsigned int count = 1
    for row in range(HALF_ROWS):
        for column in range(HALF_COLUMNS):
            top, left = row * HALF_PX, column * HALF_PX
            size = count_free(free, top, left)
            if size == PIXELS:
                for y in range(top, top + HALF_PX):
                    for x in range(left, left + HALF_PX):
                        pieces[y, x] = count
                count += 1
                continue
            pixel = 0
            while size > 0:
                y, x = top + pixel // HALF_PX, left + pixel % HALF_PX
                if free[y, x] and pieces[y, x] == 0:
                    size -= spread_in(pieces, free, top, left, pixel, count)
                    count += 1
                pixel += 1
    if count > 65536:
        raise ValueError(f"{count - 1} pieces do not fit into 16 bits")
    return int(count), labels


def describe_pieces(const unsigned short[:, ::1] pieces, Py_ssize_t count):
    """Where each piece lies.

    Args:
        pieces: Image (600, 1056): piece of every pixel, 0 for none; each within one half cell.
        count: One more than the number of pieces.

    Returns:
        Fresh int64 arrays (count,): the half cell of each piece; of its pixels, the one that is nearest to the centre
        of the half cell (the last of several) and the first.
    """
    found = np.zeros((3, count), np.int64)
    cdef long long[:, ::1] out = found
    cdef int[::1] least = np.full(count, 2 * PIXELS, np.int32)
    cdef Py_ssize_t row, column, y, x
    cdef int pixel, distance, piece
    cdef int centre = HALF_PX // 2
    for row in range(HALF_ROWS):
        for column in range(HALF_COLUMNS):
            for pixel in range(PIXELS):
                y, x = pixel // HALF_PX, pixel % HALF_PX
                piece = pieces[row * HALF_PX + y, column * HALF_PX + x]
                distance = (x - centre) * (x - centre) + (y - centre) * (y - centre)
                if piece == 0:
                    continue
                if least[piece] == 2 * PIXELS:
                    out[0, piece] = row * HALF_COLUMNS + column
                    out[2, piece] = pixel
                if distance <= least[piece]:
                    least[piece] = distance
                    out[1, piece] = pixel
    return found[0], found[1], found[2]
