"""What a user does with an environment beside stepping it: look, name levels, copy it, choose levels, mistype."""

from __future__ import annotations

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
from golden_levels import golden
from play import held_actions

import npp_env
from npp_env.errors import ConfigError, LevelError, NppError
from npp_env.level.binary import read_map
from npp_env.level.shipped import shipped_level_names

GROUP = "shipped:mines"
NAMES = [name for name in shipped_level_names() if name.startswith("mines/")]


def same(a, b) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return np.array_equal(a, b)


@pytest.mark.parametrize("copies", [True, False])
def test_observe_after_set_state_gives_what_the_step_gave(copies):
    env = npp_env.NppEnv(levels=GROUP, preset="training", copy=copies)
    with pytest.raises(NppError, match="reset"):
        env.observe()
    env.reset(seed=2)
    env.step(2)
    state = env.get_state()
    observation, *_, info = env.step(5)
    observation, later = copy.deepcopy(observation), env.get_state()
    env.set_state(state)
    env.set_state(later)
    seen, told = env.observe()
    assert same(seen, observation)
    assert told == info


def test_observe_of_a_vector_after_set_state():
    env = npp_env.NppVectorEnv(3, levels=GROUP, preset="training")
    env.reset(seed=2)
    observation, *_, info = env.step([2, 5, 3])
    state = env.get_state()
    env.step([0, 0, 0])
    env.set_state(state)
    seen, told = env.observe()
    assert same(seen, observation)
    assert same(told, info)


def test_a_level_of_the_set_has_its_number_however_it_is_named():
    env = gym.make("npp_env:Npp-v0", levels=GROUP).unwrapped
    for given in ("mines/ring", "shipped:mines/ring", NAMES.index("mines/ring")):
        info = env.reset(options={"level": given})[1]
        assert (info["level"], info["level_name"]) == (NAMES.index("mines/ring"), "mines/ring")
    info = env.reset(options={"level": "first_steps/walk"})[1]
    assert (info["level"], info["level_name"]) == (-1, "Walk")
    assert env.level_names == NAMES
    levels = [read_map(item.map) for item in golden()[:3]]
    own = npp_env.NppEnv(levels=levels)
    assert own.reset(options={"level": levels[1]})[1]["level"] == 1
    generated = npp_env.NppEnv(levels="generated:caverns?seeds=5-9")
    assert generated.reset(options={"level": 2})[1]["level_name"] == "caverns 7" == generated.level_names[2]
    with pytest.raises(LevelError, match="no end"):
        _ = npp_env.NppEnv(levels="generated:caverns").level_names


@pytest.mark.parametrize("make", [npp_env.NppEnv, lambda **arguments: npp_env.NppVectorEnv(2, **arguments)])
def test_unknown_options_are_refused(make):
    env = make(levels=GROUP)
    env.reset(seed=0, options={})
    with pytest.raises(ConfigError, match=r"unknown option 'levle' \(did you mean 'level'\?\); reset takes level"):
        env.reset(options={"levle": 1})


def test_levels_for_each_environment_of_a_vector():
    env = npp_env.NppVectorEnv(4, levels=GROUP)
    drawn = env.reset(seed=5)[1]["level"].tolist()
    info = env.reset(seed=5, options={"level": [2, "mines/ring", None, "first_steps/walk"]})[1]
    assert info["level"].tolist() == [2, NAMES.index("mines/ring"), drawn[2], -1]
    assert env.present_level_names == [NAMES[2], "mines/ring", NAMES[drawn[2]], "Walk"]
    mask = np.array([True, False, False, True])
    info = env.reset(options={"level": np.array([1, 0, 0, 3]), "reset_mask": mask})[1]
    assert info["level"].tolist() == [1, 0, 0, 3]
    assert env.present_level_names == [NAMES[1], "mines/ring", NAMES[drawn[2]], NAMES[3]]
    with pytest.raises(ConfigError, match="has 2 levels for 4 environments"):
        env.reset(options={"level": [0, 1]})
    with pytest.raises(ConfigError, match="numbers 0 to"):
        env.reset(options={"level": [0, 1, 2, 99]})


@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP", "DISABLED"])
@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_of_a_vector_environment_go_on_alike(mode, twin_of):
    arguments = {"levels": GROUP, "max_episode_frames": 60, "max_episode_steps": 12, "sampling": "success"}
    env = npp_env.NppVectorEnv(5, autoreset_mode=mode, num_threads=2, **arguments)
    fresh = twin_of(env)
    assert same(fresh.reset(seed=1)[1], env.reset(seed=1)[1])
    env.reset(options={"level": [0, "first_steps/walk", None, None, None]})
    actions = held_actions(np.random.default_rng(0), 40, 5)
    for chosen in actions[:9]:
        env.step(chosen)
    env.action_space.seed(3)
    twin = twin_of(env)
    assert (twin.num_threads, twin.autoreset_mode, twin.metadata) == (2, env.autoreset_mode, env.metadata)
    assert twin.get_state() == env.get_state()
    assert same(twin.action_space.sample(), env.action_space.sample())
    for chosen in actions[9:]:
        mine, other = env.step(chosen), twin.step(chosen)
        assert same(mine[0], other[0])
        for a, b in zip(mine[1:4], other[1:4], strict=True):
            assert np.array_equal(a, b)
        assert same(mine[4], other[4]) if "final_obs" not in mine[4] else mine[4].keys() == other[4].keys()
        ended = mine[2] | mine[3]
        if mode == "DISABLED" and ended.any():
            mask = {"reset_mask": ended}
            assert same(env.reset(options=mask)[1], twin.reset(options=mask)[1])


def test_a_copy_is_independent():
    env = npp_env.NppVectorEnv(2, levels=GROUP)
    env.reset(seed=1)
    twin = copy.deepcopy(env)
    before = env.get_state()
    twin.step([2, 2])
    assert env.get_state() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"reward": "sparse"}, "reward is 'sparse'; it must be a dictionary or a RewardConfig"),
        ({"config": {"reward": "sparse"}}, "reward is 'sparse'; it must be a dictionary or a RewardConfig"),
        ({"observation": "flat"}, "observation is 'flat'; it must be a dictionary or an? ObservationConfig"),
    ],
)
def test_a_word_in_place_of_a_section(arguments, message):
    with pytest.raises(ConfigError, match=f"^{message}$"):
        npp_env.NppEnv(**arguments)
