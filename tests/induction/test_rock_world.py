"""The world of the example: its rules against a plain second reading, and the counts that are known of it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from npp_env.induction.builder import build_transitions

from .example import SMALL_MAP, RockWorld, load
from .plain_world import PlainWorld

LEVELS = [1, 36, 128, 224, 368, 496, 592, 752, 1144, 1968, 3400, 5752, 9276, 12836, 15332, 18028]


def test_counts_of_horizon_5(tmp_path):
    found = build_transitions(RockWorld(), 5, tmp_path)
    assert found.level_sizes(5) == LEVELS[:6]
    assert sum(found.level_sizes(5)) == 1253


def test_counts_of_horizon_15(tmp_path):
    world = RockWorld()
    found = build_transitions(world, 15, tmp_path)
    assert found.level_sizes(15) == LEVELS
    assert sum(found.level_sizes(15)) == 70_333
    assert (found.state_count, found.transition_count) == (18_028, 982_148)
    assert len(world.cell_goals().names) == 18
    # A store of a longer horizon serves a shorter one, and the other way round it goes on.
    again = build_transitions(world, 5, tmp_path)
    assert again.level_sizes(5) == LEVELS[:6]


@pytest.mark.parametrize("text", [load().MAP, SMALL_MAP])
def test_rules_against_a_plain_reading(text):
    world, plain = RockWorld(text), PlainWorld(text)
    states, known = [plain.start], {plain.start}
    contested = 0
    assert world.start()[0].tobytes() == plain.encoded(plain.start)
    # The list grows while it is walked along.
    for state in itertools.islice(states, 120):
        row = np.frombuffer(plain.encoded(state), np.uint8)[None]
        found = world.expand(row)
        actions = np.arange(world.action_count) if found.actions is None else found.actions
        chances = np.ones(len(actions)) if found.probabilities is None else found.probabilities
        told = {}
        for action, chance, successor in zip(actions.tolist(), chances.tolist(), found.successors, strict=True):
            told.setdefault(action, {})[successor.tobytes()] = chance
        for joint in range(world.action_count):
            expected = plain.outcomes(state, joint)
            contested += len(expected) > 1
            assert told[joint] == pytest.approx({plain.encoded(s): float(p) for s, p in expected.items()})
            for successor in expected:
                if successor not in known:
                    known.add(successor)
                    states.append(successor)
    assert contested > 0 or text != SMALL_MAP


def test_the_example_says_what_it_found(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["rock_world.py", "--horizon", "3"])
    load().main()
    told = capsys.readouterr().out
    assert "levels: [1, 36, 128, 224]" in told
    assert told.count("the robot begins with") == 4
