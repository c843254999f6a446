from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.drawn import drawn_level, place
from graph.random_levels import random_level
from npp_env.errors import ConfigError, StateError
from npp_env.graph import NO_NODE, DistanceFields, NodeKind, dijkstra, fields_of, graph_of
from npp_env.graph.distances import AFTER_OPENING, DIRECTLY
from npp_env.level.cache import LevelCache
from npp_env.level.cache_store import ArtifactStore
from npp_env.level.shipped import load_shipped, shipped_level_names
from npp_env.render.graph_picture import draw_graph

EXIT = [(3, 6.5, 0.5, 0), (4, 4.5, 0.5, 0)]
ROOMS = ["...#...", "...#...", "......."]


def plain_distances(tree, goals) -> np.ndarray:
    back = tree.reverse(copy=False)
    found = networkx.multi_source_dijkstra_path_length(back, set(goals), weight="length") if len(goals) else {}
    distance = np.full(len(tree), np.inf)
    distance[list(found)] = list(found.values())
    return distance


def check_against_networkx(level, config):
    cache = LevelCache(persist=False)
    graph, fields = graph_of(level, cache), fields_of(level, config, cache)
    # The same edges as `to_networkx(config)`, without the attributes that take most of its time.
    passable = graph.open_edges(config)
    edges = zip(graph.edge_sources()[passable].tolist(), graph.edge_target[passable].tolist(), strict=True)
    tree = networkx.DiGraph()
    tree.add_nodes_from(range(graph.node_count))
    tree.add_weighted_edges_from(
        ((*edge, length) for edge, length in zip(edges, graph.edge_features[passable, 2].tolist(), strict=True)),
        weight="length",
    )
    lattice = slice(0, graph.lattice_count)
    for bit, kind, distance, following in (
        (0, NodeKind.EXIT_SWITCH, fields.switch_distance, fields.switch_next),
        (1, NodeKind.EXIT, fields.exit_distance, fields.exit_next),
    ):
        goals = graph.nodes_of_kind(kind).tolist()
        plain = plain_distances(tree, goals)[lattice]
        direct = np.where(fields.blocked >> bit & 1, np.inf, distance)[lattice]
        assert np.allclose(direct, plain, rtol=1e-5)
        hops = following[lattice][np.isfinite(direct)].astype(np.int64)
        starts = np.flatnonzero(np.isfinite(direct))
        steps = np.hypot(graph.node_x[hops] - graph.node_x[starts], graph.node_y[hops] - graph.node_y[starts])
        assert np.allclose(distance[hops] + steps, distance[starts], rtol=2e-3, atol=0.02)
        assert (following[lattice][np.isinf(distance[lattice])] == NO_NODE).all()
    if graph.spawn_node != NO_NODE:
        reach = networkx.single_source_dijkstra_path_length(tree, graph.spawn_node)
        assert set(np.flatnonzero(fields.reachable == DIRECTLY).tolist()) == set(reach)


@pytest.mark.parametrize("name", shipped_level_names())
def test_shipped_levels_agree_with_networkx(name):
    check_against_networkx(load_shipped(name), 0)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), data=st.data())
def test_random_levels_agree_with_networkx(seed, data):
    level = random_level(seed)
    doors = graph_of(level, LevelCache(persist=False)).door_count
    check_against_networkx(level, data.draw(st.integers(0, 2**doors - 1)))


def test_distance_in_an_empty_room_is_about_the_bee_line():
    fields = fields_of(
        drawn_level(["." * 20] * 12, [(3, 18.5, 0.5, 0), (4, 0.5, 11.5, 0)]), 0, LevelCache(persist=False)
    )
    assert 24 * 18 - 15 <= fields.spawn_exit_distance <= 24 * 18 + 15
    assert 24 * 11 - 15 <= fields.spawn_switch_distance <= 24 * 11 + 15
    # Eight directions: never more than 8.3 % over the true distance, but for the ends.
    bee_line = np.hypot(24 * 18, 24 * 11)
    assert bee_line - 15 <= fields.switch_exit_distance <= 1.083 * bee_line + 15
    assert fields.spawn_plan_distance == pytest.approx(fields.spawn_switch_distance + fields.switch_exit_distance)
    assert fields.reachable_share == 1.0


def test_a_locked_door_leads_over_its_switch():
    level = drawn_level(ROOMS, [*EXIT, (6, 3, 2.5, 0), (7, 0.5, 1.5, 0)], spawn=(2, 0))
    cache = LevelCache(persist=False)
    graph, closed, opened = graph_of(level, cache), fields_of(level, 0, cache), fields_of(level, 1, cache)
    spawn = graph.spawn_node
    assert closed.blocked[spawn] == 7
    assert opened.blocked[spawn] == 0
    assert closed.spawn_exit_distance > opened.spawn_exit_distance + 40
    assert closed.reachable[graph.node_at(*place(6.5, 0.5))] == AFTER_OPENING
    assert opened.reachable[graph.node_at(*place(6.5, 0.5))] == DIRECTLY
    assert closed.reachable_share < 0.6 < opened.reachable_share
    node, seen = spawn, set()
    while graph.node_kind[node] == NodeKind.LATTICE:
        assert node not in seen
        seen.add(node)
        node = int(closed.exit_next[node])
    assert node == graph.door_switch_node[0]


