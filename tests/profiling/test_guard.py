from __future__ import annotations

import pytest

from npp_env.profiling import GuardAction, LowMemoryError, MemoryGuard, ProfilingError
from npp_env.profiling.cgroups import read_headroom

MB = 2**20


class Machine:
    """File roots of a machine whose memory a test can change."""

    def __init__(self, folder):
        self.proc, self.cgroup = folder / "proc", folder / "cgroup"
        (self.proc / "self").mkdir(parents=True)
        self.cgroup.mkdir()
        self.memory(free=800, total=1000)
        self.groups("0::/\n")

    def memory(self, free, total=1000):
        text = f"MemTotal: {total * 1024} kB\nMemFree: 1 kB\nMemAvailable: {free * 1024} kB\n"
        (self.proc / "meminfo").write_text(text)

    def groups(self, text):
        (self.proc / "self" / "cgroup").write_text(text)

    def v2(self, path, limit, usage, inactive=0):
        folder = self.cgroup / path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "memory.max").write_text("max\n" if limit is None else f"{limit * MB}\n")
        (folder / "memory.current").write_text(f"{usage * MB}\n")
        (folder / "memory.stat").write_text(f"anon 5\ninactive_file {inactive * MB}\n")

    def v1(self, path, limit_bytes, usage, inactive=0):
        folder = self.cgroup / "memory" / path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "memory.limit_in_bytes").write_text(f"{limit_bytes}\n")
        (folder / "memory.usage_in_bytes").write_text(f"{usage * MB}\n")
        (folder / "memory.stat").write_text(f"total_inactive_file {inactive * MB}\n")

    def headroom(self):
        return read_headroom(self.proc, self.cgroup)

    def guard(self, **options):
        options.setdefault("sleep", lambda seconds: None)
        return MemoryGuard(proc_root=self.proc, cgroup_root=self.cgroup, check_seconds=0.0, **options)


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_without_a_limit_the_machine_counts(machine):
    headroom = machine.headroom()
    assert headroom.source == "machine"
    assert headroom.free_fraction == pytest.approx(0.8)


def test_the_cgroup_v2_limit_counts_and_droppable_cache_is_free(machine):
    machine.groups("0::/box\n")
    machine.v2("box", limit=100, usage=90, inactive=15)
    headroom = machine.headroom()
    assert headroom.free_bytes == 25 * MB
    assert headroom.source.endswith("box")


def test_the_tightest_parent_counts(machine):
    machine.groups("0::/outer/inner\n")
    machine.v2("outer", limit=200, usage=190)
    machine.v2("outer/inner", limit=None, usage=10)
    assert machine.headroom().free_fraction == pytest.approx(0.05)


def test_cgroup_v1_and_its_way_of_writing_no_limit(machine):
    machine.groups("5:cpu,cpuacct:/x\n4:memory:/box\n0::/\n")
    machine.v1("", 0x7FFFFFFFFFFFF000, 500)
    machine.v1("box", 0x7FFFFFFFFFFFF000, 10)
    assert machine.headroom().source == "machine"
    machine.v1("box", 100 * MB, 97)
    assert machine.headroom().free_bytes == 3 * MB


def test_a_host_path_inside_a_container_falls_back_to_its_root(machine):
    machine.groups("0::/../../system.slice/docker-1.scope\n")
    machine.v2("", limit=100, usage=99)
    assert machine.headroom().free_bytes == 1 * MB


def test_plenty_of_memory_lets_the_loop_run(machine):
    guard = machine.guard()
    assert list(guard.watch(range(5))) == [0, 1, 2, 3, 4]
    assert not guard.stopped
    assert guard.low_count == 0


def test_stop_saves_once_and_stays_stopped(machine):
    saved = []
    guard = machine.guard(on_low="stop", save_state=lambda: saved.append(1))
    seen = []
    for item in guard.watch(range(100)):
        seen.append(item)
        if item == 3:
            machine.memory(free=50)
    assert seen == [0, 1, 2, 3]
    assert guard.stopped
    machine.memory(free=900)
    assert not guard.check()
    assert saved == [1]


def test_a_pause_ends_when_memory_comes_back(machine):
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        if len(waits) == 3:
            machine.memory(free=500)

    machine.memory(free=50)
    guard = machine.guard(pause_seconds=30, sleep=sleep)
    assert guard.check()
    assert len(waits) == 3
    assert guard.paused_seconds == pytest.approx(sum(waits))


def test_a_pause_without_relief_stops(machine):
    machine.memory(free=50)
    waits, saved = [], []
    guard = machine.guard(pause_seconds=1.2, sleep=waits.append, save_state=lambda: saved.append(1))
    assert not guard.check()
    assert sum(waits) == pytest.approx(1.2)
    assert saved == [1]


@pytest.mark.parametrize(
    ("answer", "goes_on"),
    [
        (None, True),
        ("continue", True),
        (GuardAction.CONTINUE, True),
        ("stop", False),
        (GuardAction.STOP, False),
    ],
)
def test_a_callback_decides(machine, answer, goes_on):
    machine.memory(free=50)
    seen = []

    def on_low(headroom):
        seen.append(headroom.free_fraction)
        return answer

    assert machine.guard(on_low=on_low).check() is goes_on
    assert seen == [pytest.approx(0.05)]


def test_a_wrong_answer_is_named(machine):
    machine.memory(free=50)
    with pytest.raises(ProfilingError, match="'maybe'"):
        machine.guard(on_low=lambda headroom: "maybe").check()


def test_require_raises_with_the_numbers(machine):
    machine.memory(free=50)
    with pytest.raises(LowMemoryError, match="50 MB of 1,000 MB free"):
        machine.guard(on_low="stop").require()


def test_memory_is_read_only_as_often_as_asked(machine):
    now = [0.0]
    guard = MemoryGuard(
        on_low="stop",
        check_seconds=1.0,
        proc_root=machine.proc,
        cgroup_root=machine.cgroup,
        clock=lambda: now[0],
    )
    assert guard.check()
    machine.memory(free=10)
    assert guard.check()
    now[0] = 1.5
    assert not guard.check()


@pytest.mark.parametrize("arguments", [{"min_free_fraction": 0.0}, {"pause_seconds": -1.0}, {"on_low": "panic"}])
def test_senseless_arguments_are_refused(arguments):
    with pytest.raises(ProfilingError):
        MemoryGuard(**arguments)


def test_the_real_machine_can_be_read():
    headroom = read_headroom()
    assert 0 < headroom.free_bytes <= headroom.limit_bytes
