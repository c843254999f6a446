"""Humans and robot against plain dictionaries, with every parameter away from its default."""

from __future__ import annotations

import math

import numpy as np
import pytest

from npp_env.errors import ConfigError
from npp_env.induction import (
    Goals,
    HumanParameters,
    InductionError,
    Resources,
    RobotParameters,
    TableModel,
    compute_human_policy_prior,
    compute_robot_policy,
)

from .dictionaries import Problem, human_policies, robot_policies
from .example import SMALL_MAP, RockWorld
from .plain_world import PlainWorld
from .random_models import numbers_of, problem_of, random_table

ROBOT = RobotParameters(beta=3.5, discount=0.9, zeta=1.4, xi=0.7, eta=1.3)


def compare(problem, prior, robot, name_of, expected_humans, expected_robot):
    """All arrays against the dictionaries; returns the worst relative error."""
    values, policies = expected_humans
    v_r, pi_r, v_e, powers = expected_robot
    worst = 0.0

    def check(got, want):
        nonlocal worst
        want = np.asarray(want, np.float64)
        with np.errstate(invalid="ignore"):
            same = (got == want) | (np.abs(got - want) <= 1e-12 * np.maximum(1, np.abs(want)))
        assert same.all(), (got, want)
        finite = np.isfinite(want)
        if finite.any():
            scale = np.maximum(1, np.abs(want[finite]))
            worst = max(worst, float((np.abs(np.asarray(got)[finite] - want[finite]) / scale).max()))

    for time in range(problem.horizon):
        states = [name_of(row) for row in prior.states(time)]
        assert set(states) == problem.levels_cache[time]
        assert len(states) == len(problem.levels_cache[time])
        arrays = prior.values(time), prior.policies(time), robot.values(time), robot.policies(time)
        for k, state in enumerate(states):
            for place, human in enumerate(problem.humans):
                for goal in range(problem.goals):
                    check(arrays[0][k, place, goal], values[time, state, human, goal])
                    own = problem.counts[human]
                    check(arrays[1][k, place, goal, :own], policies[time, state, human, goal])
                    check(robot.human_values(time)[k, place, goal], v_e.get((time, state, human, goal), 0.0))
                check(robot.powers(time)[k, place], powers.get((time, state, human), 0.0))
            check(arrays[2][k], v_r[time, state])
            check(arrays[3][k], pi_r[time, state])
    return worst


@pytest.mark.parametrize("stochastic", [False, True])
@pytest.mark.parametrize(
    ("counts", "humans"),
    [((2, 3, 2), (0, 1)), ((3, 2), (1,)), ((2, 2, 3), (2, 0)), ((2, 2, 2), (1,)), ((3, 2), (0, 1))],
)
def test_random_models(stochastic, counts, humans, tmp_path):
    seed = sum(counts) + 7 * len(humans) + stochastic
    table = random_table(seed, states=9, actions=math.prod(counts), stochastic=stochastic)
    rng = np.random.default_rng(seed)
    held = rng.random((9, len(counts), 11)) < 0.25
    weights = rng.random((len(humans), 11)) + 0.1
    problem = problem_of(table, counts, humans, held, horizon=4)
    beta, discount = rng.uniform(1, 6, len(humans)), rng.uniform(0.6, 0.95, len(humans))
    expected = human_policies(problem, beta, discount)
    numbers = (ROBOT.beta, ROBOT.discount, ROBOT.zeta, ROBOT.xi, ROBOT.eta)
    expected_robot = robot_policies(problem, expected[1], discount, weights, *numbers)
    goals = Goals(tuple(map(str, range(11))), lambda states, human: held[numbers_of(states), human], weights)
    prior = compute_human_policy_prior(
        TableModel(table, action_counts=counts),
        human_agent_indices=humans,
        goals=goals,
        horizon=4,
        parameters=HumanParameters(beta, discount),
        directory=tmp_path,
        resources=Resources(block_states=2, slice_states=3),
    )
    robot = compute_robot_policy(prior, parameters=ROBOT)
    compare(problem, prior, robot, lambda row: int(numbers_of(row[None])[0]), expected, expected_robot)


def test_the_world_with_defaults_and_a_discount():
    plain, world = PlainWorld(SMALL_MAP), RockWorld(SMALL_MAP)
    horizon = 2
    cache = {}

    def outcomes(state, joint):
        if (state, joint) not in cache:
            cache[state, joint] = plain.outcomes(state, joint)
        return cache[state, joint]

    def holds(state, human, goal):
        return state[0][human][:2] == plain.free[goal]

    problem = Problem([plain.start], outcomes, [4, 4, 4], world.humans, len(plain.free), holds, horizon)
    problem.levels_cache = problem.levels()
    by_bytes = {plain.encoded(state): state for level in problem.levels_cache for state in level}
    for human, robot_parameters in ((HumanParameters(), RobotParameters()), (HumanParameters(4.0, 0.8), ROBOT)):
        beta, discount = [human.beta] * 2, [human.discount] * 2
        p = robot_parameters
        weights = np.ones((2, problem.goals))
        expected = human_policies(problem, beta, discount)
        expected_robot = robot_policies(
            problem, expected[1], discount, weights, p.beta, p.discount, p.zeta, p.xi, p.eta
        )
        prior = compute_human_policy_prior(
            world, human_agent_indices=world.humans, goals=world.cell_goals(), horizon=horizon, parameters=human
        )
        robot = compute_robot_policy(prior, parameters=robot_parameters)
        compare(problem, prior, robot, lambda row: by_bytes[row.tobytes()], expected, expected_robot)


