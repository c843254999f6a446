"""Levels with very many things in one place: their graphs are right, and cost no more than the places do."""

from __future__ import annotations

import numpy as np
import pytest
from reference.graph import graph_of as reference_graph

from npp_env.errors import LevelError
from npp_env.graph import edges, fields_of, graph_of
from npp_env.level import Level
from npp_env.level.cache import LevelCache
from npp_env.sim.doors import door_configuration
from npp_env.sim.geometry import geometry_of

SPAWN, EXITS = [[0, 20, 50, 0, 0]], [[3, 150, 50, 0, 0], [4, 140, 50, 0, 0]]
COUNTS = np.zeros(40, np.uint16)
COUNTS[3] = 1


def corridor(records, rows=slice(11, 12)) -> Level:
    """A corridor across the map, one tile high if not told otherwise, with the exit at its end."""
    tiles = np.ones((23, 42), np.uint8)
    tiles[rows, 2:40] = 0
    return Level.from_parts(tiles, [*SPAWN, *EXITS, *records], counts=COUNTS)


def doors(count, kind=6, at=(80, 50), switch=(40, 50)):
    return [record for _ in range(count) for record in ([kind, *at, 0, 0], [kind + 1, *switch, 0, 0])]


def open_edges_between(graph, config):
    """Edges of the lattice that are open, as pairs."""
    chosen = graph.open_edges(config) & (graph.edge_target < graph.lattice_count)
    return set(zip(graph.edge_sources()[chosen].tolist(), graph.edge_target[chosen].tolist(), strict=True))


def test_doors_in_one_place_are_looked_at_once(monkeypatch):
    looked_at = []
    stamp = edges.line_stamp
    monkeypatch.setattr(edges, "line_stamp", lambda *line: looked_at.append(line) or stamp(*line))
    graph_of(corridor([*doors(300), *doors(300, kind=8, at=(90, 50))]), LevelCache(persist=False))
    assert len(looked_at) == 2


@pytest.mark.parametrize("count", [2, 400, 1300])
def test_doors_in_one_place_close_what_one_closes_until_all_are_open(count):
    one, many = corridor(doors(1)), corridor(doors(count))
    cache = LevelCache(persist=False)
    single, crowd = graph_of(one, cache), graph_of(many, cache)
    assert crowd.lattice_count == single.lattice_count
    assert crowd.door_count == count
    every = (1 << count) - 1
    closed = open_edges_between(single, 0)
    assert closed < open_edges_between(single, 1)
    assert open_edges_between(crowd, 0) == closed
    assert open_edges_between(crowd, every ^ 1) == closed
    assert open_edges_between(crowd, every) == open_edges_between(single, 1)
    # All switches lie on this side of the doors, so the way by them is known, however many there are.
    fields = fields_of(many, 0, cache)
    assert np.isfinite(fields.spawn_exit_distance)
    assert fields.reachable[fields.exit_node] == 2
    assert fields_of(many, every, cache).spawn_exit_distance <= fields.spawn_exit_distance


def test_state_of_many_doors_has_a_configuration():
    level = corridor(doors(1300))
    geometry = geometry_of(level, LevelCache(persist=False))
    assert door_configuration(geometry["initial"], geometry) == 0


@pytest.mark.parametrize("seed", range(3))
def test_crowded_graph_is_that_of_the_documentation(seed):
    rng = np.random.default_rng(seed)
    records = np.zeros((90, 5), np.uint8)
    records[:, 0] = rng.choice([3, 5, 6, 8, 11, 11, 11], 90)
    records[:, 1], records[:, 2] = rng.integers(74, 87, 90), rng.integers(46, 55, 90)
    records[:, 3] = rng.integers(0, 8, 90)
    level = corridor([*records.tolist(), *doors(3), [7, 40, 50, 0, 0]], rows=slice(8, 16))
    found, expected = graph_of(level, LevelCache(persist=False)), reference_graph(level)
    assert found.lattice_count == expected.lattice
    assert found.node_x.tolist() == expected.x
    assert found.node_y.tolist() == expected.y
    pairs = list(zip(found.edge_sources().tolist(), found.edge_target.tolist(), strict=True))
    assert pairs == expected.edges
    gates = [tuple(found.gate_door[a:b].tolist()) for a, b in zip(found.gate_start, found.gate_start[1:], strict=False)]
    closed = {pair: gates[gate] for pair, gate in zip(pairs, found.edge_door.tolist(), strict=True) if gate >= 0}
    assert closed == expected.gates


def scattered(kind, count, seed=0, spread=(168, 92)):
    rng = np.random.default_rng(seed)
    records = np.zeros((count, 5), np.uint8)
    records[:, 0] = kind
    records[:, 1], records[:, 2] = 4 + rng.integers(0, spread[0], count), 4 + rng.integers(0, spread[1], count)
    records[:, 3] = rng.integers(0, 8, count)
    return Level.from_parts(np.zeros((23, 42), np.uint8), [*SPAWN, *records.tolist(), [7, 40, 50, 0, 0]], counts=COUNTS)


@pytest.mark.parametrize(
    ("level", "what"),
    [
        (scattered(11, 8000), r"[\d,]+ nodes, at most 65,534"),
        (scattered(6, 8000), r"262,\d\d\d edges closed by doors, at most 262,144"),
        (scattered(8, 3000, spread=(20, 20)), r"[\d,]+ doors in sets that close an edge, at most 65,535"),
    ],
    ids=["platforms", "doors", "stacked doors"],
)
def test_too_crowded_is_refused_with_the_limit(level, what):
    with pytest.raises(LevelError, match=f"too crowded for a navigation graph: {what}; it can be played with reward"):
        graph_of(level, LevelCache(persist=False))
