"""Estimates of storage agree with what storage takes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from play import held_actions

from npp_env import NppVectorEnv
from npp_env.cli import main
from npp_env.cli.estimate import format_bytes
from npp_env.cli.measuring import observation_keys
from npp_env.errors import ConfigError
from npp_env.level.level_set import LevelSet
from npp_env.observe.spec import GRAPH_KEYS, OBSERVATION_KEYS
from npp_env.rollouts.estimate import Demand, storage_choices
from npp_env.rollouts.packing import PackedObservations
from npp_env.rollouts.state_store import StateStore

LEVELS = "shipped:first_steps"
ALL = {"levels": LEVELS, "observation": {"keys": OBSERVATION_KEYS}}


def choices(config) -> dict:
    return {choice.name: choice for choice in storage_choices(config)}


def test_dense_sizes_are_those_of_the_arrays():
    found = choices(ALL)
    env = NppVectorEnv(1, **ALL)
    observation, _ = env.reset(seed=0)
    assert found["dense as declared"].observation_bytes == sum(array.nbytes for array in observation.values())
    assert found["dense float32"].observation_bytes == sum(4 * array.size for array in observation.values())
    assert found["dense float32, with internals"].observation_bytes > found["dense float32"].observation_bytes


def test_packed_and_compact_sizes_are_those_of_the_stores():
    found = choices(ALL)
    steps, num_envs = 60, 12
    env = NppVectorEnv(num_envs, **ALL, copy=False)
    compact = NppVectorEnv(num_envs, levels=LEVELS, observation={"layout": "state"})
    packed = PackedObservations(env.single_observation_space, steps, num_envs)
    states = StateStore(steps, num_envs, compact.single_observation_space.shape[0])
    observation, state = env.reset(seed=0)[0], compact.reset(seed=0)[0]
    assert found["compact state"].observation_bytes == state.shape[1]
    for step, actions in enumerate(held_actions(np.random.default_rng(0), steps, num_envs)):
        packed.add(observation)
        states[step] = state
        observation, state = env.step(actions)[0], compact.step(actions)[0]
    count = steps * num_envs
    estimate = count * found["packed"].observation_bytes + found["packed"].fixed_bytes
    # Up to a chunk of spare memory, and a few hundred bytes for every node that the ninja came by.
    assert 0.85 * estimate < packed.nbytes < 1.15 * estimate + 1.2e6
    assert states.nbytes < 1.2 * count * found["compact state, own length"].observation_bytes
    assert states.nbytes > 0.8 * count * found["compact state, own length"].observation_bytes


def test_totals_count_every_transition():
    by_name = choices({"levels": LEVELS})
    assert list(by_name) == ["dense float32", "dense as declared", "compact state", "compact state, own length"]
    dense, own = by_name["dense as declared"], by_name["compact state, own length"]
    rollout = Demand("ppo", 128, 512)
    assert rollout.transitions == 65536
    assert rollout.total_bytes(dense) == 65536 * (94 + 32)
    assert rollout.peak_bytes(dense) == rollout.total_bytes(dense) + 65536 * 68
    assert rollout.peak_bytes(own) == rollout.total_bytes(own)
    assert Demand("maskable_ppo", 128, 512).other_bytes == 65536 * (32 + 24)
    replay = Demand("dqn", buffer_size=1000)
    assert replay.total_bytes(dense) == 1000 * (2 * 94 + 20)
    assert replay.total_bytes(own) == int(1000 * own.observation_bytes) + 20_000
    assert Demand("ppo", 4).transitions == 4 * 2048


def test_the_limits_hold_for_the_shipped_levels():
    found = choices({"observation": {"keys": ("player_frame", "global_view", *GRAPH_KEYS)}})
    rollout, replay = Demand("ppo", 128, 512), Demand("dqn", buffer_size=1_000_000)
    assert rollout.peak_bytes(found["compact state, own length"]) <= 64e6
    assert rollout.peak_bytes(found["packed"]) <= 5e9
    assert replay.total_bytes(found["compact state, own length"]) <= 1e9


def test_endless_sets_have_an_estimate():
    levels = LevelSet.parse(LEVELS)
    found = storage_choices({"observation": {"keys": GRAPH_KEYS}}, lambda index: levels[index % len(levels)])
    assert {choice.name for choice in found} >= {"packed", "compact state"}


def test_wrong_demands_are_refused():
    with pytest.raises(ConfigError, match=r"'rainbow'.*dqn"):
        Demand("rainbow")
    with pytest.raises(ConfigError, match="n_steps is 0"):
        Demand("ppo", 1, 0)


def test_the_command_prints_every_choice(capsys):
    arguments = ["estimate", "--algo", "ppo", "--num-envs", "128", "--n-steps", "512", "--level", LEVELS]
    assert main([*arguments, "--observations", "graph,frames"]) == 0
    printed = capsys.readouterr().out
    for name in ("with internals", "dense float32", "dense as declared", "packed", "compact state", "free memory"):
        assert name in printed
    assert "128 environments x 512 steps" in printed
    assert main([*arguments, "--observations", "graph", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["transitions"] == 65536
    assert data["free_bytes"] > 0
    assert [choice["fits"] for choice in data["choices"]] == [
        choice["peak_bytes"] <= data["free_bytes"] for choice in data["choices"]
    ]
    assert main(["estimate", "--algo", "dqn", "--buffer-size", "1000000", "--level", LEVELS]) == 0
    assert "1,000,000 transitions" in capsys.readouterr().out


def test_the_command_fails_when_nothing_fits(capsys):
    assert main(["estimate", "--algo", "dqn", "--buffer-size", str(10**13), "--level", LEVELS]) == 1
    assert main(["estimate", "--observations", "sound"]) == 2
    assert "'sound'" in capsys.readouterr().err


def test_names_of_observations_and_numbers_for_people():
    assert observation_keys("frames, action_mask,player_frame") == ("player_frame", "global_view", "action_mask")
    assert [format_bytes(n) for n in (12, 1500, 142.1e9, 999_960, 2.2e12)] == [
        "12 B",
        "1.5 KB",
        "142 GB",
        "1.0 MB",
        "2.2 TB",
    ]
