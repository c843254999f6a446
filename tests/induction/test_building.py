"""Models that do not do what they say, models that have no end, and the numbers that states get."""

from __future__ import annotations

import os

import numpy as np
import pytest

from npp_env.induction import (
    CyclicModelError,
    Expansion,
    InductionError,
    TableModel,
    compute_optimal_policy,
)
from npp_env.induction import builder as builder_module
from npp_env.induction.budget import Budget
from npp_env.induction.builder import BuildOptions, build_transitions
from npp_env.induction.known_states import KnownStates

from .example import SMALL_MAP, RockWorld
from .random_models import random_table


def test_two_states_with_one_hash_are_never_taken_for_one(monkeypatch, tmp_path):
    monkeypatch.setattr(builder_module, "hash_rows", lambda rows, hashes, pool: hashes.fill(3))
    with pytest.raises(InductionError, match="share a hash"):
        build_transitions(RockWorld(SMALL_MAP), 1, tmp_path)


def cycle(*successors):
    """A model with one action."""
    table = np.zeros((len(successors), 1, len(successors)))
    for state, following in enumerate(successors):
        for each in following:
            table[state, 0, each] = 1 / len(following)
    return TableModel(table)


@pytest.mark.parametrize("model", [cycle([0]), cycle([1], [2], [3], [1]), cycle([1, 2], [3], [0], [])])
def test_a_cycle_is_refused_where_there_is_no_horizon(model, tmp_path):
    with pytest.raises(CyclicModelError, match="leads back to state"):
        compute_optimal_policy(model, horizon=None, directory=tmp_path)
    # Nothing that was complete is lost.
    assert compute_optimal_policy(model, horizon=3, directory=tmp_path).horizon == 3


def test_without_a_horizon_a_plan_goes_to_the_end(tmp_path):
    # State 3 is met after one, two and three steps.
    model = cycle([1, 3], [2, 3], [3], [4], [])
    plan = compute_optimal_policy(model, horizon=None, directory=tmp_path)
    assert plan.horizon == 5
    assert plan.transitions.level_sizes(5) == [1, 2, 3, 2, 1, 0]
    assert build_transitions(model, None, tmp_path / "other").level_sizes(5) == [1, 2, 3, 2, 1, 0]


class Wrong:
    name, state_bytes, action_count, layered = "wrong", 2, 2, False

    def __init__(self, expansion):
        self.expansion = expansion

    def start(self):
        return np.zeros((1, 2), np.uint8)

    def expand(self, states):
        return self.expansion


ROWS = np.zeros((2, 2), np.uint8)


@pytest.mark.parametrize(
    ("expansion", "message"),
    [
        (Expansion(np.array([3]), None, ROWS), "successors are uint8"),
        (Expansion(np.array([-1]), None, ROWS), "counts"),
        (Expansion(np.array([2, 2]), None, ROWS), "counts"),
        (Expansion(np.array([1]), None, ROWS[:1]), "every state has each of 2 once"),
        (Expansion(np.array([2]), np.array([0, 5]), ROWS), "action 5 of state 0"),
        (Expansion(np.array([2]), np.array([1, 0]), ROWS), "do not ascend"),
        (Expansion(np.array([2]), np.array([1, 1]), ROWS), "no probabilities"),
        (Expansion(np.array([2]), np.array([1, 1]), ROWS, np.array([0.5, 0.6])), r"add up to 1 \+0.1"),
        (Expansion(np.array([2]), np.array([1, 1]), ROWS, np.array([1.0, 0.0])), "never happens"),
        (Expansion(np.array([2]), np.array([0, 1]), ROWS, np.ones(3)), "probabilities have the shape"),
        (Expansion(np.array([2]), np.array([0, 1]), ROWS, np.ones(2), np.array([0, np.nan])), "reward is not finite"),
    ],
)
def test_a_model_that_breaks_its_word(expansion, message, tmp_path):
    with pytest.raises(InductionError, match=message):
        build_transitions(Wrong(expansion), 1, tmp_path)


def test_states_in_any_order_get_the_numbers_of_a_plain_walk(tmp_path):
    """Numbers follow the order in which states are met, whatever the table of known states does."""
    table = random_table(3, states=60, actions=3, terminal=3)
    found = build_transitions(TableModel(table), 5, tmp_path, BuildOptions(Budget(1 << 22, 4), slice_states=7))
    order, level = [0], [0]
    for _ in range(5):
        following = []
        for state in level:
            for action in range(3):
                following += [int(s) for s in np.flatnonzero(table[state, action])]
        level = [s for s in dict.fromkeys(following) if s not in order]
        order += level
    stored = [found.states(part.first, part.last) for part in found.slices]
    assert np.concatenate(stored).view("<u4")[:, 0].tolist() == order


@pytest.mark.parametrize("in_memory", [True, False])
def test_known_states_against_a_dictionary(in_memory, monkeypatch, tmp_path):
    monkeypatch.setattr(Budget, "holds", lambda self, nbytes: in_memory)
    rng = np.random.default_rng(0)
    known, told = KnownStates(1000, tmp_path, Budget()), {}
    for _ in range(40):
        hashes = rng.integers(0, 30_000, 2_000).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        before = len(told)
        numbers, fresh = known.find_or_enter(hashes)
        expected = [told.setdefault(int(hash), 1000 + len(told)) for hash in hashes]
        assert numbers.tolist() == expected
        assert len(fresh) == len(told) - before
        assert [told[int(hashes[place])] for place in fresh] == list(range(1000 + before, 1000 + len(told)))
    assert os.listdir(tmp_path) == []
