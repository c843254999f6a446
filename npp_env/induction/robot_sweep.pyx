"""One step of backward induction for a robot that wants humans to be able to reach what they may want."""

from libc.math cimport INFINITY, exp, log, pow
from libc.stdlib cimport free, malloc
from npp_env.induction.row_block cimport (
    NO_MEMORY, RowBlock, expect_row, find_actions, number_at, put_number, row_block, run_block,
)
from npp_env.runtime.thread_pool cimport ThreadPool, Work

cdef double TERMINAL_VALUE = -1e-10

cdef struct RobotJob:
    RowBlock rows
    bint wide
    int humans
    int goals
    int joint_actions
    int robot_actions
    int most_actions
    const int* acts  # of each joint action: that of each human, then the robot's
    const double* weights
    double beta
    double now_factor
    double zeta
    double xi
    double eta
    double least_power
    const void* policies  # of the humans, by goal
    const void* robot_targets
    const void* human_targets
    void* robot_policies
    void* robot_values
    void* human_values
    void* powers


def robot_block(
    rows, agents, parameters, human_policies, robot_targets, human_targets, Py_ssize_t first_target, results,
    ThreadPool pool not None,
) -> int:
    """Policies and values of a block of states.

    Args:
        rows: `Rows`.
        agents: `Agents`.
        parameters: `RobotNumbers`.
        human_policies: (states, humans, goals, most actions of a human).
        robot_targets: What each state of the next level is worth for the robot, (states,).
        human_targets: The same for the humans, (states, humans, goals).
        first_target: Number of the state of their first rows.
        results: Arrays that get the robot's policy (states, robot actions) and value (states,), the humans' values
            (states, humans, goals), and their powers (states, humans).
        pool: Threads.

    Returns:
        -1, or the place of a state in which some joint action leads nowhere.
    """
    cdef RobotJob job
    cdef const int[:, ::1] acts = agents.acts
    cdef const double[:, ::1] weights = parameters.weights
    job.rows = row_block(rows, first_target)
    job.wide = human_targets.dtype.itemsize == 8
    job.humans, job.goals = weights.shape[0], weights.shape[1]
    job.joint_actions, job.robot_actions = agents.joint_actions, agents.robot_actions
    job.most_actions = human_policies.shape[3]
    job.acts, job.weights = &acts[0, 0], &weights[0, 0]
    job.beta, job.now_factor, job.zeta = parameters.beta, parameters.now_factor, parameters.zeta
    job.xi, job.eta, job.least_power = parameters.xi, parameters.eta, parameters.least_power
    job.policies = <const void*><size_t>human_policies.ctypes.data
    job.robot_targets = <const void*><size_t>robot_targets.ctypes.data
    job.human_targets = <const void*><size_t>human_targets.ctypes.data
    job.robot_policies = <void*><size_t>results[0].ctypes.data
    job.robot_values = <void*><size_t>results[1].ctypes.data
    job.human_values = <void*><size_t>results[2].ctypes.data
    job.powers = <void*><size_t>results[3].ctypes.data
    return run_block(&job.rows, pool, <Work>robot_some, &job)


