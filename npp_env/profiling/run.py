"""`profile_loop`: runs a step function, tracks its memory and writes the reports."""

from __future__ import annotations

import cProfile
import importlib
import io
import json
import math
import platform
import pstats
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from npp_env import __version__
from npp_env.level.whole_file import write_whole
from npp_env.profiling.allocation_sites import SiteLedger
from npp_env.profiling.compare import Comparison, ProfileFigures, compare
from npp_env.profiling.errors import ProfilingError
from npp_env.profiling.growth import DEFAULT_THRESHOLD_BYTES_PER_1K, GrowthFit, Verdict, worst_verdict
from npp_env.profiling.guard import MemoryGuard
from npp_env.profiling.profile import OwnerCurves, Profile, Summary, TrackerCost
from npp_env.profiling.report import format_report
from npp_env.profiling.report_html import format_html
from npp_env.profiling.thinning import ThinningTable
from npp_env.profiling.tracker import MemoryTracker
from npp_env.runtime.memory import MemoryReport

REPORT_FILES = ("memory_profiling_report.txt", "profiling_stats.txt", "memory.json", "report.html")
MAX_HISTORY = 256
MAX_OWNERS = 32
CPROFILE_ROWS = 60
# Counting live tensors visits every object of the program, which takes tens of milliseconds.
MAX_TENSOR_READINGS = 33


class OwnerHistory:
    """Bytes by owner over the run, in a block of fixed size."""

    def __init__(self) -> None:
        self._table = ThinningTable(1 + MAX_OWNERS, MAX_HISTORY)
        self._rows: dict[str, int] = {}

    def append(self, step: int, report: MemoryReport) -> None:
        """Keep the sums of a report; owners beyond the first `MAX_OWNERS` are left out."""
        entry = [float(step)] + [0.0] * MAX_OWNERS
        for owner, total in report.by_owner().items():
            row = self._rows.setdefault(owner, 1 + len(self._rows))
            if row <= MAX_OWNERS:
                entry[row] = total.total_bytes
        self._table.append(entry)

    def curves(self) -> OwnerCurves:
        """All that was kept."""
        owners = {owner: self._table.row(row).tolist() for owner, row in self._rows.items() if row <= MAX_OWNERS}
        return OwnerCurves(self._table.row(0).tolist(), owners)


@dataclass(frozen=True, slots=True)
class ProfileResult:
    """A finished profile.

    Attributes:
        profile: All data, as written to `memory.json`.
        stats_text: Output of cProfile; empty where it did not run.
        tracker: The tracker with its samples.
        interrupted: Whether Ctrl-C ended it early; what was gathered until then is there.
        files: Reports written so far.
    """

    profile: Profile
    stats_text: str
    tracker: MemoryTracker
    interrupted: bool = False
    files: list[Path] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """Growing if the process or its Python allocations grow."""
        return self.profile.summary.verdict

    @property
    def leaks(self) -> bool:
        """Whether something grows."""
        return self.verdict is Verdict.GROWING

    def compare_with(self, baseline: ProfileFigures) -> Comparison:
        """Compare an earlier profile with this one."""
        return compare(baseline, ProfileFigures.from_dict(self.profile.to_dict()))

    def write(self, folder: Path, comparison: Comparison | None = None) -> list[Path]:
        """Write the four reports into a folder (made where needed) and return their paths."""
        folder.mkdir(parents=True, exist_ok=True)
        data = self.profile.to_dict()
        if comparison is not None:
            data["comparison"] = comparison.to_dict()
        texts = (
            format_report(self.profile, comparison),
            self.stats_text or "cProfile did not run.\n",
            json.dumps(data, indent=1),
            format_html(self.profile, comparison),
        )
        paths = [folder / name for name in REPORT_FILES]
        for path, text in zip(paths, texts, strict=True):
            write_whole(path, text.encode("utf-8"))
        self.files[:] = paths
        return paths


