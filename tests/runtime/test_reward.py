from __future__ import annotations

import numpy as np
import pytest
from play import held_actions

import npp_env
from npp_env.cli.profile import ACTION_OF_INPUT
from npp_env.level.shipped import shipped_level_names
from npp_env.recording import load_shipped_recording

LEVELS = [name for name in shipped_level_names() if name.startswith("first_steps")]


def winning_actions(name):
    """The actions of a level's winning recording, one a tick."""
    return np.array(ACTION_OF_INPUT)[load_shipped_recording(name).inputs & 7]


ONLY = {"switch_weight": 0, "exit_weight": 0, "death_weight": 0, "time_weight": 0, "gold_weight": 0}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("discount", [1.0, 0.97])
def test_shaping_telescopes(level, discount):
    """The discounted shaping of an episode depends on its first and last state only, not on what lies between."""
    env = npp_env.NppEnv(
        {"reward": {**ONLY, "shaping_weight": 1.5, "discount": discount, "keeps_progress": False}},
        levels=f"shipped:{level}",
        max_episode_frames=400,
    )
    slots = env._engine.slots
    moved = False
    for seed in range(3):
        env.reset(seed=seed)
        first = slots["potential"][0]
        total, factor = 0.0, 1.0
        for action in held_actions(np.random.default_rng(seed), 100)[:, 0]:
            _, reward, terminated, truncated, _ = env.step(action)
            moved = moved or reward != 0
            total += factor * reward
            factor *= discount
            last = 0.0 if terminated else slots["potential"][0]
            if terminated or truncated:
                break
        assert total == pytest.approx(1.5 * (factor * last - first), abs=1e-9)
    assert moved


def test_potential_starts_at_zero_and_grows_on_the_way():
    env = npp_env.NppEnv(levels="shipped:first_steps/walk", frame_skip=1)
    env.reset(seed=0)
    assert abs(env._engine.slots["potential"][0]) < 0.1
    course = []
    for action in winning_actions("first_steps/walk"):
        course.append(env._engine.slots["potential"][0])
        if env.step(action)[2]:
            break
    assert course[-1] > 0.9
    assert np.abs(np.diff(course)).max() < 0.1  # also where the switch is taken


def test_weights_pay_for_what_happens():
    weights = {
        "switch_weight": 10,
        "exit_weight": 100,
        "death_weight": -7,
        "time_weight": -0.25,
        "gold_weight": 3,
    }
    config = {"reward": {**weights, "shaping_weight": 0}, "observation": {"keys": ["game_state"]}, "frame_skip": 1}
    env = npp_env.NppEnv(config)
    seen = set()
    plays = [(name, winning_actions(name)) for name in LEVELS]
    plays += [(name, held_actions(np.random.default_rng(1), 900)[:, 0]) for name in ("mines/first_mines", "mines/ring")]
    for name, actions in plays:
        _, before = env.reset(seed=0, options={"level": f"shipped:{name}"})
        for action in actions:
            _, reward, terminated, truncated, info = env.step(action)
            expected = -0.25 * (info["frame"] - before["frame"]) + 3 * (info["gold"] - before["gold"])
            expected += 10 * (info["phase"] - before["phase"])
            expected += {1: 100, 2: -7}.get(info["outcome"], 0)
            assert reward == pytest.approx(expected)
            seen |= {("outcome", info["outcome"]), ("phase", info["phase"])}
            before = info
            if terminated or truncated:
                break
    assert seen >= {("outcome", 1), ("outcome", 2), ("phase", 1)}


def test_without_shaping_there_is_no_graph():
    env = npp_env.NppEnv({"reward": {"shaping_weight": 0}, "observation": {"keys": ["game_state"]}})
    env.reset(seed=0)
    assert env._engine.slots["paths"][0] == 0
