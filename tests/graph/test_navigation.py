from __future__ import annotations

import os
import subprocess
import sys

import networkx
import numpy as np
import pytest
from golden_levels import golden
from hypothesis import given, settings
from level.samples import map_bytes, small_level

from graph.drawn import drawn_level, place
from graph.random_levels import random_level
from npp_env.errors import ConfigError, LevelError, StateError
from npp_env.graph import NO_NODE, EdgeKind, NavigationGraph, NodeKind, graph_of
from npp_env.graph.free_space import FIT_RADIUS_PX, arc_distance, blocked_image, segment_distance
from npp_env.level import read_map
from npp_env.level.cache import LevelCache
from npp_env.level.cache_store import ArtifactStore
from npp_env.level.shipped import load_shipped, shipped_level_names
from npp_env.sim.doors import door_configuration
from npp_env.sim.geometry import compile_level, full_tiles
from npp_env.sim.views import flags_view


def build(level) -> NavigationGraph:
    return graph_of(level, LevelCache(persist=False))


def connected(graph, start, end, config=0) -> bool:
    tree = graph.to_networkx(config)
    return networkx.has_path(tree, graph.node_at(*place(*start)), graph.node_at(*place(*end)))


ROOMS = ["...#...", "...#...", "......."]


@pytest.mark.parametrize("seed", range(4))
def test_free_space_agrees_with_plain_distances(seed):
    level = random_level(seed, glitched=True)
    geometry = compile_level(level)
    walls = geometry["walls"][geometry["walls"]["door"] < 0]
    blocked = blocked_image(walls, full_tiles(level))
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 1056, 2000), rng.integers(0, 600, 2000)
    nearest = np.full(2000, np.inf)
    for wall in walls:
        distance = segment_distance if wall["kind"] <= 2 else arc_distance
        nearest = np.minimum(nearest, distance(x, y, *(float(wall[k]) for k in ("x1", "y1", "x2", "y2"))))
    assert 0.1 < (nearest < FIT_RADIUS_PX).mean() < 0.95
    assert np.array_equal(blocked[y, x], nearest < FIT_RADIUS_PX)


def test_structure_of_shipped_and_golden_levels():
    levels = [load_shipped(name) for name in shipped_level_names()[::5]] + [read_map(g.map) for g in golden()[::16]]
    for level in levels:
        graph = build(level)
        assert graph.lattice_count > 100
        assert graph.edge_start[-1] == graph.edge_count == len(graph.edge_kind)
        assert (graph.edge_target < graph.node_count).all()
        assert graph.nearest_node.max() < graph.lattice_count
        sources = graph.edge_sources()
        assert (sources < graph.lattice_count).all()
        assert (sources != graph.edge_target).all()
        to_end = graph.edge_target >= graph.lattice_count
        assert np.array_equal(to_end, graph.edge_kind == EdgeKind.TOUCH)
        dx, dy, length = graph.edge_features.astype(np.float64).T
        assert np.allclose(np.hypot(dx, dy), length, rtol=2e-3)
        assert length[~to_end].max() < 34
        own = [graph.node_at(float(x), float(y)) for x, y in zip(graph.node_x, graph.node_y, strict=True)]
        assert own[: graph.lattice_count] == list(range(graph.lattice_count))
        for array in (graph.node_x, graph.edge_target, graph.nearest_node, graph.split_node, graph.block):
            assert not array.flags.writeable


def test_the_standing_ninja_has_a_node_where_it_stands():
    graph = build(drawn_level(["...", "..."]))
    floor_y = place(0, 2)[1] - 10
    node = graph.node_at(place(1.5, 0)[0], floor_y)
    assert graph.node_y[node] == floor_y
    kinds = graph.edge_kind[graph.edge_start[node] : graph.edge_start[node + 1]].tolist()
    assert EdgeKind.WALK in kinds
    assert EdgeKind.JUMP in kinds


def test_high_air_is_told_from_jumps_and_walls():
    graph = build(drawn_level(["." * 9] * 9))
    kind_of = {}
    sources = graph.edge_sources()
    for name, (column, row) in {"low": (4.5, 7.5), "wall": (0.45, 1.5), "air": (4.5, 1.5)}.items():
        node = graph.node_at(*place(column, row))
        up = (sources == node) & (graph.edge_features[:, 0] == 0) & (graph.edge_features[:, 1] < 0)
        kind_of[name] = [EdgeKind(int(k)) for k in graph.edge_kind[up]]
    assert kind_of == {"low": [EdgeKind.JUMP], "wall": [EdgeKind.WALL], "air": [EdgeKind.AIR]}


