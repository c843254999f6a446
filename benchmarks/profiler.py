"""What the memory tracker costs a loop that calls it with every step, and what its readings cost by themselves."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from benchmarks._measuring import ENVIRONMENT_ID, OBSERVATION_SETS, configuration, held_actions, measure_speed, rounded
from npp_env import NppEnv, NppVectorEnv
from npp_env.profiling import MemoryTracker
from npp_env.profiling.process_memory import read_heap_bytes, read_page_memory, read_rss_bytes

TARGET_SHARE = 2.0
BLOCK_STEPS = 1000


class StopWatch:
    """CPU time of the tracked blocks only: the tracker must not spend the time of the blocks without it."""

    def __init__(self) -> None:
        self._spent = 0.0
        self._begin: float | None = None

    def __call__(self) -> float:
        """Seconds so far."""
        return self._spent + (0.0 if self._begin is None else time.process_time() - self._begin)

    def start(self) -> None:
        """Let time pass."""
        self._begin = time.process_time()

    def stop(self) -> float:
        """Hold it, and return what has passed since the start."""
        before = self._spent
        self._spent, self._begin = self(), None
        return self._spent - before


def play(env: Any, actions: list[Any], on_step: Callable[[int], None] | None, first_step: int) -> None:
    """Steps of an environment, always the same ones, with the tracker or without it."""
    env.reset(seed=0)
    resets_itself = isinstance(env, NppVectorEnv)
    for step, action in enumerate(actions, first_step):
        _, _, terminated, truncated, _ = env.step(action)
        if not resets_itself and (terminated or truncated):
            env.reset()
        if on_step is not None:
            on_step(step)


def middle(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The middle nine tenths: what other programs on the machine disturbed lies outside."""
    cut = len(values) // 20
    return np.sort(values)[cut : len(values) - cut]


def measure_share(env: Any, actions: list[Any], blocks: int) -> tuple[float, float, float, MemoryTracker]:
    """Seconds of a step without the tracker, the share that it adds and its standard error, and the tracker."""
    play(env, actions, None, 0)
    tracked, plain = StopWatch(), StopWatch()
    tracker = MemoryTracker(clock=tracked)
    seconds = np.empty((blocks, 2))
    sampled = np.empty(blocks, np.bool_)
    for block in range(blocks):
        samples_before = tracker.samples_taken
        for column in (0, 1) if block % 2 else (1, 0):
            watch, on_step = (tracked, tracker.on_step) if column else (plain, None)
            watch.start()
            play(env, actions, on_step, block * len(actions))
            seconds[block, column] = watch.stop()
        sampled[block] = tracker.samples_taken > samples_before
    usual = float(middle(seconds[:, 0]).mean())
    added = (seconds[:, 1] - seconds[:, 0]) / usual
    share = variance = 0.0
    # Blocks with a sample are few and cost more, so each kind is averaged by itself.
    for kind in (added[sampled], added[~sampled]):
        if len(kind):
            weight = len(kind) / blocks
            share += weight * float(middle(kind).mean())
            variance += weight**2 * float(middle(kind).var()) / len(kind)
    return usual / len(actions), share, variance**0.5, tracker


def measure_tracking(quick: bool) -> dict[str, Any]:
    """The tracker at its default interval, called with each step of real environments."""
    keys = OBSERVATION_SETS["vectors"]
    config = configuration(keys, frame_skip=4, copy=False, levels="shipped:first_steps")
    cases: dict[str, tuple[Callable[[], Any], int]] = {
        "NppEnv, views": (lambda: NppEnv(config), 1),
        "gymnasium.make": (lambda: gymnasium.make(ENVIRONMENT_ID, config=config), 1),
        "NppVectorEnv of 64": (lambda: NppVectorEnv(64, config), 64),
    }
    rows = []
    for name, (make, num_envs) in cases.items():
        env = make()
        held = held_actions(max(BLOCK_STEPS // num_envs, 100), num_envs)
        actions = list(held) if num_envs > 1 else held[:, 0].tolist()
        seconds, share, error, tracker = measure_share(env, actions, 200 if quick else 2000)
        env.close()
        rows.append(
            [
                name,
                rounded(seconds * 1e6),
                round(100 * share, 2),
                round(100 * error, 2),
                round(100 * tracker.cost_fraction, 2),
                tracker.samples_taken,
                int(np.isfinite(tracker.samples.column("uss_bytes")).sum()),
                f"< {TARGET_SHARE:g}",
            ]
        )
    return {
        "title": "Memory tracker: what it adds to the stepping time",
        "header": [
            "environment",
            "us per step",
            "added, %",
            "standard error",
            "of it sampling, %",
            "samples",
            "with USS",
            "target, %",
        ],
        "rows": rows,
        "notes": [
            "`MemoryTracker()` with its default interval, `on_step` called with every step; blocks of the same steps "
            "with and without it in turns, CPU time, averaged over the middle 90 % of "
            "the blocks with a sample and of those without. Vector observations, frame_skip 4."
        ],
    }


def measure_readings(quick: bool) -> dict[str, Any]:
    """The single readings."""
    at_least = 0.05 if quick else 0.5
    tracker = MemoryTracker(budget_fraction=None)
    tracker.on_step(0)
    readings: dict[str, Callable[[], object]] = {
        "on_step with nothing due": lambda: tracker.on_step(1),
        "RSS": read_rss_bytes,
        "C heap in use": read_heap_bytes,
        "RSS, USS and PSS": read_page_memory,
        "a sample with all of them": lambda: tracker.sample(0),
    }
    return {
        "title": "Memory tracker: what a reading costs",
        "header": ["reading", "CPU us"],
        "rows": [[name, rounded(measure_speed(reading, 1, at_least).cpu_us)] for name, reading in readings.items()],
        "notes": [f"In a process of {read_rss_bytes() / 2**20:.0f} MB; USS and PSS grow with the process."],
    }


def run(quick: bool) -> dict[str, Any]:
    """Measure the tracker."""
    return {"tables": [measure_tracking(quick), measure_readings(quick)]}
