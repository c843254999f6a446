"""`MemoryTracker`: samples the memory of a loop as it runs, at a cost that it keeps within a budget."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from npp_env.profiling.errors import ProfilingError
from npp_env.profiling.growth import DEFAULT_THRESHOLD_BYTES_PER_1K, GrowthFit, fit_growth, fit_speed_drift
from npp_env.profiling.phases import PhaseLedger, PhaseReport
from npp_env.profiling.process_memory import (
    PageMemory,
    read_heap_bytes,
    read_page_memory,
    read_rss_bytes,
    read_traced_bytes,
    read_tracer_bytes,
)
from npp_env.profiling.samples import DEFAULT_CAPACITY, Sample, SampleLog
from npp_env.profiling.torch_memory import TorchMemory, read_torch_memory, torch_is_loaded

DEFAULT_INTERVAL_STEPS = 1000
# With steps of 5 us the calls of `on_step` take another 1.3 %.
DEFAULT_BUDGET_FRACTION = 0.004
# The first samples are taken at any price: a reading must have been made to know what it costs.
FREE_SAMPLES = 2


class _PacedReading:
    """Decides when a reading may be taken again, from what it has cost so far."""

    def __init__(self, budget_fraction: float | None) -> None:
        self._budget_fraction = budget_fraction
        self._taken = 0
        self.cost_seconds = 0.0
        self.skipped = 0

    def is_due(self, elapsed_seconds: float) -> bool:
        if self._budget_fraction is None or self._taken < FREE_SAMPLES:
            return True
        expected = self.cost_seconds * (self._taken + 1) / self._taken
        due = expected <= self._budget_fraction * elapsed_seconds
        self.skipped += not due
        return due

    def charge(self, seconds: float) -> None:
        self._taken += 1
        self.cost_seconds += seconds


class MemoryTracker:
    """Samples RSS, USS, PSS, traced Python bytes and, where torch is loaded, tensors and CUDA counters.

    RSS, the C heap and the traced bytes are cheap. USS and PSS, and the walk over live tensors, cost more.
    Each of these three groups is skipped while its share of the run would exceed a third of the budget: on a
    fast loop the interval stretches by itself. What the tracker has cost stands in `cost_seconds`.

    Args:
        interval: Steps between samples taken by `on_step`.
        budget_fraction: Largest share of the run that sampling may take; None takes every sample in full.
        capacity: Most samples kept; a full log is thinned, it never grows.
        clock: Source of time, in seconds.
        snapshot_dir: Where given, every sample is also written there as `snapshot_step_N.json`.

    Example:
        >>> tracker = MemoryTracker(interval=10, budget_fraction=None)
        >>> for step in range(101):
        ...     tracker.on_step(step)
        >>> len(tracker.samples)
        11
        >>> tracker.growth().samples_total >= 2
        True
    """

    def __init__(
        self,
        interval: int = DEFAULT_INTERVAL_STEPS,
        *,
        budget_fraction: float | None = DEFAULT_BUDGET_FRACTION,
        capacity: int = DEFAULT_CAPACITY,
        clock: Callable[[], float] = time.perf_counter,
        snapshot_dir: Path | None = None,
    ) -> None:
        if interval < 1:
            raise ProfilingError(f"interval must be at least 1 step, got {interval}")
        if budget_fraction is not None and not 0 < budget_fraction < 1:
            raise ProfilingError(f"budget_fraction must lie between 0 and 1 or be None, got {budget_fraction}")
        self.interval = interval
        self.samples = SampleLog(capacity)
        self.snapshot_dir = snapshot_dir
        self._clock = clock
        share = None if budget_fraction is None else budget_fraction / 3
        self._light = _PacedReading(share)
        self._pages = _PacedReading(share)
        self._tensors = _PacedReading(share)
        self._phases = PhaseLedger()
        self._started = clock()
        self._last_step: int | None = None
        self._last_seconds = 0.0
        self._next_step = 0
        self.samples_taken = 0
        self.cost_seconds = 0.0

    def on_step(self, step: int) -> None:
        """Take a sample if one is due at `step`; call it with every step, it costs a comparison otherwise."""
        if step >= self._next_step:
            if self._light.is_due(self._clock() - self._started):
                self.sample(step)
            self._next_step = step - step % self.interval + self.interval

    def sample(self, step: int, *, with_tensors: bool = True) -> Sample:
        """Take a sample now, whatever the interval; the walk over live tensors can be left out."""
        begin = self._clock()
        elapsed = begin - self._started
        costly_before = self._pages.cost_seconds + self._tensors.cost_seconds
        pages = self._read_pages(elapsed)
        tracer = read_tracer_bytes()
        heap = read_heap_bytes()
        sample = Sample(
            step=step,
            seconds=elapsed,
            steps_per_second=self._speed(step, elapsed),
            rss_bytes=(pages.rss_bytes if pages else read_rss_bytes()) - tracer,
            uss_bytes=pages.uss_bytes - tracer if pages else None,
            pss_bytes=pages.pss_bytes - tracer if pages else None,
            traced_bytes=read_traced_bytes(),
            tracer_bytes=tracer,
            heap_bytes=None if heap is None else heap - tracer,
            python_blocks=sys.getallocatedblocks(),
            torch=self._read_tensors(elapsed) if with_tensors else None,
        )
        self.samples.append(sample)
        self.samples_taken += 1
        if self.snapshot_dir is not None:
            from npp_env.profiling.snapshots import write_snapshot

            write_snapshot(self.snapshot_dir, sample)
        end = self._clock()
        self._last_step, self._last_seconds = step, end - self._started
        costly = self._pages.cost_seconds + self._tensors.cost_seconds - costly_before
        self._light.charge(end - begin - costly)
        self.cost_seconds += end - begin
        return sample

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Charge the growth inside the block to the phase `name`; phases do not nest."""
        with self._timed():
            self._phases.begin(name)
        try:
            yield
        finally:
            with self._timed():
                self._phases.end()

    def iteration(self) -> None:
        """Mark the start of an iteration; without it, one starts when the first phase comes round again."""
        with self._timed():
            self._phases.begin_iteration()

    @property
    def phases(self) -> PhaseReport:
        """Growth by phase so far."""
        return self._phases.report()

    def growth(
        self, column: str | None = None, *, threshold_per_1k: float = DEFAULT_THRESHOLD_BYTES_PER_1K
    ) -> GrowthFit:
        """Fitted growth of a column of the samples; USS by default, RSS where USS was hardly read."""
        name = self.memory_column if column is None else column
        return fit_growth(self.samples.column("step"), self.samples.column(name), threshold_per_1k=threshold_per_1k)

    def speed_drift(self) -> GrowthFit:
        """Whether the steps per second decline; see `fit_speed_drift`."""
        return fit_speed_drift(self.samples.column("step"), self.samples.column("steps_per_second"))

    @property
    def memory_column(self) -> str:
        """The column that verdicts rest on."""
        known = int((self.samples.column("uss_bytes") >= 0).sum())
        return "uss_bytes" if known >= min(len(self.samples), 16) else "rss_bytes"

    @property
    def cost_fraction(self) -> float:
        """Share of the time since the start that the tracker took itself."""
        elapsed = self._clock() - self._started
        return self.cost_seconds / elapsed if elapsed > 0 else 0.0

    @property
    def skipped_readings(self) -> int:
        """Costly readings left out to stay within the budget."""
        return self._light.skipped + self._pages.skipped + self._tensors.skipped

    def _speed(self, step: int, elapsed: float) -> float | None:
        if self._last_step is None or elapsed <= self._last_seconds:
            return None
        return (step - self._last_step) / (elapsed - self._last_seconds)

    def _read_pages(self, elapsed: float) -> PageMemory | None:
        if not self._pages.is_due(elapsed):
            return None
        begin = self._clock()
        pages = read_page_memory()
        self._pages.charge(self._clock() - begin)
        return pages

    def _read_tensors(self, elapsed: float) -> TorchMemory | None:
        if not torch_is_loaded() or not self._tensors.is_due(elapsed):
            return None
        begin = self._clock()
        memory = read_torch_memory()
        self._tensors.charge(self._clock() - begin)
        return memory

    @contextmanager
    def _timed(self) -> Iterator[None]:
        begin = self._clock()
        yield
        self.cost_seconds += self._clock() - begin
