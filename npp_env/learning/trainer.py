"""`Trainer`: runs an algorithm in a folder, for so many steps or minutes, and can be killed at any moment."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from npp_env.learning.algorithms import Algorithm, make_algorithm
from npp_env.learning.model_file import ModelError
from npp_env.learning.run_folder import RunFolder
from npp_env.learning.settings import TrainSettings
from npp_env.learning.shards import ShardPlayers
from npp_env.learning.trained_policy import write_model
from npp_env.profiling.callbacks import LoopCallback, ScalarWriter
from npp_env.profiling.guard import MemoryGuard
from npp_env.profiling.process_memory import read_rss_bytes
from npp_env.profiling.tracker import MemoryTracker

SECONDS_BETWEEN_CHECKPOINTS = 60.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How a run stands.

    Attributes:
        steps: Environment steps so far.
        total_steps: Steps of the schedule.
        success: Share of episodes won lately, the mean over levels.
        steps_per_second: Of the last iteration.
        rss_bytes: Memory of the process.
        seconds: Time of training so far, earlier legs of a resumed run included.
        seconds_left: Estimate of the time that is left.
        iteration: Number of the iteration.
    """

    steps: int
    total_steps: int
    success: float
    steps_per_second: float
    rss_bytes: int
    seconds: float
    seconds_left: float
    iteration: int


@dataclass(frozen=True, slots=True)
class Limits:
    """When a run ends: whichever comes first.

    Attributes:
        steps: After so many environment steps; None for the end of the schedule, or of the time if one is given.
        seconds: After so much time of training.
        processor_time: Whether that is time of the processor rather than of the clock on the wall.
        success: Once this share of the latest episodes is won, the mean over levels.
    """

    steps: int | None = None
    seconds: float | None = None
    processor_time: bool = False
    success: float | None = None


