"""Finding the piece of an image that is nearest.

It stands here so that building a graph does not load an image library into every training process, which would cost it
more memory than a thousand environments.
"""

import numpy as np

cdef int FAR = 1000000000
# Steps along an axis, diagonally and as a knight, in fifths of a pixel: within 2 % of the straight distance.
cdef int STRAIGHT = 5
cdef int DIAGONAL = 7
cdef int KNIGHT = 11


# Room around an image, so that nobody has to ask whether a neighbour lies in it.
cdef enum:
    RIM = 2


cdef inline void look_from(int* distance, unsigned short* label, Py_ssize_t step, int cost) noexcept nogil:
    """Take over the label of a neighbour if the way over it is shorter."""
    if distance[step] + cost < distance[0]:
        distance[0] = distance[step] + cost
        label[0] = label[step]


cdef void spread(int* distance, unsigned short* label, Py_ssize_t height, Py_ssize_t width) noexcept nogil:
    """Look at the neighbours before every pixel, row by row, then at those behind it, back to the beginning."""
    cdef Py_ssize_t wide = width + 2 * RIM
    cdef Py_ssize_t y, x, k
    for y in range(RIM, height + RIM):
        for x in range(RIM, width + RIM):
            k = y * wide + x
            if distance[k] != 0:
                look_from(&distance[k], &label[k], -1, STRAIGHT)
                look_from(&distance[k], &label[k], -wide, STRAIGHT)
                look_from(&distance[k], &label[k], -wide - 1, DIAGONAL)
                look_from(&distance[k], &label[k], -wide + 1, DIAGONAL)
                look_from(&distance[k], &label[k], -2 * wide - 1, KNIGHT)
                look_from(&distance[k], &label[k], -2 * wide + 1, KNIGHT)
                look_from(&distance[k], &label[k], -wide - 2, KNIGHT)
                look_from(&distance[k], &label[k], -wide + 2, KNIGHT)
    for y in range(height + RIM - 1, RIM - 1, -1):
        for x in range(width + RIM - 1, RIM - 1, -1):
            k = y * wide + x
            if distance[k] != 0:
                look_from(&distance[k], &label[k], 1, STRAIGHT)
                look_from(&distance[k], &label[k], wide, STRAIGHT)
                look_from(&distance[k], &label[k], wide + 1, DIAGONAL)
                look_from(&distance[k], &label[k], wide - 1, DIAGONAL)
                look_from(&distance[k], &label[k], 2 * wide + 1, KNIGHT)
                look_from(&distance[k], &label[k], 2 * wide - 1, KNIGHT)
                look_from(&distance[k], &label[k], wide + 2, KNIGHT)
                look_from(&distance[k], &label[k], wide - 2, KNIGHT)


def spread_labels(image) -> tuple:
    """Give every pixel the label of the nearest labelled one.

    Args:
        image: uint16 (height, width); 0 for pixels without a label.

    Returns:
        Views of fresh arrays: int32 distances in fifths of a pixel (0 where there was a label), and uint16 labels (0
        only if the image has none).
    """
    height, width = image.shape
    found = np.zeros((height + 2 * RIM, width + 2 * RIM), np.uint16)
    inside = (slice(RIM, height + RIM), slice(RIM, width + RIM))
    found[inside] = image
    measured = np.full(found.shape, FAR, np.int32)
    measured[found != 0] = 0
    cdef unsigned short[:, ::1] labels = found
    cdef int[:, ::1] distances = measured
    spread(&distances[0, 0], &labels[0, 0], height, width)
    return measured[inside], found[inside]
