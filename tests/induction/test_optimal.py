"""Optimal and soft-optimal plans against plain dictionaries."""

from __future__ import annotations

import numpy as np
import pytest

from npp_env.errors import ConfigError
from npp_env.induction import InductionError, Objective, Resources, TableModel, compute_optimal_policy

from .dictionaries import optimal_values
from .random_models import numbers_of, problem_of, random_table


@pytest.mark.parametrize("operator", ["max", "softmax", "entropy"])
@pytest.mark.parametrize("stochastic", [False, True])
def test_against_dictionaries(operator, stochastic, tmp_path):
    seed = 11 + stochastic
    rng = np.random.default_rng(seed)
    table = random_table(seed, states=15, actions=4, stochastic=stochastic)
    # Not every state has every action.
    table[2, 1] = table[4, 0] = 0
    rewards, arrival, cost = rng.normal(size=table.shape), rng.normal(size=15), rng.random(4)
    problem = problem_of(table, [4], [0], np.zeros((15, 1, 1), np.bool_), horizon=6)
    values, chances = optimal_values(
        problem, lambda s, a, t: rewards[s, a, t] + arrival[t], cost, 0.87, operator, beta=1.7
    )
    objective = Objective(lambda states: arrival[numbers_of(states)], "random", cost, 0.87, operator, 1.7)
    plan = compute_optimal_policy(
        TableModel(table, rewards=rewards),
        objective,
        horizon=6,
        directory=tmp_path,
        resources=Resources(block_states=2, slice_states=4),
    )
    for time in range(6):
        numbers = numbers_of(plan.states(time)).tolist()
        assert plan.values(time) == pytest.approx([values[time, s] for s in numbers], rel=1e-12, abs=1e-12)
        expected = np.array([[chances[time, s].get(a, 0.0) for a in range(4)] for s in numbers])
        assert plan.policies(time) == pytest.approx(expected, rel=1e-12, abs=1e-12)
        for state, row in zip(numbers, plan.states(time), strict=True):
            assert plan.value(row, time) == pytest.approx(values[time, state], rel=1e-12)
            best = max(chances[time, state], key=chances[time, state].get, default=None)
            assert plan.action(row, time) == best


def test_what_must_not_be_is_avoided():
    table = np.zeros((4, 2, 4))
    table[0, 0, 1] = table[0, 1, 2] = table[2, :, 3] = table[1, :, 1] = 1
    objective = Objective(lambda states: np.where(numbers_of(states) == 1, -np.inf, 1.0), "not 1")
    for operator in ("max", "softmax", "entropy"):
        chosen = Objective(objective.arrival, "not 1", operator=operator)
        plan = compute_optimal_policy(TableModel(table), chosen, horizon=2)
        assert plan.action(plan.states(0)[0], 0) == 1
        assert plan.policies(0)[0].tolist() == [0, 1]
        assert plan.values(0)[0] == 2 if operator != "entropy" else np.isfinite(plan.values(0)[0])
        # Of actions that are as good as each other the first one counts.
        assert plan.best(1).tolist() == [0, 0]
        hopeless = plan.values(1)[list(numbers_of(plan.states(1))).index(1)]
        assert hopeless == -np.inf


def test_float32_is_close():
    table = random_table(2, states=15, actions=4)
    rewards = np.random.default_rng(0).random(table.shape)
    objective = Objective(operator="softmax", beta=2.0, discount=0.9)
    wide, narrow = (
        compute_optimal_policy(TableModel(table, rewards=rewards), objective, horizon=10, dtype=dtype)
        for dtype in ("float64", "float32")
    )
    assert narrow.values(0).dtype == np.float32
    error = np.abs(narrow.values(0) / wide.values(0) - 1).max()
    assert 0 < error < 1e-6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"operator": "min"}, "max, softmax, entropy"),
        ({"discount": 1.5}, "from 0 to 1"),
        ({"beta": 0}, "positive"),
        ({"arrival": len}, "name"),
    ],
)
def test_objectives_are_checked(arguments, message):
    with pytest.raises(ConfigError, match=message):
        Objective(**arguments)


def test_arrivals_and_costs_are_checked():
    model = TableModel(random_table(2, states=5, actions=2))
    with pytest.raises(ConfigError, match="costs have the shape"):
        compute_optimal_policy(model, Objective(costs=[1, 2, 3]), horizon=1)
    with pytest.raises(InductionError, match="arrival"):
        compute_optimal_policy(model, Objective(lambda states: np.full(len(states), np.nan), "nan"), horizon=1)


def test_tables_are_checked():
    with pytest.raises(ConfigError, match=r"\(states, actions, states\)"):
        TableModel(np.zeros((2, 2)))
    with pytest.raises(ConfigError, match="rewards have the shape"):
        TableModel(np.zeros((2, 2, 2)), rewards=np.zeros(3))