def test_walls_divide_and_gaps_connect():
    assert connected(build(drawn_level(ROOMS)), (0.5, 0.5), (6.5, 0.5))
    assert not connected(build(drawn_level(["...#...", "...#..."])), (0.5, 0.5), (6.5, 0.5))
    # Half a tile is too low for the ninja, a whole one is enough.
    assert not connected(build(drawn_level(["...#...", "...#...", "...^..."])), (0.5, 0.5), (6.5, 0.5))


@pytest.mark.parametrize(("tile", "passes"), [(0, True), (12, True), (3, True), (1, False)])
def test_narrow_gaps_at_a_curve(tile, passes):
    """Against another curve 19.9 px are left, against the corner of a half tile 19.3 px, of a full tile 9.9 px."""
    level = drawn_level(["##..", "#...", "....", "..##"], tiles=[(1, 1, 10), (2, 2, tile)])
    assert connected(build(level), (3.4, 0.5), (0.5, 3.5)) == passes


@pytest.mark.parametrize(("tile", "passes"), [(0, True), (11, False)])
def test_a_gap_between_a_curve_and_a_slope_is_closed(tile, passes):
    """18.9 px are left under the curve."""
    level = drawn_level(["..##", "....", "##.."], tiles=[(1, 0, tile), (1, 1, 21), (2, 2, 25)], spawn=(0, 0))
    assert connected(build(level), (0.5, 0.5), (3.5, 2.5)) == passes


@pytest.mark.parametrize(("upper", "passes"), [(2, False), (0, True)])
def test_a_gap_of_seventeen_pixels_is_closed(upper, passes):
    """From corner to corner of two half tiles that stand 12 px apart each way."""
    level = drawn_level(["##..", "#...", "....", "..##"], tiles=[(1, 1, upper), (2, 2, 3), (2, 3, 3), (1, 0, 1)])
    assert connected(build(level), (3.4, 1.0), (0.5, 2.9)) == passes


def test_locked_doors_open_and_trap_doors_close():
    door = [(6, 3, 2.5, 0), (7, 1.5, 0.5, 0), (8, 4, 2.5, 0), (9, 5.5, 0.5, 0)]
    graph = build(drawn_level(ROOMS, door))
    assert (graph.door_count, graph.door_trap.tolist()) == (2, [0, 1])
    start, end = (0.5, 0.5), (6.5, 0.5)
    assert [connected(graph, start, end, config) for config in range(4)] == [False, True, False, False]
    assert connected(graph, end, start, 1)
    assert connected(graph, start, end, b"\x01")
    assert [graph.node_kind[node] for node in graph.door_switch_node] == [
        NodeKind.LOCKED_DOOR_SWITCH,
        NodeKind.TRAP_DOOR_SWITCH,
    ]
    with pytest.raises(ConfigError, match="2 locked and trap doors"):
        graph.open_edges(4)


def test_two_doors_in_one_place_must_both_be_open():
    doors = [(6, 3, 2.5, 0), (7, 1.5, 0.5, 0), (6, 3, 2.5, 0), (7, 1.5, 1.5, 0)]
    graph = build(drawn_level(ROOMS, doors))
    assert [connected(graph, (0.5, 0.5), (6.5, 0.5), config) for config in range(4)] == [False, False, False, True]


def test_regular_doors_let_through():
    assert connected(build(drawn_level(ROOMS, [(5, 3, 2.5, 0)])), (0.5, 0.5), (6.5, 0.5))


def test_configuration_of_a_state():
    doors = [(6, 3, 2.5, 0), (7, 1.5, 0.5, 0), (8, 4, 2.5, 0), (9, 5.5, 0.5, 0)]
    geometry = compile_level(drawn_level(ROOMS, [(2, 1, 1, 0), *doors]))
    state = geometry["initial"].copy()
    # As the kernel keeps them: gold, then a locked door (3 once opened), then a trap door (2 once closed).
    for flags, expected in (([1, 0, 1], 0b00), ([0, 3, 1], 0b01), ([0, 3, 2], 0b11)):
        flags_view(state, geometry)[:] = flags
        assert door_configuration(state, geometry) == expected


