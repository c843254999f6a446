"""One step of backward induction for one who decides alone."""

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport uint16_t
from libc.stdlib cimport free, malloc
from npp_env.induction.row_block cimport NO_MEMORY, RowBlock, number_at, put_number, row_block, run_block
from npp_env.runtime.thread_pool cimport ThreadPool, Work

cdef enum:
    MAX = 0
    SOFTMAX = 1
    ENTROPY = 2
    NO_ACTION = 0xFFFF

cdef struct OptimalJob:
    RowBlock rows
    bint wide
    int action_count
    int operator
    double beta
    const double* costs
    const void* targets
    void* values
    uint16_t* best
    void* policies


def optimal_block(
    rows, int operator, double beta, const double[::1] costs, targets, Py_ssize_t first_target, values,
    uint16_t[::1] best, policies, ThreadPool pool not None,
) -> None:
    """Values and policies of a block of states.

    Args:
        rows: `Rows`.
        operator: 0 for the best action; 1 for softmax(beta * Q) and its mean; 2 for the same with entropy.
        beta: How decided it is.
        costs: What each action costs.
        targets: What each state of the next level is worth on arrival, (states,).
        first_target: Number of the state of its first row.
        values: Gets (states,).
        best: Gets the first best action of each, 65535 where there is none.
        policies: Gets (states, actions); None of operator 0.
        pool: Threads.
    """
    cdef OptimalJob job
    job.rows = row_block(rows, first_target)
    job.wide = values.dtype.itemsize == 8
    job.action_count, job.operator, job.beta = costs.shape[0], operator, beta
    job.costs, job.best = &costs[0], &best[0]
    job.targets = <const void*><size_t>targets.ctypes.data
    job.values = <void*><size_t>values.ctypes.data
    job.policies = NULL if policies is None else <void*><size_t>policies.ctypes.data
    run_block(&job.rows, pool, <Work>optimal_some, &job)


cdef void optimal_some(OptimalJob* job, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef Py_ssize_t i
    cdef double* worth = <double*>malloc(2 * job.action_count * sizeof(double))
    if worth == NULL:
        job.rows.failed = NO_MEMORY
        return
    for i in range(first, last):
        put_number(job.values, i, job.wide, decide(job, i, worth))
    free(worth)


cdef double decide(OptimalJob* job, Py_ssize_t i, double* worth) noexcept nogil:
    """The value of a state; its policy is written."""
    cdef RowBlock* rows = &job.rows
    cdef Py_ssize_t k = rows.offsets[i]
    cdef Py_ssize_t end = rows.offsets[i + 1]
    cdef Py_ssize_t start = k
    cdef int action
    cdef double target, highest = -INFINITY
    cdef double* there = worth + job.action_count
    for action in range(job.action_count):
        worth[action] = -job.costs[action]
        there[action] = 0
    while k < end:
        action = rows.actions[k] if rows.actions != NULL else <int>(k - start)
        target = number_at(job.targets, <Py_ssize_t>rows.successors[k] - rows.first_target, job.wide)
        if rows.rewards != NULL:
            target += rows.rewards[k]
        worth[action] += target if rows.probabilities == NULL else rows.probabilities[k] * target
        there[action] = 1
        k += 1
    job.best[i] = NO_ACTION
    for action in range(job.action_count):
        if there[action] and (job.best[i] == NO_ACTION or worth[action] > highest):
            highest = worth[action]
            job.best[i] = <uint16_t>action
    if job.operator == MAX:
        return 0 if start == end else highest
    return soften(job, i, worth, there, highest)


cdef double soften(OptimalJob* job, Py_ssize_t i, const double* worth, double* there, double highest) noexcept nogil:
    """Policy and value of one who is not quite decided; `there` says which actions there are."""
    cdef int action
    cdef double total = 0, value = 0
    for action in range(job.action_count):
        if there[action]:
            # Where nothing has a value, all is alike.
            there[action] = 1 if highest == -INFINITY else exp(job.beta * (worth[action] - highest))
            total += there[action]
    for action in range(job.action_count):
        if there[action] > 0:
            there[action] /= total
            value += there[action] * worth[action]
        put_number(job.policies, i * job.action_count + action, job.wide, there[action])
    if job.operator == ENTROPY and total > 0:
        return highest + log(total) / job.beta
    return value
