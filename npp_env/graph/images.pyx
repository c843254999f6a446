"""Two operations on images: numbering the connected pieces, and finding the piece that is nearest.

They stand here so that building a graph does not load an image library into every training process, which would cost it
more memory than a thousand environments.
"""

import numpy as np

cdef int FAR = 1000000000
# Steps along an axis, diagonally and as a knight, in fifths of a pixel: within 2 % of the straight distance.
cdef int STRAIGHT = 5
cdef int DIAGONAL = 7
cdef int KNIGHT = 11


cdef unsigned int root_of(unsigned int[::1] parents, unsigned int label) noexcept:
    """The representative of a label; halves the way for the next one who asks."""
    while parents[label] != label:
        parents[label] = parents[parents[label]]
        label = parents[label]
    return label


def label_pieces(image) -> tuple:
    """Number the connected pieces (8 neighbours) of the non-zero pixels.

    Args:
        image: uint8 (height, width), contiguous.

    Returns:
        One more than the number of pieces, and a fresh uint16 array with 0 for the background and 1.. for the pieces in
        the order in which a scan from the top left meets them.
    """
    cdef unsigned char[:, ::1] source = image
    cdef Py_ssize_t height = image.shape[0]
    cdef Py_ssize_t width = image.shape[1]
    cdef unsigned int[:, ::1] provisional = np.zeros((height, width), np.uint32)
    cdef unsigned int[::1] parents = np.zeros(height * width // 2 + width + 2, np.uint32)
    cdef unsigned int[::1] numbers = np.zeros(height * width // 2 + width + 2, np.uint32)
    labels = np.zeros((height, width), np.uint16)
    cdef unsigned short[:, ::1] final = labels
    cdef unsigned int count = 1
    cdef unsigned int pieces = 0
    cdef unsigned int label, other
    cdef Py_ssize_t y, x
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


cdef void look_from(
    int[:, ::1] distances, unsigned short[:, ::1] labels, Py_ssize_t y, Py_ssize_t x, Py_ssize_t y2, Py_ssize_t x2,
    int cost
) noexcept:
    """Take over the label of a neighbour if the way over it is shorter."""
    if y2 < 0 or x2 < 0 or y2 >= distances.shape[0] or x2 >= distances.shape[1]:
        return
    if distances[y2, x2] + cost < distances[y, x]:
        distances[y, x] = distances[y2, x2] + cost
        labels[y, x] = labels[y2, x2]


def spread_labels(image) -> tuple:
    """Give every pixel the label of the nearest labelled one.

    Args:
        image: uint16 (height, width), contiguous; 0 for pixels without a label.

    Returns:
        Fresh arrays: int32 distances in fifths of a pixel (0 where there was a label), and uint16 labels (0 only if the
        image has none).
    """
    cdef Py_ssize_t height = image.shape[0]
    cdef Py_ssize_t width = image.shape[1]
    found = np.array(image, np.uint16)
    measured = np.where(found != 0, 0, FAR).astype(np.int32)
    cdef unsigned short[:, ::1] labels = found
    cdef int[:, ::1] distances = measured
    cdef Py_ssize_t y, x
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
