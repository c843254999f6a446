"""Layouts, buffers, decoder and packed storage, against offsets, sizes and contents that are written here by hand."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from graph.random_levels import random_level
from play import held_actions
from sim.rooms import room as hall

from npp_env import NppEnv, NppVectorEnv
from npp_env.level import Level
from npp_env.level.level_set import LevelSet
from npp_env.level.shipped import load_shipped
from npp_env.observe.buffers import ObservationLayout
from npp_env.observe.spec import Capacity
from npp_env.rollouts.decoder import ObservationDecoder
from npp_env.rollouts.estimate import Demand, graph_sizes, storage_choices
from npp_env.rollouts.packing import PackedObservations
from npp_env.sim.simulation import Simulation

from . import frames as reference
from .checksums import checksum
from .frame_scenes import NAMES
from .scene import scene_of, state_bytes

NODES, EDGES, ENTITIES = 900, 3300, 11
SIZES: dict[str, tuple[tuple[int, ...], str]] = {
    "game_state": ((34,), "<f2"),
    "entity_states": ((ENTITIES, 39), "<f2"),
    "switch_states": ((25,), "<f2"),
    "reachability_features": ((10,), "<f2"),
    "spatial_context": ((155,), "<f2"),
    "player_frame": ((84, 84, 1), "u1"),
    "global_view": ((100, 176, 1), "u1"),
    "graph_node_feats": ((NODES, 8), "<f2"),
    "graph_edge_index": ((2, EDGES), "<u2"),
    "graph_edge_feats": ((EDGES, 4), "<f2"),
    "graph_node_mask": ((NODES,), "u1"),
    "graph_edge_mask": ((EDGES,), "u1"),
    "action_mask": ((6,), "u1"),
}
KEYS = tuple(SIZES)
SIZE_CONFIG = {"graph": {"max_nodes": NODES, "max_edges": EDGES}}
HEADER = struct.Struct("<Iiii16sQ")  # version, level, time limit, steps, hash, checksum
INPUTS = {0: 0, 1: 4, 2: 2, 3: 1, 4: 5, 5: 3}


def config_of(keys: tuple[str, ...], layout: str, **more: Any) -> dict[str, Any]:
    return {"observation": {"keys": keys, "layout": layout, "max_entities": ENTITIES}, **SIZE_CONFIG, **more}


@lru_cache
def rich_levels() -> tuple[Level, ...]:
    """Doors that open one after the other, every kind of entity, caves, and a small level: each of another size."""
    shafts = [(25, row) for row in range(1, 19)] + [(33, row) for row in range(1, 19)]
    doors = [(6, 100, 78, 0), (7, 36, 78), (8, 132, 78, 0), (9, 52, 78), (2, 28, 78), (2, 44, 78)]
    everything = [(kind, 20 + 8 * k, 60 - 3 * (k % 5), 2) for k, kind in enumerate(NAMES) if kind not in (3, 6, 8)]
    solid = [(column, row) for column in range(1, 43) for row in range(1, 12)]
    return (
        hall(*doors, (3, 150, 77), (4, 66, 77), walls=shafts + solid),
        hall(*everything, (3, 150, 77), (4, 28, 77), (6, 120, 78, 0), (7, 24, 78), walls=solid),
        random_level(5),
        load_shipped("first_steps/walk"),
    )


@dataclass
class Moment:
    number: int
    level: Level
    limit: int
    steps: int
    vector: np.ndarray
    observation: dict[str, np.ndarray]


@lru_cache
def moments() -> tuple[Moment, ...]:
    """Vectors and observations of every level under several time limits, by two environments that play the same."""
    levels = list(rich_levels())
    found = []
    for run, limit in enumerate((None, 90, 400)):
        dense, compact = (
            NppEnv(levels=levels, **config_of(KEYS, layout, frame_skip=3 + run, max_episode_frames=limit))
            for layout in ("dict", "state")
        )
        for number, level in enumerate(levels):
            options = {"level": number}
            observation, vector = (env.reset(seed=0, options=options)[0] for env in (dense, compact))
            actions = held_actions(np.random.default_rng(10 * run + number), 12 if number else 50)[:, 0]
            actions[:] = 2 if number == 0 else actions
            for steps, action in enumerate([*actions.tolist(), None]):
                found.append(Moment(number, level, limit or 0, steps, vector, observation))
                if action is None:
                    break
                observation, _, terminated, truncated, _ = dense.step(action)
                vector = compact.step(action)[0]
                if terminated or truncated:
                    found.append(Moment(number, level, limit or 0, steps + 1, vector, observation))
                    break
    return tuple(found)


def decoder(keys: tuple[str, ...] = KEYS, **more: Any) -> ObservationDecoder:
    return ObservationDecoder(config_of(keys, "state"), list(rich_levels()), **more)


def assert_rows(decoded, wanted: list[Moment], keys: tuple[str, ...] = KEYS) -> None:
    assert tuple(decoded) == keys
    for key in keys:
        assert len(decoded[key]) == len(wanted)
        for i, moment in enumerate(wanted):
            assert decoded[key][i].dtype == np.dtype(SIZES[key][1])
            same = decoded[key][i].tobytes() == moment.observation[key].tobytes()
            assert same, f"{key} of row {i}, level {moment.number}, step {moment.steps}, limit {moment.limit}"


def stacked(wanted: list[Moment]) -> np.ndarray:
    return np.stack([moment.vector for moment in wanted])


def shuffled(seed: int, count: int = 0) -> list[Moment]:
    order = np.random.default_rng(seed).permutation(len(moments()))
    return [moments()[i] for i in order[: count or None]]


# What decodes to what: the first test tells most.


@pytest.mark.parametrize("key", KEYS)
def test_mixed_rows_decode_to_what_the_environment_returned(key):
    wanted = shuffled(1)
    assert {moment.number for moment in wanted} == {0, 1, 2, 3}
    assert {moment.limit for moment in wanted} == {0, 90, 400}
    assert_rows(decoder((key,)).decode(stacked(wanted)), wanted, (key,))


def test_decoded_rows_are_those_of_their_states():
    # By the state alone: place, velocity, time and gold that are left, and the picture.
    wanted = shuffled(2, 40)
    decoded = decoder().decode(stacked(wanted))
    for i, moment in enumerate(wanted):
        scene = scene_of(moment.level, moment.vector[40:].tobytes())
        numbers = decoded["game_state"][i]
        assert numbers[0] == pytest.approx(scene.ninja.x / 528 - 1, abs=2**-11)
        assert numbers[1] == pytest.approx(scene.ninja.y / 300 - 1, abs=2**-11)
        assert numbers[4] == pytest.approx(scene.ninja.vx / 12, abs=2**-11)
        left = 1 - scene.ninja.frame / moment.limit if moment.limit else 1.0
        assert numbers[31] == pytest.approx(max(left, 0), abs=2**-11)
        gold = scene.of_kind(2)
        share = sum(not piece.taken for piece in gold) / len(gold) if gold else 0.0
        assert numbers[33] == pytest.approx(share, abs=2**-11)
        picture, edge = reference.player_frame(scene)
        assert (np.abs(decoded["player_frame"][i, ..., 0] - picture) <= edge).all()
        here = np.flatnonzero(decoded["graph_node_feats"][i, :, 7])
        assert len(here) <= 1
        nodes = decoded["graph_node_feats"][i].astype(float)[decoded["graph_node_mask"][i] == 1]
        assert nodes[:, 2] * 1056 == pytest.approx((nodes[:, 0] + 1) * 528 - scene.ninja.x, abs=1.5)
        assert nodes[:, 3] * 600 == pytest.approx((nodes[:, 1] + 1) * 300 - scene.ninja.y, abs=1.5)


def test_doors_and_exit_switch_were_met_in_several_configurations():
    doors = {(m.number, *m.observation["switch_states"][4::5].tolist()) for m in moments() if m.number == 0}
    assert len(doors) >= 4
    distances = {m.observation["graph_node_feats"][:, 5].tobytes() for m in moments() if m.number == 0}
    assert len(distances) >= 3


@pytest.mark.parametrize(("kept", "threads"), [(1, 1), (2, 2), (128, 1)])
def test_memory_that_is_used_again_holds_no_old_rows(kept, threads):
    reader = decoder(kept_sources=kept, num_threads=threads)
    batch = reader.allocate(24)
    for round_number, size in enumerate((24, 5, 24, 1, 17, 24)):
        wanted = shuffled(100 + round_number, size)
        assert_rows(reader.decode(stacked(wanted), out=batch), wanted)
    # The same level in other doors, and other levels, take turns in the same row.
    for first in range(6):
        wanted = list(moments())[first::7][:24]
        assert_rows(reader.decode(stacked(wanted), out=batch), wanted)
        assert_rows(reader.decode(stacked(wanted[::-1]), out=batch), wanted[::-1])


def test_own_arrays_are_written_all_over():
    reader = decoder()
    out = {key: np.full((15, *shape), 77, dtype) for key, (shape, dtype) in SIZES.items()}
    for seed in range(3):
        wanted = shuffled(200 + seed, 15)
        assert reader.decode(stacked(wanted), out=out)["game_state"] is out["game_state"]
        assert_rows(out, wanted)
        for array in out.values():
            array.fill(9)


def test_indices_choose_rows():
    rows = stacked(list(moments()))
    for seed in range(3):
        chosen = np.random.default_rng(seed).integers(0, len(rows), 20)
        chosen[7] = chosen[3]
        assert_rows(decoder().decode(rows, indices=chosen), [moments()[i] for i in chosen])
    pairs = chosen.reshape(4, 5)
    decoded = decoder(("game_state",)).decode(rows, indices=pairs)["game_state"]
    assert decoded.shape == (4, 5, 34)
    assert decoded[2, 3].tobytes() == moments()[pairs[2, 3]].observation["game_state"].tobytes()


def test_rows_wherever_they_lie_in_memory():
    wanted = shuffled(300, 12)
    rows, keys = stacked(wanted), ("game_state", "player_frame", "graph_node_feats", "reachability_features")
    wider = np.full((12, rows.shape[1] + 16), 200, np.uint8)
    wider[:, 8:-8] = rows
    odd = np.zeros(rows.size + 3, np.uint8)[3:].reshape(rows.shape)
    odd[:] = rows
    reader = decoder(keys)
    for view, order in ((wider[:, 8:-8], 1), (odd, 1), (np.asfortranarray(rows), 1), (rows[::-1], -1)):
        assert_rows(reader.decode(view), wanted[::order], keys)


def test_blank_rows_are_zeros_between_others():
    wanted = shuffled(400, 10)
    reader = decoder(blank_rows=True)
    batch = reader.allocate(10)
    for blank in ((0, 4), (4, 9), (1,)):
        rows = stacked(wanted)
        rows[list(blank)] = 0
        decoded = reader.decode(rows, out=batch)
        for key in KEYS:
            for i, moment in enumerate(wanted):
                expected = bytes(moment.observation[key].nbytes) if i in blank else moment.observation[key].tobytes()
                assert decoded[key][i].tobytes() == expected, key


# Layouts: where what lies.


def test_spaces_have_the_documented_shapes():
    env = NppEnv(levels=list(rich_levels()), **config_of(KEYS, "dict"))
    assert {key: (box.shape, box.dtype) for key, box in env.observation_space.items()} == {
        key: (shape, np.dtype(dtype)) for key, (shape, dtype) in SIZES.items()
    }
    observation, _ = env.reset(seed=0)
    assert {key: (array.shape, array.dtype.str.lstrip("|")) for key, array in observation.items()} == SIZES


ORDERS = [
    KEYS,
    KEYS[::-1],
    ("action_mask", "game_state", "global_view", "switch_states", "player_frame", "reachability_features"),
    ("graph_edge_mask", "graph_edge_index", "action_mask", "spatial_context"),
]


def play_twice(keys: tuple[str, ...], layout: str, number: int, steps: int = 5):
    """Dense observations and those of a layout, of the same play."""
    envs = [NppEnv(levels=list(rich_levels()), **config_of(keys, kind)) for kind in ("dict", layout)]
    pairs = [[env.reset(seed=0, options={"level": number})[0] for env in envs]]
    for action in (2, 5, 1, 3, 2)[:steps]:
        pairs.append([env.step(action)[0] for env in envs])
    return pairs


@pytest.mark.parametrize("keys", ORDERS, ids=lambda keys: keys[0])
def test_packed_rows_hold_wide_keys_first(keys):
    wide = [key for key in keys if SIZES[key][1] != "u1"]
    narrow = [key for key in keys if SIZES[key][1] == "u1"]
    for dense, row in play_twice(keys, "packed", 1):
        assert row.dtype == np.uint8
        assert row.ndim == 1
        position = 0
        for key in wide + narrow:
            shape, dtype = SIZES[key]
            length = int(np.prod(shape)) * np.dtype(dtype).itemsize
            part = np.frombuffer(row.tobytes()[position : position + length], dtype).reshape(shape)
            assert part.tobytes() == dense[key].tobytes(), key
            position += length
        assert position == len(row)
        unpacked = ObservationLayout(keys, "packed", Capacity(ENTITIES, NODES, EDGES)).unpack(np.stack([row, row]))
        for key in keys:
            assert unpacked[key][1].tobytes() == dense[key].tobytes(), key


@pytest.mark.parametrize("keys", ORDERS[1:3], ids=lambda keys: keys[0])
def test_flat_vectors_join_the_keys_in_their_order(keys):
    keys = tuple(key for key in keys if key != "graph_edge_index")
    for dense, vector in play_twice(keys, "flat", 1):
        assert vector.dtype == np.float16
        position = 0
        for key in keys:
            length = int(np.prod(SIZES[key][0]))
            # Bytes become the same numbers: float16 has all of 0..255.
            part = vector[position : position + length].astype(float)
            assert (part == dense[key].reshape(-1).astype(float)).all(), key
            position += length
        assert position == len(vector)


def test_bounds_of_flat_vectors_are_those_of_their_keys():
    keys = ("game_state", "action_mask", "global_view")
    space = NppEnv(levels=[rich_levels()[0]], **config_of(keys, "flat")).observation_space
    assert space.low.tolist() == [-1.0] * 34 + [0.0] * (6 + 100 * 176)
    assert space.high.tolist() == [1.0] * (34 + 6) + [255.0] * (100 * 176)


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("limit", [None, "auto", 77])
def test_state_vectors_have_a_header_and_the_exact_state(number, limit):
    levels = list(rich_levels())
    level = levels[number]
    frame_skip = 3
    env = NppEnv(levels=levels, **config_of(("game_state",), "state", max_episode_frames=limit, frame_skip=frame_skip))
    longest = max(state_bytes(other) for other in levels)
    ticks = {None: 0, 77: 77, "auto": 600 + 4 * int((level.tiles != 1).sum())}[limit]
    vector, _ = env.reset(seed=0, options={"level": number})
    physics = Simulation(level)
    for steps, action in enumerate((2, 2, 5, 5, 1, 3, 4)):
        assert vector.shape == (40 + longest,)
        *header, found = HEADER.unpack(vector[:40].tobytes())
        assert header == [2, number, ticks, steps, bytes.fromhex(level.hash)]
        own = state_bytes(level)
        assert found == checksum(vector[:32].tobytes(), physics.state.tobytes())
        assert vector[40 : 40 + own].tobytes() == physics.state.tobytes()
        assert not vector[40 + own :].any()
        vector, _, ended, _, _ = env.step(action)
        assert not ended
        physics.advance(INPUTS[action], frame_skip)


# Who owns the memory.


def memory_of(observation) -> list[np.ndarray]:
    return list(observation.values()) if isinstance(observation, dict) else [observation]


def contents(observation) -> list[bytes]:
    return [array.tobytes() for array in memory_of(observation)]


@pytest.mark.parametrize("layout", ["dict", "flat", "packed", "state"])
@pytest.mark.parametrize("vector", [False, True], ids=["single", "vector"])
def test_double_buffers_take_turns(layout, vector):
    keys = ("game_state", "player_frame", "action_mask")

    def make(**more):
        config = config_of(keys, layout, **more)
        levels = list(rich_levels())
        return NppVectorEnv(3, levels=levels, **config) if vector else NppEnv(levels=levels, **config)

    actions = [np.array([2, 5, 1]) if vector else 2, np.array([2, 3, 1]) if vector else 5] * 3
    fresh, views = make(copy=True), make(copy=False)
    truth = [fresh.reset(seed=4)[0], *(fresh.step(action)[0] for action in actions)]
    kept = [contents(observation) for observation in truth]
    assert len({tuple(content) for content in kept}) == len(kept)
    assert all(contents(observation) == content for observation, content in zip(truth, kept, strict=True))
    seen = [views.reset(seed=4)[0]]
    assert contents(seen[0]) == kept[0]
    for step, action in enumerate(actions, start=1):
        seen.append(views.step(action)[0])
        assert contents(seen[step]) == kept[step]
        assert contents(seen[step - 1]) == kept[step - 1]
        for new, last in zip(memory_of(seen[step]), memory_of(seen[step - 1]), strict=True):
            assert not np.shares_memory(new, last)
        if step >= 2:
            assert contents(seen[step - 2]) == kept[step]
    for first in truth:
        for second in truth:
            if first is not second:
                assert not any(map(np.shares_memory, memory_of(first), memory_of(second)))


@pytest.mark.parametrize("layout", ["dict", "flat", "packed", "state"])
@pytest.mark.parametrize("count", [1, 3], ids=["single", "vector"])
def test_the_callers_buffers_are_written_in_place(layout, count):
    keys = ("action_mask", "game_state", "global_view")
    levels = list(rich_levels())
    config = config_of(keys, layout)
    if layout == "dict":
        mine: Any = {key: np.full((count, *SIZES[key][0]), 3, SIZES[key][1]) for key in keys}
    else:
        width = {"flat": 6 + 34 + 17600, "packed": 6 + 68 + 17600, "state": 40 + max(map(state_bytes, levels))}[layout]
        mine = np.full((count, width), 3, np.float16 if layout == "flat" else np.uint8)
    single = count == 1
    given, plain = (
        NppEnv(levels=levels, **config, **more) if single else NppVectorEnv(count, levels=levels, **config, **more)
        for more in ({"buffers": mine}, {})
    )
    found, wanted = given.reset(seed=3)[0], plain.reset(seed=3)[0]
    for action in (2, 5, 5):
        assert contents(mine) == contents(wanted)
        assert contents(found) == contents(wanted)
        assert all(map(np.shares_memory, memory_of(found), memory_of(mine)))
        actions: Any = action if single else np.array([action, 1, 3])
        found, wanted = given.step(actions)[0], plain.step(actions)[0]
    assert contents(mine) == contents(wanted)


@pytest.mark.parametrize("layout", ["dict", "packed", "state"])
def test_rows_of_a_vector_are_those_of_single_environments(layout):
    keys = ("game_state", "switch_states", "action_mask")
    levels = list(rich_levels())
    many = NppVectorEnv(4, levels=levels, **config_of(keys, "state"))
    named = NppVectorEnv(4, levels=levels, **config_of(keys, layout))
    vectors, rows = many.reset(seed=9)[0], named.reset(seed=9)[0]
    singles = []
    for vector in vectors:
        singles.append(NppEnv(levels=levels, **config_of(keys, layout)))
        singles[-1].reset(seed=0, options={"level": int(HEADER.unpack(vector[:40].tobytes())[1])})
    for action in (2, 5, 3, 2):
        actions = np.array([action, 1, 2, 5])
        rows = named.step(actions)[0]
        for i, env in enumerate(singles):
            observation = env.step(int(actions[i]))[0]
            row = {key: array[i] for key, array in rows.items()} if isinstance(rows, dict) else rows[i]
            assert contents(row) == contents(observation), i


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
    own = np.mean([-(-(40 + length) // 32) * 32 for length in lengths]) + 6
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
