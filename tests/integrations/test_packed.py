"""The packed layout and the way back, in NumPy and in PyTorch."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from play import held_actions

import npp_env
from npp_env.errors import ConfigError
from npp_env.integrations.packed import unpack
from npp_env.observe.spec import OBSERVATION_KEYS

ID = "npp_env:Npp-v0"
# An odd number of edges and of nodes: rows of an odd length, which numbers of two bytes do not lie straight in.
ODD = {"max_nodes": 301, "max_edges": 1200}


def configs(keys):
    plain = {"observation": {"keys": list(keys)}, "graph": ODD, "levels": "shipped:first_steps"}
    return {**plain, "observation": {"keys": list(keys), "layout": "packed"}}, plain


def assert_equal(unpacked, expected):
    assert list(unpacked) == list(expected)
    for key, array in expected.items():
        assert unpacked[key].dtype == array.dtype
        np.testing.assert_array_equal(unpacked[key], array)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(OBSERVATION_KEYS), min_size=1, unique=True))
def test_unpacked_is_what_the_dict_layout_gives(keys):
    packed, plain = configs(keys)
    one, two = npp_env.NppVectorEnv(3, packed), npp_env.NppVectorEnv(3, plain)
    rows, expected = one.reset(seed=1)[0], two.reset(seed=1)[0]
    for actions in held_actions(np.random.default_rng(0), 4, 3):
        assert_equal(unpack(rows, one), expected)
        rows, expected = one.step(actions)[0], two.step(actions)[0]
    stacked = np.stack([rows, rows])
    assert unpack(stacked, packed)[keys[0]].shape == (2, *expected[keys[0]].shape)


def test_every_kind_of_source():
    packed, _ = configs(["game_state", "action_mask", "player_frame"])
    wrapped = gym.make(ID, config=packed)
    row, _ = wrapped.reset(seed=0)
    config = npp_env.EnvironmentConfig.from_dict(packed)
    for source in (wrapped, wrapped.unwrapped, config, packed, npp_env.NppVectorEnv(2, packed)):
        assert unpack(row, source)["player_frame"].shape == (84, 84, 1)
    for wrong in (None, 5, "packed", object()):
        with pytest.raises(ConfigError, match="configuration"):
            unpack(row, wrong)
    for bad in (row[:-1], row.astype(np.float32), row.view(np.int8)):
        with pytest.raises(ConfigError, match="uint8"):
            unpack(bad, config)


def test_unpacked_arrays_are_views():
    packed, _ = configs(["game_state", "action_mask"])
    env = npp_env.NppVectorEnv(4, packed)
    rows, _ = env.reset(seed=0)
    assert all(np.shares_memory(array, rows) for array in unpack(rows, env).values())


def test_written_straight_into_the_buffer_of_a_trainer():
    packed, _ = configs(["game_state", "reachability_features", "action_mask"])
    shape = npp_env.NppVectorEnv(8, packed).observation_space.shape
    shared = np.zeros((2, *shape), np.uint8)
    env = npp_env.NppVectorEnv(8, packed, buffers=shared[1])
    rows, _ = env.reset(seed=0)
    assert rows is not None
    assert np.shares_memory(rows, shared)
    assert shared[1].any()
    assert not shared[0].any()
    twin = npp_env.NppVectorEnv(8, packed)
    twin.reset(seed=0)
    for actions in held_actions(np.random.default_rng(3), 10, 8):
        env.step(actions)
        np.testing.assert_array_equal(shared[1], twin.step(actions)[0])


@pytest.mark.parametrize("keys", [["game_state", "action_mask"], OBSERVATION_KEYS])
def test_tensors(keys):
    torch = pytest.importorskip("torch")
    packed, plain = configs(keys)
    rows, _ = npp_env.NppVectorEnv(3, packed).reset(seed=2)
    expected, _ = npp_env.NppVectorEnv(3, plain).reset(seed=2)
    for tensor in (torch.from_numpy(rows), torch.from_numpy(np.repeat(rows, 2, axis=0))[::2]):
        unpacked = unpack(tensor, packed)
        assert_equal({key: value.numpy() for key, value in unpacked.items()}, expected)
    with pytest.raises(ConfigError, match="uint8"):
        unpack(torch.zeros(3, 5), packed)
    with pytest.raises(ConfigError, match="list"):
        unpack([1, 2], packed)
