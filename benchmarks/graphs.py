"""Graph observations: steps that write them, and building the graph of a level."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks._measuring import OBSERVATION_SETS, configuration, measure_speed, rounded
from benchmarks.environments import measure_steps
from benchmarks.vector import stepping
from npp_env.graph.builder import build_graph
from npp_env.level.cache import LevelCache
from npp_env.level.level_set import LevelSet

ENVIRONMENTS = 128
TARGET_ONE, TARGET_MANY = 60_000, 100_000


def build_ms(levels: list[Any]) -> list[float]:
    """CPU milliseconds of building the graph of each level, the better of two."""
    cache = LevelCache(persist=False)
    found = []
    for level in levels:
        times = []
        for _ in range(2):
            start = time.process_time()
            build_graph(level, cache)
            times.append(1e3 * (time.process_time() - start))
        found.append(min(times))
    return found


def run(quick: bool) -> dict[str, Any]:
    """Measure steps in one and in many environments, and building."""
    from npp_env import NppEnv, NppVectorEnv

    config = configuration(OBSERVATION_SETS["graph"], frame_skip=4, copy=False)
    at_least = 0.2 if quick else 2.0
    one, _ = measure_steps(NppEnv(config), at_least)
    env = NppVectorEnv(ENVIRONMENTS, config)
    work = stepping(env, ENVIRONMENTS)
    for _ in range(20 if quick else 400):
        work()
    many = measure_speed(work, ENVIRONMENTS, at_least)
    env.close()
    shipped = list(LevelSet.parse("shipped"))
    generated = [LevelSet.parse("generated:any")[seed] for seed in range(7 if quick else 42)]
    rows: list[list[Any]] = [
        ["steps per CPU second, one environment", rounded(one.per_cpu_second), f"{TARGET_ONE:,}"],
        ["steps per CPU second, 128 environments", rounded(many.per_cpu_second), ""],
        ["steps per second, 128 environments", rounded(many.per_wall_second), f"{TARGET_MANY:,}"],
    ]
    for name, levels in (("shipped", shipped[::10] if quick else shipped), ("generated", generated)):
        rows.append([f"building a graph, {name} levels, CPU ms", rounded(float(np.median(build_ms(levels)))), ""])
    return {
        "title": "Graphs",
        "header": ["what", "measured", "target"],
        "rows": rows,
        "notes": [
            "All keys of the graph at 4500/18500, `copy=False`, frame_skip 4, shipped levels; medians of building."
        ],
    }
