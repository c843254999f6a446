"""Decoded states equal the observations of the environment, bit for bit."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from graph.random_levels import random_level
from hypothesis import given, settings
from hypothesis import strategies as st
from play import held_actions
from reference.checksums import resealed_row
from sim.rooms import room

from npp_env import NppEnv, NppVectorEnv
from npp_env.errors import ConfigError, LevelError, NppError, StateError
from npp_env.graph.navigation import graph_of
from npp_env.level.level_set import LevelSet
from npp_env.level.shipped import load_shipped, shipped_level_names
from npp_env.observe.spec import DEFAULT_KEYS, GRAPH_KEYS, OBSERVATION_KEYS
from npp_env.rollouts.decoder import ObservationDecoder
from npp_env.sim import Simulation
from npp_env.sim.structs import NINJA

SMALL = {"max_nodes": 300, "max_edges": 1500}


def play(levels, seed: int, steps: int, num_envs: int = 4, **config):
    """Rows and observations of the same play: (steps, num_envs, bytes), and by key (steps, num_envs, ...)."""
    keys = config.pop("keys", OBSERVATION_KEYS)
    dense, compact = (
        NppVectorEnv(num_envs, levels=levels, observation={"keys": keys, "layout": layout}, **config)
        for layout in ("dict", "state")
    )
    observations, states = [dense.reset(seed=seed)[0]], [compact.reset(seed=seed)[0]]
    for actions in held_actions(np.random.default_rng(seed), steps - 1, num_envs):
        observations.append(dense.step(actions)[0])
        states.append(compact.step(actions)[0])
    stacked = {key: np.stack([observation[key] for observation in observations]) for key in keys}
    return np.stack(states), stacked, compact.config


def assert_same(decoded, expected, select=slice(None)) -> None:
    assert set(decoded) == set(expected)
    for key, array in expected.items():
        part = array[select]
        assert decoded[key].dtype == part.dtype
        assert decoded[key].shape == part.shape, key
        # Compared as bytes: -0.0 is not 0.0 here.
        assert np.ascontiguousarray(decoded[key]).tobytes() == np.ascontiguousarray(part).tobytes(), key


@pytest.mark.parametrize("group", sorted({name.partition("/")[0] for name in shipped_level_names()}))
def test_all_shipped_levels_decode_to_what_the_environment_returned(group):
    levels = LevelSet.parse(f"shipped:{group}")
    states, expected, config = play(levels, 11, 30, num_envs=len(levels), max_episode_frames=150)
    decoder = ObservationDecoder(config, levels)
    assert states.shape[-1] == decoder.row_bytes
    assert_same(decoder.decode(states), expected)


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 3),
    frame_skip=st.integers(1, 12),
    limit=st.sampled_from([None, "auto", 40]),
    nodes=st.sampled_from([1, 57, 2000]),
    threads=st.integers(1, 3),
)
def test_random_levels_decode_in_any_order_into_reused_memory(seed, count, frame_skip, limit, nodes, threads):
    levels = [random_level(seed + k) for k in range(count)]
    config = {
        "frame_skip": frame_skip,
        "max_episode_frames": limit,
        "graph": {"max_nodes": nodes, "max_edges": 4 * nodes},
    }
    states, expected, config = play(levels, seed, 14, **config)
    flat = states.reshape(-1, states.shape[-1])
    rows = {key: array.reshape(-1, *array.shape[2:]) for key, array in expected.items()}
    decoder = ObservationDecoder(config, levels, num_threads=threads, kept_sources=2)
    batch = decoder.allocate(40)
    rng = np.random.default_rng(seed)
    for size in (40, 7, 33):
        chosen = rng.integers(0, len(flat), size)
        assert_same(decoder.decode(flat, out=batch, indices=chosen), rows, chosen)
        assert_same(decoder.decode(flat[chosen]), rows, chosen)


LOCKED, TRAP = ((6, 100, 78, 0), (7, 36, 78)), ((8, 132, 78, 0), (9, 52, 78))


@pytest.mark.parametrize("doors", [LOCKED, TRAP, LOCKED + TRAP], ids=["locked", "trap", "both"])
def test_doors_decode_to_the_distances_of_their_configuration(doors):
    # The ninja walks over the switch of a locked door, then over that of a trap door, then over the exit's.
    wall = [(25, row) for row in range(1, 19)] + [(33, row) for row in range(1, 19)]
    level = room(*doors, (3, 150, 77), (4, 66, 77), walls=wall)
    keys = ("reachability_features", "graph_node_feats", "switch_states")
    dense, compact = (
        NppEnv(levels=[level], frame_skip=2, observation={"keys": keys, "layout": layout}, max_episode_frames=None)
        for layout in ("dict", "state")
    )
    expected, states = [dense.reset(seed=0)[0]], [compact.reset(seed=0)[0]]
    for _ in range(80):
        expected.append(dense.step(2)[0])
        states.append(compact.step(2)[0])
    opened = [tuple(row["switch_states"][4::5]) for row in expected]
    assert len(set(opened)) == len(doors) // 2 + 2
    # That of the door through which the exit is reached, and that of the one which shuts behind it.
    distances = [row["graph_node_feats"][:, 5].tobytes() for row in expected]
    assert len(set(distances)) > len(doors) // 2
    for kept in (1, 8):
        decoder = ObservationDecoder(compact.config, [level], kept_sources=kept)
        batch = decoder.allocate(16)
        for seed in range(4):
            chosen = np.random.default_rng(seed).integers(0, len(states), 16)
            stacked = {key: np.stack([expected[i][key] for i in chosen]) for key in keys}
            assert_same(decoder.decode(np.stack(states), out=batch, indices=chosen), stacked)


def test_any_leading_shape_and_the_callers_arrays():
    states, expected, config = play("shipped:first_steps", 3, 12, graph=SMALL)
    decoder = ObservationDecoder(config)
    one = decoder.decode(states[5, 2])
    assert_same(one, expected, (5, 2))
    out = {key: np.full_like(array, 7) for key, array in expected.items()}
    returned = decoder.decode(states, out=out)
    assert all(returned[key] is out[key] for key in out)
    assert_same(out, expected)
    # The caller may do with its arrays as it likes.
    for array in out.values():
        array.fill(1)
    decoder.decode(states, out=out)
    assert_same(out, expected)
    assert decoder.decode(states[:0])["game_state"].shape == (0, 4, 34)


def test_memory_of_the_decoder_cannot_be_written_to():
    decoder = ObservationDecoder({"levels": "shipped:first_steps"})
    batch = decoder.allocate(2)
    with pytest.raises(ValueError, match="read-only"):
        batch["game_state"][0] = 1
    with pytest.raises(NppError, match="2 rows"):
        decoder.decode(np.zeros((3, decoder.row_bytes), np.uint8), out=batch)


def test_keys_can_differ_from_those_of_the_environment():
    states, expected, config = play("shipped:first_steps", 4, 6)
    for key in OBSERVATION_KEYS:
        decoder = ObservationDecoder(config, keys=(key,))
        assert_same(decoder.decode(states), {key: expected[key]})


def test_frame_stacks_with_blank_rows_before_the_start():
    states, expected, config = play("shipped:first_steps", 5, 6, graph=SMALL)
    blank = np.concatenate([np.zeros_like(states[:2]), states])
    stacks = np.stack([blank[k : k + 3] for k in range(6)], axis=2)  # (3, 4, 6, bytes) by age
    decoder = ObservationDecoder(config, blank_rows=True)
    batch = decoder.allocate(stacks[..., 0].size)
    for _ in range(2):
        decoded = decoder.decode(stacks, out=batch)
        for key, array in expected.items():
            padded = np.concatenate([np.zeros_like(array[:2]), array])
            wanted = np.stack([padded[k : k + 3] for k in range(6)], axis=2)
            assert decoded[key].tobytes() == wanted.tobytes(), key
        # Other states come to lie where the blank ones were, and the other way round.
        assert_same(decoder.decode(states[::-1], out=batch), {k: v[::-1] for k, v in expected.items()})
    with pytest.raises(StateError, match="blank"):
        ObservationDecoder(config).decode(stacks)


def test_vectors_restore_an_environment():
    states, expected, _ = play("shipped:first_steps", 6, 20, num_envs=1)
    actions = held_actions(np.random.default_rng(6), 19, 1)
    env = NppEnv(levels="shipped:first_steps", observation={"keys": OBSERVATION_KEYS})
    env.reset(seed=0)
    for step in (0, 7, 18):
        env.set_state(states[step, 0])
        assert np.array_equal(env.action_masks(), expected["action_mask"][step, 0])
        observation = env.step(int(actions[step, 0]))[0]
        assert_same(observation, expected, (step + 1, 0))


def test_damaged_states_are_refused_or_decoded_but_never_crash():
    states, _, config = play("shipped", 18, 2, num_envs=40, graph=SMALL)
    decoder = ObservationDecoder(config)
    sizes = {level.hash: Simulation(level).state.size for level in decoder.levels}
    rng = np.random.default_rng(18)
    refused = 0
    for row in np.repeat(states.reshape(-1, states.shape[-1]), 5, axis=0):
        damaged = row.copy()
        size = sizes[row[16:32].tobytes().hex()]
        places = rng.integers(40, 40 + size, rng.integers(1, 3))
        damaged[places] ^= 1 << rng.integers(0, 8, len(places)).astype(np.uint8)
        with pytest.raises(StateError, match="row 0: the state is damaged"):
            decoder.decode(damaged)
        forged = np.frombuffer(resealed_row(damaged.tobytes(), size), np.uint8)
        try:
            decoder.decode(forged)
        except StateError as error:
            refused += "row 0: no valid state of its level" in str(error)
    assert 100 < refused < 300


@pytest.mark.parametrize(
    ("field", "value"), [("vx", np.nan), ("vy", np.inf), ("x", 1e300), ("state", -1), ("state", 10), ("hold", 100)]
)
def test_a_forged_row_is_refused_with_its_number(field, value):
    states, _, config = play("shipped:first_steps/walk", 4, 3, keys=DEFAULT_KEYS)
    rows, size = states[:, 0].copy(), states.shape[-1] - 40
    rows[2, 40 : 40 + NINJA.itemsize].view(NINJA)[field] = value
    rows[2] = np.frombuffer(resealed_row(rows[2].tobytes(), size), np.uint8)
    decoder = ObservationDecoder(config)
    out = {key: np.full((3, *space.shape), 3, space.dtype) for key, space in decoder.space().items()}
    with pytest.raises(StateError, match=f"row 2: no valid state of its level: {field} of the ninja is"):
        decoder.decode(rows, out=out)
    assert all((array == 3).all() for array in out.values())


def test_a_level_that_comes_with_another_hash_is_an_error_and_not_an_endless_search(monkeypatch):
    states, _, config = play("shipped:first_steps", 4, 3, keys=DEFAULT_KEYS)
    decoder = ObservationDecoder(config)
    # As if a file of the cache held another level.
    other = next(level for level in decoder.levels if level.hash != states[0, 0, 16:32].tobytes().hex())
    monkeypatch.setattr(decoder._sources, "_find", lambda *_: other)
    monkeypatch.setattr("npp_env.rollouts.decode_sources.check_row", lambda *_: None)
    with pytest.raises(StateError, match="row 0 names a level that was loaded, but not with the hash"):
        decoder.decode(states[0, :1])


def test_what_is_wrong_is_said():
    states, _, config = play("shipped:first_steps", 7, 3, keys=DEFAULT_KEYS)
    decoder = ObservationDecoder(config)
    good = states[0]
    with pytest.raises(StateError, match=r"have 10 bytes.*have \d+"):
        decoder.decode(good[:, :10])
    with pytest.raises(StateError, match="float32"):
        decoder.decode(good.astype(np.float32))
    with pytest.raises(StateError, match="list"):
        decoder.decode(good.tolist())
    for change, message in (
        ((0, 9), "row 2 has version 9"),
        ((16, good[2, 16] ^ 1), "row 2 belongs to level .* not in the level set"),
        ((40 + NINJA_STATE, 200), "row 2: the state is damaged"),
        ((33, good[2, 33] ^ 1), "row 2: the state is damaged"),
    ):
        bad = good.copy()
        bad[2, change[0]] = change[1]
        out = {key: np.full((4, *space.shape), 3, space.dtype) for key, space in decoder.space().items()}
        with pytest.raises(StateError, match=message):
            decoder.decode(bad, out=out)
        assert (out["game_state"] == 3).all()
        decoder.decode(good, out=out)
    bad = good.copy()
    with pytest.raises(NppError, match="indices from 0 to 4"):
        decoder.decode(good, indices=np.array([0, 4]))
    with pytest.raises(NppError, match="exactly the keys"):
        decoder.decode(good, out={"game_state": np.zeros((4, 34), np.float16)})
    with pytest.raises(ConfigError, match="num_threads"):
        ObservationDecoder(config, num_threads=0)


NINJA_STATE = 128


def test_levels_are_found_by_their_hash_wherever_they_stand_in_the_set():
    levels = [load_shipped(name) for name in shipped_level_names()[:3]]
    states, expected, config = play(levels, 8, 5, num_envs=6, keys=DEFAULT_KEYS)
    decoder = ObservationDecoder(config, levels[::-1])
    assert_same(decoder.decode(states), expected)
    lost = levels[int(states[0, 0, 4:8].view("<i4")[0])]
    fewer = [level for level in levels if level.hash != lost.hash]
    decoder = ObservationDecoder(config, fewer)
    if decoder.row_bytes == states.shape[-1]:
        with pytest.raises(StateError, match=lost.hash):
            decoder.decode(states)


def test_endless_sets_decode_by_number():
    def make(index: int):
        return random_level(900 + index % 5)

    states, expected, config = play(LevelSet(make), 9, 4, num_envs=3, keys=DEFAULT_KEYS)
    assert_same(ObservationDecoder(config, make).decode(states), expected)


def test_a_level_too_large_for_the_vectors_is_refused_by_the_environment():
    env = NppEnv(levels="shipped:first_steps", observation={"layout": "state"})
    env.reset(seed=0)
    larger = room(*((14, 4 * k, 50) for k in range(2, 42)))
    with pytest.raises(LevelError, match="put the level into the set"):
        env.reset(options={"level": larger})


def test_a_decoder_can_be_pickled():
    states, expected, config = play("shipped:first_steps", 10, 4, graph=SMALL)
    decoder = ObservationDecoder(config, num_threads=2)
    decoder.decode(states)
    content = pickle.dumps(decoder)
    assert len(content) < 5000
    twin = pickle.loads(content)
    assert_same(twin.decode(states), expected)
    assert twin.num_threads == 2
    decoder.close()
    assert_same(decoder.decode(states), expected)


def test_sampling_allocates_nothing_after_the_first_minibatch():
    states, expected, config = play("shipped:first_steps", 12, 30)
    flat = states.reshape(-1, states.shape[-1])
    decoder = ObservationDecoder(config)
    batch = decoder.allocate(32)
    order = np.random.default_rng(0).permutation(len(flat))[:96].reshape(3, 32)
    decoder.decode(flat, out=batch, indices=order[0])
    smallest = min(array[0, 0].nbytes for array in expected.values())
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for chosen in order:
            decoder.decode(flat, out=batch, indices=chosen)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Views and numbers come and go; an array of one key for the minibatch would show.
    assert smallest == 6
    assert peak - before < 16_000
    assert after - before < 4_000


def test_no_batch_loads_levels_anew_that_the_set_has(monkeypatch):
    """A rollout on many levels: what one minibatch has loaded serves the next."""
    levels = "generated:corridors?seeds=0-299"
    envs = NppVectorEnv(300, levels=levels, observation={"layout": "state"})
    rows, _ = envs.reset(seed=0, options={"level": list(range(300))})
    decoder = ObservationDecoder(envs.config, keys=("game_state", "spatial_context"))
    first = decoder.decode(rows)
    loads = []
    monkeypatch.setattr(decoder._sources, "load", lambda *what: loads.append(what))
    for _ in range(3):
        again = decoder.decode(rows)
    assert not loads
    for key, array in first.items():
        np.testing.assert_array_equal(array, again[key])


@pytest.mark.parametrize(
    ("levels", "keys", "kept"),
    [
        ("shipped:first_steps", ("game_state",), 48),
        ("generated:corridors?seeds=0-999", ("game_state",), 4096),
        ("generated:corridors", ("game_state",), 512),
        ("shipped:first_steps", ("game_state", "graph_node_feats"), 128),
    ],
)
def test_how_many_sources_are_kept_depends_on_the_set_and_on_graphs(levels, keys, kept):
    assert ObservationDecoder(levels=levels, keys=keys).kept_sources == kept
    assert ObservationDecoder(levels=levels, keys=keys, kept_sources=7).kept_sources == 7


def test_the_number_of_kept_sources_is_bounded():
    levels = [random_level(seed) for seed in range(9)]
    states, expected, config = play(levels, 13, 3, num_envs=24, keys=DEFAULT_KEYS)
    decoder = ObservationDecoder(config, levels, kept_sources=4)
    for _ in range(2):
        for step in range(3):
            assert_same(decoder.decode(states[step]), expected, step)
    decoder.decode(states[0, :1])
    assert len(decoder._sources) <= 4


def test_two_decoders_can_share_their_memory():
    names = shipped_level_names()[:2]
    played = [play(f"shipped:{name}", 16, 3, keys=GRAPH_KEYS) for name in names]
    decoders = [ObservationDecoder(config) for _, _, config in played]
    batch = decoders[0].allocate(12)
    for _ in range(2):
        for decoder, (states, expected, _) in zip(decoders, played, strict=True):
            assert_same(decoder.decode(states, out=batch), expected)


def test_graphs_are_cut_like_the_environment_cuts_them():
    level = load_shipped(shipped_level_names()[0])
    nodes, edges = len(graph_of(level).node_x), len(graph_of(level).edge_target)
    for capacity in ((nodes, edges), (nodes - 1, edges), (nodes, edges - 1), (nodes // 3, edges // 5)):
        graph = dict(zip(("max_nodes", "max_edges"), capacity, strict=True))
        states, expected, config = play([level], 14, 4, keys=GRAPH_KEYS, graph=graph)
        assert_same(ObservationDecoder(config, [level]).decode(states), expected)
