"""Models of environments and functions."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

from npp_env.errors import ConfigError
from npp_env.induction import EnvironmentModel, ExplicitModel, InductionError, TableModel, compute_optimal_policy
from npp_env.induction.builder import build_transitions


class Walk(gym.Env):
    """A walk on 0..6: action 1 goes up, with some slips; 6 ends it and is worth 1."""

    action_space = gym.spaces.Discrete(2)
    observation_space = gym.spaces.Discrete(7)

    def __init__(self, slip=0.0):
        self.slip, self.place = slip, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 3
        return 3, {}

    def step(self, action):
        up = action == 1
        if self.slip and self.np_random.random() < self.slip:
            up = not up
        self.place = max(0, self.place + (1 if up else -1))
        return self.place, float(self.place == 6), self.place == 6, False, {}

    def get_state(self):
        return bytes([self.place])

    def set_state(self, state):
        self.place = state[0]


def test_a_deterministic_environment():
    model = EnvironmentModel(Walk(), "walk")
    plan = compute_optimal_policy(model, horizon=4)
    assert plan.values(0).tolist() == [1.0]
    assert plan.transitions.level_sizes(4) == [1, 2, 3, 4, 4]
    env = Walk()
    env.reset(seed=0)
    assert plan.action(env, 0) == 1
    short = compute_optimal_policy(model, horizon=2)
    assert short.values(0).tolist() == [0.0]


def test_a_sampled_environment(tmp_path):
    model = EnvironmentModel(Walk(0.25), "slippery walk", samples=400, seed=3)
    found = model.expand(model.start())
    assert found.actions.tolist() == [0, 0, 1, 1]
    for first in (0, 2):
        assert found.probabilities[first : first + 2].sum() == pytest.approx(1)
    likely = {
        (int(a), int(row[1])): p for a, row, p in zip(found.actions, found.successors, found.probabilities, strict=True)
    }
    assert likely[1, 4] == pytest.approx(0.75, abs=0.08)
    assert likely[0, 4] == pytest.approx(0.25, abs=0.08)
    # What is drawn depends on nothing but state, action and seed.
    again = EnvironmentModel(Walk(0.25), "slippery walk", samples=400, seed=3)
    again.expand(np.array([[0, 1], [0, 5]], np.uint8))
    assert (again.expand(again.start()).probabilities == found.probabilities).all()
    other = EnvironmentModel(Walk(0.25), "slippery walk", samples=400, seed=4)
    assert not (other.expand(other.start()).probabilities == found.probabilities).all()
    assert build_transitions(model, 3, tmp_path).level_sizes(3) == [1, 2, 3, 4]


def test_explicit_probabilities():
    def probabilities(state, action):
        place = state[0]
        if place in (0, 6):
            return []
        return [(0.75, bytes([place + (1 if action else -1)])), (0.25, bytes([place - (1 if action else -1)]))]

    model = ExplicitModel("explicit walk", [bytes([3])], 2, probabilities)
    table = np.zeros((7, 2, 7))
    for place in range(1, 6):
        for action, up in ((0, -1), (1, 1)):
            table[place, action, place + up] = 0.75
            table[place, action, place - up] = 0.25
    other = TableModel(table, [3], rewards=np.broadcast_to(np.arange(7) == 6, table.shape).astype(float))
    from npp_env.induction import Objective

    arrival = Objective(lambda states: (states[:, 0] == 6).astype(float), "at 6")
    first = compute_optimal_policy(model, arrival, horizon=7)
    second = compute_optimal_policy(other, horizon=7)
    assert first.values(0) == pytest.approx(second.values(0), rel=1e-15)
    assert 0.5 < first.values(0)[0] < 1


def test_states_of_other_lengths_are_refused():
    model = ExplicitModel("growing", [b"a"], 1, lambda state, action: [(1.0, state + b"a")])
    with pytest.raises(InductionError, match="has 2 bytes, the first one 1"):
        compute_optimal_policy(model, horizon=1)
    with pytest.raises(ConfigError, match="all of the same length"):
        ExplicitModel("mixed", [b"a", b"ab"], 1, lambda state, action: [])
    with pytest.raises(ConfigError, match="samples is 0"):
        EnvironmentModel(Walk(), "walk", samples=0)
