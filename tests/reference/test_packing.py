"""Packed rollouts and estimates, against contents and sizes that are written here by hand."""

from __future__ import annotations

import numpy as np
import pytest
from play import held_actions

from npp_env import NppEnv, NppVectorEnv
from npp_env.level.level_set import LevelSet
from npp_env.observe.spec import Capacity
from npp_env.rollouts.estimate import Demand, graph_sizes, storage_choices
from npp_env.rollouts.packing import PackedObservations

from .layout_moments import EDGES, ENTITIES, KEYS, NODES, SIZES, config_of, rich_levels
from .scene import state_bytes

# Packed rollouts: what was put in comes out, wherever it lies.


def test_a_packed_rollout_returns_every_position():
    env = NppVectorEnv(3, levels=list(rich_levels()), **config_of(KEYS, "dict"))
    rollout = PackedObservations(env.single_observation_space, steps=8, num_envs=3)
    for seed in (5, 6):
        observation = env.reset(seed=seed)[0]
        put = []
        for actions in held_actions(np.random.default_rng(seed), 8, 3):
            put.append({key: array.copy() for key, array in observation.items()})
            rollout.add(observation)
            observation = env.step(actions)[0]
        for size in (24, 3, 11, 24):
            positions = np.random.default_rng(size).permutation(24)[:size]
            for copied in (False, True):
                taken = rollout.take(positions, copy=copied)
                for key in KEYS:
                    assert taken[key].dtype == np.dtype(SIZES[key][1])
                    for i, position in enumerate(positions.tolist()):
                        step, lane = divmod(position, 3)
                        assert taken[key][i].tobytes() == put[step][key][lane].tobytes(), (key, position)
        rollout.clear()
        assert len(rollout) == 0


