"""Cases that caves seldom have: very long ways, two doors in one passage, a spawn without a way; and the API."""

from __future__ import annotations

import numpy as np
import pytest

import npp_env.graph
from npp_env import NppEnv
from npp_env.level import Level
from npp_env.sim import compile_level
from npp_env.sim.doors import door_configuration
from reference.graph import graph_of
from reference.graph_levels import cave, changed_state, gallery, halves_match, observed, put, state_of
from reference.paths import nodes_at, potentials, reachability_rows
from reference.scene import scene_of

KEY = "reachability_features"
KINDS = ("lattice", "exit_switch", "exit", "locked_door_switch", "trap_door_switch", "door", "locked_door", "trap_door")
EDGE_KINDS = ("walk", "fall", "jump", "wall", "air", "touch")


def start(level, **changes):
    env = NppEnv(levels=[level], observation={"keys": (KEY,)}, max_episode_frames=None, frame_skip=1, **changes)
    env.reset(seed=0)
    return env, state_of(env)


def rows_of(level, env):
    return reachability_rows(graph_of(level), scene_of(level, state_of(env)))


def serpentine() -> Level:
    """Six corridors of 40 tiles, each joined to the next at one end; switch in the third, exit at the end."""
    tiles = np.ones((23, 42), np.uint8)
    for k in range(6):
        tiles[2 * k, 1:41] = 0
        tiles[2 * k + 1, 40 if k % 2 == 0 else 1] = 0
    return Level.from_parts(tiles, [[0, 10, 6, 0, 0], [3, 10, 46, 0, 0], [4, 100, 22, 0, 0]])


@pytest.mark.parametrize(
    ("xc", "yc", "taken", "cut"),
    [
        # 40 tiles are 960 px. The switch is two and a half corridors away, the exit five, the way over both no longer.
        (10, 6, False, {3, 6}),
        (10, 6, True, {3, 6}),
        (100, 38, False, {6}),
        (100, 30, True, set()),
        (10, 46, False, {6}),
    ],
)
def test_ways_of_more_than_4000_px_are_cut(xc, yc, taken, cut):
    level = serpentine()
    env, state = start(level)
    put(env, changed_state(level, state, 6.0 * xc, 6.0 * yc, exits=[0] if taken else []))
    found = observed(env, KEY)
    assert {column for column in (0, 3, 6) if found[column] == 1} == cut
    assert found[9] == 1
    assert any(halves_match(found, row).all() for row in rows_of(level, env))


@pytest.mark.parametrize("taken", [[], [0], [1], [0, 1]], ids=str)
@pytest.mark.parametrize("kinds", [(6, 6), (8, 8), (6, 8)], ids=str)
def test_two_doors_in_one_passage_must_both_be_open(kinds, taken):
    records = [(3, 80, 42, 0), (4, 74, 42, 0)]
    for number, kind in enumerate(kinds):
        records += [(kind, 60, 42, 0), (kind + 1, 90 + number, 80, 0)]
    level = gallery(*records)
    env, state = start(level)
    put(env, changed_state(level, state, doors=taken))
    found = observed(env, KEY)
    # The switches lie in the rock: a closed door stays closed.
    opened = [(number in taken) == (kind == 6) for number, kind in enumerate(kinds)]
    assert found[8] == found[9] == all(opened)
    assert any(halves_match(found, row).all() for row in rows_of(level, env))


def test_keys_are_fetched_in_their_order():
    # From the left: key B, door C, key A, the spawn, door A, key C, door B, the switch and the exit. Key A opens the
    # way to key C, that the way to key B, and that the way to the switch.
    doors = [(6, 100, 42, 0), (7, 40, 42, 0), (6, 140, 42, 0), (7, 12, 42, 0), (6, 24, 42, 0), (7, 110, 42, 0)]
    level = gallery((3, 160, 42, 0), (4, 150, 42, 0), *doors, columns=40, spawn=60)
    env, _ = start(level)
    found = observed(env, KEY)
    # Keys and switch are touched up to 15 and 16 px before their centre.
    straight = 6 * ((60 - 40) + (110 - 40) + (110 - 12) + (150 - 12))
    assert straight - 8 * 16 < 4000 * found[0] < straight + 8 * 16
    assert found[8] == found[9] == 1
    assert any(halves_match(found, row).all() for row in rows_of(level, env))


