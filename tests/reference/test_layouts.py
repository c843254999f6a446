"""Layouts and buffers, against offsets, sizes and contents that are written here by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npp_env import NppEnv, NppVectorEnv
from npp_env.observe.buffers import ObservationLayout
from npp_env.observe.spec import Capacity
from npp_env.sim.simulation import Simulation

from .checksums import checksum
from .layout_moments import EDGES, ENTITIES, HEADER, INPUTS, KEYS, NODES, SIZES, config_of, rich_levels
from .scene import state_bytes

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
