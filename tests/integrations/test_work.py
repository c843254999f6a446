"""Work on many items without Ray: order, memory, failures, deaths, kills, and commands that give the same bytes."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from integrations.work_items import Squares, jobs, squares
from npp_env.cli import main
from npp_env.integrations.work import RESULT_SUFFIX, Job, WorkError, key_of, work_through
from npp_env.integrations.work_processes import Here, Processes
from npp_env.planning import solve, solve_work

POOLS = {"here": Here, "processes": lambda: Processes(2)}
TESTS = Path(__file__).parents[1]


@pytest.fixture
def notes(tmp_path):
    (tmp_path / "notes").mkdir()
    return str(tmp_path / "notes")


def results_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("pool", POOLS)
def test_results_come_in_order_and_stay_for_the_next_run(pool, notes, tmp_path):
    work = Squares(notes, failing=(3,))
    done = list(work_through(work, jobs(6), POOLS[pool](), tmp_path / "results"))
    assert [item.result for item in done] == [*squares(3), None, *squares(6)[4:]]
    assert [item.error for item in done] == ["", "", "", "3 is not wanted", "", ""]
    assert (tmp_path / "results" / f"{key_of('square', 3)}.failure").read_text() == "3 is not wanted\n"
    assert work.asked() == [0, 1, 2, 3, 4, 5]
    # A failure is tried again, and forgotten once it succeeds; nothing else is computed again.
    counted = []
    again = work_through(Squares(notes), jobs(6), POOLS[pool](), tmp_path / "results", counted.append)
    assert [item.result for item in again] == squares(6)
    assert len(counted) == 6
    assert work.asked() == [0, 1, 2, 3, 3, 4, 5]
    assert results_in(tmp_path / "results") == sorted(f"{key_of('square', n)}.result" for n in range(6))


def test_damaged_results_are_computed_again(notes, tmp_path):
    work = Squares(notes)
    list(work_through(work, jobs(3), Here(), tmp_path / "results"))
    path = tmp_path / "results" / (key_of("square", 1) + RESULT_SUFFIX)
    for damage in (path.read_bytes()[:-1], b"", path.read_bytes()[:-1] + b"7"):
        path.write_bytes(damage)
        assert [done.result for done in work_through(work, jobs(3), Here(), tmp_path / "results")] == squares(3)
    assert work.asked() == [0, 1, 1, 1, 1, 2]


def test_keys_tell_apart_whatever_matters():
    keys = {key_of("solve", "a", 1), key_of("solve", "a", 2), key_of("solve", "b", 1), key_of("other", "a", 1)}
    assert len(keys) == 4
    assert key_of("solve", "a", 1) in keys


def test_items_are_taken_as_there_is_room(notes):
    under_way, done = [], []

    def many():
        for job in jobs(50):
            under_way.append(job.argument - len(done))
            yield job

    assert len(list(work_through(Squares(notes), many(), Processes(2), on_done=done.append))) == 50
    assert max(under_way) == 1, "two processes, one item each"


def test_a_killed_worker_loses_nothing_and_a_deadly_item_is_given_up(notes):
    work = Squares(notes, deadly=((1, 1), (4, 99)))
    done = list(work_through(work, jobs(8), Processes(2)))
    assert [item.result for item in done] == [*squares(4), None, *squares(8)[5:]]
    assert "died 3 times" in done[4].error
    assert len(work.calls(1)) == 2
    assert len(work.calls(4)) == 3
    assert all(len(work.calls(n)) == 1 for n in (0, 2, 3, 5, 6, 7))
    assert len(set(work.calls(4))) == 3, "each in a process of its own"


def test_leaving_early_leaves_no_process(notes):
    run = work_through(Squares(notes, seconds=0.05), jobs(100), Processes(2))
    next(run)
    assert multiprocessing.active_children()
    run.close()
    assert multiprocessing.active_children() == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path, notes):
    (tmp_path / "file").touch()
    with pytest.raises(WorkError, match="file: results cannot be written there"):
        list(work_through(Squares(notes), jobs(1), Here(), tmp_path / "file"))
    results = tmp_path / "results"
    run = work_through(Squares(notes), [Job("a", 1), Job("b", 2)], Here(), results, lambda done: _empty(results))
    with pytest.raises(WorkError, match="the result a is gone"):
        next(run)


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


SCRIPT = """
import sys
from pathlib import Path
from integrations.work_items import Squares, jobs
from npp_env.integrations.work import work_through
from npp_env.integrations.work_processes import Processes

if __name__ == "__main__":
    work = Squares(sys.argv[1], seconds=0.05)
    list(work_through(work, jobs(40), Processes(2), Path(sys.argv[2])))
