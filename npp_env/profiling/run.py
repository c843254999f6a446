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
from npp_env.profiling.allocation_sites import AllocationSite, SiteLedger
from npp_env.profiling.compare import PROFILE_FORMAT, PROFILE_VERSION, Comparison, compare
from npp_env.profiling.errors import ProfilingError
from npp_env.profiling.growth import DEFAULT_THRESHOLD_BYTES_PER_1K, Verdict, worst_verdict
from npp_env.profiling.guard import MemoryGuard
from npp_env.profiling.report import format_report
from npp_env.profiling.report_html import format_html
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
        self._steps = np.zeros(MAX_HISTORY)
        self._bytes = np.zeros((MAX_OWNERS, MAX_HISTORY))
        self._owners: dict[str, int] = {}
        self._length = 0
        self._bytes.fill(0.0)

    def append(self, step: int, report: MemoryReport) -> None:
        """Keep the sums of a report; a full history is thinned to every second entry."""
        if self._length == MAX_HISTORY:
            kept = MAX_HISTORY // 2
            self._steps[:kept] = self._steps[::2].copy()
            self._bytes[:, :kept] = self._bytes[:, ::2].copy()
            self._bytes[:, kept:] = 0.0
            self._length = kept
        for owner, total in report.by_owner().items():
            row = self._owners.setdefault(owner, len(self._owners))
            if row < MAX_OWNERS:
                self._bytes[row, self._length] = total.total_bytes
        self._steps[self._length] = step
        self._length += 1

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        rows = {owner: row for owner, row in self._owners.items() if row < MAX_OWNERS}
        owners = {owner: self._bytes[row, : self._length].tolist() for owner, row in rows.items()}
        return {"step": self._steps[: self._length].tolist(), "owners": owners}


