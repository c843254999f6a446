"""The graph observations against a graph that is built independently from tiles and records."""

from __future__ import annotations

import numpy as np
import pytest
from graph.random_levels import random_level

from npp_env import NppEnv, NppVectorEnv
from npp_env.level.shipped import load_shipped, shipped_level_names
from npp_env.rollouts.decoder import ObservationDecoder
from reference.graph import edge_pairs, edge_rows, graph_of, static_node_rows
from reference.graph_levels import (
    cave,
    chain,
    changed_state,
    gallery,
    halves_match,
    moments_of_a_win,
    observed,
    put,
    rows_of_play,
    state_of,
    trap_and_key,
    vault,
)
from reference.paths import node_columns
from reference.scene import scene_of

KEYS = ("graph_node_feats", "graph_edge_index", "graph_edge_feats", "graph_node_mask", "graph_edge_mask")
STATIC_COLUMNS, MOVING_COLUMNS = [0, 1, 4], [2, 3, 5, 6, 7]
LARGE = (4500, 34000)


def make_env(level, capacity=LARGE, **changes):
    nodes, edges = capacity
    env = NppEnv(
        levels=[level],
        observation={"keys": KEYS, **changes},
        graph={"max_nodes": nodes, "max_edges": edges},
        max_episode_frames=None,
        frame_skip=1,
    )
    return env


def check_static(key, found, level, capacity):
    """All that depends on the level alone."""
    graph = graph_of(level)
    max_nodes, max_edges = capacity
    nodes = min(len(graph.x), max_nodes)
    chosen = edge_pairs(graph, max_nodes, max_edges) if "edge" in key else []
    edges = len(chosen)
    if key == "graph_node_mask":
        assert found.shape == (max_nodes,)
        assert found.tolist() == [1] * nodes + [0] * (max_nodes - nodes)
    elif key == "graph_edge_mask":
        assert found.shape == (max_edges,)
        assert found.tolist() == [1] * edges + [0] * (max_edges - edges)
    elif key == "graph_edge_index":
        assert found.shape == (2, max_edges)
        assert list(zip(*found[:, :edges].tolist(), strict=True)) == [graph.edges[k] for k in chosen]
        assert not found[:, edges:].any()
    elif key == "graph_edge_feats":
        assert found.shape == (max_edges, 4)
        if edges:
            assert np.argwhere(~halves_match(found[:edges], edge_rows(graph, chosen))).tolist() == []
        assert not found[edges:].any()
    else:
        assert found.shape == (max_nodes, 8)
        assert not found[nodes:].any()
        if nodes:
            same = halves_match(found[:nodes][:, STATIC_COLUMNS], static_node_rows(graph)[:nodes])
            assert np.argwhere(~same).tolist() == []


def check_moving(found, level, scene, capacity):
    """What changes with ninja, switches and doors."""
    nodes = min(len(graph_of(level).x), capacity[0])
    fewest = None
    for choice in node_columns(graph_of(level), scene):
        if nodes == 0:
            return
        wrong = np.argwhere(~halves_match(found[:nodes][:, MOVING_COLUMNS], choice[:nodes])).tolist()
        if fewest is None or len(wrong) < len(fewest):
            fewest = wrong
    assert fewest == [], [(node, MOVING_COLUMNS[column]) for node, column in fewest[:10]]


def check_all(env, level, capacity=LARGE):
    """Every key in the environment's present state."""
    for key in KEYS:
        check_static(key, observed(env, key), level, capacity)
    check_moving(observed(env, "graph_node_feats"), level, scene_of(level, state_of(env)), capacity)


CAVES = {
    "one_exit": cave(55),
    "no_exit": cave(2, exits=0, locked=0, traps=0),
    "two_exits": cave(43, exits=2),
    "eight_exits": cave(43, exits=8, locked=0),
    "nine_exits": cave(5, exits=9, locked=0, traps=2),
    "locked": cave(55, locked=3, traps=0, one_ways=0),
    "many_locked": cave(48, locked=6, traps=0, one_ways=2),
    "traps": cave(48, locked=0, traps=3),
    "platforms": cave(55, one_ways=24),
    "pinched": cave(204),
    "open_rock": cave(13, one_ways=16),
    "buried": cave(10, buried=True),
    "vault": vault(),
    "trap_and_key": trap_and_key(),
    "spawn_in_thin_rock": gallery((3, 60, 42, 0), (4, 40, 42, 0), spawn_y=38),
    "chain": chain(3),
    "long_chain": chain(6),
}