def test_the_next_hop_is_the_key_where_it_is_in_touch():
    level = gallery((3, 80, 42, 0), (4, 70, 42, 0), (6, 50, 42, 0), (7, 24, 42, 0), spawn=26)
    env, _ = start(level)
    found = observed(env, KEY)
    # The ninja at x = 156, the key at 144, both at the same height.
    assert found[1:3].tolist() == found[4:6].tolist() == [-1, 0]
    assert any(halves_match(found, row).all() for row in rows_of(level, env))


@pytest.mark.parametrize("keeps", [False, True])
def test_where_only_the_spawn_has_no_way_there_is_no_potential(keeps):
    tiles = np.ones((23, 42), np.uint8)
    tiles[3, 1:20] = tiles[9, 1:20] = 0
    level = Level.from_parts(tiles, [[0, 20, 18, 0, 0], [3, 60, 42, 0, 0], [4, 40, 42, 0, 0]])
    env, state = start(level, reward={"keeps_progress": keeps})
    put(env, changed_state(level, state, 150.0, 254.0))
    found = observed(env, KEY)
    assert found[8] == found[9] == 1
    assert found[6] < 0.1
    assert potentials(graph_of(level), scene_of(level, state_of(env))) == [0.0]
    assert [env.step(2)[1] for _ in range(3)] == [0.0] * 3


CAVES = [cave(21, one_ways=12), cave(22, exits=3, locked=2, traps=2)]


def test_nothing_stays_of_a_larger_graph():
    levels = [CAVES[0], gallery((3, 30, 42, 0), (4, 20, 42, 0))]
    keys = ("graph_node_feats", "graph_edge_index", "graph_edge_feats", "graph_node_mask", "graph_edge_mask")
    env = NppEnv(levels=levels, observation={"keys": keys}, graph={"max_nodes": 700, "max_edges": 6000})
    for number in (0, 1):
        found, _ = env.reset(seed=0, options={"level": number})
        nodes, edges = len(graph_of(levels[number]).x), len(graph_of(levels[number]).edges)
        assert found["graph_node_feats"][:nodes].any(axis=1).all()
        assert found["graph_edge_feats"][:edges].any(axis=1).all()
        assert not found["graph_node_feats"][nodes:].any()
        assert not found["graph_edge_feats"][edges:].any()
        assert not found["graph_edge_index"][:, edges:].any()
        assert (found["graph_node_mask"].sum(), found["graph_edge_mask"].sum()) == (nodes, edges)


@pytest.mark.parametrize("level", CAVES, ids=lambda level: level.name)
def test_nodes_of_positions(level):
    graph, expected = npp_env.graph.graph_of(level), graph_of(level)
    rng = np.random.default_rng(1)
    several = [half for half, count in zip(*np.unique(expected.half, return_counts=True), strict=True) if count > 1]
    places = [
        (12 * (half % 88) + dx, 12 * (half // 88) + dy) for half in several for dx, dy in rng.uniform(0, 12, (6, 2))
    ]
    places += rng.uniform((60, 60), (440, 320), (60, 2)).tolist()
    assert len(several) > 10
    for x, y in places:
        assert graph.node_at(x, y) in nodes_at(expected, x, y)


@pytest.mark.parametrize("level", CAVES, ids=lambda level: level.name)
def test_the_networkx_graph(level):
    found, expected = npp_env.graph.graph_of(level).to_networkx(), graph_of(level)
    assert list(found.nodes) == list(range(len(expected.x)))
    for node, place in found.nodes.items():
        assert place == {"x": expected.x[node], "y": expected.y[node], "kind": KINDS[expected.kind[node]]}
    assert sorted(found.edges) == sorted(expected.edges)
    for number, (source, target) in enumerate(expected.edges):
        edge = found.edges[source, target]
        assert edge["dx"] == np.float16(expected.x[target] - expected.x[source])
        assert edge["dy"] == np.float16(expected.y[target] - expected.y[source])
        assert edge["length"] == expected.lengths[number]
        assert edge["kind"] == EDGE_KINDS[expected.edge_kind[number]]
        assert edge["doors"] == expected.gates.get((source, target), ())


@pytest.mark.parametrize(("doors", "exits"), [([], []), ([0], []), ([1, 3], [2]), ([2], [0, 1]), ([0, 1, 2, 3], [])])
def test_configurations_of_states(doors, exits):
    level = CAVES[1]
    _, state = start(level)
    number = door_configuration(changed_state(level, state, doors=doors, exits=exits), compile_level(level))
    # Two locked and two trap doors come first.
    assert number == sum(1 << door for door in doors) + sum(1 << (4 + place) for place in exits)