class Trainer:
    """One run.

    Args:
        folder: Where everything is kept.
        settings: What to train; None goes on with the run in the folder.
        guard: Ends the run in good order when memory becomes low.
        players: Who plays the shards of a run that has them; this process by default.
        write_scalar: Gets every number of the curve, such as `npp_env.profiling.callbacks.tensorboard_writer` makes.
        snapshots: Where memory snapshots are written, each in full, whatever it costs.

    Attributes:
        algorithm: What learns.
        stopped_by_guard: Whether memory became low.
        interrupted: Whether Ctrl-C ended the run; `--resume` then goes on from the last checkpoint.
    """

    def __init__(
        self,
        folder: Path,
        settings: TrainSettings | None = None,
        *,
        players: ShardPlayers | None = None,
        guard: MemoryGuard | None = None,
        write_scalar: ScalarWriter | None = None,
        snapshots: Path | None = None,
    ) -> None:
        self.folder = RunFolder(folder)
        self.settings = self.folder.settings() if settings is None else settings
        self.algorithm: Algorithm = make_algorithm(self.settings, players)
        if settings is not None:
            self.folder.begin(settings)
        if snapshots is not None:
            snapshots.mkdir(parents=True, exist_ok=True)
            bench = self.algorithm.bench
            bench.tracker = MemoryTracker(bench.tracker.interval, budget_fraction=None, snapshot_dir=snapshots)
        self._write_scalar = write_scalar
        self._callback = LoopCallback(write_scalar=write_scalar, guard=guard, tracker=self.algorithm.bench.tracker)
        self._iteration = 0
        self._seconds = 0.0
        self._cpu_seconds = 0.0
        self.stopped_by_guard = self.interrupted = False
        if settings is None:
            self._resume()

    def _resume(self) -> None:
        found = self.folder.load()
        if found is None:
            self.folder.cut_curve(0)
            return
        header, arrays = found
        missing = {"algorithm", "iteration", "seconds", "cpu_seconds"} - set(header)
        if missing:
            raise ModelError(f"the checkpoint in {self.folder.path} is none: it lacks {', '.join(sorted(missing))}")
        self.algorithm.restore(header["algorithm"], arrays)
        self._iteration = int(header["iteration"])
        self._seconds, self._cpu_seconds = float(header["seconds"]), float(header["cpu_seconds"])
        self.folder.cut_curve(self.algorithm.bench.steps)

    def run(self, limits: Limits, on_progress: Callable[[Progress], None] | None = None) -> None:
        """Train until a limit is met or memory is low, then write checkpoint and model; Ctrl-C ends it at once."""
        saved = time.monotonic()
        try:
            while not self._is_over(limits):
                progress = self._iterate(limits)
                if on_progress is not None:
                    on_progress(progress)
                if not self._callback.on_step(self.algorithm.bench.steps):
                    self.stopped_by_guard = True
                    break
                if time.monotonic() - saved >= self._seconds_between_checkpoints():
                    self.save()
                    saved = time.monotonic()
        except KeyboardInterrupt:
            # The iteration was cut off in the middle; the last checkpoint stands before it.
            self.interrupted = True
            return
        self.save()

    def _seconds_between_checkpoints(self) -> float:
        return getattr(self.algorithm, "checkpoint_seconds", SECONDS_BETWEEN_CHECKPOINTS)

    def _is_over(self, limits: Limits) -> bool:
        bench = self.algorithm.bench
        steps = bench.steps
        if limits.seconds is not None and self._seconds_of(limits) >= limits.seconds:
            return True
        if limits.success is not None and bench.statistics.summary()["success"] >= limits.success:
            return True
        if limits.steps is not None:
            return steps >= limits.steps
        return limits.seconds is None and steps >= self.settings.total_steps

    def _seconds_of(self, limits: Limits) -> float:
        """Time of training so far, as the limits count it."""
        return self._cpu_seconds if limits.processor_time else self._seconds

    def _iterate(self, limits: Limits) -> Progress:
        bench = self.algorithm.bench
        wall, cpu, before = time.perf_counter(), time.process_time(), bench.steps
        learned = self.algorithm.iterate()
        taken = time.perf_counter() - wall
        self._seconds += taken
        self._cpu_seconds += time.process_time() - cpu
        self._iteration += 1
        speed = (bench.steps - before) / taken
        statistics = bench.statistics.summary()
        row = {
            "steps": float(bench.steps),
            "seconds": self._seconds,
            "cpu_seconds": self._cpu_seconds,
            "steps_per_second": speed,
            "rss_mb": read_rss_bytes() / 2**20,
            **statistics,
            **learned,
        }
        self.folder.append(row)
        if self._write_scalar is not None:
            for name, value in row.items():
                self._write_scalar(f"train/{name}", value, bench.steps)
        return Progress(
            bench.steps,
            self.settings.total_steps,
            statistics["success"],
            speed,
            read_rss_bytes(),
            self._seconds,
            self._seconds_left(limits),
            self._iteration,
        )

    def _seconds_left(self, limits: Limits) -> float:
        steps = self.algorithm.bench.steps
        wanted = limits.steps if limits.steps is not None else self.settings.total_steps
        by_steps = max(wanted - steps, 0) * self._seconds / steps
        if limits.seconds is None:
            return by_steps
        by_time = max(limits.seconds - self._seconds_of(limits), 0.0)
        return by_time if limits.steps is None else min(by_steps, by_time)

    def save(self) -> None:
        """Write checkpoint and model."""
        header = {
            "algorithm": self.algorithm.header(),
            "iteration": self._iteration,
            "seconds": self._seconds,
            "cpu_seconds": self._cpu_seconds,
        }
        self.folder.save(header, self.algorithm.arrays())
        bench = self.algorithm.bench
        facts = {"steps": bench.steps, "settings": self.settings.to_dict(), **bench.statistics.summary()}
        write_model(self.folder.model, bench, facts)

    def report(self) -> str:
        """Where time and memory went."""
        bench = self.algorithm.bench
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        growth = bench.tracker.growth()
        lines = [
            f"time: {bench.profile.to_text(bench.steps)}",
            f"memory: at most {peak / 2**20:,.0f} MB; {growth.verdict}, "
            f"{growth.slope_per_1k / 1024:+.3f} KB per 1,000 steps",
            bench.tracker.phases.to_text(),
        ]
        return "\n".join(lines)
