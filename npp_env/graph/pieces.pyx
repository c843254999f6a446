"""Pieces of free space: stamped out of an image, freed of cavities, numbered within half cells, and described."""

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


cdef int root_of(int* parents, int run) noexcept nogil:
    """The representative of a run's piece; halves the way for the next one who asks."""
    while parents[run] != run:
        parents[run] = parents[parents[run]]
        run = parents[run]
    return run


cdef class Runs:
    """The rows of an image as runs of non-zero pixels, joined to pieces (8 neighbours)."""

    cdef int[::1] start
    cdef int[::1] end
    cdef int[::1] parents
    cdef int[::1] first_of_row
    cdef int count

    def __init__(self, const unsigned char[:, ::1] image) -> None:
        cdef Py_ssize_t height = image.shape[0]
        cdef Py_ssize_t width = image.shape[1]
        room = height * ((width + 1) // 2)
        self.start, self.end, self.parents = (np.empty(room + 1, np.int32) for _ in range(3))
        self.first_of_row = np.empty(height + 1, np.int32)
        cdef Py_ssize_t y, x
        cdef int above = 0
        for y in range(height):
            self.first_of_row[y] = self.count
            x = 0
            while x < width:
                if image[y, x] == 0:
                    x += 1
                    continue
                self.start[self.count] = x
                while x < width and image[y, x] != 0:
                    x += 1
                self.end[self.count] = x
                self.parents[self.count] = self.count
                if y > 0:
                    above = self.join(above, self.first_of_row[y])
                self.count += 1
            above = self.first_of_row[y]
        self.first_of_row[height] = self.count

    cdef int join(self, int above, int behind) noexcept nogil:
        """Join the last run to those of the row above that it touches, from `above` on; returns the first of them."""
        cdef int run, one, other
        cdef int start = self.start[self.count]
        cdef int end = self.end[self.count]
        while above < behind and self.end[above] < start:
            above += 1
        run = above
        while run < behind and self.start[run] <= end:
            one, other = root_of(&self.parents[0], run), root_of(&self.parents[0], self.count)
            self.parents[max(one, other)] = min(one, other)
            run += 1
        return above


def keep_open(const unsigned char[:, ::1] free, const unsigned char[:, ::1] solid, Py_ssize_t row, Py_ssize_t column):
    """The free pixels without the pieces that lie wholly in matter.

    Args:
        free: The image.
        solid: Where there is matter.
        row: Of a pixel whose piece is kept in any case.
        column: Of this pixel.

    Returns:
        A fresh bool image.
    """
    cdef Runs runs = Runs(free)
    cdef unsigned char[::1] keep = np.zeros(runs.count + 1, np.uint8)
    kept = np.zeros((free.shape[0], free.shape[1]), np.bool_)
    cdef unsigned char[:, ::1] out = kept.view(np.uint8)
    cdef Py_ssize_t y, x
    cdef int run, root
    for y in range(free.shape[0]):
        for run in range(runs.first_of_row[y], runs.first_of_row[y + 1]):
            root = root_of(&runs.parents[0], run)
            keep[root] |= y == row and runs.start[run] <= column < runs.end[run]
            x = runs.start[run]
            while keep[root] == 0 and x < runs.end[run]:
                keep[root] = solid[y, x] == 0
                x += 1
    for y in range(free.shape[0]):
        for run in range(runs.first_of_row[y], runs.first_of_row[y + 1]):
            if keep[root_of(&runs.parents[0], run)]:
                memset(&out[y, runs.start[run]], 1, runs.end[run] - runs.start[run])
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


cdef inline bint is_one_piece(const unsigned short[:, ::1] pieces, Py_ssize_t top, Py_ssize_t left) noexcept:
    """Whether all pixels of a half cell are of the same piece, or of none."""
    cdef unsigned short different = 0
    cdef unsigned short piece = pieces[top, left]
    cdef Py_ssize_t y, x
    for y in range(top, top + HALF_PX):
        for x in range(left, left + HALF_PX):
            different |= pieces[y, x] ^ piece
    return different == 0


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
            if is_one_piece(pieces, row * HALF_PX, column * HALF_PX):
                piece = pieces[row * HALF_PX, column * HALF_PX]
                out[0, piece] = row * HALF_COLUMNS + column
                out[1, piece] = centre * HALF_PX + centre
                continue
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
    found[:, 0] = 0
    return found[0], found[1], found[2]
