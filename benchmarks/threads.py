"""Two threads beside one, and beside two processes with half of the environments each: what the machine can do."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks._measuring import OBSERVATION_SETS, configuration, rounded
from benchmarks.vector import stepping

NUMBERS_OF_ENVIRONMENTS = (256, 1024, 4096)
CASES = (("vectors", 1), ("vectors", 4), ("frames", 4))
"""Observation set and frame_skip."""
WAYS = ("one thread", "two threads", "two processes")
TARGET = 0.9
"""What two threads should reach of two processes, per second of the clock on the wall."""


@dataclass(frozen=True, slots=True)
class Slice:
    """What one way of stepping did in a short time."""

    per_second: float
    cpu_us_per_step: float


@dataclass
class Player:
    """Steps environments for a while."""

    name: str
    frame_skip: int
    num_envs: int
    num_threads: int
    warm_up_s: float
    work: Callable[[], None] = field(init=False)

    def __post_init__(self) -> None:
        from npp_env import NppVectorEnv

        config = configuration(OBSERVATION_SETS[self.name], frame_skip=self.frame_skip, copy=False)
        self.work = stepping(NppVectorEnv(self.num_envs, config, num_threads=self.num_threads), self.num_envs)
        # The episodes get out of step with each other, and all levels are met, before the clock starts.
        self.play(self.warm_up_s)

    def play(self, seconds: float) -> Slice:
        """Step for about so long."""
        cpu, start = time.process_time(), time.perf_counter()
        steps = 0
        while time.perf_counter() - start < seconds:
            self.work()
            steps += self.num_envs
        elapsed = time.perf_counter() - start
        return Slice(steps / elapsed, 1e6 * (time.process_time() - cpu) / steps)


def serve(connection: Any, arguments: tuple[Any, ...]) -> None:
    """A process of its own: play for as long as it is told, again and again; None ends it."""
    player = Player(*arguments)
    connection.send(None)
    while (seconds := connection.recv()) is not None:
        connection.send(player.play(seconds))


class Processes:
    """Two processes that play at the same time."""

    def __init__(self, name: str, frame_skip: int, num_envs: int, warm_up_s: float) -> None:
        context = multiprocessing.get_context("spawn")
        self._ends = []
        for _ in range(2):
            mine, theirs = context.Pipe()
            arguments = (name, frame_skip, num_envs // 2, 1, warm_up_s)
            context.Process(target=serve, args=(theirs, arguments), daemon=True).start()
            self._ends.append(mine)
        for end in self._ends:
            end.recv()

    def play(self, seconds: float) -> Slice:
        """Step for about so long; speeds add up."""
        for end in self._ends:
            end.send(seconds)
        slices = [end.recv() for end in self._ends]
        return Slice(sum(part.per_second for part in slices), float(np.mean([part.cpu_us_per_step for part in slices])))

    def close(self) -> None:
        """End the processes."""
        for end in self._ends:
            end.send(None)


def compare(name: str, frame_skip: int, num_envs: int, quick: bool) -> list[dict[str, Slice]]:
    """Rounds in which every way plays for a moment, so that all meet the same machine."""
    warm_up_s, slice_s, rounds = (0.05, 0.03, 3) if quick else (1.0, 0.25, 24)
    arguments = (name, frame_skip, num_envs)
    processes = Processes(*arguments, warm_up_s)
    players = {
        "one thread": Player(*arguments, 1, warm_up_s),
        "two threads": Player(*arguments, 2, warm_up_s),
        "two processes": processes,
    }
    found = []
    for number in range(rounds):
        order = WAYS if number % 2 else WAYS[::-1]
        found.append({way: players[way].play(slice_s) for way in order})
    processes.close()
    return found


class TimedEngine:
    """The engine of an environment, with a clock around the part of a step that threads share."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.shared_ns = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def play(self, *arguments: Any) -> int:
        """As that of the engine."""
        start = time.thread_time_ns()
        unfinished: int = self._engine.play(*arguments)
        self.shared_ns += time.thread_time_ns() - start
        return unfinished


@dataclass(frozen=True, slots=True)
class Split:
    """CPU microseconds of a step on one thread: what it does before and after the shared work, and that work."""

    alone: float
    shared: float


