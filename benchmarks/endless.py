"""Endless generated levels: what a reset costs whoever steps, when every episode has a level of its own."""

from __future__ import annotations

import time
from typing import Any

from benchmarks._measuring import OBSERVATION_SETS, configuration, held_actions, rounded

ENVIRONMENTS = 64
TARGET_US = 100
CASES = {"without a graph": "entities", "with a graph": "vectors"}
"""Observation sets by what they need of a level."""


def measure(keys: tuple[str, ...], needs_graph: bool, resets_wanted: int) -> tuple[int, float, float]:
    """Number of resets, and the CPU and wall microseconds of each."""
    from npp_env import NppVectorEnv
    from npp_env.runtime.episodes import Episodes

    reward = {} if needs_graph else {"reward": {"shaping_weight": 0.0}}
    config = configuration(keys, frame_skip=4, copy=False, levels="generated:any", **reward)
    env = NppVectorEnv(ENVIRONMENTS, config, max_episode_steps=200)
    spent = [0, 0.0, 0.0]
    begin = Episodes.begin

    def timed(self: Episodes, indices: Any, *, fresh: bool = True) -> None:
        cpu, wall = time.process_time(), time.perf_counter()
        begin(self, indices, fresh=fresh)
        spent[0] += len(indices)
        spent[1] += time.process_time() - cpu
        spent[2] += time.perf_counter() - wall

    env.reset(seed=0)
    actions = held_actions(512, ENVIRONMENTS)
    Episodes.begin = timed  # type: ignore[method-assign]
    try:
        step = 0
        while spent[0] < resets_wanted:
            env.step(actions[step % len(actions)])
            step += 1
    finally:
        Episodes.begin = begin  # type: ignore[method-assign]
        env.close()
    return int(spent[0]), 1e6 * spent[1] / spent[0], 1e6 * spent[2] / spent[0]


def run(quick: bool) -> dict[str, Any]:
    """Measure resets."""
    rows = []
    for name, observations in CASES.items():
        found = measure(OBSERVATION_SETS[observations], name == "with a graph", 20 if quick else 300)
        rows.append([name, found[0], rounded(found[1]), rounded(found[2]), f"< {TARGET_US}"])
    return {
        "title": "Endless levels: resets of 64 environments",
        "header": ["levels", "resets", "CPU us a reset", "wall us a reset", "target"],
        "rows": rows,
        "notes": ["`generated:any`, every episode on a level that is made, compiled and given its graph then."],
    }
