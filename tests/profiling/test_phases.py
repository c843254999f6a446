from __future__ import annotations

import pytest

from npp_env.profiling import MemoryTracker, PhaseLedger, ProfilingError, Verdict
from npp_env.profiling.phases import cancel_transfers


class Level:
    def __init__(self):
        self.bytes = 10_000_000

    def __call__(self):
        return self.bytes


def run(changes, iterations=60, explicit=False):
    """Iterations of phases that change the level by so many bytes."""
    level = Level()
    ledger = PhaseLedger(level)
    for _ in range(iterations):
        if explicit:
            ledger.begin_iteration()
        for name, change in changes:
            ledger.begin(name)
            level.bytes += change
            ledger.end()
    return ledger.report()


@pytest.mark.parametrize("explicit", [False, True])
@pytest.mark.parametrize("culprit", ["collect", "sample", "update"])
def test_the_leaking_phase_is_charged(culprit, explicit):
    report = run([(name, 8192 * (name == culprit)) for name in ("collect", "sample", "update")], explicit=explicit)
    assert report.culprit == culprit
    assert report.phases[0].charged_bytes == pytest.approx(8192, rel=0.05)
    assert report.phases[0].share == pytest.approx(1.0)
    assert not report.ambiguous


def test_memory_that_moves_between_phases_is_not_growth():
    report = run([("collect", 5_000_000), ("update", -5_000_000)])
    assert report.baseline.verdict is Verdict.FLAT
    assert report.culprit is None


def test_a_leak_beside_a_transfer_is_charged_to_its_phase_but_called_ambiguous():
    report = run([("collect", 5_000_000), ("sample", 8192), ("update", -5_000_000)])
    assert report.culprit == "sample"
    assert report.ambiguous
    assert "perhaps another" in report.to_text()


def test_growth_outside_the_phases_is_charged_to_the_gap():
    level = Level()
    ledger = PhaseLedger(level)
    for _ in range(60):
        ledger.begin("collect")
        ledger.end()
        level.bytes += 8192
    assert ledger.report().culprit == "(between phases)"


def test_a_warm_up_is_not_charged():
    level = Level()
    ledger = PhaseLedger(level)
    for iteration in range(100):
        ledger.begin("collect")
        level.bytes += 1_000_000 * (iteration < 10)
        ledger.end()
    report = ledger.report()
    assert report.baseline.verdict is Verdict.FLAT
    assert report.phases[0].net_bytes == 0


def test_the_ledger_stays_small_over_many_iterations():
    report = run([("collect", 4096)], iterations=10_000)
    assert report.iterations == 9_999
    assert report.culprit == "collect"
    assert report.baseline.slope_per_1k == pytest.approx(4096 * 1000, rel=0.01)


def test_phases_do_not_nest_and_must_be_open():
    tracker = MemoryTracker()
    with tracker.phase("outer"), pytest.raises(ProfilingError, match="'inner' begins inside phase 'outer'"):
        tracker.phase("inner").__enter__()
    with pytest.raises(ProfilingError, match="no phase is open"):
        PhaseLedger().end()


def test_no_iterations_make_an_empty_report():
    report = MemoryTracker().phases
    assert report.iterations == 0
    assert report.phases == ()
    assert report.to_dict()["culprit"] is None


def test_frees_cancel_the_largest_allocations_first():
    assert cancel_transfers({"a": 10.0, "b": 4.0, "c": -12.0}) == {"a": 0.0, "b": 2.0, "c": 0.0}
    assert cancel_transfers({"a": 1.0, "b": -5.0}) == {"a": 0.0, "b": 0.0}