"""


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_goes_on(signal_number, notes, tmp_path):
    results = tmp_path / "results"
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    process = subprocess.Popen(
        [sys.executable, str(script), notes, str(results)], env=environment, stderr=subprocess.DEVNULL
    )
    _wait_for(lambda: results.is_dir() and len(list(results.glob("*.result"))) >= 5)
    children = psutil.Process(process.pid).children()
    process.send_signal(signal_number)
    process.wait(20)
    _wait_for(lambda: not any(child.is_running() for child in children))
    known = len(list(results.glob("*.result")))
    assert 5 <= known < 40
    assert all(path.suffix == ".result" or path.name.startswith(".npp-tmp-") for path in results.iterdir())
    before = Squares(notes).asked()
    done = list(work_through(Squares(notes), jobs(40), Here(), results))
    assert [item.result for item in done] == squares(40)
    assert len(Squares(notes).asked()) == len(before) + 40 - known


def _wait_for(condition) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


COMMANDS = {
    "solve": ["solve", "shipped:first_steps", "--shorten-ticks", "1000", "-o", "OUT"],
    "generate": ["levels", "generate", "corridors", "--difficulty", "0", "--certify", "--count", "2", "-o", "OUT"],
    "evaluate": ["evaluate", "baseline:random", "--levels", "shipped:first_steps", "--episodes", "3", "--part", "2"],
}


def run_command(name: str, out: Path, *options: str) -> None:
    out.mkdir(exist_ok=True)
    arguments = [str(out) if word == "OUT" else word for word in COMMANDS[name]]
    extra = ["--out", str(out)] if name == "evaluate" else []
    assert main([*arguments, *extra, *options]) == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_give_the_same_bytes_however_the_work_is_divided(name, tmp_path, capsys):
    run_command(name, tmp_path / "here")
    told = capsys.readouterr().out
    run_command(name, tmp_path / "processes", "--jobs", "2", "--results", str(tmp_path / "results"))
    also = capsys.readouterr().out
    assert files_of(tmp_path / "here") == files_of(tmp_path / "processes") != {}
    assert len(list((tmp_path / "results").glob("*.result"))) >= 2
    if name == "evaluate":
        assert told == also
    # What is known is not computed again.
    results = files_of(tmp_path / "results")
    run_command(name, tmp_path / "processes", "-f", "--results", str(tmp_path / "results"))
    assert files_of(tmp_path / "here") == files_of(tmp_path / "processes")
    assert files_of(tmp_path / "results") == results


def test_an_evaluation_in_one_part_is_the_whole_one(tmp_path, capsys):
    arguments = ["evaluate", "baseline:random", "--levels", "shipped:first_steps", "--episodes", "2", "--json"]
    assert main(arguments) == 0
    whole = capsys.readouterr().out
    assert main([*arguments, "--part", "6"]) == 0
    assert capsys.readouterr().out == whole
    assert main([*arguments, "--part", "4"]) == 0
    parts = json.loads(capsys.readouterr().out)
    assert parts["settings"]["levels_per_part"] == 4
    # The first part has the seed of the whole; the second has its own, not that of the first again.
    whole_levels, levels = json.loads(whole)["levels"], parts["levels"]
    assert [level["name"] for level in levels] == [level["name"] for level in whole_levels]
    assert main([*arguments[:3], "shipped:first_steps/walk", *arguments[4:]]) == 0
    alone = json.loads(capsys.readouterr().out)["levels"][0]
    assert alone["name"] == levels[4]["name"]
    assert alone["measured"] != levels[4]["measured"]


def test_a_policy_that_leaves_nothing_to_chance_plays_the_same_in_parts(capsys, monkeypatch):
    arguments = ["evaluate", "work_policy:run_right", "--levels", "shipped:first_steps", "--json"]
    monkeypatch.syspath_prepend(Path(__file__).parent)
    assert main(arguments) == 0
    whole = json.loads(capsys.readouterr().out)
    assert main([*arguments, "--part", "4", "--jobs", "2"]) == 0
    parts = json.loads(capsys.readouterr().out)
    assert parts["levels"] == whole["levels"]
    assert parts["total"] == whole["total"]


def test_a_failed_level_does_not_end_the_others(capsys, monkeypatch):
    names = ["shipped:first_steps/walk", "shipped:first_steps/jump"]
    monkeypatch.setattr(solve_work, "solve", _fails_at_walk)
    assert main(["solve", *names, "--shorten-ticks", "0", "--json"]) == 1
    out, err = capsys.readouterr()
    failed, solved = json.loads(out)
    assert failed == {"level": "first_steps/walk", "status": "failed", "error": "RuntimeError: no memory left"}
    assert (solved["level"], solved["status"]) == ("first_steps/jump", "solved")
    assert "first_steps/walk: RuntimeError: no memory left" in err
    monkeypatch.syspath_prepend(Path(__file__).parent)
    assert main(["evaluate", "work_policy:broken", "--levels", *names, "--part", "1"]) == 2
    err = capsys.readouterr().err
    assert "levels from first_steps/jump on: " in err
    assert "2 of 2 parts failed" in err


def _fails_at_walk(level, **options):
    if level.metadata["group"] == "first_steps" and "walk" in level.name.lower():
        raise RuntimeError("no memory left")
    return solve(level, **options)


def test_options_that_cannot_be_meant(tmp_path, capsys):
    assert main(["levels", "generate", "towers", "--jobs", "2", "-o", str(tmp_path)]) == 2
    assert "--certify" in capsys.readouterr().err
    (tmp_path / "a.npprec").touch()
    assert main(["solve", "shipped:first_steps", "-o", str(tmp_path)]) == 2
    assert "-f overwrites" in capsys.readouterr().err
