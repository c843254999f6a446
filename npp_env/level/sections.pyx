"""The sections of a block: a level has three blocks with fifty sections, and whoever resets an environment opens them."""


def open_sections(block, list places, tuple names, tuple dtypes, Py_ssize_t first) -> dict:
    """Read-only views of the sections of a read-only block, by name.

    Args:
        block: uint8 (n,).
        places: Offset and element count of each section.
        names: Of the sections.
        dtypes: Likewise.
        first: Byte before which no section can begin.

    Raises:
        ValueError: A section does not lie in the block; it has its name, and where it would begin and end.
    """
    cdef Py_ssize_t k, start, count, end
    cdef Py_ssize_t size = len(block)
    cdef dict found = {}
    for k in range(len(names)):
        start, count = places[2 * k], places[2 * k + 1]
        end = start + count * <Py_ssize_t>dtypes[k].itemsize
        if start < first or start % 8 or count < 0 or end > size:
            raise ValueError(names[k], start, end)
        found[names[k]] = block[start:end].view(dtypes[k])
    return found
