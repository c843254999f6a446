"""How commands behave: clear errors before any work, bars for people only, nothing half-written, 80 columns."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import resource
import select
import struct
import subprocess
import sys
import termios

import pytest

from npp_env.cli import COMMANDS, main
from npp_env.cli.printing import format_table
from npp_env.level.files import save_level
from npp_env.level.shipped import load_shipped

WALK = "first_steps/walk"


def run(capsys, *arguments, code=0):
    assert main([str(argument) for argument in arguments]) == code
    captured = capsys.readouterr()
    return captured.out, captured.err


def command(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "npp_env", *arguments], text=True, timeout=120, **options)


@pytest.mark.parametrize("name", ["solve", "profile", "demo", "soak"])
def test_a_negative_seed_is_refused(capsys, name):
    _, err = run(capsys, name, *([WALK] if name == "solve" else []), "--seed", "-1", code=2)
    assert "'-1' is not a whole number from 0" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo", "--num-envs", "100000000", "--steps", "1"], "num_envs is 100000000; it must be"),
        (["levels", "sheet", "-o", "x.png", "--width", "100000"], "from 44 to 4096"),
        (["levels", "show", "wlak"], "similar names are: first_steps/walk"),
        (["replay", "ring"], "similar names are: mines/ring"),
        (["replay", "level.txt"], "this is a level, not a recording"),
        (["solve", WALK, "-o", "run.txt"], "the suffix is '.txt'; use .npprec"),
        (["replay", WALK, "-o", "run.avi"], "the suffix is '.avi'; use .gif or .mp4"),
        (["replay", WALK, "--trace", "run.txt"], "the suffix is '.txt'; use .npz"),
        (["levels", "sheet", "generated:caverns", "-o", "x.png"], "has no end; give it one with seeds="),
    ],
)
def test_a_mistake_is_named_and_costs_exit_code_two(capsys, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    save_level(load_shipped(WALK), tmp_path / "level.txt")
    _, err = run(capsys, *arguments, code=2)
    assert message in err
    assert [path.name for path in tmp_path.iterdir()] == ["level.txt"]


@pytest.mark.parametrize("name", ["levels show", "solve", "replay"])
def test_commands_take_shipped_names_with_their_scheme(capsys, name):
    quick = ["--no-progress", "--shorten-ticks", "0"] if name == "solve" else []
    run(capsys, *name.split(), f"shipped:{WALK}", *quick)


def test_a_sheet_of_generated_levels(capsys, tmp_path):
    out = run(capsys, "levels", "sheet", "generated:caverns?seeds=3-5", "-o", tmp_path / "x.png", "--json")[0]
    assert json.loads(out)["levels"] == 3


@pytest.mark.parametrize("arguments", [["levels", "list"], ["--help"], ["levels", "list", "--json"]])
def test_a_closed_stdout_is_an_error(arguments):
    line = " ".join([sys.executable, "-m", "npp_env", *arguments, ">&-"])
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "npp-env: stdout is closed, there is nowhere to print to\n")


@pytest.mark.parametrize("arguments", [["levels", "list"], ["--help"], ["play", "--help"]])
def test_a_full_disk_behind_stdout_is_an_error(arguments, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    with open("/dev/full", "w") as full:
        done = command(*arguments, stdout=full, stderr=subprocess.PIPE)
    name = " ".join(["npp-env", *(word for word in arguments[:1] if word != "--help")])
    assert (done.returncode, done.stderr) == (2, f"{name}: [Errno 28] No space left on device\n")


def never(*_, **__):
    raise AssertionError("the work began before the output was checked")


def test_outputs_are_tried_before_the_work_begins(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("npp_env.planning.solve", never)
    monkeypatch.setattr("npp_env.recording.replay.replay", never)
    monkeypatch.setattr("npp_env.cli.levels_sheet.draw_small", never)
    monkeypatch.setattr("npp_env.profiling.run.profile_loop", never)
    for arguments in (
        ["solve", WALK, "-o", "/proc/x.npprec"],
        ["replay", WALK, "-o", "/proc/x.gif"],
        ["replay", WALK, "--trace", "/proc/x.npz"],
        ["levels", "sheet", "-o", "/proc/x.png"],
        ["profile", "-o", "/proc/x"],
        ["cache", "warm", WALK, "--directory", "/proc/x"],
    ):
        _, err = run(capsys, *arguments, code=2)
        assert "/proc" in err
        assert "written" in err


def test_a_cache_that_stores_nothing_is_no_success(capsys, tmp_path):
    (tmp_path / "file").write_text("in the way")
    _, err = run(capsys, "cache", "warm", WALK, "--directory", tmp_path / "file", code=2)
    assert "files cannot be written there" in err
    run(capsys, "cache", "warm", WALK, "--directory", tmp_path / "cache")


@pytest.mark.parametrize(
    ("unit", "arguments"),
    [
        ("levels", ["levels", "sheet", "shipped:first_steps", "-o", "x.png", "-f"]),
        ("levels", ["cache", "warm", "shipped:first_steps", "--directory", "cache"]),
        ("frames", ["replay", WALK, "-o", "run.gif", "-f"]),
        ("seeds", ["levels", "generate", "corridors", "--certify", "--count", "1", "-o", "made", "-f"]),
        ("ticks", ["solve", WALK, "--shorten-ticks", "0"]),
        ("steps", ["demo", "--num-envs", "4", "--steps", "20"]),
        ("episode", ["evaluate", "baseline:random", "--levels", WALK, "--episodes", "2"]),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else value,
)
def test_bars_are_for_terminals(unit, arguments, tmp_path):
    quiet = command(*arguments, cwd=tmp_path, capture_output=True)
    assert (quiet.returncode, quiet.stderr) == (0, "")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    done = command(*arguments, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=theirs)
    shown = os.read(ours, 100_000).decode(errors="replace") if select.select([ours], [], [], 1)[0] else ""
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 0
    assert unit in shown
    # What nobody knows is not promised.
    assert unit != "ticks" or "<" not in shown


class InterruptedAfter:
    """Something that works for a while, until the user presses Ctrl-C, once."""

    def __init__(self, work, calls):
        self.work, self.calls = work, calls

    def __call__(self, *arguments, **options):
        self.calls -= 1
        if self.calls == -1:
            raise KeyboardInterrupt
        return self.work(*arguments, **options)


@pytest.mark.parametrize("name", ["run.gif", "run.mp4"])
def test_an_interrupted_video_leaves_nothing_behind(capsys, tmp_path, monkeypatch, name):
    from npp_env.render import video

    monkeypatch.setattr(video, "draw_rgb", InterruptedAfter(video.draw_rgb, 20))
    (tmp_path / name).write_text("old")
    run(capsys, "replay", WALK, "-o", tmp_path / name, "-f", code=130)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "old")]


@pytest.mark.parametrize("part", ["steps", "snapshot"])
def test_an_interrupted_profile_keeps_what_it_has(capsys, tmp_path, monkeypatch, part):
    from npp_env import env
    from npp_env.profiling import run as profiling

    if part == "steps":
        monkeypatch.setattr(profiling, "_run_steps", InterruptedAfter(profiling._run_steps, 12))
    else:  # two come before the first step
        monkeypatch.setattr(env, "memory_report", InterruptedAfter(env.memory_report, 13))
    arguments = ["--profile-frames", "500", "--memory-snapshot-interval", "20", "--cold", "--level", WALK]
    _, err = run(capsys, "profile", *arguments, "-o", tmp_path / "p", code=130)
    assert "interrupted after 240 steps; their reports are written" in err
    data = json.loads((tmp_path / "p" / "memory.json").read_text())
    assert data["samples"]["step"][-1] == 240


def test_analyze_reads_what_profile_writes(capsys, tmp_path):
    run(capsys, "profile", "--profile-frames", "200", "--memory-snapshot-interval", "20", "-o", tmp_path / "p")
    for place in (tmp_path / "p", tmp_path / "p" / "memory.json"):
        report = json.loads(run(capsys, "analyze", place, "--json")[0])
        assert [row["step"] for row in report["series"][0]["rows"]] == list(range(0, 201, 20))
    (tmp_path / "p" / "memory.json").write_text('{"format": "x"}')
    assert "not a memory.json" in run(capsys, "analyze", tmp_path / "p", code=2)[1]


def test_pictures_without_the_library_behind_them(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    for arguments in (
        ["levels", "show", WALK, "-o", tmp_path / "x.png"],
        ["levels", "show", WALK, "--graph", "-o", tmp_path / "x.png"],
        ["levels", "sheet", "-o", tmp_path / "x.png"],
        ["replay", WALK, "-o", tmp_path / "x.gif"],
    ):
        _, err = run(capsys, *arguments, code=2)
        assert "pip install --force-reinstall opencv-python-headless" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["levels", "list"],
        ["levels", "list", "shipped:mines"],
        ["estimate"],
        ["estimate", "--observations", "all"],
        ["evaluate", "baseline:random", "--levels", "shipped:chaingun_drones", "--episodes", "2"],
        ["soak", "--million", "0.001", "--num-envs", "8", "--levels", "shipped:first_steps/walk"],
        ["demo", "--num-envs", "8", "--steps", "20"],
        ["--help"],
        ["cache", "info"],
    ],
    ids=" ".join,
)
def test_tables_fit_eighty_columns(capsys, monkeypatch, arguments):
    monkeypatch.setenv("COLUMNS", "80")
    out, _ = run(capsys, *arguments)
    assert max(len(line) for line in out.splitlines()) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_eighty_columns(capsys, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    out, _ = run(capsys, name, "--help")
    assert max(len(line) for line in out.splitlines()) <= 80


def test_a_table_says_all_of_it():
    lines = format_table(
        [("name", "n", "what"), ("a", "12", "a long text that goes on"), ("bcd", "3", "")], 24, right=[1]
    )
    assert lines == [
        "name   n  what",
        "a     12  a long text",
        "          that goes on",
        "bcd    3",
    ]


def test_help_answers_in_a_tenth_of_a_second_of_processor_time():
    used = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command("--help", stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(used) < 0.1


def test_importing_the_package_registers_nevertheless():
    program = "import npp_env, gymnasium; print(gymnasium.make('Npp-Mines-v0').spec.id)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "Npp-Mines-v0\n", done.stderr