@pytest.mark.parametrize(("orientation", "down", "up"), [(6, False, True), (2, True, False)])
def test_one_way_platforms_let_through_one_way(orientation, down, up):
    shaft = ["##.##", "##.##", "##.##", "##.##"]
    level = drawn_level(shaft, [(11, 2.5, 2, orientation)], spawn=(2, 0))
    graph = build(level)
    top, bottom = (2.5, 0.5), (2.5, 3.5)
    assert (connected(graph, top, bottom), connected(graph, bottom, top)) == (down, up)
    # Whoever stands on it is above it; whoever came from below, not yet through, may fall back.
    if orientation == 6:
        x, y = place(2.5, 2)
        standing, rising = graph.node_at(x, y - 10), graph.node_at(x, y - 5)
        assert standing != rising
        assert connected(graph, (2.5, 2 - 5 / 24), bottom)
        assert not connected(graph, (2.5, 2 - 10 / 24), bottom)


def test_switches_are_reached_by_touch_only():
    thin = drawn_level(["..", ".."], [(3, 0.5, 0.5, 0), (4, 2.0, 0.5, 0)])
    graph = build(thin)
    (switch,) = graph.nodes_of_kind(NodeKind.EXIT_SWITCH)
    assert np.count_nonzero(graph.edge_target == switch) > 0
    assert graph.edge_start[switch] == graph.edge_start[switch + 1]
    far = build(drawn_level(["..", ".."], [(3, 0.5, 0.5, 0), (4, 4.5, 0.5, 0)]))
    assert np.count_nonzero(far.edge_target == far.nodes_of_kind(NodeKind.EXIT_SWITCH)[0]) == 0


def test_cavities_in_matter_are_left_out_unless_the_ninja_is_in_one():
    solid = np.ones((23, 42), np.uint8)
    level = small_level()
    inside = type(level).from_parts(solid, [(0, 80, 48, 0, 0)])
    assert build(inside).lattice_count > 1000
    outside = solid.copy()
    outside[11, 19:21] = 0
    assert build(type(level).from_parts(outside, [(0, 80, 50, 0, 0)])).lattice_count < 12


@settings(max_examples=25, deadline=None)
@given(data=map_bytes())
def test_every_level_that_loads_has_a_graph(data):
    try:
        level = read_map(data)
    except LevelError:
        return
    graph = build(level)
    for x, y in ((-50.0, -50.0), (2000.0, 900.0), level.spawn):
        assert (graph.node_at(x, y) == NO_NODE) == (graph.lattice_count == 0)


def test_other_blocks_are_refused():
    graph = build(small_level())
    for block in (graph.block[:100], graph.block[:-8], np.zeros(5000, np.uint8), graph.block.view(np.int8)):
        with pytest.raises(StateError, match="not a navigation graph"):
            NavigationGraph(block)


def test_networkx_gets_the_same_graph():
    graph = build(drawn_level(ROOMS, [(6, 3, 2.5, 0), (7, 1.5, 0.5, 0)]))
    tree = graph.to_networkx()
    assert (tree.number_of_nodes(), tree.number_of_edges()) == (graph.node_count, graph.edge_count)
    gated = [edge for *_, edge in tree.edges(data=True) if edge["doors"]]
    assert gated
    assert graph.to_networkx(0).number_of_edges() == graph.edge_count - len(gated)
    assert {data["kind"] for *_, data in tree.edges(data=True)} >= {"walk", "fall", "touch"}


LAZY = """
import sys
from npp_env.level.cache import default_cache
from npp_env.level.shipped import load_shipped
from npp_env.sim.handles import handle_of
level = load_shipped("first_steps/walk")
handle_of(level)
assert "graph" not in default_cache().report()
from npp_env.graph import fields_of, graph_of
graph_of(level), fields_of(level)
loaded = {"networkx", "cv2"} & set(sys.modules)
print(default_cache().report()["graph"].builds, sorted(loaded))
"""


def test_graphs_are_built_once_and_opened_without_heavy_imports(tmp_path):
    environment = {**os.environ, "NPP_ENV_CACHE": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    outputs = [
        subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True, check=True, env=environment).stdout
        for _ in range(2)
    ]
    assert outputs == ["1 []\n", "0 []\n"]


TOGETHER = """
import hashlib
from npp_env.graph import fields_of, graph_of
from npp_env.level.shipped import load_shipped
level = load_shipped("first_steps/slope")
print(hashlib.sha256(graph_of(level).block.tobytes() + fields_of(level).block.tobytes()).hexdigest())
"""


def test_processes_that_start_together_do_no_harm(tmp_path):
    environment = {**os.environ, "NPP_ENV_CACHE": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "error", "-c", TOGETHER]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(4)]
    outputs = {process.communicate()[0] for process in processes}
    assert [process.returncode for process in processes] == [0] * 4
    assert len(outputs) == 1
    (file,) = ArtifactStore(tmp_path).files()
    assert sorted(name for name, _ in file.artifacts) == ["distances", "geometry", "graph"]
