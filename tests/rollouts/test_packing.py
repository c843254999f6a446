"""Packed storage returns exactly what went in."""

from __future__ import annotations

import tracemalloc

import gymnasium as gym
import numpy as np
import pytest
from graph.random_levels import random_level
from hypothesis import given, settings
from hypothesis import strategies as st
from play import held_actions

from npp_env import NppVectorEnv
from npp_env.errors import NppError
from npp_env.observe.spec import OBSERVATION_KEYS
from npp_env.rollouts.packing import ChangingRows, PackedObservations, RepeatedRows

NODES, EDGES = 12, 20
SPACE = gym.spaces.Dict(
    {
        "graph_node_feats": gym.spaces.Box(-1, 1, (NODES, 8), np.float16),
        "graph_edge_index": gym.spaces.Box(0, 65535, (2, EDGES), np.uint16),
        "graph_edge_feats": gym.spaces.Box(-1, 1, (EDGES, 4), np.float16),
        "graph_node_mask": gym.spaces.Box(0, 1, (NODES,), np.uint8),
        "game_state": gym.spaces.Box(-1, 1, (5,), np.float16),
    }
)


def assert_same(taken, expected, positions) -> None:
    for key, array in expected.items():
        assert taken[key].dtype == array.dtype
        assert taken[key].tobytes() == array[positions].tobytes(), key


def rollout(levels, seed: int, steps: int, num_envs: int, nodes: int):
    env = NppVectorEnv(
        num_envs,
        levels=levels,
        observation={"keys": OBSERVATION_KEYS},
        graph={"max_nodes": nodes, "max_edges": 5 * nodes},
        max_episode_frames=50,
    )
    packed = PackedObservations(env.single_observation_space, steps, num_envs)
    observation, _ = env.reset(seed=seed)
    return env, packed, observation


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 3), nodes=st.sampled_from([30, 1700]))
def test_rollouts_of_mixed_levels_come_back_in_any_order(seed, count, nodes):
    steps, num_envs = 9, 3
    env, packed, observation = rollout([random_level(seed + k) for k in range(count)], seed, steps, num_envs, nodes)
    actions = held_actions(np.random.default_rng(seed), 2 * steps, num_envs)
    rng = np.random.default_rng(seed)
    # Two rollouts: the memory of the first is used again.
    for part in range(2):
        kept = []
        for step in range(steps):
            packed.add(observation)
            kept.append(observation)
            observation = env.step(actions[part * steps + step])[0]
        expected = {key: np.concatenate([row[key] for row in kept]) for key in OBSERVATION_KEYS}
        for _ in range(3):
            order = rng.permutation(steps * num_envs)
            for positions in (order[:10], order[10:13], order[13:]):
                assert_same(packed.take(positions, copy=False), expected, positions)
        fresh = packed.take(order)
        assert_same(fresh, expected, order)
        packed.take(order[::-1].copy())
        assert_same(fresh, expected, order)
        packed.clear()
        assert len(packed) == 0


def arrays(dtype, shape):
    """Arrays with many zeros anywhere, and any bytes elsewhere: also -0.0, NaN and padding that is not zero."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    zero = st.just(bytes(size))
    sparse = st.dictionaries(st.integers(0, size - 1), st.integers(0, 255), max_size=6).map(
        lambda entries: bytes(entries.get(i, 0) for i in range(size))
    )
    return st.one_of(zero, sparse, st.binary(min_size=size, max_size=size)).map(
        lambda content: np.frombuffer(content, dtype).reshape(shape)
    )


OBSERVATIONS = st.fixed_dictionaries({key: arrays(box.dtype, box.shape) for key, box in SPACE.items()})


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(OBSERVATIONS, min_size=1, max_size=5), data=st.data())
def test_any_bytes_come_back(rows, data):
    num_envs = 2
    packed = PackedObservations(SPACE, len(rows), num_envs)
    for row in rows:
        packed.add({key: np.stack([array, rows[0][key]]) for key, array in row.items()})
    expected = {key: np.concatenate([np.stack([row[key], rows[0][key]]) for row in rows]) for key in SPACE}
    for _ in range(3):
        positions = np.array(data.draw(st.lists(st.integers(0, num_envs * len(rows) - 1), min_size=1, max_size=6)))
        assert_same(packed.take(positions, copy=False), expected, positions)


def test_what_is_static_is_kept_once():
    steps, num_envs = 40, 4
    env, packed, observation = rollout("shipped:first_steps/walk", 1, steps, num_envs, 4500)
    boxes = env.single_observation_space.values()
    dense = steps * num_envs * sum(box.dtype.itemsize * np.prod(box.shape) for box in boxes)
    for actions in held_actions(np.random.default_rng(1), steps, num_envs):
        packed.add(observation)
        observation = env.step(actions)[0]
    graph = sum(packed.columns[key].nbytes for key in packed.columns if key.startswith("graph"))
    edges = sum(packed.columns[key].nbytes for key in packed.columns if "edge" in key)
    nodes = int(observation["graph_node_mask"][0].sum())
    assert edges < 2 * (observation["graph_edge_index"][0].nbytes + observation["graph_edge_feats"][0].nbytes)
    assert graph < steps * num_envs * nodes * 2 * 2 + 5_000_000
    assert packed.nbytes < dense / 5


def test_rows_that_repeat_and_rows_that_change():
    repeated = RepeatedRows(4, 2)
    rows = [np.array(row, np.uint8) for row in ([1, 2, 0, 0], [1, 2, 0, 0], [1, 2, 0, 3], [0, 0, 0, 0])]
    for position, row in enumerate(rows):
        repeated.put(position, position % 2, row)
    assert repeated.ids.tolist() == [0, 0, 1, 2]
    changing = ChangingRows(3)
    contents = [np.arange(n, dtype=np.uint8) for n in (0, 5, 3)]
    for position, row in enumerate(contents):
        changing.put(position, row)
    assert [changing.get(k).tolist() for k in range(3)] == [row.tolist() for row in contents]


def test_sampling_allocates_nothing_after_the_first_minibatch():
    steps, num_envs = 12, 4
    env, packed, observation = rollout("shipped:first_steps", 2, steps, num_envs, 1700)
    for actions in held_actions(np.random.default_rng(2), steps, num_envs):
        packed.add(observation)
        observation = env.step(actions)[0]
    order = np.random.default_rng(0).permutation(48).reshape(3, 16)
    packed.take(order[0], copy=False)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for positions in order:
            packed.take(positions, copy=False)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before < 16_000
    assert after - before < 4_000


def test_what_is_wrong_is_said():
    packed = PackedObservations(SPACE, 1, 2)
    good = {key: np.zeros((2, *box.shape), box.dtype) for key, box in SPACE.items()}
    with pytest.raises(NppError, match="'game_state' has shape"):
        packed.add({**good, "game_state": np.zeros((3, 5), np.float16)})
    with pytest.raises(NppError, match="holds 0"):
        packed.take(np.array([0]))
    packed.add(good)
    with pytest.raises(NppError, match="full"):
        packed.add(good)
    with pytest.raises(NppError, match="both must be at least 1"):
        PackedObservations(SPACE, 0, 2)
