"""Faults planted in the references: each of them must be seen, or the comparison compares nothing."""

from __future__ import annotations

import pytest

from reference import graph as graph_reference
from reference import paths as path_reference
from reference import test_graph, test_paths, tiles_geometry
from reference.graph_levels import cave, chain, changed_state, gallery, observed, put, state_of, vault
from reference.scene import scene_of
from reference.test_shaping import LEFT, RIGHT, make_env, play

LEVEL = cave(30, traps=0, one_ways=16)
TWO_EXITS = gallery((3, 20, 42, 0), (3, 80, 42, 0), (4, 50, 42, 0), (4, 60, 42, 0), spawn=40)


@pytest.fixture
def plant(monkeypatch):
    """Replaces something in a module of the reference; graphs are built anew before and after."""
    monkeypatch.setattr(graph_reference, "_graphs", {})
    tiles_geometry._shadow.cache_clear()
    yield lambda module, name, value: monkeypatch.setattr(module, name, value)
    tiles_geometry._shadow.cache_clear()


def compare_graph(level):
    env = test_graph.make_env(level, (900, 8000))
    env.reset(seed=0)
    test_graph.check_all(env, level, (900, 8000))


def compare_paths(level):
    env = test_paths.make_env(level)
    env.reset(seed=0)
    start = state_of(env)
    for x, y, exits in ((100.0, 90.0, []), (121.0, 93.0, []), (121.0, 93.0, [0])):
        put(env, changed_state(level, start, x, y, exits=exits))
        test_paths.check_row(observed(env, test_paths.KEY), level, scene_of(level, state_of(env)))


def compare_corridor_paths(level):
    env = test_paths.make_env(level)
    env.reset(seed=0)
    for tick in range(160):
        observation, *_ = env.step(RIGHT if tick < 120 else LEFT)
        if tick % 5 == 0:
            test_paths.check_row(observation[test_paths.KEY], level, scene_of(level, state_of(env)))


def compare_shaping(level):
    play(make_env(level), level, [RIGHT] * 40 + [LEFT] * 20)


COMPARISONS = {
    "graph": lambda: compare_graph(LEVEL),
    "pinched graph": lambda: compare_graph(cave(204)),
    "paths": lambda: compare_paths(LEVEL),
    "vault graph": lambda: compare_graph(vault()),
    "door graph": lambda: compare_graph(gallery((3, 70, 42, 0), (4, 74, 42, 0), (6, 59, 42, 0), (7, 36, 42, 0))),
    "vault paths": lambda: compare_corridor_paths(vault()),
    "chain paths": lambda: compare_corridor_paths(chain(3)),
    "vault shaping": lambda: compare_shaping(vault()),
    "exits paths": lambda: compare_corridor_paths(TWO_EXITS),
    "short shaping": lambda: compare_shaping(gallery((3, 14, 42, 0), (4, 12, 42, 0), spawn=30)),
    "very short shaping": lambda: compare_shaping(gallery((3, 14, 42, 0), (4, 15, 42, 0))),
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_without_a_fault_all_is_equal(name, plant):
    COMPARISONS[name]()


def swapped_direction(dx, dy, straight):
    return (dy / straight, dx / straight) if straight > 0 else (0.0, 0.0)


def kind_without_jumps(graph, source, target, ground, wall, height):
    kind = honest_kind(graph, source, target, ground, wall, height)
    return graph_reference.AIR if kind == graph_reference.JUMP else kind


def node_one_row_below(graph, x, y):
    return honest_nodes_at(graph, x, y + 12)


def one_configuration_late(graph, scene):
    scene.of_kind(3)[0].flag = 0
    return honest_configurations(graph, scene)


honest_kind, honest_nodes_at = graph_reference.kind_of_edge, path_reference.nodes_at
honest_configurations, honest_surface = path_reference.configurations_of, graph_reference.surface_of


def without_hold(place):
    surface = honest_surface(place)
    surface.holds_up = False
    return surface


def only_along_axes(piece_bits):
    """Pieces of pixels that are neighbours along an axis."""
    found = []
    while piece_bits:
        piece, grown = 0, piece_bits & -piece_bits
        while grown != piece:
            piece = grown
            grown |= (piece & graph_reference._NOT_LAST) << 1 | (piece & graph_reference._NOT_FIRST) >> 1
            grown = (grown | piece << 12 | piece >> 12) & piece_bits
        found.append(piece)
        piece_bits &= ~piece
    return found


ENDS = graph_reference.ENDS
FAULTS = {
    "hop direction swapped": ("paths", path_reference, "direction", swapped_direction),
    "wrong scale of paths": ("paths", path_reference, "PATH_SCALE", 4100),
    "wrong scale in nodes": ("graph", path_reference, "PATH_SCALE", 4100),
    "wrong edge kind": ("graph", graph_reference, "kind_of_edge", kind_without_jumps),
    "jump too high": ("graph", graph_reference, "JUMP_HEIGHT", 90),
    "one row off": ("paths", path_reference, "nodes_at", node_one_row_below),
    "one row off in nodes": ("graph", path_reference, "nodes_at", node_one_row_below),
    "door ignored": ("vault graph", path_reference, "is_open", lambda door, taken: True),
    "door ignored on paths": ("vault paths", path_reference, "is_open", lambda door, taken: True),
    "door never opens": ("vault shaping", path_reference, "is_open", lambda door, taken: False),
    "fit radius": ("graph", tiles_geometry, "FIT_RADIUS", 10.0),
    "door's line": ("door graph", graph_reference, "FIT_RADIUS", 2.0),
    "touch of the switch": ("graph", graph_reference, "ENDS", [(1, 3, True, 20), *ENDS[1:]]),
    "switch and exit exchanged": ("vault graph", graph_reference, "ENDS", [ENDS[1], ENDS[0], *ENDS[2:]]),
    "platforms turned": ("graph", graph_reference, "NORMALS", graph_reference.NORMALS[::-1]),
    "platforms do not hold": ("graph", graph_reference, "surface_of", without_hold),
    "axis neighbours only": ("pinched graph", graph_reference, "pieces_of", only_along_axes),
    "doors in one order only": ("chain paths", path_reference, "ORDERED_DOORS", 2),
    "open exit ignored": ("exits paths", path_reference, "configurations_of", one_configuration_late),
    "exits not told apart": ("exits paths", path_reference, "TOLD_EXITS", 1),
    "no shortest total": ("very short shaping", path_reference, "SHORTEST_TOTAL", 0),
    "longer shortest total": ("short shaping", path_reference, "SHORTEST_TOTAL", 480),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_seen(fault, plant):
    comparison, module, name, value = FAULTS[fault]
    plant(module, name, value)
    with pytest.raises(AssertionError):
        COMPARISONS[comparison]()
