from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest

from npp_env.profiling import (
    Holding,
    MemoryGuard,
    MemoryReport,
    ProfilingError,
    Verdict,
    load_profile,
    profile_loop,
)
from npp_env.profiling.charts import nice_ticks, stacked_chart
from npp_env.profiling.run import MAX_HISTORY, REPORT_FILES, OwnerHistory


class Program:
    """Something to profile, that may leak and names what it holds."""

    def __init__(self, leak_bytes=0):
        self.buffer = np.zeros(5000)
        self.kept = []
        self.leak_bytes = leak_bytes

    def step(self):
        self.buffer += 1
        if self.leak_bytes:
            self.kept.append(bytearray(self.leak_bytes))

    def owners(self):
        return MemoryReport(
            [
                Holding("buffers", "buffer", self.buffer.nbytes),
                Holding("kept", "list", len(self.kept) * self.leak_bytes),
                Holding("levels", "tiles", 4400, shared=True),
            ]
        )


def profile(program, **options):
    settings = {"steps": 2000, "snapshot_interval": 20, "progress": False, "owners": program.owners}
    return profile_loop(program.step, **{**settings, **options})


def test_a_leaking_program_is_found_with_its_line(tmp_path):
    result = profile(Program(leak_bytes=200), out_dir=tmp_path)
    assert result.verdict is Verdict.GROWING
    assert result.leaks
    traced = result.profile.growth["traced_bytes"]
    assert traced.slope_per_1k == pytest.approx(1000 * (200 + 65), rel=0.15)
    assert "test_run.py" in result.profile.allocation_sites[0].site
    assert result.profile.owners.by_owner()["kept"].private_bytes == 400_000


def test_a_steady_program_is_not_called_growing():
    result = profile(Program())
    assert result.profile.growth["traced_bytes"].verdict is Verdict.FLAT
    assert not result.leaks


def test_all_reports_are_written(tmp_path):
    result = profile(Program(leak_bytes=100), out_dir=tmp_path / "new", label="a <b> & 'c'")
    assert [path.name for path in result.files] == list(REPORT_FILES)
    text = (tmp_path / "new" / "memory_profiling_report.txt").read_text()
    for title in (
        "Summary",
        "Growth table",
        "Leak verdict",
        "Top allocation sites",
        "Bytes by owner",
        "threshold",
    ):
        assert title in text
    assert "test_run.py" in (tmp_path / "new" / "profiling_stats.txt").read_text()
    assert json.loads((tmp_path / "new" / "memory.json").read_text()) == json.loads(
        json.dumps(result.profile.to_dict())
    )
    baseline = load_profile(tmp_path / "new" / "memory.json")
    assert baseline.owners == {"kept": 200_000, "buffers": 40_000, "levels": 4400}
    assert all(owner.change_bytes == 0 for owner in result.compare_with(baseline).owners)
    assert all(measure.before == measure.after for measure in result.compare_with(baseline).measures)
    page = (tmp_path / "new" / "report.html").read_text()
    assert "a &lt;b&gt; &amp; &#x27;c&#x27;" in page
    assert page.count("<svg") >= 3
    assert "http" not in page.replace("http://www.w3.org", "")


def test_only_what_is_asked_for_runs():
    result = profile(Program(), with_cprofile=False, with_tracemalloc=False, owners=None)
    assert result.stats_text == ""
    assert "traced_bytes" not in result.profile.samples
    assert result.profile.owners is None
    assert result.profile.tools == ()


def test_tracemalloc_is_left_as_it_was():
    assert not tracemalloc.is_tracing()
    profile(Program(), steps=20)
    assert not tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        profile(Program(), steps=20)
        assert tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()


def test_every_step_is_made_once():
    calls = []
    result = profile_loop(lambda: calls.append(1), steps=105, snapshot_interval=20, progress=False)
    assert len(calls) == 105
    assert result.profile.samples["step"] == [0, 20, 40, 60, 80, 100, 105]


def test_a_guard_ends_the_run_early():
    guard = MemoryGuard(min_free_fraction=0.999999, on_low="stop", check_seconds=0.0)
    result = profile(Program(), guard=guard)
    assert guard.stopped
    assert result.profile.summary.steps == 0


@pytest.mark.parametrize("options", [{"steps": 0}, {"snapshot_interval": 0}])
def test_senseless_arguments_are_refused(options):
    with pytest.raises(ProfilingError, match="at least 1"):
        profile(Program(), **options)


def test_profiles_are_compared_by_owner(tmp_path):
    profile(Program(leak_bytes=100), out_dir=tmp_path)
    after = profile(Program())
    comparison = after.compare_with(load_profile(tmp_path / "memory.json"))
    assert (comparison.owners[0].owner, comparison.owners[0].change_bytes) == ("kept", -200_000)
    assert "kept" in comparison.to_text()
    after.write(tmp_path, comparison)
    assert "Before against after" in (tmp_path / "report.html").read_text()
    assert json.loads((tmp_path / "memory.json").read_text())["comparison"]["owners"][0]["owner"] == "kept"


def test_foreign_files_are_not_compared(tmp_path):
    path = tmp_path / "memory.json"
    for text in ("{", '{"format": 3}', "[]"):
        path.write_text(text)
        with pytest.raises(ProfilingError, match="not"):
            load_profile(path)
    path.write_text('{"format": "npp_env.memory_profile", "version": 99}')
    with pytest.raises(ProfilingError, match="99"):
        load_profile(path)


def test_the_owner_history_stays_small():
    history = OwnerHistory()
    for step in range(10 * MAX_HISTORY):
        history.append(step, MemoryReport([Holding("a", "x", step), Holding(f"b{step % 50}", "y", 1)]))
    curves = history.curves()
    assert len(curves.step) <= MAX_HISTORY
    assert curves.owners["a"] == curves.step


def test_reports_add_up():
    report = Program(leak_bytes=1).owners() + MemoryReport([Holding("buffers", "other", 5, shared=True)])
    assert report.total_bytes == report.private_bytes + report.shared_bytes == 40_000 + 4400 + 5
    assert next(iter(report.by_owner())) == "buffers"
    assert report.by_owner()["buffers"].shared_bytes == 5
    assert "other" in report.to_text()
    json.dumps(report.to_dict())


def test_charts_survive_odd_data():
    assert nice_ticks(3.0, 3.0) == [3.0]
    assert len(nice_ticks(0, 0.003)) > 2
    assert "svg" in stacked_chart([7], [("only", [1.0])], unit="MB")
    assert "no owner" in stacked_chart([], [], unit="MB")
