from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npp_env.config import PRESETS, EnvironmentConfig, RewardConfig, resolve_config
from npp_env.errors import ConfigError
from npp_env.observe.spec import OBSERVATION_KEYS


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_survive_json(preset):
    config = PRESETS[preset]()
    assert EnvironmentConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_presets_take_overrides():
    config = EnvironmentConfig.for_parallel_training(frame_skip=1, reward={"shaping_weight": 0})
    assert config.frame_skip == 1
    assert config.reward == RewardConfig(shaping_weight=0.0)
    assert config.copy is False


def test_nested_dictionary():
    config = resolve_config(
        {
            "frame_skip": 1,
            "observation": {"keys": ["game_state", "action_mask"]},
            "reward": {"shaping_weight": 0.0},
        }
    )
    assert config.observation.keys == ("game_state", "action_mask")
    assert not config.needs_graph


def test_dictionary_refines_a_preset():
    config = resolve_config({"reward": {"gold_weight": 2}}, "evaluation", {"frame_skip": 2})
    assert config.reward.gold_weight == 2
    assert config.reward.shaping_weight == 0
    assert config.frame_skip == 2


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"frame_skp": 1}, ["frame_skp", "frame_skip"]),
        ({"frame_skip": 0}, ["frame_skip", "0", "from 1"]),
        ({"frame_skip": 2.0}, ["frame_skip", "2.0"]),
        ({"frame_skip": True}, ["frame_skip", "True"]),
        ({"observation": {"keys": ["game_stat"]}}, ["observation.keys", "game_stat", "game_state"]),
        ({"observation": {"keys": []}}, ["observation.keys", "[]"]),
        ({"observation": {"keys": ["action_mask", "action_mask"]}}, ["repetitions"]),
        ({"observation": {"layout": "tree"}}, ["observation.layout", "tree", "flat"]),
        ({"observation": {"max_entities": 65}}, ["observation.max_entities", "65", "64"]),
        ({"observation": 3}, ["observation", "3"]),
        ({"reward": {"exit_weight": "high"}}, ["reward.exit_weight", "high"]),
        ({"reward": {"discount": 1.5}}, ["reward.discount", "1.5"]),
        ({"reward": {"exit_weight": float("nan")}}, ["reward.exit_weight", "nan"]),
        ({"graph": {"max_nodes": 70000}}, ["graph.max_nodes", "70000"]),
        ({"graph": {"nodes": 7}}, ["graph.nodes", "max_nodes"]),
        ({"render": {"show_status": 1}}, ["render.show_status", "1"]),
        ({"max_episode_frames": -5}, ["max_episode_frames", "-5", "auto"]),
        ({"levels": []}, ["levels"]),
        ({"levels": 5}, ["levels", "5"]),
        ({"copy": "yes"}, ["copy", "yes"]),
    ],
)
def test_errors_name_field_value_and_remedy(values, words):
    with pytest.raises(ConfigError) as error:
        EnvironmentConfig.from_dict(values)
    for word in words:
        assert word in str(error.value)


def test_wrong_preset():
    with pytest.raises(ConfigError, match="parallel_training"):
        resolve_config(preset="fast")


def test_object_and_preset_exclude_each_other():
    with pytest.raises(ConfigError, match="not both"):
        resolve_config(EnvironmentConfig(), "training")


@given(
    st.lists(st.sampled_from(OBSERVATION_KEYS), min_size=1, unique=True),
    st.integers(1, 3600),
    st.floats(-1e5, 1e5),
    st.one_of(st.none(), st.just("auto"), st.integers(1, 10**7)),
)
def test_round_trip(keys, frame_skip, weight, limit):
    config = EnvironmentConfig.from_dict(
        {
            "observation": {"keys": keys},
            "frame_skip": frame_skip,
            "reward": {"gold_weight": weight},
            "max_episode_frames": limit,
        }
    )
    assert EnvironmentConfig.from_dict(config.to_dict()) == config
    needs = weight is None or any(k.startswith("graph") or k == "reachability_features" for k in keys)
    assert config.needs_graph or not needs