@pytest.mark.parametrize("least_power", [0.0, 0.02])
def test_humans_without_power(least_power, tmp_path):
    """A goal out of reach near the horizon makes X zero; that is a value like others, and not an error."""
    counts, humans, horizon = (2, 2), (0,), 4
    table = random_table(5, states=9, actions=4, stochastic=True)
    held = np.zeros((9, 2, 1), np.bool_)
    held[[3, 8], 0, 0] = True
    problem = problem_of(table, counts, humans, held, horizon)
    expected = human_policies(problem, [10.0], [1.0])
    expected_robot = robot_policies(problem, expected[1], [1.0], np.ones((1, 1)), 10.0, 1.0, 1.0, 1.0, 1.0, least_power)
    if least_power == 0:
        assert any(math.isinf(value) for value in expected_robot[0].values())
    goals = Goals(("one",), lambda states, human: held[numbers_of(states), human])
    prior = compute_human_policy_prior(
        TableModel(table, action_counts=counts), human_agent_indices=humans, goals=goals, horizon=horizon
    )
    robot = compute_robot_policy(prior, parameters=RobotParameters(least_power=least_power))
    compare(problem, prior, robot, lambda row: int(numbers_of(row[None])[0]), expected, expected_robot)


@pytest.fixture(scope="module")
def small():
    world = RockWorld(SMALL_MAP)
    prior = compute_human_policy_prior(world, human_agent_indices=world.humans, goals=world.cell_goals(), horizon=3)
    return world, prior, compute_robot_policy(prior)


def test_answers_for_a_state(small):
    _, prior, robot = small
    row = prior.states(2)[17]
    assert (prior.probabilities(row, 1, goal=3, time=2) == prior.policies(2)[17, 1, 3]).all()
    average = prior.policies(2)[17, 0].mean(axis=0)
    assert prior.probabilities(row.tobytes(), 0, time=2) == pytest.approx(average, abs=1e-15)
    assert (robot.probabilities(row, time=2) == robot.policies(2)[17]).all()


def test_what_it_cannot_answer(small):
    world, prior, robot = small
    row = prior.states(0)[0]
    with pytest.raises(ConfigError, match="say at which time"):
        robot.probabilities(row)
    with pytest.raises(ConfigError, match="0 to 2"):
        robot.probabilities(row, time=3)
    with pytest.raises(ConfigError, match="agent 2 is no human"):
        prior.probabilities(row, 2, time=0)
    with pytest.raises(ConfigError, match="goal is 99"):
        prior.probabilities(row, 0, goal=99, time=0)
    later = next(each for each in prior.states(2) if not (each == row).all())
    with pytest.raises(InductionError, match="cannot be met at time 0"):
        robot.probabilities(later, time=0)
    with pytest.raises(InductionError, match="does not know this state"):
        robot.probabilities(np.full(world.state_bytes, 200, np.uint8), time=0)
    with pytest.raises(ConfigError, match="uint8"):
        robot.probabilities(row[:3], time=0)
    with pytest.raises(ConfigError, match="cannot read dict"):
        robot.probabilities({}, time=0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"human_agent_indices": [0, 0]}, "each once"),
        ({"human_agent_indices": [5]}, "0 to 2"),
        ({"human_agent_indices": []}, "human_agent_indices"),
        ({"horizon": -1}, "horizon is -1"),
        ({"parameters": HumanParameters(beta=-1)}, "beta is -1"),
        ({"parameters": HumanParameters(discount=[0.5])}, "discount"),
        ({"dtype": "float16"}, "float16 is for exported"),
        ({"memory_budget": "a lot"}, "256 MB"),
        ({"memory_budget": 17}, "at least"),
    ],
)
def test_what_is_refused(change, message):
    world = RockWorld(SMALL_MAP)
    arguments = {"human_agent_indices": world.humans, "goals": world.cell_goals(), "horizon": 1, **change}
    with pytest.raises(ConfigError, match=message):
        compute_human_policy_prior(world, **arguments)


def test_parameters_of_the_robot_are_checked():
    with pytest.raises(ConfigError, match="discount of the robot is 0"):
        RobotParameters(discount=0)
    with pytest.raises(ConfigError, match="xi of the robot is -1"):
        RobotParameters(xi=-1)


def test_a_missing_joint_action_is_named():
    table = random_table(1, states=5, actions=4, stochastic=False, terminal=0)
    table[2, 1] = 0
    goals = Goals(("one",), lambda states, human: np.zeros((len(states), 1), np.bool_))
    with pytest.raises(InductionError, match="has some joint actions but not all"):
        compute_human_policy_prior(
            TableModel(table, range(5), action_counts=(2, 2)), human_agent_indices=[0], goals=goals, horizon=2
        )
