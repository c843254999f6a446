"""No false walls: wherever the simulator carries a ninja, the graph has a way."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from golden_levels import golden

from graph.random_levels import random_level
from npp_env.graph import EdgeKind, NavigationGraph, graph_of
from npp_env.level import Level, read_map
from npp_env.level.cache import LevelCache
from npp_env.sim import Batch, LevelHandle
from npp_env.sim.doors import door_configuration
from npp_env.sim.geometry import geometry_of
from npp_env.sim.views import ninja_view

LEVELS = 50


def has_way(graph: NavigationGraph, is_open, start: int, end: int) -> bool:
    seen, queue = {start}, deque([start])
    while queue:
        node = queue.popleft()
        for edge in range(graph.edge_start[node], graph.edge_start[node + 1]):
            target = int(graph.edge_target[edge])
            if is_open[edge] and target not in seen:
                if target == end:
                    return True
                seen.add(target)
                queue.append(target)
    return False


def moves(level: Level, graph: NavigationGraph, envs: int, ticks: int, seed: int):
    """Distinct (node, next node, door configurations around it) of random play."""
    geometry = geometry_of(level, LevelCache(persist=False))
    handle = LevelHandle(geometry)
    batch = Batch(envs, handle.state_bytes)
    for i in range(envs):
        batch.set_level(i, handle)
    rng = np.random.default_rng(seed)
    inputs = rng.integers(0, 8, envs).astype(np.uint8)
    ninjas = ninja_view(batch.states)
    before: list[tuple[int, int] | None] = [None] * envs
    found = set()
    for _ in range(ticks):
        changed = rng.random(envs) < 0.06
        inputs[changed] = rng.integers(0, 8, np.count_nonzero(changed))
        batch.advance(inputs)
        for i in range(envs):
            if ninjas["state"][i] in (6, 8):
                batch.restart(i)
                before[i] = None
                continue
            node = graph.node_at(float(ninjas["x"][i]), float(ninjas["y"][i]))
            config = door_configuration(batch.states[i], geometry)
            last = before[i]
            if last is not None and last[0] != node:
                found.add((last[0], node, last[1], config))
            before[i] = node, config
    return found


def false_walls(level: Level, graph: NavigationGraph, found) -> list[tuple[int, int]]:
    is_open = {config: graph.open_edges(config) for move in found for config in move[2:]}
    return [
        (start, end)
        for start, end, *configs in found
        if not any(has_way(graph, is_open[config], start, end) for config in set(configs))
    ]


@pytest.mark.parametrize("glitched", [False, True])
def test_random_levels_have_no_false_walls(glitched):
    total, wrong = 0, []
    for seed in range(LEVELS if not glitched else 10):
        level = random_level(seed, glitched=glitched)
        graph = graph_of(level, LevelCache(persist=False))
        found = moves(level, graph, envs=6, ticks=250, seed=seed)
        total += len(found)
        wrong += [(seed, *move) for move in false_walls(level, graph, found)]
    assert total > 1000 if not glitched else total > 100
    assert wrong == []


def test_golden_levels_have_no_false_walls():
    wrong = []
    for number, record in enumerate(golden()[::6]):
        level = read_map(record.map)
        graph = graph_of(level, LevelCache(persist=False))
        wrong += false_walls(level, graph, moves(level, graph, envs=8, ticks=300, seed=number))
    assert wrong == []


def test_the_test_would_notice_a_wall():
    level = read_map(golden()[0].map)
    graph = graph_of(level, LevelCache(persist=False))
    found = moves(level, graph, envs=8, ticks=300, seed=0)
    walls = np.ones(graph.edge_count, np.bool_)
    walls[graph.edge_kind == EdgeKind.FALL] = False
    assert any(not has_way(graph, walls, start, end) for start, end, *_ in found)