def test_a_packed_rollout_keeps_nodes_of_any_number_and_bytes():
    # Rows grow and shrink, repeat with and without a change, and hold zeros of both signs and NaNs.
    space = NppEnv(levels=list(rich_levels()), **config_of(("graph_node_feats", "graph_edge_index"), "dict"))
    rollout = PackedObservations(space.observation_space, steps=10, num_envs=2)
    rng = np.random.default_rng(0)
    put = []
    for step in range(10):
        feats = np.zeros((2, NODES, 8), np.float16)
        index = np.zeros((2, 2, EDGES), np.uint16)
        for lane, count in enumerate((int(rng.integers(0, NODES + 1)), 40 if step % 3 else 60)):
            feats[lane, :count] = rng.normal(size=(count, 8))
            feats[lane, :count:5] = np.float16(-0.0)
            feats[lane, 1:count:7] = np.nan
            feats[lane, : count // 2, 0] = lane + 1
            index[lane, :, :count] = rng.integers(0, 9 if step % 2 else 900, (2, count))
        put.append((feats, index))
        rollout.add({"graph_node_feats": feats, "graph_edge_index": index})
        feats_back, index_back = feats.copy(), index.copy()
        put[-1] = (feats_back, index_back)
        feats.fill(1)
        index.fill(1)
    for seed in range(4):
        positions = np.random.default_rng(seed).integers(0, 20, 13)
        taken = rollout.take(positions, copy=False)
        for i, position in enumerate(positions.tolist()):
            feats, index = put[position // 2]
            assert taken["graph_node_feats"][i].tobytes() == feats[position % 2].tobytes()
            assert taken["graph_edge_index"][i].tobytes() == index[position % 2].tobytes()


def test_rows_of_other_lengths_with_the_same_bytes():
    space = NppEnv(levels=list(rich_levels()), **config_of(("graph_node_feats", "graph_edge_mask"), "dict"))
    rows = []
    for nodes, one, edges in ((2, (0, 6), 8), (3, (2, 5), 40), (2, (0, 6), 41), (3, (2, 5), 8)):
        # Column after column, 5 and 6 hold 0 0 1 and zeros, once for two nodes and once for three.
        feats, mask = np.zeros((1, NODES, 8), np.float16), np.zeros((1, EDGES), np.uint8)
        feats[0, :nodes, 0] = 0.5
        feats[0][one] = 1
        mask[0, :edges] = 1
        rows.append({"graph_node_feats": feats, "graph_edge_mask": mask})
    rollout = PackedObservations(space.observation_space, steps=4, num_envs=1)
    for row in rows:
        rollout.add(row)
    for position in (0, 1, 2, 3, 2, 1, 0, 3):
        taken = rollout.take(np.array([position]), copy=False)
        for key, array in rows[position].items():
            assert taken[key].tobytes() == array.tobytes(), (key, position)


def test_more_rows_than_a_piece_of_memory_holds():
    space = NppEnv(levels=list(rich_levels()), **config_of(("graph_node_feats",), "dict"))
    steps = 640  # 900 nodes, two columns of two bytes: 2.3 MB that change
    rollout = PackedObservations(space.observation_space, steps=steps, num_envs=1)
    feats = np.full((1, NODES, 8), 0.25, np.float16)
    for offset in (1, 2000):
        for step in range(steps):
            feats[..., 2:4] = np.float16(offset + step)
            rollout.add({"graph_node_feats": feats})
        taken = rollout.take(np.arange(steps))["graph_node_feats"]
        for step in range(steps):
            assert (taken[step, :, 2:4] == np.float16(offset + step)).all()
        assert (taken[..., [0, 1, 4, 5, 6, 7]] == np.float16(0.25)).all()
        rollout.clear()


def test_a_packed_rollout_stores_what_changes_and_the_rest_once():
    keys = ("graph_node_feats", "graph_edge_index", "graph_edge_feats", "graph_node_mask", "graph_edge_mask")
    level = rich_levels()[3]
    env = NppVectorEnv(2, levels=[level], **config_of(keys, "dict"))
    rollout = PackedObservations(env.single_observation_space, steps=20, num_envs=2)
    observation = env.reset(seed=0)[0]
    for _ in range(20):
        rollout.add(observation)
        observation = env.step(np.array([0, 0]))[0]
    edges = int(observation["graph_edge_mask"][0].sum())
    nodes = int(observation["graph_node_mask"][0].sum())
    for key, length in (
        # Of the two rows of edges only the zeros behind the second are left out.
        ("graph_edge_index", 2 * EDGES + 2 * edges),
        ("graph_edge_feats", 8 * edges),
        ("graph_node_mask", nodes),
        ("graph_edge_mask", edges),
    ):
        assert 4 * 40 < rollout.columns[key].nbytes <= 4 * 40 + length + 8


# Estimates.


def stored(length):
    """Multiples of 32 bytes up to 1,024; of 64 up to 2,048, of 128 up to 4,096, and so on."""
    unit = 32
    while -(-length // 32) * 32 >= 32 * unit:
        unit *= 2
    return -(-length // unit) * unit


def test_estimates_by_hand():
    levels = list(rich_levels())
    config = config_of(KEYS, "dict")
    found = {choice.name: choice for choice in storage_choices(config, levels)}
    numbers = {key: int(np.prod(shape)) for key, (shape, _) in SIZES.items()}
    declared = sum(numbers[key] * np.dtype(dtype).itemsize for key, (_, dtype) in SIZES.items())
    total = sum(numbers.values())
    assert found["dense float32"].observation_bytes == 4 * total
    assert found["dense float32"].flattened_bytes == 4 * 17600
    assert found["dense as declared"].observation_bytes == declared
    assert found["dense as declared"].flattened_bytes == max(2 * 4 * EDGES, 17600)
    # Per node two coordinates, kind, three distances, three next hops and reachability.
    internals = 10 * NODES + 2 * EDGES + NODES + 1 + 88 * 50
    assert found["dense float32, with internals"].observation_bytes == 4 * (total + internals)
    lengths = [state_bytes(level) for level in levels]
    assert found["compact state"].observation_bytes == 40 + max(lengths)
    own = np.mean([stored(40 + length) for length in lengths]) + 6
    assert found["compact state, own length"].observation_bytes == pytest.approx(own)
    # Two of eight columns change with every step; an index of 4 bytes for each thing that is kept once.
    graph = graph_sizes(LevelSet.parse(levels), Capacity(ENTITIES, NODES, EDGES))
    dense = sum(
        numbers[key] * np.dtype(dtype).itemsize for key, (_, dtype) in SIZES.items() if not key.startswith("graph_")
    )
    packed = dense + 4 * 4 + graph.nodes * 2 * 2 + (4 + 8 + 4 + 4) + 3 * 4
    assert found["packed"].observation_bytes == pytest.approx(packed)
    once = 2 * 2 * EDGES + 8 * EDGES + NODES + EDGES + graph.nodes * 6 * 2
    assert found["packed"].fixed_bytes == pytest.approx(4 * once)
    rollout, replay = Demand("ppo", 4, 100), Demand("dqn", buffer_size=500)
    assert rollout.total_bytes(found["dense as declared"]) == 400 * (declared + 8 + 6 * 4)
    assert rollout.peak_bytes(found["dense as declared"]) == 400 * (declared + 8 + 6 * 4 + 8 * EDGES)
    assert replay.total_bytes(found["compact state"]) == 500 * (2 * (40 + max(lengths)) + 8 + 3 * 4)
    assert replay.total_bytes(found["compact state, own length"]) == int(500 * own) + 500 * 20
