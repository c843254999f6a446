"""The vector environment: numbers of environments and threads, and the vectorisations of Gymnasium beside it."""

from __future__ import annotations

import functools
import itertools
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks._measuring import (
    ENVIRONMENT_ID,
    OBSERVATION_SETS,
    Speed,
    configuration,
    held_actions,
    measure_speed,
    rounded,
)

NUMBERS_OF_ENVIRONMENTS = (1, 16, 256, 1024, 4096)
CASES = (("vectors", 1), ("vectors", 4), ("frames", 4))
"""Observation set and frame_skip."""
TARGETS = {("vectors", 1): 2_000_000, ("vectors", 4): 900_000, ("frames", 4): 20_000}
"""Environment steps per CPU second with 1024 environments and one thread."""
ROWS_OF_ACTIONS = 128


def numbers_of_threads() -> list[int]:
    """1, 2 and as many as there are cores."""
    return sorted({1, 2, os.cpu_count() or 1})


@functools.cache
def native_speed(name: str, frame_skip: int, num_envs: int, num_threads: int, quick: bool) -> Speed:
    """Environment steps of `NppVectorEnv` with views; measured once in a process."""
    from npp_env import NppVectorEnv

    config = configuration(OBSERVATION_SETS[name], frame_skip=frame_skip, copy=False)
    env = NppVectorEnv(num_envs, config, num_threads=num_threads)
    work = stepping(env, num_envs)
    # The episodes get out of step with each other, and all levels are met, before the clock starts.
    until = time.perf_counter() + (0.1 if quick else 1.0)
    while time.perf_counter() < until:
        work()
    speed = measure_speed(work, num_envs, 0.15 if quick else 1.5)
    env.close()
    return speed


