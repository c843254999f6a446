"""Takes states away that nothing leads to."""

from libc.stdint cimport uint32_t

cdef enum:
    TAKEN = 0xFFFFFFFF


def peel(
    const uint32_t[::1] offsets, const uint32_t[::1] successors, Py_ssize_t first, uint32_t[::1] arriving
) -> int:
    """Take the states first..first+n-1 away that nothing leads to, and their transitions, in this order.

    Args:
        offsets: Of their transitions (n + 1,).
        successors: Where these lead.
        first: Number of the first state.
        arriving: How many transitions lead to each state of the model; becomes 2**32 - 1 of one that is taken away.

    Returns:
        How many were taken away.
    """
    cdef Py_ssize_t i, k
    cdef Py_ssize_t n = offsets.shape[0] - 1
    cdef Py_ssize_t taken = 0
    if first < 0 or first + n > arriving.shape[0]:
        raise ValueError(f"states {first} to {first + n} of {arriving.shape[0]}")
    with nogil:
        for i in range(n):
            if arriving[first + i] != 0:
                continue
            for k in range(offsets[i], offsets[i + 1]):
                arriving[successors[k]] -= 1
            arriving[first + i] = <uint32_t>TAKEN
            taken += 1
    return taken
