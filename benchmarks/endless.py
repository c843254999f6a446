"""Endless generated levels: what a reset costs whoever steps, when every episode has a level of its own."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import psutil

from benchmarks._measuring import OBSERVATION_SETS, configuration, held_actions, rounded

ENVIRONMENTS = 64
TARGET_US = 100
CASES = {"without a graph": "entities", "with a graph": "vectors"}
"""Observation sets by what they need of a level."""
LEISURE = 2
"""How much longer the time between resets is than the worker takes for as many levels."""


class Resets(NamedTuple):
    """How many resets there were, how many levels the caller made itself, and the CPU microseconds of a reset."""

    count: int
    made_here: int
    cpu_us: float


def make(keys: tuple[str, ...], needs_graph: bool, **options: Any) -> Any:
    """An environment whose levels have no end."""
    from npp_env import NppVectorEnv

    reward = {} if needs_graph else {"reward": {"shaping_weight": 0.0}}
    config = configuration(keys, frame_skip=4, copy=False, levels="generated:any", **reward, **options)
    env = NppVectorEnv(ENVIRONMENTS, config, max_episode_steps=200)
    env.reset(seed=0)
    return env


def measure(env: Any, resets_wanted: int, pause_seconds: float = 0.0) -> Resets:
    """Step until so many episodes have begun; after every step there is a pause for each of them."""
    from npp_env.level.generate import GeneratedLevels
    from npp_env.runtime.episodes import Episodes

    spent, count, made_here = 0.0, 0, 0
    begin, make_level = Episodes.begin, GeneratedLevels.__call__

    def timed(self: Episodes, indices: Any, *, fresh: bool = True) -> None:
        nonlocal spent, count
        start = time.process_time()
        begin(self, indices, fresh=fresh)
        spent += time.process_time() - start
        count += len(indices)

    def counted(self: GeneratedLevels, index: int) -> Any:
        nonlocal made_here
        made_here += 1
        return make_level(self, index)

    actions = held_actions(512, ENVIRONMENTS)
    Episodes.begin, GeneratedLevels.__call__ = timed, counted  # type: ignore[method-assign]
    try:
        step = 0
        while count < resets_wanted:
            before = count
            env.step(actions[step % len(actions)])
            step += 1
            time.sleep((count - before) * pause_seconds)
    finally:
        Episodes.begin, GeneratedLevels.__call__ = begin, make_level  # type: ignore[method-assign]
    return Resets(count, made_here, 1e6 * spent / count)


def measure_worker(env: Any) -> tuple[float, float]:
    """Levels that the worker makes in a second of its CPU time, and the seconds of the clock that it takes for one."""
    ahead = env._episodes.ahead
    env.reset()
    env.reset()
    customer, worker = ahead._customer, ahead._worker
    process = psutil.Process(worker.pid)
    while not customer.made:  # it is still starting
        worker.receive()
        time.sleep(0.01)
    before, start, begun = len(customer.made), time.perf_counter(), sum(process.cpu_times()[:2])
    while len(customer.made) < ENVIRONMENTS:
        worker.receive()
        time.sleep(0.01)
    count = ENVIRONMENTS - before
    return count / (sum(process.cpu_times()[:2]) - begun), (time.perf_counter() - start) / count


def run(quick: bool) -> dict[str, Any]:
    """Measure resets with and without the worker."""
    rows = []
    for name, observations in CASES.items():
        keys, needs_graph = OBSERVATION_SETS[observations], name == "with a graph"
        env = make(keys, needs_graph)
        rate, seconds = measure_worker(env)
        measure(env, 20 if quick else 300, LEISURE * seconds)
        ahead = measure(env, 20 if quick else 600, LEISURE * seconds)
        env.close()
        env = make(keys, needs_graph, levels_ahead=0)
        alone = measure(env, 20 if quick else 200)
        env.close()
        shown = [
            ahead.count,
            ahead.made_here,
            rounded(ahead.cpu_us),
            f"< {TARGET_US}",
            rounded(alone.cpu_us),
            rounded(rate),
        ]
        rows.append([name, *shown])
    return {
        "title": "Endless levels: resets of 64 environments",
        "header": [
            "levels",
            "resets",
            "made by the caller",
            "CPU us a reset",
            "target",
            "without a worker",
            "levels per CPU second of the worker",
        ],
        "rows": rows,
        "notes": [
            "`generated:any`, every episode on a level of its own. CPU time of the process that steps, in resets "
            "alone, after the first 300. Between resets there is twice the time that the worker takes for as many "
            "levels; if there is less, the caller makes the rest itself."
        ],
    }
