"""Faults of time and order: clocks that jump, interrupts at any moment, forks in the middle of everything."""

from __future__ import annotations

import mmap
import os
import random
import signal
import struct
import tempfile
import threading
import time
import warnings
from pathlib import Path
from unittest import mock

import numpy as np

from npp_env.level.cache import LevelCache
from npp_env.level.shipped import load_shipped
from npp_env.planning import SolveBudget, solve
from npp_env.profiling.run import profile_loop
from npp_env.profiling.tracker import MemoryTracker
from npp_env.vector import NppVectorEnv
from tests.faults.scenes import CacheScene
from tests.faults.storage import scratch
from tests.faults.tally import Tally
from tests.faults.victims import Hang, Victim, require, require_done, run_victim

JUMPS = (-1e9, -3e7, -86_400.0, -3600.0, -1.0, 1.0, 3600.0, 86_400.0, 3e7, 1e9)
CLOCKS = ("time", "monotonic", "perf_counter", "process_time")


class JumpingClock:
    """A clock that jumps now and then, to and fro.

    Args:
        seed: Of its jumps.
        share: How many readings jump.
    """

    def __init__(self, seed: int, share: float = 0.05) -> None:
        self._rng, self._share, self._offset = random.Random(seed), share, 0.0
        self._time = time.time
        self.jumps = 0

    def __call__(self) -> float:
        if self._rng.random() < self._share:
            self._offset += self._rng.choice(JUMPS)
            self.jumps += 1
        return self._time() + self._offset


def clock_jumps(tally: Tally, rounds: int, seed: int = 0) -> None:
    """Every clock of Python jumps while levels are compiled, profiles run and levels are solved."""
    cache = CacheScene(4)
    _ = cache.right
    level = load_shipped("first_steps/walk")
    budget = SolveBudget(2_000_000, 100_000, 64)
    right = solve(level, budget=budget).recording.inputs.tobytes()
    for number in range(rounds):
        with tally.fault("clock jumps", 0) as row, scratch() as folder:
            clocks = [JumpingClock(seed + 4 * number + k) for k in range(len(CLOCKS))]
            counter = mmap.mmap(-1, 8)

            def strike(folder: Path = folder, clocks: list = clocks, counter: mmap.mmap = counter) -> None:
                patches = [mock.patch.object(time, name, clock) for name, clock in zip(CLOCKS, clocks, strict=True)]
                for patch in patches:
                    patch.start()
                for turn in range(3):
                    held = LevelCache(directory=folder)
                    cache.compare(held, cache.levels)
                    held.store.make_room()
                    if turn == 1:
                        held.store.clear()
                tracker = MemoryTracker(1, clock=clocks[0])
                for step in range(60):
                    with tracker.phase("play" if step % 2 else "learn"):
                        tracker.on_step(step)
                tracker.growth()
                tracker.speed_drift()
                result = profile_loop(lambda: None, steps=50, snapshot_interval=5, progress=False, out_dir=folder / "r")
                require(len(result.files) == 4 and result.profile.summary.steps == 50, "the profile is not complete")
                require(solve(level, budget=budget).recording.inputs.tobytes() == right, "another solution")
                struct.pack_into("<q", counter, 0, sum(clock.jumps for clock in clocks))

            require_done(run_victim(strike), "clocks jumped")
            row.faults += struct.unpack_from("<q", counter)[0]


class Stepper:
    """Steps environments on several threads, and is interrupted all the time."""

    def __init__(self, threads: int) -> None:
        self.threads, self.num_envs = threads, 16 * threads

    def make(self) -> NppVectorEnv:
        return NppVectorEnv(
            self.num_envs,
            levels="shipped:mixed",
            num_threads=self.threads,
            observation={"keys": ("game_state", "entity_states")},
            reward={"shaping_weight": 0.0},
        )

    def digest(self, env: NppVectorEnv) -> bytes:
        """What an episode comes to after a reset: depends on nothing that was before it."""
        env.reset(seed=5)
        for step in range(12):
            observation = env.step(np.random.default_rng(step).integers(0, 6, self.num_envs))[0]
        return b"".join(env.get_state()) + observation["entity_states"].tobytes()

    def work(self, board: mmap.mmap, wanted: int, right: bytes) -> None:
        """Step until so many interrupts have come, then play an episode that must be right."""
        env = self.make()
        env.reset(seed=1)
        actions = np.zeros(self.num_envs, np.int64)
        got, armed = 0, False

        def interrupt(number: int, frame: object) -> None:
            # As Python's own handler, but only while the loop below is ready for it.
            nonlocal got, armed
            got += 1
            struct.pack_into("<q", board, 0, got)
            if armed:
                armed = False
                raise KeyboardInterrupt

        signal.signal(signal.SIGINT, interrupt)
        struct.pack_into("<q", board, 8, 1)
        while got < wanted:
            try:
                armed = True
                while got < wanted:
                    env.step(actions)
                armed = False
            except KeyboardInterrupt:
                pass
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        require(self.digest(env) == right, "after the interrupts an episode comes out otherwise")
        fresh = self.make()
        require(self.digest(fresh) == right, "a new environment comes out otherwise")


