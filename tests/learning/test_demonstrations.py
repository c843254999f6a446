"""Demonstrations: they win, they replay, and a changed one is told from a true one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from npp_env import NppEnv
from npp_env.errors import ConfigError
from npp_env.learning.demonstrations import DemoMaker, DemoOptions, replay_complaint
from npp_env.learning.teacher import TeacherConfig
from npp_env.level import read_text
from npp_env.recording import load_shipped_recording
from npp_env.rollouts.decoder import ObservationDecoder
from npp_env.sim.outcome import Outcome

QUICK = TeacherConfig(ticks_per_state=30_000, solve_ticks=2_000_000, cached_states=1 << 14)
LEVELS = ["shipped:first_steps/walk", "shipped:first_steps/jump"]


@pytest.fixture(scope="module")
def made():
    maker = DemoMaker(LEVELS, DemoOptions(perturbed=2, seed=4), QUICK)
    return maker, list(maker.episodes())


def test_every_level_is_demonstrated_and_won(made):
    maker, episodes = made
    assert maker.levels.names()[2:] == ["mirrored:first_steps/walk", "mirrored:first_steps/jump"]
    kinds = [(d.level_index, d.kind) for d in episodes]
    assert kinds == [(k, kind) for k in range(4) for kind in ("start", "perturbed", "perturbed")]
    assert {d.outcome for d in episodes} == {Outcome.WON}
    assert maker.missing == []
    env = NppEnv(maker.config)
    assert [replay_complaint(env, d) for d in episodes] == [None] * 12
    # From the start the teacher plays what came with the level.
    inputs = load_shipped_recording("first_steps/walk", frame_skip=4).inputs[::4]
    assert np.array([0, 4, 2, 1, 5, 3])[episodes[0].actions].tolist() == inputs.tolist()


def test_perturbed_starts_lie_beside_the_way(made):
    _, episodes = made
    for k in range(0, 12, 3):
        on_the_way = {row[40:].tobytes() for row in episodes[k].rows}
        assert all(d.rows[0][40:].tobytes() not in on_the_way for d in episodes[k + 1 : k + 3])


def test_states_decode_to_what_an_environment_shows(made):
    maker, episodes = made
    d = episodes[4]
    keys = ["game_state", "reachability_features", "entity_states", "player_frame"]
    plain = maker.config.with_overrides({"observation": {"layout": "dict", "keys": keys}})
    env = NppEnv(plain)
    decoded = ObservationDecoder(plain).decode(d.rows)
    env.reset(seed=0, options={"level": d.level_index})
    env.set_state(d.rows[0])
    for step, action in enumerate(d.actions.tolist()):
        observation = env.step(action)[0]
        for key in keys:
            assert (observation[key] == decoded[key][step + 1]).all()


def test_a_changed_episode_does_not_replay(made):
    maker, episodes = made
    env, d = NppEnv(maker.config), episodes[0]
    rewards, rows, actions = d.rewards.copy(), d.rows.copy(), d.actions.copy()
    rewards[3] += 1e-12
    rows[5, 60] ^= 1
    actions[0] = (actions[0] + 3) % 6
    first = d.rows.copy()
    first[0, 60] ^= 1
    complaints = {
        "step 3 gives": replace(d, rewards=rewards),
        "step 4 leads to another state": replace(d, rows=rows),
        "step 0 leads to another state": replace(d, actions=actions),
        "damaged": replace(d, rows=first),
        "ends with won, not died": replace(d, outcome=Outcome.DIED),
        "does not end with step": replace(d, rows=d.rows[:9], actions=d.actions[:8], rewards=d.rewards[:8]),
    }
    for complaint, changed in complaints.items():
        assert complaint in (replay_complaint(env, changed) or "")


def test_a_level_without_a_way_is_named(tmp_path):
    tiles = "\n".join(["#" * 42] * 23)
    level = f"npp-level 1\nname: sealed\ntiles:\n{tiles}\nentities:\nninja 14 42\nexit 90 42\nexit-switch 80 42\n"
    read_text(level)
    (tmp_path / "sealed.txt").write_text(level)
    maker = DemoMaker(str(tmp_path), DemoOptions(perturbed=0, mirrored=False), QUICK)
    assert list(maker.episodes()) == []
    assert len(maker.missing) == 1


@pytest.mark.parametrize("levels", [[], [3], "generated:mazes"])
def test_what_cannot_be_demonstrated_is_refused(levels):
    with pytest.raises(ConfigError, match=r"name at least one|has an end"):
        DemoMaker(levels, DemoOptions(mirrored=False))


@pytest.mark.parametrize("wrong", [{"perturbed": -1}, {"longest_burst": 0}, {"seed": -1}])
def test_options_are_checked(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        DemoOptions(**wrong)