@pytest.mark.parametrize("name", CAVES)
@pytest.mark.parametrize("key", KEYS)
def test_small_levels_of_every_shape(key, name):
    level = CAVES[name]
    env = make_env(level)
    observation, _ = env.reset(seed=0)
    check_static(key, observation[key], level, LARGE)
    if key == "graph_node_feats":
        check_moving(observation[key], level, scene_of(level, state_of(env)), LARGE)


@pytest.mark.parametrize("name", CAVES)
def test_places_and_switches(name):
    """The ninja anywhere, also in rock and outside of the world, with some switches taken."""
    level = CAVES[name]
    env = make_env(level)
    env.reset(seed=0)
    start = state_of(env)
    scene = scene_of(level, start)
    rng = np.random.default_rng(len(name))
    doors, exits = len(scene.of_kind(6, 8)), len(scene.of_kind(3))
    places = [(96.0, 96.0), (-50.0, 700.0), (1100.0, -3.0), *(rng.uniform((72, 72), (432, 312), (6, 2)).tolist())]
    some_doors = [door for door in range(doors) if rng.random() < 0.5]
    some_exits = rng.permutation(exits)[: (exits + 1) // 2].tolist()
    switches = [([], []), (some_doors, []), (some_doors, some_exits)]
    for number, (x, y) in enumerate(places):
        put(env, changed_state(level, start, x, y, *switches[number % 3]))
        found = observed(env, "graph_node_feats")
        check_static("graph_node_feats", found, level, LARGE)
        check_moving(found, level, scene_of(level, state_of(env)), LARGE)


@pytest.mark.parametrize("capacity", [(60, 200), (60, 5000), (10, 3000), (4500, 17), (1, 1), "lattice"])
def test_a_capacity_that_is_too_small_cuts(capacity):
    level = CAVES["two_exits"]
    if capacity == "lattice":
        # Only the ends are cut, and the edges to them.
        capacity = (graph_of(level).lattice, 5000)
    env = make_env(level, capacity)
    env.reset(seed=0)
    check_all(env, level, capacity)
    edges = observed(env, "graph_edge_index")
    assert edges.max() < capacity[0]


def test_the_decoder_writes_the_same():
    level, capacity = CAVES["one_exit"], (700, 6000)
    env = make_env(level, capacity, layout="state")
    rows, states = rows_of_play(env, (2, 5, 5, 1, 4), 6)
    decoded = ObservationDecoder(env.config, [level]).decode(rows)
    for number, state in enumerate(states):
        for key in KEYS:
            check_static(key, np.asarray(decoded[key][number]), level, capacity)
        check_moving(np.asarray(decoded["graph_node_feats"][number]), level, scene_of(level, state), capacity)


def test_a_vector_environment_writes_the_same():
    levels, capacity = [CAVES["two_exits"], CAVES["traps"]], (700, 6000)
    env = NppVectorEnv(
        3,
        levels=levels,
        observation={"keys": KEYS},
        graph=dict(zip(("max_nodes", "max_edges"), capacity, strict=True)),
    )
    observation, info = env.reset(seed=3)
    assert len(set(info["level"].tolist())) == 2
    for step in range(3):
        for i in range(3):
            level = levels[info["level"][i]]
            for key in KEYS:
                check_static(key, observation[key][i], level, capacity)
            check_moving(observation["graph_node_feats"][i], level, scene_of(level, state_of(env, i)), capacity)
        observation, _, _, _, info = env.step([step, 2, 5])


PLAYED = ("doors/two_keys", "doors/safe", "doors/trap", "death_balls/vault")


def played_levels():
    names = shipped_level_names()
    return [name for name in names if name in PLAYED] + [name for name in names if name.startswith("one_ways/")][:1]


@pytest.mark.parametrize("name", played_levels())
def test_play_to_the_end(name):
    """A winning recording: the moving columns at every change of doors or switch, now and then, and at the end."""
    level = load_shipped(name)
    for observation, scene in moments_of_a_win(make_env(level), level, name, every=150):
        check_moving(observation["graph_node_feats"], level, scene, LARGE)


@pytest.mark.parametrize("seed", range(3))
def test_random_levels(seed):
    level = random_level(100 + seed, glitched=seed == 2)
    env = make_env(level)
    env.reset(seed=0)
    for key in KEYS:
        check_static(key, observed(env, key), level, LARGE)


@pytest.mark.parametrize("name", shipped_level_names())
def test_shipped_levels(name):
    level = load_shipped(name)
    env = make_env(level)
    observation, _ = env.reset(seed=0)
    for key in KEYS:
        check_static(key, observation[key], level, LARGE)
