"""Which levels come: weights, curricula, and what was won and lost."""

from __future__ import annotations

import copy
import json
import pickle

import gymnasium as gym
import numpy as np
import pytest
from play import held_actions

import npp_env
from npp_env.errors import ConfigError, StateError
from npp_env.level.shipped import load_shipped
from npp_env.recording import load_shipped_recording
from npp_env.runtime.success_sampling import SuccessSampling

LEVELS = "shipped:first_steps"
SHORT = {"levels": LEVELS, "max_episode_frames": 24, "observation": {"keys": ["game_state"]}}


def plain_probabilities(outcomes, memory, uniform_share):
    """The documented rule once more: lists of outcomes by level, the latest last."""
    learnable = []
    for wins in outcomes:
        ages = range(len(wins) - 1, -1, -1)
        weight = [(1 - 1 / memory) ** age for age in ages]
        rate = (0.5 + sum(w for w, won in zip(weight, wins, strict=True) if won)) / (1 + sum(weight))
        learnable.append(rate * (1 - rate))
    return [(1 - uniform_share) * x / sum(learnable) + uniform_share / len(learnable) for x in learnable]


def test_probabilities_follow_the_documented_rule():
    random = np.random.default_rng(5)
    sampling = SuccessSampling(memory=7, uniform_share=0.2)
    sampling.prepare(3, 5)
    outcomes = [[] for _ in range(5)]
    for _ in range(60):
        level, won = int(random.integers(4)), bool(random.integers(2))
        sampling.record(int(random.integers(3)), level, won)
        outcomes[level].append(won)
    np.testing.assert_allclose(sampling.probabilities(), plain_probabilities(outcomes, 7, 0.2), rtol=1e-12)


def test_levels_come_as_often_as_the_probabilities_say():
    sampling = SuccessSampling()
    sampling.prepare(1, 4)
    for _ in range(30):
        sampling.record(0, 0, True)
        sampling.record(0, 1, False)
    counts = np.bincount([sampling.choose(0, 99, episode, 4) for episode in range(4000)], minlength=4)
    np.testing.assert_allclose(counts / 4000, sampling.probabilities(), atol=0.03)
    assert counts[2] > 3 * counts[0]


def played(env, steps, seed):
    """The levels of all episodes, in order of environments within a step."""
    levels = [env.reset(seed=seed)[1]["level"].tolist()]
    for actions in held_actions(np.random.default_rng(seed), steps, env.num_envs):
        levels.append(env.step(actions)[4]["level"].tolist())
    return levels


@pytest.mark.parametrize("sampling", ["success", {"kind": "success", "shared": False, "memory": 4}])
def test_the_same_seed_gives_the_same_levels_on_any_number_of_threads_and_again(sampling):
    first = npp_env.NppVectorEnv(16, sampling=sampling, **SHORT)
    second = npp_env.NppVectorEnv(16, sampling=sampling, num_threads=3, **SHORT)
    levels = played(first, 80, 3)
    assert played(second, 80, 3) == levels
    assert played(first, 80, 3) == levels
    assert played(first, 80, 4) != levels


@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP"])
def test_unshared_statistics_make_every_vectorisation_the_same(mode):
    alone = {"kind": "success", "shared": False, "memory": 3, "uniform_share": 0.0}
    native = npp_env.NppVectorEnv(3, sampling=alone, autoreset_mode=mode, **SHORT)
    makers = [lambda: npp_env.NppEnv(sampling=alone, **SHORT)] * 3
    plain = gym.vector.SyncVectorEnv(makers, autoreset_mode=native.autoreset_mode)
    levels = played(native, 150, 1)
    assert played(plain, 150, 1) == levels
    assert levels != played(npp_env.NppVectorEnv(3, autoreset_mode=mode, **SHORT), 150, 1)


def test_gymnasium_makes_all_of_them():
    arguments = {**SHORT, "sampling": {"kind": "success", "shared": False}}
    modes = ("sync", "async", "vector_entry_point")
    envs = [gym.make_vec("npp_env:Npp-v0", 2, vectorization_mode=mode, **arguments) for mode in modes]
    levels = [played(env, 60, 2) for env in envs]
    for env in envs:
        env.close()
    assert levels[0] == levels[1] == levels[2]
    single = gym.make("npp_env:Npp-v0", **SHORT, sampling="success")
    assert json.loads(single.spec.to_json())["kwargs"]["sampling"] == "success"