def interrupts(tally: Tally, count: int, threads: int, seconds: float = 60.0) -> None:
    """Interrupts as fast as they are taken, while environments step."""
    stepper = Stepper(threads)
    right = stepper.digest(stepper.make())
    per_victim = 2000
    for first in range(0, count, per_victim):
        wanted = min(per_victim, count - first)
        name = f"Ctrl-C while {threads} {'thread steps' if threads == 1 else 'threads step'}"
        with tally.fault(name, 0) as row:
            board = mmap.mmap(-1, 16)
            victim = Victim(lambda board=board, wanted=wanted: stepper.work(board, wanted, right))
            try:
                storm(victim, board, wanted, seconds)
                require_done(victim.wait(seconds), f"{threads} threads, interrupts {first} to {first + wanted}")
            finally:
                row.faults += struct.unpack_from("<q", board)[0]


def storm(victim: Victim, board: mmap.mmap, wanted: int, seconds: float) -> None:
    """Interrupt a victim, each time after the last interrupt has arrived and a moment more."""
    rng = random.Random(wanted)
    seen, since = -1, time.monotonic()
    while True:
        started, got = struct.unpack_from("<q", board, 8)[0], struct.unpack_from("<q", board, 0)[0]
        if got >= wanted or os.waitid(os.P_PID, victim.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
        if got != seen and started:
            seen, since = got, time.monotonic()
            time.sleep(rng.random() * 0.0008)
            victim.send(signal.SIGINT)
        elif time.monotonic() - since > seconds:
            victim.send(signal.SIGKILL)
            raise Hang(f"hangs after {got} interrupts")
        else:
            time.sleep(0.0002)


def forks(tally: Tally, count: int) -> None:
    """Threads step, compile and load; meanwhile the process forks, and the children must be able to work."""
    cache = CacheScene(4)
    _ = cache.right
    stepper = Stepper(2)
    right = stepper.digest(stepper.make())
    per_victim = 20
    for first in range(0, count, per_victim):
        times = min(per_victim, count - first)
        with tally.fault("fork in the middle", times), tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            end = run_victim(lambda folder=folder, times=times: fork_often(cache, stepper, right, folder, times), 300)
            require_done(end, "forks")


def fork_often(cache: CacheScene, stepper: Stepper, right: bytes, folder: Path, times: int) -> None:
    """The process whose threads are busy while it forks."""
    stop = threading.Event()
    errors: list[BaseException] = []
    shared = LevelCache(directory=folder)

    def guarded(work):
        def run() -> None:
            try:
                while not stop.is_set():
                    work()
            except BaseException as error:
                errors.append(error)

        return run

    env = stepper.make()
    env.reset(seed=1)
    actions = np.zeros(stepper.num_envs, np.int64)

    def compile_levels() -> None:
        shared.clear()
        cache.compare(shared, cache.levels)
        shared.store.clear()

    threads = [
        threading.Thread(target=guarded(lambda: env.step(actions))),
        threading.Thread(target=guarded(compile_levels)),
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in range(times):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                child = Victim(lambda: child_works(cache, shared, stepper, right))
            require_done(child.wait(60), "a forked child")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    require(not errors, f"a thread of the parent failed: {errors}")
    require(stepper.digest(env) == right, "the parent's environment comes out otherwise")


def child_works(cache: CacheScene, shared: LevelCache, stepper: Stepper, right: bytes) -> None:
    """A forked child uses the cache that it inherited, and an environment of its own."""
    cache.compare(shared, cache.levels[:2])
    require(stepper.digest(stepper.make()) == right, "an environment in a forked child comes out otherwise")