def test_doors_behind_doors_are_opened_in_order():
    rows = ["...#...#..."] * 2
    doors = [(6, 3, 0.5, 0), (7, 0.5, 1.5, 0), (6, 3, 1.5, 0), (7, 1.5, 1.5, 0), (6, 7, 0.5, 0), (7, 5.5, 1.5, 0)]
    doors += [(6, 7, 1.5, 0), (7, 5.5, 1.5, 0)]
    grid = [row.replace("#", ".") for row in rows]
    level = drawn_level(grid, [(3, 10.5, 0.5, 0), (4, 9.5, 0.5, 0), *doors], spawn=(2, 0))
    fields = fields_of(level, 0, LevelCache(persist=False))
    assert np.isfinite(fields.spawn_plan_distance)
    assert fields.spawn_plan_distance > 24 * 8


def test_many_locked_doors_stay_affordable():
    doors = [entry for k in range(40) for entry in ((6, 3, 2.5, 0), (7, 0.5 + k % 2, 1.5, 0))]
    cache = LevelCache(persist=False)
    fields = fields_of(drawn_level(ROOMS, [*EXIT, *doors], spawn=(2, 0)), 0, cache)
    assert np.isfinite(fields.spawn_exit_distance)
    assert cache.report()["distances"].builds <= 3


def test_unreachable_and_missing_goals_are_values():
    walled = drawn_level(["...#...", "...#..."], EXIT)
    fields = fields_of(walled, 0, LevelCache(persist=False))
    assert fields.spawn_exit_distance == fields.spawn_plan_distance == float("inf")
    assert fields.exit_next[fields.spawn_node] == NO_NODE
    without = fields_of(drawn_level(["..."]), 0, LevelCache(persist=False))
    assert np.isinf(without.switch_distance).all()
    assert (without.switch_node, without.exit_node) == (NO_NODE, NO_NODE)
    cramped = drawn_level(["^"], spawn=(0, 0.25))
    fields = fields_of(cramped, 0, LevelCache(persist=False))
    assert fields.spawn_exit_distance == float("inf")
    assert draw_graph(cramped, graph_of(cramped, LevelCache(persist=False))).shape == (600, 1056, 3)


def test_fields_are_shared_and_bounded(tmp_path):
    doors = [entry for k in range(4) for entry in ((6, 3, 2.5, 0), (7, 0.5 + k / 2, 1.5, 0))]
    level = drawn_level(ROOMS, [*EXIT, *doors])
    cache = LevelCache(directory=tmp_path)
    assert fields_of(level, 0, cache).block is fields_of(level, b"\x00", cache).block
    for config in range(16):
        fields_of(level, config, cache)
    assert cache.report()["distances"].builds == 16
    (file,) = ArtifactStore(tmp_path).files()
    assert [name for name, _ in file.artifacts].count("distances") == 1
    with pytest.raises(ConfigError):
        fields_of(level, 16, cache)
    small = LevelCache(budget_bytes=30_000, persist=False)
    for config in range(16):
        fields_of(level, config, small)
    assert small.report()["distances"].evictions > 0


def test_other_blocks_are_refused():
    fields = fields_of(load_shipped("first_steps/slope"), 0, LevelCache(persist=False))
    with pytest.raises(StateError, match="not a set of distance fields"):
        DistanceFields(fields.block[:-8])


def test_the_search_finds_what_networkx_finds():
    rng = np.random.default_rng(0)
    count, edges, seeds = 60, 300, {3: 0.0, 7: 0.25}
    source = np.sort(rng.integers(0, count, edges))
    start = np.searchsorted(source, np.arange(count + 1)).astype(np.uint32)
    target = rng.integers(0, count, edges).astype(np.uint16)
    length = rng.random(edges).astype(np.float32)
    distance = np.full(count, np.inf)
    distance[list(seeds)] = list(seeds.values())
    came_from = np.full(count, NO_NODE, np.uint16)
    dijkstra.spread(start, target, length, distance, came_from)

    graph = networkx.MultiDiGraph()
    graph.add_weighted_edges_from(zip(source.tolist(), target.tolist(), length.astype(float).tolist(), strict=True))
    graph.add_weighted_edges_from([("start", node, value) for node, value in seeds.items()])
    expected, ways = networkx.single_source_dijkstra(graph, "start")
    assert distance == pytest.approx([expected.get(node, np.inf) for node in range(count)])
    for node in set(range(count)) - set(seeds):
        assert came_from[node] == (ways[node][-2] if node in ways else NO_NODE)


def test_the_picture_shows_the_field():
    level = load_shipped("first_steps/slope")
    cache = LevelCache(persist=False)
    pictures = [draw_graph(level, graph_of(level, cache), goal=goal, cache=cache) for goal in ("exit", "switch")]
    for picture in pictures:
        assert (picture.shape, picture.dtype) == ((600, 1056, 3), np.uint8)
        assert len(np.unique(picture.astype(np.int64) @ [1, 256, 65536])) > 200
    assert not np.array_equal(*pictures)
