"""Work on a real Ray cluster: the same bytes as without it, dead workers and nodes, killed drivers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from integrations.test_work import COMMANDS, TESTS, files_of, run_command
from integrations.work_items import Squares, jobs, squares
from npp_env.cli import main
from npp_env.integrations.work import Done, WorkError, work_through
from npp_env.integrations.work_processes import Here

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.timeout(300)

from ray.cluster_utils import Cluster  # noqa: E402

from npp_env.integrations import ray_work  # noqa: E402
from npp_env.integrations.ray_work import RayPool, connected  # noqa: E402

STORE = 80 << 20


@pytest.fixture(scope="module", autouse=True)
def modules_of_tests():
    """Workers of Ray find the functions of this folder as processes of any cluster find theirs: on their path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(TESTS))
        yield


@pytest.fixture(scope="module")
def cluster(modules_of_tests):
    ray.init("local", num_cpus=2, include_dashboard=False, logging_level="ERROR", object_store_memory=STORE)
    yield
    ray.shutdown()


@pytest.fixture
def notes(tmp_path):
    (tmp_path / "notes").mkdir()
    return str(tmp_path / "notes")


def test_results_come_in_order_and_failures_are_kept(cluster, notes, tmp_path):
    work = Squares(notes, failing=(3,))
    done = list(work_through(work, jobs(20), RayPool(), tmp_path / "results"))
    assert [item.result for item in done] == [*squares(3), None, *squares(20)[4:]]
    assert done[3].error == "3 is not wanted"
    assert len(work.asked()) == 20
    assert str(os.getpid()) not in work.calls(0)
    again = list(work_through(Squares(notes), jobs(20), RayPool(), tmp_path / "results"))
    assert [item.result for item in again] == squares(20)
    assert len(work.asked()) == 21


def test_few_items_are_under_way(cluster, notes):
    under_way, done = [], []

    def many():
        for job in jobs(40):
            under_way.append(job.argument + 1 - len(done))
            yield job

    assert len(list(work_through(Squares(notes), many(), RayPool(), on_done=done.append))) == 40
    assert max(under_way) == 4, "twice as many as processors"


def test_what_the_function_carries_is_sent_once(cluster, notes):
    work = Carrying(notes, os.urandom(1 << 20))
    assert len({done.result for done in work_through(work, jobs(30), RayPool())}) <= 2, "opened once a process"


class Carrying(Squares):
    """Has a megabyte with it, and tells where it lies in the memory of which process."""

    def __init__(self, notes: str, data: bytes) -> None:
        super().__init__(notes)
        object.__setattr__(self, "data", data)

    def __call__(self, number: int) -> bytes:
        return f"{os.getpid()} {id(self)} {len(self.data)}".encode()


def test_killed_workers_lose_nothing_and_a_deadly_item_is_given_up(cluster, notes):
    work = Squares(notes, deadly=((1, 2), (6, 99)))
    done = list(work_through(work, jobs(8), RayPool()))
    assert [item.result for item in done] == [*squares(6), None, squares(8)[7]]
    assert "died 3 times" in done[6].error
    assert len(work.calls(1)) == len(set(work.calls(1))) == 3
    assert len(work.calls(6)) == 3


def test_a_worker_that_is_killed_from_outside(cluster, notes):
    work = Squares(notes, seconds=0.5)
    run = work_through(work, jobs(8), RayPool())
    first = next(run)
    known = set(work.asked())
    _wait_for(lambda: set(work.asked()) > known)
    (number,) = {*work.asked()} - known
    os.kill(int(work.calls(number)[0]), signal.SIGKILL)
    assert [first.result, *(done.result for done in run)] == squares(8)
    assert len(work.calls(number)) == 2


def test_another_version_on_a_node_is_refused(cluster, notes, monkeypatch):
    monkeypatch.setattr(ray_work, "code_digest", lambda: "another")
    (done,) = work_through(Squares(notes), jobs(1), RayPool())
    assert done == Done(None, "another version of npp_env is installed on this node; install the same one on all nodes")


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_give_the_same_bytes(name, cluster, tmp_path):
    run_command(name, tmp_path / "here")
    run_command(name, tmp_path / "ray", "--ray", "auto", "--results", str(tmp_path / "results"))
    assert files_of(tmp_path / "here") == files_of(tmp_path / "ray") != {}
    assert len(list((tmp_path / "results").glob("*.result"))) >= 2


