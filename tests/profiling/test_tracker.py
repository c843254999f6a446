from __future__ import annotations

import itertools
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from npp_env.profiling import MemoryTracker, ProfilingError, Sample, SampleLog
from npp_env.profiling.process_memory import (
    PageMemory,
    parse_smaps_rollup,
    read_heap_bytes,
    read_page_memory,
    read_rss_bytes,
)


def test_readings_see_a_large_array():
    before, heap_before = read_page_memory(), read_heap_bytes()
    block = np.ones(8_000_000)  # more than malloc ever takes from its heap, which may have room already
    after = read_page_memory()
    for name in ("rss_bytes", "uss_bytes", "pss_bytes", "dirty_bytes"):
        assert getattr(after, name) - getattr(before, name) > 0.9 * block.nbytes
    assert abs(read_rss_bytes() - after.rss_bytes) < 2_000_000
    if heap_before is not None:
        assert read_heap_bytes() - heap_before >= block.nbytes


def test_rollup_counts_huge_private_pages_too():
    text = b"0-1 [rollup]\nRss: 10 kB\nPss: 7 kB\nPrivate_Dirty: 2 kB\nPrivate_Hugetlb: 4 kB\n"
    assert parse_smaps_rollup(text) == PageMemory(10 * 1024, 6 * 1024, 7 * 1024, 2 * 1024)


def test_samples_are_taken_at_the_interval():
    tracker = MemoryTracker(interval=50, budget_fraction=None)
    for step in range(501):
        tracker.on_step(step)
    assert tracker.samples.column("step").tolist() == list(range(0, 501, 50))
    assert np.isfinite(tracker.samples.column("uss_bytes")).all()
    assert tracker.cost_seconds > 0


def test_steps_that_jump_over_the_interval_are_sampled_once():
    tracker = MemoryTracker(interval=100, budget_fraction=None)
    for step in range(0, 1000, 64):
        tracker.on_step(step)
    assert tracker.samples.column("step").tolist() == [0, 128, 256, 320, 448, 512, 640, 704, 832, 960]


class SlowReadings:
    """A clock that advances by a fixed cost with every look."""

    def __init__(self, tick):
        self.now = 0.0
        self.tick = tick

    def __call__(self):
        self.now += self.tick
        return self.now


@pytest.mark.parametrize("step_seconds", [1e-5, 1e-4, 1e-3])
def test_the_budget_stretches_the_interval(step_seconds, monkeypatch):
    # Time stands still for the walk over tensors, so nothing would keep it from being taken each time.
    monkeypatch.setattr("npp_env.profiling.tracker.torch_is_loaded", lambda: False)
    clock = SlowReadings(tick=1e-4)
    tracker = MemoryTracker(interval=10, clock=clock, budget_fraction=0.015)
    started = clock.now
    for step in range(20_000):
        clock.now += step_seconds
        tracker.on_step(step)
    assert tracker.skipped_readings > 0
    assert tracker.cost_seconds / (clock.now - started) < 0.02
    assert tracker.samples.has("uss_bytes")


def test_traced_bytes_are_read_only_while_tracing():
    tracker = MemoryTracker(budget_fraction=None)
    assert tracker.sample(0).traced_bytes is None
    tracemalloc.start()
    try:
        sample = tracker.sample(1)
    finally:
        tracemalloc.stop()
    assert sample.traced_bytes is not None
    assert sample.tracer_bytes > 0


def test_the_log_never_grows():
    log = SampleLog(capacity=16)
    size = log.nbytes
    for step in range(1000):
        log.append(Sample(step=step, seconds=float(step), rss_bytes=1000 + step))
    steps = log.column("step")
    assert log.nbytes == size
    assert 8 <= len(log) <= 16
    assert steps[0] == 0
    assert steps[-1] == 999
    assert np.array_equal(log.column("rss_bytes"), 1000 + steps)


def test_samples_come_back_as_they_went_in():
    log = SampleLog(16)
    sample = Sample(step=3, seconds=0.5, steps_per_second=7.5, rss_bytes=10, uss_bytes=9, python_blocks=4)
    log.append(sample)
    assert log[0] == sample
    assert log[-1].pss_bytes is None
    assert list(log) == [sample]
    with pytest.raises(IndexError):
        log[1]


def test_steps_may_not_go_back():
    log = SampleLog(16)
    log.append(Sample(step=5, seconds=0.0))
    with pytest.raises(ProfilingError, match="4 after 5"):
        log.append(Sample(step=4, seconds=0.0))


@pytest.mark.parametrize("arguments", [{"interval": 0}, {"budget_fraction": 0.0}, {"capacity": 3}])
def test_senseless_arguments_are_refused(arguments):
    with pytest.raises(ProfilingError):
        MemoryTracker(**arguments)


def test_unknown_columns_are_named():
    with pytest.raises(ProfilingError, match="uss_bytes"):
        MemoryTracker().growth("nonsense")


def test_speed_leaves_the_tracker_itself_out():
    ticks = itertools.count()
    tracker = MemoryTracker(interval=1, budget_fraction=None, clock=lambda: float(next(ticks)))
    for step in range(4):
        tracker.sample(step)
    assert np.all(tracker.samples.column("steps_per_second")[1:] == 1.0)


def test_profiling_imports_nothing_heavy():
    heavy = (
        "torch",
        "matplotlib",
        "tensorboard",
        "stable_baselines3",
        "pygame",
        "cv2",
        "networkx",
        "psutil",
        "tqdm",
    )
    script = f"import sys, npp_env.profiling; print([name for name in {heavy!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
