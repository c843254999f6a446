# The transitions of a block of states, and numbers that are stored as float32 or float64 and computed as float64.

from libc.stdint cimport uint16_t, uint32_t
from npp_env.runtime.thread_pool cimport ThreadPool, Work

cdef enum:
    NONE_FAILED = -1
    NO_MEMORY = -2

cdef struct RowBlock:
    Py_ssize_t count  # states
    const uint32_t* offsets
    const uint32_t* successors
    const uint16_t* actions  # NULL: every action once
    const double* probabilities  # NULL: certain
    const double* rewards  # NULL: none
    Py_ssize_t first_target  # number of the state that the first row of the targets is for
    Py_ssize_t failed  # a state that lacks an action, `NONE_FAILED` or `NO_MEMORY`


cdef inline RowBlock row_block(given, Py_ssize_t first_target):
    """The block of `Rows`; the caller keeps them alive."""
    cdef const uint32_t[::1] offsets = given.offsets
    cdef const uint32_t[::1] successors = given.successors
    cdef const uint16_t[::1] actions = given.actions
    cdef const double[::1] probabilities = given.probabilities
    cdef const double[::1] rewards = given.rewards
    cdef RowBlock rows
    cdef bint some = successors.shape[0] > 0
    rows.count = offsets.shape[0] - 1
    rows.offsets = &offsets[0]
    rows.successors = &successors[0] if some else NULL
    rows.actions = &actions[0] if some and actions is not None else NULL
    rows.probabilities = &probabilities[0] if some and probabilities is not None else NULL
    rows.rewards = &rewards[0] if some and rewards is not None else NULL
    rows.first_target = first_target
    rows.failed = NONE_FAILED
    return rows


cdef inline Py_ssize_t run_block(RowBlock* rows, ThreadPool pool, Work work, void* job):
    """Let threads do a job, which has these rows; -1, or the place of a state that lacks an action."""
    pool.run(work, job, rows.count)
    if rows.failed == NO_MEMORY:
        raise MemoryError
    return rows.failed


cdef inline double number_at(const void* numbers, Py_ssize_t i, bint wide) noexcept nogil:
    return (<const double*>numbers)[i] if wide else <double>(<const float*>numbers)[i]


cdef inline void put_number(void* numbers, Py_ssize_t i, bint wide, double value) noexcept nogil:
    if wide:
        (<double*>numbers)[i] = value
    else:
        (<float*>numbers)[i] = <float>value


cdef inline void add_scaled(
    double* total, const void* numbers, Py_ssize_t first, Py_ssize_t n, bint wide, double factor
) noexcept nogil:
    """Add some numbers, times a factor."""
    cdef Py_ssize_t i
    cdef const double* doubles = <const double*>numbers + first
    cdef const float* floats = <const float*>numbers + first
    if wide:
        for i in range(n):
            total[i] += factor * doubles[i]
    else:
        for i in range(n):
            total[i] += factor * <double>floats[i]


cdef inline bint find_actions(RowBlock* rows, Py_ssize_t i, int action_count, Py_ssize_t* starts) noexcept nogil:
    """Where the transitions of each action of a state begin, and where the last ones end; False if one has none."""
    cdef Py_ssize_t k = rows.offsets[i]
    cdef Py_ssize_t end = rows.offsets[i + 1]
    cdef int action
    for action in range(action_count):
        starts[action] = k
        if rows.actions == NULL:
            k += 1
        else:
            while k < end and rows.actions[k] == action:
                k += 1
        if k == starts[action]:
            return False
    starts[action_count] = k
    return k == end


cdef inline void expect_row(
    RowBlock* rows, Py_ssize_t k, Py_ssize_t end, const void* targets, Py_ssize_t width, Py_ssize_t first,
    Py_ssize_t n, bint wide, double* total,
) noexcept nogil:
    """The expectation of n columns of the targets over the transitions k..end-1."""
    cdef Py_ssize_t i, row
    for i in range(n):
        total[i] = 0
    while k < end:
        row = (<Py_ssize_t>rows.successors[k] - rows.first_target) * width + first
        add_scaled(total, targets, row, n, wide, 1.0 if rows.probabilities == NULL else rows.probabilities[k])
        k += 1