def test_models_travel_to_the_workers(cluster, tmp_path, capsys):
    pytest.importorskip("torch")
    arguments = ["evaluate", "baseline:first_steps", "--levels", "shipped:first_steps", "--part", "3", "--json"]
    assert main(arguments) == 0
    here = capsys.readouterr().out
    assert main([*arguments, "--ray", "auto"]) == 0
    assert capsys.readouterr().out == here


def test_demonstrations_are_the_same_bytes(cluster, tmp_path):
    pytest.importorskip("minari")
    arguments = ["demos", "make", "shipped:first_steps", "--perturbed", "1", "--ticks", "20000", "--no-progress"]
    for place, options in (("here", []), ("ray", ["--ray", "auto"])):
        (tmp_path / place).mkdir()
        assert main([*arguments, "-o", str(tmp_path / place / "demos"), *options]) == 0
    here, there = (
        sorted(path for path in (tmp_path / place).rglob("*") if path.is_file()) for place in ("here", "ray")
    )
    assert [path.relative_to(tmp_path / "here") for path in here] == [
        path.relative_to(tmp_path / "ray") for path in there
    ]
    assert [path.read_bytes() for path in here] == [path.read_bytes() for path in there]


def test_a_model_file_is_needed_here_alone(notes, tmp_path):
    """Policies are loaded from what they carry along, not from where they were."""
    from argparse import Namespace

    from npp_env.cli.evaluate_parts import CarriedPolicy
    from npp_env.learning.model_file import shipped_models

    pytest.importorskip("torch")
    source = tmp_path / "mine.nppmodel"
    source.write_bytes(shipped_models()["first_steps"].read_bytes())
    carried = CarriedPolicy.of(Namespace(policy=str(source), config=None, sample=True))
    source.unlink()
    assert carried.load().deterministic is False


def test_a_node_that_dies_is_replaced_by_the_others(notes):
    ray.shutdown()
    soon = {"health_check_period_ms": 500, "health_check_timeout_ms": 500, "health_check_failure_threshold": 2}
    head = {"num_cpus": 1, "object_store_memory": STORE, "include_dashboard": False, "_system_config": soon}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        # While there is no other node, the driver joins the head.
        ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
        node = cluster.add_node(num_cpus=2, object_store_memory=STORE)
        cluster.wait_for_nodes()
        work = Squares(notes, seconds=0.3)
        run = work_through(work, jobs(16), RayPool())
        results = [next(run).result for _ in range(3)]
        cluster.remove_node(node, allow_graceful=False)
        assert results + [done.result for done in run] == squares(16)
        assert len(work.asked()) >= 16
    finally:
        ray.shutdown()
        cluster.shutdown()


SCRIPT = """
import sys
from pathlib import Path
from integrations.work_items import Squares, jobs
from npp_env.integrations.ray_work import RayPool, connected
from npp_env.integrations.work import work_through

with connected("local", 2):
    list(work_through(Squares(sys.argv[1], seconds=0.1), jobs(60), RayPool(), Path(sys.argv[2])))
"""


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_driver_goes_on_where_it_was(signal_number, notes, tmp_path):
    results, script = tmp_path / "results", tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), notes, str(results)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _wait_for(lambda: results.is_dir() and len(list(results.glob("*.result"))) >= 5)
    # The agents of Ray itself take a minute to notice; older versions have them as scripts.
    children = psutil.Process(process.pid).children(recursive=True)
    family = [
        child for child in children if not re.search(r"::\w*Agent|\bagent(\.py|/main\.py)", " ".join(child.cmdline()))
    ]
    assert len(family) >= 4
    process.send_signal(signal_number)
    process.wait(60)
    _wait_for(lambda: all(not child.is_running() or child.status() == psutil.STATUS_ZOMBIE for child in family))
    known = len(list(results.glob("*.result")))
    assert 5 <= known < 60
    assert all(path.suffix == ".result" or path.name.startswith(".npp-tmp-") for path in Path(results).iterdir())
    before = len(Squares(notes).asked())
    assert [done.result for done in work_through(Squares(notes), jobs(60), Here(), results)] == squares(60)
    assert len(Squares(notes).asked()) == before + 60 - known


def test_no_cluster_is_told():
    ray.shutdown()
    with (
        pytest.raises(WorkError, match=r"no Ray cluster at 127\.0\.0\.1:1: .*`ray start --head`"),
        connected("127.0.0.1:1"),
    ):
        pass


def _wait_for(condition) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