def test_wins_and_losses_are_counted_once_each():
    """One level is won by its recording, one is left by a reset, one runs out of time, one is not in the set."""
    names = ["first_steps/walk", "first_steps/fall", "first_steps/jump"]
    sampling = SuccessSampling()
    levels = [load_shipped(name) for name in names]
    env = npp_env.NppEnv(levels=levels, sampling=sampling, frame_skip=1, max_episode_frames=2000)
    env.reset(options={"level": 0})
    actions = {0: 0, 1: 3, 2: 2, 3: 5, 4: 1, 5: 4}  # recorded inputs: jump 1, right 2, left 4
    for held in load_shipped_recording(names[0]).inputs.tolist():
        if env.step(actions[held])[2]:
            break
    assert env.reset(options={"level": 1})[1]["level"] == 1
    env.step(0)
    env.reset(options={"level": 2})
    env.reset(options={"level": levels[0]})  # the one before had no step
    state = sampling.get_state()
    assert state == {"seen": [[1.0, 1.0, 0.0]], "won": [[1.0, 0.0, 0.0]]}


def test_statistics_are_saved_with_the_environment_and_by_themselves():
    env = npp_env.NppEnv(sampling="success", **SHORT)
    env.reset(seed=0)
    for _ in range(40):
        if any(env.step(0)[2:4]):
            env.reset()
    state = json.loads(json.dumps(env.sampling.get_state()))
    assert sum(state["seen"][0]) > 3
    following = next_levels(copy.deepcopy(env))
    for twin in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        assert twin.sampling.get_state() == state
        assert next_levels(twin) == following
    other = npp_env.NppEnv(sampling="success", **SHORT)
    other.sampling.set_state(state)
    assert other.sampling.get_state() == state
    assert "statistics of the sampling" in env.memory_report().to_text()


def next_levels(env):
    env.step(0)
    return [env.reset()[1]["level"] for _ in range(9)]


@pytest.mark.parametrize(
    "state",
    [{}, None, {"seen": [[1.0]], "won": [[1.0]]}, {"seen": [[0.0] * 6], "won": [[1.0] * 6]}, {"seen": "x", "won": 1}],
)
def test_statistics_that_do_not_fit_are_refused(state):
    env = npp_env.NppEnv(sampling="success", **SHORT)
    before = env.sampling.get_state()
    with pytest.raises(StateError):
        env.sampling.set_state(state)
    assert env.sampling.get_state() == before


@pytest.mark.parametrize("make", [npp_env.NppEnv, lambda **arguments: npp_env.NppVectorEnv(2, **arguments)])
@pytest.mark.parametrize(
    ("sampling", "message"),
    [
        ([1.0, 2.0], "2 sampling weights for "),
        ("sucess", "sampling is 'sucess'; it must be 'uniform', 'success'"),
        ({"kind": "success", "memmory": 3}, "no option 'memmory'; allowed are kind, memory"),
        ({"kind": "success", "memory": 0}, "memory of the sampling is 0"),
        ({"kind": "success", "uniform_share": 2}, "uniform_share of the sampling is 2"),
        ({"kind": "success", "shared": 1}, "shared of the sampling is 1"),
        (7, "sampling is 7"),
    ],
)
def test_wrong_samplings_are_refused_when_the_environment_is_made(make, sampling, message):
    with pytest.raises(ConfigError, match=message):
        make(levels=LEVELS, sampling=sampling)


def test_an_endless_set_has_no_statistics():
    with pytest.raises(ConfigError, match="seeds=0-999"):
        npp_env.NppEnv(levels="generated:caverns", sampling="success")


def test_statistics_of_other_levels_are_refused():
    sampling = SuccessSampling()
    npp_env.NppEnv(levels=LEVELS, sampling=sampling)
    with pytest.raises(ConfigError, match="the set has 1"):
        npp_env.NppEnv(levels="shipped:first_steps/walk", sampling=sampling)