cdef void robot_some(RobotJob* job, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef Py_ssize_t i
    cdef size_t numbers = job.humans * job.most_actions + 3 * job.robot_actions + job.goals * (job.most_actions + 2)
    cdef double* averaged = <double*>malloc(numbers * sizeof(double))
    cdef Py_ssize_t* starts = <Py_ssize_t*>malloc((job.joint_actions + 1) * sizeof(Py_ssize_t))
    cdef double* chances
    if averaged == NULL or starts == NULL:
        job.rows.failed = NO_MEMORY
    else:
        chances = averaged + job.humans * job.most_actions
        for i in range(first, last):
            if job.rows.offsets[i] == job.rows.offsets[i + 1]:
                finish_terminal(job, i)
                continue
            if not find_actions(&job.rows, i, job.joint_actions, starts):
                job.rows.failed = i
                break
            average_goals(job, i, averaged)
            decide(job, starts, averaged, chances)
            finish(job, i, starts, averaged, chances)
    free(averaged)
    free(starts)


cdef void finish_terminal(RobotJob* job, Py_ssize_t i) noexcept nogil:
    """Where nothing follows."""
    cdef Py_ssize_t k
    for k in range(job.robot_actions):
        put_number(job.robot_policies, i * job.robot_actions + k, job.wide, 1.0 / job.robot_actions)
    put_number(job.robot_values, i, job.wide, TERMINAL_VALUE)
    for k in range(job.humans * job.goals):
        put_number(job.human_values, i * job.humans * job.goals + k, job.wide, 0)
    for k in range(job.humans):
        put_number(job.powers, i * job.humans + k, job.wide, 0)


cdef void average_goals(RobotJob* job, Py_ssize_t i, double* averaged) noexcept nogil:
    """What each human does, whatever its goal is."""
    cdef int human, goal, action
    cdef double total, weight
    cdef Py_ssize_t at
    cdef double* mine
    for human in range(job.humans):
        mine = averaged + human * job.most_actions
        total = 0
        for action in range(job.most_actions):
            mine[action] = 0
        for goal in range(job.goals):
            weight = job.weights[human * job.goals + goal]
            at = ((i * job.humans + human) * job.goals + goal) * job.most_actions
            total += weight
            for action in range(job.most_actions):
                mine[action] += weight * number_at(job.policies, at + action, job.wide)
        for action in range(job.most_actions):
            mine[action] /= total


cdef double chance_of_others(RobotJob* job, const int* acts, const double* averaged, int human) noexcept nogil:
    """How likely the humans but one act so; all of them if it is -1."""
    cdef int other
    cdef double chance = 1
    for other in range(job.humans):
        if other != human:
            chance *= averaged[other * job.most_actions + acts[other]]
    return chance


cdef void decide(RobotJob* job, const Py_ssize_t* starts, const double* averaged, double* chances) noexcept nogil:
    """The robot's policy, and behind it what each of its actions is worth."""
    cdef int joint, action
    cdef const int* acts
    cdef double chance, expected, logit, best, total
    cdef double* worth = chances + job.robot_actions
    for action in range(job.robot_actions):
        worth[action] = 0
    for joint in range(job.joint_actions):
        acts = job.acts + joint * (job.humans + 1)
        chance = chance_of_others(job, acts, averaged, -1)
        # What never happens does not count, however bad it is.
        if chance > 0:
            expect_row(
                &job.rows, starts[joint], starts[joint + 1], job.robot_targets, 1, 0, 1, job.wide, &expected
            )
            worth[acts[job.humans]] += chance * expected
    best = -INFINITY
    for action in range(job.robot_actions):
        logit = 0 if job.beta == 0 else -job.beta * log(-worth[action])
        chances[action] = logit
        best = logit if logit > best else best
    total = 0
    for action in range(job.robot_actions):
        # Infinite: all actions are hopeless, or some are perfect; these share alike.
        if best == INFINITY or best == -INFINITY:
            chances[action] = 1.0 if chances[action] == best else 0.0
        else:
            chances[action] = exp(chances[action] - best)
        total += chances[action]
    for action in range(job.robot_actions):
        chances[action] /= total


cdef void finish(
    RobotJob* job, Py_ssize_t i, const Py_ssize_t* starts, const double* averaged, const double* chances
) noexcept nogil:
    """The humans' values under what the robot does, their powers, and the robot's value."""
    cdef int human, goal, action
    cdef const double* worth = chances + job.robot_actions
    cdef double* scratch = <double*>chances + 3 * job.robot_actions
    cdef double power, value, mean = 0, later = 0
    cdef Py_ssize_t at
    for human in range(job.humans):
        expect_under_policies(job, human, starts, averaged, chances, scratch)
        power = 0
        for goal in range(job.goals):
            at = (i * job.humans + human) * job.goals + goal
            value = 0
            for action in range(job.most_actions):
                value += (
                    number_at(job.policies, at * job.most_actions + action, job.wide)
                    * scratch[action * job.goals + goal]
                )
            put_number(job.human_values, at, job.wide, value)
            power += job.weights[human * job.goals + goal] * pow(value, job.zeta)
        power = power if power > job.least_power else job.least_power
        put_number(job.powers, i * job.humans + human, job.wide, power)
        mean += pow(power, -job.xi)
    mean /= job.humans
    for action in range(job.robot_actions):
        put_number(job.robot_policies, i * job.robot_actions + action, job.wide, chances[action])
        if chances[action] > 0:
            later += chances[action] * worth[action]
    put_number(job.robot_values, i, job.wide, later - job.now_factor * pow(mean, job.eta))


cdef void expect_under_policies(
    RobotJob* job, int human, const Py_ssize_t* starts, const double* averaged, const double* chances, double* scratch
) noexcept nogil:
    """What each action of a human is worth for each of its goals, the others and the robot acting as they do."""
    cdef int joint
    cdef Py_ssize_t g
    cdef const int* acts
    cdef double* expected = scratch + job.goals * job.most_actions
    cdef double* total
    cdef double chance
    for g in range(job.goals * job.most_actions):
        scratch[g] = 0
    for joint in range(job.joint_actions):
        acts = job.acts + joint * (job.humans + 1)
        chance = chance_of_others(job, acts, averaged, human) * chances[acts[job.humans]]
        if chance == 0:
            continue
        expect_row(
            &job.rows, starts[joint], starts[joint + 1], job.human_targets, job.humans * job.goals, human * job.goals,
            job.goals, job.wide, expected,
        )
        total = scratch + acts[human] * job.goals
        for g in range(job.goals):
            total[g] += chance * expected[g]