def profile_loop(
    step_callable: Callable[[], object],
    *,
    steps: int,
    snapshot_interval: int = 100,
    owners: Callable[[], MemoryReport] | None = None,
    with_cprofile: bool = True,
    with_tracemalloc: bool = True,
    progress: bool = True,
    out_dir: Path | None = None,
    label: str = "npp_env memory profile",
    threshold_per_1k: float = DEFAULT_THRESHOLD_BYTES_PER_1K,
    guard: MemoryGuard | None = None,
) -> ProfileResult:
    """Call `step_callable` many times, and account for the memory it takes.

    Every requested snapshot is taken, whatever it costs: this is a profile, not a training run. Only the live
    tensors, where torch is loaded, are counted in at most 33 of them, evenly spaced. Ctrl-C ends it early, in good
    order: the result says so.

    Args:
        step_callable: Does one step. `with tracker.phase(...)` inside it needs a tracker of its own.
        steps: How many steps.
        snapshot_interval: Steps between snapshots.
        owners: Names the bytes that the program holds, such as `env.unwrapped.memory_report`.
        with_cprofile: Whether to run cProfile over the steps.
        with_tracemalloc: Whether to trace Python allocations, for the allocation sites.
        progress: Whether to show a progress bar on stderr.
        out_dir: Where to write the reports; nothing is written without it.
        label: Title of the reports.
        threshold_per_1k: Growth in bytes per 1,000 steps that counts as a leak.
        guard: Ends the profile early, in good order, when memory is low.

    Raises:
        ProfilingError: `steps` or `snapshot_interval` is below 1.

    Example:
        >>> result = profile_loop(lambda: None, steps=300, snapshot_interval=10, progress=False)
        >>> result.profile.summary.steps
        300
    """
    if steps < 1 or snapshot_interval < 1:
        raise ProfilingError(f"steps and snapshot_interval must be at least 1, got {steps}, {snapshot_interval}")
    profiler = cProfile.Profile() if with_cprofile else None
    with _tracing(with_tracemalloc), _progress_bar(steps, progress) as advance:
        # The first readings import, compile and cache; what that takes is not the program's.
        _Observer(snapshot_interval, owners).observe(0, with_tensors=False)
        observer = _Observer(snapshot_interval, owners)
        first_sites = SiteLedger() if with_tracemalloc else None
        interrupted = False
        done, begin = 0, time.perf_counter()
        tensor_interval = snapshot_interval * math.ceil(steps / snapshot_interval / (MAX_TENSOR_READINGS - 1))
        # An interrupt may come during a snapshot as well, which takes longer than the steps between two of them.
        try:
            while done < steps:
                count = min(snapshot_interval, steps - done)
                observer.observe(done, with_tensors=done % tensor_interval == 0)
                if guard is not None and not guard.check():
                    break
                _run_steps(step_callable, count, profiler)
                done += count
                advance(count)
        except KeyboardInterrupt:
            interrupted = True
        observer.observe(done, with_tensors=True)
        seconds = time.perf_counter() - begin
        sites = SiteLedger().growth_since(first_sites) if first_sites is not None else []
    tracker = observer.tracker
    fits = _fit_columns(tracker, threshold_per_1k)
    profile = Profile(
        label=label,
        environment=f"npp_env {__version__}, Python {platform.python_version()}, {platform.system()}",
        tools=("tracemalloc",) * with_tracemalloc + ("cProfile",) * with_cprofile,
        summary=_summarise(tracker, fits, seconds),
        growth=fits,
        speed=tracker.speed_drift(),
        phases=tracker.phases if tracker.phases.iterations else None,
        samples=tracker.samples.to_dict(),
        tracker=TrackerCost(tracker.cost_seconds, tracker.cost_seconds / max(seconds, 1e-9)),
        allocation_sites=tuple(sites),
        owners=observer.report,
        owner_history=observer.history.curves(),
    )
    result = ProfileResult(profile, _stats_text(profiler), tracker, interrupted)
    if out_dir is not None:
        result.write(out_dir)
    return result


class _Observer:
    """Takes a snapshot: a sample of the tracker, and what the owners name."""

    def __init__(self, interval: int, owners: Callable[[], MemoryReport] | None) -> None:
        self.tracker = MemoryTracker(interval, budget_fraction=None)
        self.history = OwnerHistory()
        self.report: MemoryReport | None = None
        self._owners = owners

    def observe(self, step: int, *, with_tensors: bool) -> None:
        self.tracker.sample(step, with_tensors=with_tensors)
        if self._owners is not None:
            self.report = self._owners()
            self.history.append(step, self.report)


def _fit_columns(tracker: MemoryTracker, threshold_per_1k: float) -> dict[str, GrowthFit]:
    columns = [tracker.memory_column] + ["traced_bytes"] * tracker.samples.has("traced_bytes")
    return {name: tracker.growth(name, threshold_per_1k=threshold_per_1k) for name in columns}


def _summarise(tracker: MemoryTracker, fits: dict[str, GrowthFit], seconds: float) -> Summary:
    column = tracker.memory_column
    levels = tracker.samples.column(column)
    known = levels[np.isfinite(levels)]
    steps = tracker.samples[-1].step
    return Summary(
        verdict=worst_verdict(list(fits.values())),
        memory_column=column,
        steps=steps,
        seconds=seconds,
        steps_per_second=steps / seconds if seconds > 0 else 0.0,
        first_bytes=int(known[0]),
        final_bytes=int(known[-1]),
        slope_per_1k=fits[column].slope_per_1k,
    )


def _run_steps(step_callable: Callable[[], object], count: int, profiler: cProfile.Profile | None) -> None:
    if profiler is not None:
        profiler.enable()
    try:
        for _ in range(count):
            step_callable()
    finally:
        if profiler is not None:
            profiler.disable()


@contextmanager
def _progress_bar(steps: int, wanted: bool) -> Iterator[Callable[[int], object]]:
    """A bar on stderr; gives the function that advances it."""
    if not wanted:
        yield lambda count: None
        return
    tqdm: Any = importlib.import_module("tqdm").tqdm
    # Only a terminal gets a bar.
    with tqdm(total=steps, unit=" steps", desc="profiling", disable=None, leave=False) as bar:
        yield bar.update


@contextmanager
def _tracing(wanted: bool) -> Iterator[None]:
    """Trace Python allocations inside the block, and leave tracemalloc as it was."""
    starts = wanted and not tracemalloc.is_tracing()
    if starts:
        tracemalloc.start()
    try:
        yield
    finally:
        if starts:
            tracemalloc.stop()


def _stats_text(profiler: cProfile.Profile | None) -> str:
    if profiler is None or not profiler.getstats():
        return ""
    stream = io.StringIO()
    pstats.Stats(profiler, stream=stream).sort_stats("cumulative").print_stats(CPROFILE_ROWS)
    return stream.getvalue()
