"""Levels with several exits: distances, features and shaping lead to an exit that is open."""

from __future__ import annotations

import numpy as np
import pytest
from sim.rooms import room

from npp_env import NppEnv, NppVectorEnv, Outcome
from npp_env.errors import ConfigError
from npp_env.graph import fields_of, graph_of
from npp_env.level.cache import LevelCache
from npp_env.observe.spec import REACHABILITY_FIELDS
from npp_env.rollouts.decoder import ObservationDecoder

LEFT, RIGHT = 1, 2
TOUCH_PX = 40
# In units of 6 px. The ninja starts at 20; walking right it takes the switch of the far exit, then the other one.
FAR, BEHIND = 150, 6
FAR_SWITCH, BEHIND_SWITCH = 40, 60


def two_exits():
    return room((3, FAR, 77), (3, BEHIND, 77), (4, FAR_SWITCH, 77), (4, BEHIND_SWITCH, 77))


def make_env(**changes):
    return NppEnv(
        levels=[two_exits()],
        observation={"keys": ("reachability_features", "graph_node_feats"), **changes},
        max_episode_frames=None,
        reward={"time_weight": 0.0, "switch_weight": 0.0},
    )


def exit_direction(observation):
    return float(observation["reachability_features"][REACHABILITY_FIELDS.index("exit_direction_x")])


def test_each_switch_has_its_own_exit():
    cache, level = LevelCache(persist=False), two_exits()
    graph = graph_of(level, cache)
    assert (graph.door_count, graph.exit_count) == (0, 2)
    closed, far, behind, both = (fields_of(level, config, cache) for config in range(4))
    switch = graph.node_at(6 * FAR_SWITCH, 6 * 77)
    assert far.exit_distance[switch] == pytest.approx(6 * (FAR - FAR_SWITCH), abs=TOUCH_PX)
    assert behind.exit_distance[switch] == pytest.approx(6 * (FAR_SWITCH - BEHIND), abs=TOUCH_PX)
    assert both.exit_distance[switch] == behind.exit_distance[switch]
    # Before any switch is taken, the plan of the nearest one leads to its own exit, though another one is nearer.
    assert closed.switch_exit_distance == pytest.approx(6 * (FAR - FAR_SWITCH), abs=TOUCH_PX)
    late = graph.node_at(6 * BEHIND_SWITCH, 6 * 77)
    assert closed.plan_distance[late] == pytest.approx(6 * (BEHIND_SWITCH - BEHIND), abs=TOUCH_PX)
    with pytest.raises(ConfigError, match="0 locked and trap doors and 2 exits"):
        fields_of(level, 4, cache)


def test_exits_stand_behind_the_doors_of_a_configuration():
    level = room((6, 60, 78, 0), (7, 30, 78), (3, FAR, 77), (3, BEHIND, 77), (4, 100, 77), (4, 110, 77))
    cache = LevelCache(persist=False)
    graph = graph_of(level, cache)
    assert (graph.door_count, graph.exit_count) == (1, 2)
    env = NppEnv(levels=[level], max_episode_frames=None)
    env.reset(seed=0)
    assert env._episodes.doors_taken(0) == 0
    seen = []
    for _ in range(120):
        env.step(RIGHT)
        taken = env._episodes.doors_taken(0)
        if taken not in seen:
            seen.append(taken)
    assert seen == [0, 0b001, 0b011, 0b111]


def test_the_features_lead_to_the_open_exit():
    env = make_env()
    observation, info = env.reset(seed=0)
    while info["phase"] == 0:
        observation, _, _, _, info = env.step(RIGHT)
    assert exit_direction(observation) > 0.9
    _, reward, *_ = env.step(RIGHT)
    assert reward > 0
    while env._episodes.doors_taken(0) != 0b11:
        observation, *_ = env.step(RIGHT)
    # Both are open now, and the one behind is nearer.
    assert exit_direction(observation) < -0.9


def test_one_vector_environment_and_the_decoder_agree():
    level = two_exits()
    keys = ("reachability_features", "graph_node_feats", "switch_states")
    env = NppVectorEnv(2, levels=[level], observation={"keys": keys}, max_episode_frames=None)
    single = NppEnv(levels=[level], observation={"keys": keys}, max_episode_frames=None)
    compact = NppEnv(levels=[level], observation={"keys": keys, "layout": "state"}, max_episode_frames=None)
    env.reset(seed=0)
    rows, states = [single.reset(seed=0)[0]], [compact.reset(seed=0)[0]]
    terminated = False
    while not terminated:
        row, _, terminated, _, info = single.step(RIGHT)
        rows.append(row)
        states.append(compact.step(RIGHT)[0])
        batch = env.step([RIGHT, LEFT])[0]
        for key in keys:
            assert batch[key][0].tobytes() == rows[-1][key].tobytes(), key
    assert info["outcome"] == Outcome.WON
    assert len({row["switch_states"][4::5].tobytes() for row in rows}) == 3
    decoded = ObservationDecoder(compact.config, [level], kept_sources=1).decode(np.stack(states))
    for key in keys:
        assert decoded[key].tobytes() == np.stack([row[key] for row in rows]).tobytes(), key


def test_a_saved_state_keeps_the_open_exit():
    env = make_env()
    _, info = env.reset(seed=0)
    while info["phase"] == 0:
        _, _, _, _, info = env.step(RIGHT)
    saved = env.get_state()
    expected = env.step(RIGHT)[0]
    other = make_env()
    other.reset(seed=5)
    other.set_state(saved)
    found = other.step(RIGHT)[0]
    assert found["reachability_features"].tobytes() == expected["reachability_features"].tobytes()


def test_very_many_exits_are_not_told_apart():
    exits = [(3, 30 + 10 * k, 77) for k in range(9)]
    level = room(*exits, *((4, 32 + 10 * k, 77) for k in range(9)))
    graph = graph_of(level, LevelCache(persist=False))
    assert graph.exit_count == 0
    env = NppEnv(levels=[level])
    env.reset(seed=0)
    for _ in range(20):
        env.step(RIGHT)
