"""One step of backward induction for humans who do not know what the others want, and expect the worst of the robot."""

from libc.math cimport INFINITY, exp
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc
from npp_env.induction.row_block cimport (
    NO_MEMORY, RowBlock, expect_row, find_actions, put_number, row_block, run_block,
)
from npp_env.runtime.thread_pool cimport ThreadPool, Work

cdef struct HumanJob:
    RowBlock rows
    bint wide
    int humans
    int goals
    int joint_actions
    int robot_actions
    int most_actions  # of a human
    const int* action_counts
    const int* order  # joint actions of each human: by own action, those of other humans, the robot's
    const double* betas
    const void* targets
    const uint8_t* attained
    Py_ssize_t attained_bytes
    void* values
    void* policies


def human_block(
    rows, agents, targets, Py_ssize_t first_target, const uint8_t[:, :, ::1] attained, const double[::1] betas, values,
    policies, ThreadPool pool not None,
) -> int:
    """Values and policies of a block of states.

    Args:
        rows: `Rows`.
        agents: `Agents`.
        targets: What each state of the next level is worth on arrival, (states, humans, goals).
        first_target: Number of the state of its first row.
        attained: Which goals hold in the states of the block, as bits (states, humans, bytes).
        betas: How decided each human is.
        values: Gets (states, humans, goals).
        policies: Gets (states, humans, goals, most actions of a human).
        pool: Threads.

    Returns:
        -1, or the place of a state in which some joint action leads nowhere.
    """
    cdef HumanJob job
    cdef const int[::1] counts = agents.human_action_counts
    cdef const int[::1] order = agents.order
    job.rows = row_block(rows, first_target)
    job.wide = values.dtype.itemsize == 8
    job.humans, job.goals = values.shape[1], values.shape[2]
    job.joint_actions, job.robot_actions = agents.joint_actions, agents.robot_actions
    job.most_actions = policies.shape[3]
    job.action_counts, job.order, job.betas = &counts[0], &order[0], &betas[0]
    job.targets = <const void*><size_t>targets.ctypes.data
    job.attained, job.attained_bytes = &attained[0, 0, 0], attained.shape[2]
    job.values = <void*><size_t>values.ctypes.data
    job.policies = <void*><size_t>policies.ctypes.data
    return run_block(&job.rows, pool, <Work>human_some, &job)


cdef void human_some(HumanJob* job, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef Py_ssize_t i
    cdef int human
    cdef size_t numbers = job.goals * (job.most_actions + 2) + job.most_actions
    cdef double* scratch = <double*>malloc(numbers * sizeof(double))
    cdef Py_ssize_t* starts = <Py_ssize_t*>malloc((job.joint_actions + 1) * sizeof(Py_ssize_t))
    if scratch == NULL or starts == NULL:
        job.rows.failed = NO_MEMORY
    else:
        for i in range(first, last):
            if job.rows.offsets[i] < job.rows.offsets[i + 1]:
                if not find_actions(&job.rows, i, job.joint_actions, starts):
                    job.rows.failed = i
                    break
                for human in range(job.humans):
                    expect_worst(job, human, starts, scratch)
                    decide(job, i, human, scratch, False)
            else:
                for human in range(job.humans):
                    decide(job, i, human, scratch, True)
    free(scratch)
    free(starts)


cdef void expect_worst(HumanJob* job, int human, const Py_ssize_t* starts, double* scratch) noexcept nogil:
    """What each own action is worth for each goal: mean over the other humans of the least over the robot's actions."""
    cdef int action, other, robot, joint
    cdef int goals = job.goals
    cdef int others = job.joint_actions // (job.robot_actions * job.action_counts[human])
    cdef const int* order = job.order + human * job.joint_actions
    cdef double* least = scratch + goals * job.most_actions
    cdef double* expected = least + goals
    cdef double* worth
    cdef Py_ssize_t g
    for action in range(job.action_counts[human]):
        worth = scratch + action * goals
        for g in range(goals):
            worth[g] = 0
        for other in range(others):
            for g in range(goals):
                least[g] = INFINITY
            for robot in range(job.robot_actions):
                joint = order[(action * others + other) * job.robot_actions + robot]
                expect_row(
                    &job.rows, starts[joint], starts[joint + 1], job.targets, job.humans * goals, human * goals, goals,
                    job.wide, expected,
                )
                for g in range(goals):
                    least[g] = expected[g] if expected[g] < least[g] else least[g]
            for g in range(goals):
                worth[g] += least[g]
        for g in range(goals):
            worth[g] /= others


cdef void decide(HumanJob* job, Py_ssize_t i, int human, double* worth, bint terminal) noexcept nogil:
    """The policy and the value for each goal."""
    cdef int action, goal
    cdef int actions = job.action_counts[human]
    cdef int goals = job.goals
    cdef double* chances = worth + goals * (job.most_actions + 2)
    cdef const uint8_t* bits = job.attained + (i * job.humans + human) * job.attained_bytes
    cdef Py_ssize_t at = (i * job.humans + human) * goals
    cdef double best, total, value
    for goal in range(goals):
        value = 0
        for action in range(job.most_actions):
            chances[action] = 0
        if bits[goal >> 3] >> (goal & 7) & 1:
            chances[0] = 1
        elif terminal:
            for action in range(actions):
                chances[action] = 1.0 / actions
        else:
            best = -INFINITY
            for action in range(actions):
                best = worth[action * goals + goal] if worth[action * goals + goal] > best else best
            total = 0
            for action in range(actions):
                chances[action] = exp(job.betas[human] * (worth[action * goals + goal] - best))
                total += chances[action]
            for action in range(actions):
                chances[action] /= total
                value += chances[action] * worth[action * goals + goal]
        put_number(job.values, at + goal, job.wide, value)
        for action in range(job.most_actions):
            put_number(job.policies, (at + goal) * job.most_actions + action, job.wide, chances[action])