def split_steps(name: str, frame_skip: int, num_envs: int, quick: bool) -> Split:
    """How a step divides, the median of some rounds."""
    from npp_env import NppVectorEnv

    config = configuration(OBSERVATION_SETS[name], frame_skip=frame_skip, copy=False)
    env = NppVectorEnv(num_envs, config)
    work = stepping(env, num_envs)
    steps = max(4, (16_384 if quick else 262_144) // (num_envs * frame_skip))
    for _ in range(2 * steps):
        work()
    engine = TimedEngine(env._engine)
    env._engine = engine  # type: ignore[assignment]
    found = []
    for _ in range(3 if quick else 9):
        engine.shared_ns, start = 0, time.thread_time_ns()
        for _ in range(steps):
            work()
        taken = time.thread_time_ns() - start
        found.append((1e-3 * (taken - engine.shared_ns) / steps, 1e-3 * engine.shared_ns / steps))
    env.close()
    alone, shared = np.median(found, axis=0)
    # Of the two calls of the clock, about one falls before and after the shared work.
    return Split(max(0.0, float(alone) - clock_us()), float(shared))


def clock_us() -> float:
    """CPU microseconds that asking the clock takes."""
    start = time.thread_time_ns()
    for _ in range(1000):
        time.thread_time_ns()
    return 1e-6 * (time.thread_time_ns() - start)


def measure_shares(quick: bool) -> dict[str, Any]:
    """What of a step only one thread can do, and how far two threads can get with that."""
    rows = []
    for name, frame_skip in CASES:
        for num_envs in NUMBERS_OF_ENVIRONMENTS:
            half, whole = (split_steps(name, frame_skip, count, quick) for count in (num_envs // 2, num_envs))
            bound = (half.alone + whole.shared / 2) / (whole.alone + whole.shared / 2)
            share = whole.alone / (whole.alone + whole.shared)
            cells = (whole.alone, whole.shared, 100 * share, bound)
            rows.append([name, frame_skip, num_envs, *(rounded(cell) for cell in cells)])
    return {
        "title": "Threads: what they cannot share",
        "header": [
            "observations",
            "frame_skip",
            "environments",
            "alone, CPU us a step",
            "shared, CPU us",
            "alone, %",
            "most of two processes",
        ],
        "rows": rows,
        "notes": [
            "CPU time on one thread, which other work on the machine changes less than the clock on the wall. Alone: "
            "all of `step` before and after the shared work, restarts included. The last column is what two threads "
            "could reach of two processes with half of the environments each if waking them cost nothing: the "
            "processes have their own part to do alone, for half as many."
        ],
    }


def run(quick: bool) -> dict[str, Any]:
    """Measure all cases."""
    return {"tables": [measure_shares(quick), measure_threads(quick)]}


def measure_threads(quick: bool) -> dict[str, Any]:
    """One and two threads beside two processes."""
    rows = []
    for name, frame_skip in CASES:
        for num_envs in NUMBERS_OF_ENVIRONMENTS:
            found = compare(name, frame_skip, num_envs, quick)
            speeds = {way: np.array([one[way].per_second for one in found]) for way in WAYS}
            cpu = {way: float(np.median([one[way].cpu_us_per_step for one in found])) for way in WAYS}
            share = speeds["two threads"] / speeds["two processes"]
            low, middle, high = np.percentile(share, (25, 50, 75))
            rows.append(
                [
                    name,
                    frame_skip,
                    num_envs,
                    *(rounded(float(np.median(speeds[way]))) for way in WAYS),
                    rounded(float(np.median(speeds["two threads"] / speeds["one thread"]))),
                    f"{middle:.2f} ({low:.2f} to {high:.2f})",
                    rounded(cpu["two threads"] / cpu["two processes"]),
                ]
            )
    load = f"; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores" if hasattr(os, "getloadavg") else ""
    return {
        "title": "Threads and processes",
        "header": [
            "observations",
            "frame_skip",
            "environments",
            *(f"{way}, steps per second" for way in WAYS),
            "two threads against one",
            "against two processes (quartiles)",
            "CPU time against them",
        ],
        "rows": rows,
        "notes": [
            f"Environment steps per second of the clock on the wall, `copy=False`; medians of rounds in which each way "
            f"plays for a moment{load}. Two processes have half of the environments each and never wait for each "
            f"other: what the machine can do. Target: at least {TARGET:.2f} of it. On a machine with other work the "
            f"clock says little; the CPU time of a step, in the last column, says what threads cost beyond processes.",
        ],
    }