def cost_ratio(name: str, frame_skip: int, quick: bool, few: int = 256, many: int = 4096) -> float:
    """What a step costs with many environments against few, measured in turns, so that both meet the same machine."""
    from npp_env import NppVectorEnv

    config = configuration(OBSERVATION_SETS[name], frame_skip=frame_skip, copy=False)
    works = {count: stepping(NppVectorEnv(count, config), count) for count in (few, many)}
    seconds: dict[int, list[float]] = {few: [], many: []}
    for turn in range(4 if quick else 12):
        for count, work in works.items():
            start = time.process_time()
            for _ in range((1 if quick else 20) * many // count):
                work()
            # The first turn lets the episodes get out of step.
            if turn:
                seconds[count].append(time.process_time() - start)
    return float(np.median(seconds[many]) / np.median(seconds[few]))


def stepping(env: Any, num_envs: int) -> Callable[[], None]:
    """Work that plays one step of all environments."""
    env.reset(seed=0)
    actions = itertools.cycle(list(held_actions(ROWS_OF_ACTIONS, num_envs)))

    def work() -> None:
        env.step(next(actions))

    return work


def measure_native(quick: bool) -> dict[str, Any]:
    """Numbers of environments and threads."""
    rows = []
    for name, frame_skip in CASES:
        for num_envs, threads in itertools.product(NUMBERS_OF_ENVIRONMENTS, numbers_of_threads()):
            if threads > 1 and num_envs < 256:
                # Too little work to share: the pool runs it in one thread.
                continue
            speed = native_speed(name, frame_skip, num_envs, threads, quick)
            target = TARGETS[name, frame_skip] if (num_envs, threads) == (1024, 1) else None
            rows.append(
                [
                    name,
                    frame_skip,
                    num_envs,
                    threads,
                    rounded(speed.per_cpu_second),
                    rounded(speed.per_wall_second),
                    f"{target:,}" if target else "",
                ]
            )
    notes = [
        "`NppVectorEnv.step` with `copy=False`, all shipped levels, random play, shaped reward, restarts included."
    ]
    single = native_speed("vectors", 4, 1, 1, quick).cpu_us
    notes.append(f"One environment, vectors, frame_skip 4: {single:.1f} us a step (target: under 12).")
    for name, frame_skip in CASES:
        notes.append(
            f"{name}, frame_skip {frame_skip}: a step costs at 4096 environments "
            f"{cost_ratio(name, frame_skip, quick):.2f} times what it costs at 256 (target: at most 1.2)."
        )
    return {
        "title": "Vector environment",
        "header": [
            "observations",
            "frame_skip",
            "environments",
            "threads",
            "environment steps per CPU second",
            "per second",
            "target, per CPU second",
        ],
        "rows": rows,
        "notes": notes,
    }


def make_single() -> Any:
    """One of our environments for Gymnasium's vectorisations; a function of the module, so that `spawn` can find it."""
    import gymnasium

    return gymnasium.make(ENVIRONMENT_ID, config=configuration(OBSERVATION_SETS["vectors"]))


def cpu_seconds_of_all() -> float:
    """CPU time of this process and its living children."""
    import psutil

    total = time.process_time()
    for child in psutil.Process().children():
        times = child.cpu_times()
        total += times.user + times.system
    return total


def vectorisations(num_envs: int) -> dict[str, Callable[[], Any]]:
    """All ways to run several of our environments at once, and public peers that are installed."""
    import gymnasium

    # Before Gymnasium 1.4 the shared memory of AsyncVectorEnv does not take float16.
    shared = tuple(int(part) for part in gymnasium.__version__.split(".")[:2]) >= (1, 4)
    vector = gymnasium.vector
    found: dict[str, Callable[[], Any]] = {
        "NppVectorEnv": lambda: gymnasium.make_vec(
            ENVIRONMENT_ID, num_envs, config=configuration(OBSERVATION_SETS["vectors"])
        ),
        "SyncVectorEnv": lambda: vector.SyncVectorEnv([make_single] * num_envs),
        "AsyncVectorEnv, fork": lambda: vector.AsyncVectorEnv(
            [make_single] * num_envs, context="fork", shared_memory=shared
        ),
        "AsyncVectorEnv, spawn": lambda: vector.AsyncVectorEnv(
            [make_single] * num_envs, context="spawn", shared_memory=shared
        ),
        "SyncVectorEnv of Gymnasium CartPole-v1": lambda: vector.SyncVectorEnv(
            [lambda: gymnasium.make("CartPole-v1")] * num_envs
        ),
    }
    try:
        import envpool

        found["EnvPool CartPole-v1"] = lambda: envpool.make_gymnasium("CartPole-v1", num_envs=num_envs)
        found["EnvPool CartPole-v1, 1024 environments"] = lambda: envpool.make_gymnasium("CartPole-v1", num_envs=1024)
    except ImportError:
        pass
    try:
        from ale_py.vector_env import AtariVectorEnv

        found["AtariVectorEnv of ale-py, Pong"] = lambda: AtariVectorEnv("pong", num_envs=num_envs)
    except ImportError:
        pass
    return found


def measure_vectorisations(quick: bool) -> dict[str, Any]:
    """Our environment in each vectorisation, with few environments, and peers."""
    num_envs = 4 if quick else 16
    rows = []
    for name, make in vectorisations(num_envs).items():
        env = make()
        count = 1024 if "1024" in name else num_envs
        ours = "CartPole" not in name and "Atari" not in name
        env.reset(seed=0) if ours else env.reset()
        actions = held_actions(ROWS_OF_ACTIONS, count)
        actions = itertools.cycle(list(actions if ours else np.minimum(actions, 1).astype(np.int32)))
        for _ in range(5):
            env.step(next(actions))
        speed = measure_speed(
            lambda env=env, actions=actions: env.step(next(actions)),
            count,
            0.3 if quick else 3.0,
            cpu_seconds_of_all,
            repeats=1,
        )
        rows.append([name, count, rounded(speed.per_cpu_second), rounded(speed.per_wall_second)])
        env.close()
    return {
        "title": "Vectorisations side by side, vector observations, copies",
        "header": ["vectorisation", "environments", "environment steps per CPU second", "per second"],
        "rows": rows,
        "notes": [
            "frame_skip 4 for ours; CPU time of all processes counts. envpool and ale-py appear where they are "
            "installed."
        ],
    }


def run(quick: bool) -> dict[str, Any]:
    """Measure the vector environment."""
    return {"tables": [measure_native(quick), measure_vectorisations(quick)]}