@dataclass(frozen=True, slots=True)
class ProfileResult:
    """A finished profile.

    Attributes:
        profile: All data, as written to `memory.json`.
        stats_text: Output of cProfile; empty where it did not run.
        tracker: The tracker with its samples.
        files: Reports written so far.
    """

    profile: dict[str, Any]
    stats_text: str
    tracker: MemoryTracker
    files: list[Path] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """Growing if the process or its Python allocations grow."""
        return Verdict(self.profile["summary"]["verdict"])

    @property
    def leaks(self) -> bool:
        """Whether something grows."""
        return self.verdict is Verdict.GROWING

    def compare_with(self, baseline: dict[str, Any]) -> Comparison:
        """Compare an earlier profile with this one."""
        return compare(baseline, self.profile)

    def write(self, folder: Path, comparison: Comparison | None = None) -> list[Path]:
        """Write the four reports into a folder (made where needed) and return their paths."""
        folder.mkdir(parents=True, exist_ok=True)
        profile = self.profile
        if comparison is not None:
            profile = {**profile, "comparison": comparison.to_dict()}
        texts = (
            format_report(profile, comparison),
            self.stats_text or "cProfile did not run.\n",
            json.dumps(profile, indent=1),
            format_html(profile, comparison),
        )
        paths = [folder / name for name in REPORT_FILES]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8")
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
    tensors, where torch is loaded, are counted in at most 33 of them, evenly spaced.

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
        >>> result.profile["summary"]["steps"]
        300
    """
    if steps < 1 or snapshot_interval < 1:
        raise ProfilingError(f"steps and snapshot_interval must be at least 1, got {steps}, {snapshot_interval}")
    history = OwnerHistory()
    profiler = cProfile.Profile() if with_cprofile else None
    sites: list[AllocationSite] = []
    with _tracing(with_tracemalloc), _progress_bar(steps, progress) as advance:
        # The first readings import, compile and cache; what that takes is not the program's.
        _observe(MemoryTracker(budget_fraction=None), 0, owners, OwnerHistory(), with_tensors=False)
        tracker = MemoryTracker(snapshot_interval, budget_fraction=None)
        first_sites = SiteLedger() if with_tracemalloc else None
        begin = time.perf_counter()
        done = 0
        tensor_interval = snapshot_interval * math.ceil(steps / snapshot_interval / (MAX_TENSOR_READINGS - 1))
        while done < steps:
            count = min(snapshot_interval, steps - done)
            _observe(tracker, done, owners, history, with_tensors=done % tensor_interval == 0)
            if guard is not None and not guard.check():
                break
            _run_steps(step_callable, count, profiler)
            done += count
            advance(count)
        report = _observe(tracker, done, owners, history, with_tensors=True)
        seconds = time.perf_counter() - begin
        if first_sites is not None:
            sites = SiteLedger().growth_since(first_sites)
    profile = _collect(tracker, threshold_per_1k, seconds)
    profile["label"] = label
    profile["tools"] = ["tracemalloc"] * with_tracemalloc + ["cProfile"] * with_cprofile
    profile["allocation_sites"] = [site.to_dict() for site in sites]
    profile["owners"] = report.to_dict() if report is not None else None
    profile["owner_history"] = history.to_dict()
    result = ProfileResult(profile, _stats_text(profiler), tracker)
    if out_dir is not None:
        result.write(out_dir)
    return result


def _collect(tracker: MemoryTracker, threshold_per_1k: float, seconds: float) -> dict[str, Any]:
    """All that the tracker knows, as plain data."""
    column = tracker.memory_column
    columns = [column] + [name for name in ("traced_bytes",) if tracker.samples.has(name)]
    fits = {name: tracker.growth(name, threshold_per_1k=threshold_per_1k) for name in columns}
    drift = tracker.speed_drift()
    levels = tracker.samples.column(column)
    known = levels[np.isfinite(levels)]
    steps = int(tracker.samples.column("step")[-1])
    phases = tracker.phases
    return {
        "format": PROFILE_FORMAT,
        "version": PROFILE_VERSION,
        "environment": f"npp_env {__version__}, Python {platform.python_version()}, {platform.system()}",
        "summary": {
            "verdict": worst_verdict(list(fits.values())).value,
            "memory_column": column,
            "steps": steps,
            "seconds": seconds,
            "steps_per_second": steps / seconds if seconds > 0 else 0.0,
            "first_bytes": int(known[0]),
            "final_bytes": int(known[-1]),
            "slope_per_1k": fits[column].to_dict()["slope_per_1k"],
        },
        "growth": {name: {**fit.to_dict(), "text": fit.to_text()} for name, fit in fits.items()},
        "speed": {
            **drift.to_dict(),
            "text": describe_drift(drift.slope_per_1k, drift.verdict, drift.samples_used),
        },
        "phases": {**phases.to_dict(), "text": phases.to_text()} if phases.iterations else None,
        "samples": tracker.samples.to_dict(),
        "tracker": {
            "cost_seconds": tracker.cost_seconds,
            "cost_fraction": tracker.cost_seconds / max(seconds, 1e-9),
        },
    }


def describe_drift(loss_per_1k: float, verdict: Verdict, samples: int) -> str:
    """One sentence on the speed."""
    word = {Verdict.FLAT: "steady", Verdict.GROWING: "slowing down", Verdict.UNDECIDED: "undecided"}[verdict]
    change = f"{-100 * loss_per_1k:+.2f} % per 1,000 steps"
    return f"{word}: {change} over {samples} samples (a loss of 10 % over the run counts)"


def _observe(
    tracker: MemoryTracker,
    step: int,
    owners: Callable[[], MemoryReport] | None,
    history: OwnerHistory,
    *,
    with_tensors: bool,
) -> MemoryReport | None:
    tracker.sample(step, with_tensors=with_tensors)
    if owners is None:
        return None
    report = owners()
    history.append(step, report)
    return report


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
    with tqdm(total=steps, unit="step", desc="profiling") as bar:
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
