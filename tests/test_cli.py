"""The `npp-env` command: levels, replay, demo."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys

import numpy as np
import pytest

from npp_env import __version__
from npp_env.cli import COMMANDS, main
from npp_env.level import Level, load_level, save_level
from npp_env.level.level_set import LevelSet
from npp_env.level.shipped import load_shipped, shipped_level_names, verified_level_names
from npp_env.recording import Recording, save_recording, write_attract, write_recording

WALK = "first_steps/walk"


def run(capsys, *arguments: str, code: int = 0) -> tuple[str, str]:
    assert main([str(argument) for argument in arguments]) == code
    captured = capsys.readouterr()
    return captured.out, captured.err


def run_json(capsys, *arguments: str, code: int = 0):
    return json.loads(run(capsys, *arguments, "--json", code=code)[0])


@pytest.fixture
def winning(tmp_path):
    """A level file, and inputs that win it."""
    tiles = np.zeros((23, 42), np.uint8)
    tiles[19:] = 1
    rows = [(0, 20, 78, 0, 0), (3, 40, 78, 0, 0), (4, 30, 78, 0, 0), (2, 25, 78, 0, 0)]
    level = Level.from_parts(tiles, rows, name="straight")
    path = tmp_path / "straight.txt"
    save_level(level, path)
    return level, path, np.full(200, 2, np.uint8)


def test_a_closed_pipe_ends_a_command_in_silence():
    command = [sys.executable, "-m", "npp_env", "levels", "list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_replay_finds_the_recording_of_a_shipped_level(capsys):
    report = run_json(capsys, "replay", WALK)
    assert report["outcome"] == "won"
    assert report["level_hash"] == load_shipped(WALK).hash
    _, err = run(capsys, "replay", "first_steps/wlak", code=2)
    assert "first_steps/wlak" in err


def test_every_command_has_a_module_with_help(capsys):
    for name in COMMANDS:
        assert callable(importlib.import_module(f"npp_env.cli.{name}").run)
        out, _ = run(capsys, name, "--help")
        assert "usage: npp-env" in out
    out, _ = run(capsys, "--help")
    assert all(name in out for name in COMMANDS)
    assert __version__ in run(capsys, "--version")[0]


def test_python_dash_m_runs_it():
    done = subprocess.run(
        [sys.executable, "-m", "npp_env", "levels", "list"], capture_output=True, text=True, check=True
    )
    assert WALK in done.stdout


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["levels"], ["levels", "show"], ["replay"], ["demo", "-x"]])
def test_wrong_usage_is_exit_code_two(capsys, arguments):
    _, err = run(capsys, *arguments, code=2)
    assert "usage" in err


def test_list(capsys):
    out, _ = run(capsys, "levels", "list")
    table, sets = out.split("\n\n")
    named = [line for line in table.splitlines() if not line.startswith(" ")]
    assert [line.split()[0] for line in named] == ["name", *shipped_level_names()]
    listed = run_json(capsys, "levels", "list", "--sets")
    assert sets.splitlines()[1:] == listed
    for specification in listed:
        assert LevelSet.parse(specification)[0].records.size
    rows = run_json(capsys, "levels", "list")
    assert [row["name"] for row in rows] == shipped_level_names()
    assert rows[0]["hash"] == load_shipped(rows[0]["name"]).hash


def test_show_in_the_terminal(capsys, winning):
    _, path, _ = winning
    out, _ = run(capsys, "levels", "show", path)
    lines = out.splitlines()
    assert lines[0].startswith("straight")
    drawing = lines[1:26]
    assert drawing[0] == "█" * 88
    assert all(len(line) == 88 for line in drawing)
    assert "\x1b" not in out
    marks = {mark: (line.index(mark), row) for row, line in enumerate(drawing) for mark in "@Ee$" if mark in line}
    # Twelve pixels a character, twenty-four a line.
    assert marks == {"@": (10, 19), "E": (20, 19), "e": (15, 19), "$": (12, 19)}
    assert drawing[20] == "█" * 88
    assert drawing[18] == "██" + " " * 84 + "██"
    assert run_json(capsys, "levels", "show", path)["entities"] == {"gold": 1, "exit": 1, "exit-switch": 1}


def test_show_draws_the_shape_of_tiles(capsys, tmp_path):
    from npp_env.cli.terminal_level import draw_level

    tiles = np.zeros((23, 42), np.uint8)
    tiles[0, :10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]
    level = Level.from_parts(tiles, [(0, 90, 50, 0, 0), (1, 255, 255, 0, 0)])
    assert draw_level(level).splitlines()[1][2:22] == "██▀▀ █▄▄█ █▀▀█▄██▄  "
    assert draw_level(level, ascii_only=True).isascii()
    assert "\x1b[1;97m@\x1b[0m" in draw_level(level, color=True)


def test_show_as_png(capsys, tmp_path):
    path = tmp_path / "walk.png"
    run(capsys, "levels", "show", WALK, "-o", path)
    assert path.read_bytes().startswith(b"\x89PNG")
    _, err = run(capsys, "levels", "show", WALK, "-o", path, code=2)
    assert "-f overwrites it" in err
    run(capsys, "levels", "show", WALK, "-o", path, "-f")
    _, err = run(capsys, "levels", "show", WALK, "-o", tmp_path / "walk.bmp", code=2)
    assert "PNG" in err
    _, err = run(capsys, "levels", "show", WALK, "--graph", code=2)
    assert "-o" in err


def test_validate(capsys, tmp_path, winning):
    _, path, _ = winning
    bad = tmp_path / "bad.txt"
    bad.write_text("npp-level 1\nwrong\n")
    out, err = run(capsys, "levels", "validate", path, WALK)
    assert out.count(": valid") == 2
    assert err == ""
    out, err = run(capsys, "levels", "validate", path, bad, code=2)
    assert "line 2" in err
    assert "valid" in out
    rows = run_json(capsys, "levels", "validate", bad, path, code=2)
    assert [row["valid"] for row in rows] == [False, True]
    assert "line 2" in rows[0]["error"]


def test_convert_back_and_forth(capsys, tmp_path):
    binary, text = tmp_path / "walk.nppmap", tmp_path / "walk.txt"
    run(capsys, "levels", "convert", WALK, binary)
    report = run_json(capsys, "levels", "convert", binary, text)
    assert report["hash"] == load_shipped(WALK).hash == load_level(text).hash == load_level(binary).hash
    before = binary.read_bytes()
    _, err = run(capsys, "levels", "convert", "first_steps/jump", binary, code=2)
    assert "exists" in err
    assert binary.read_bytes() == before
    run(capsys, "levels", "convert", "first_steps/jump", binary, "-f")
    assert load_level(binary).hash == load_shipped("first_steps/jump").hash
    _, err = run(capsys, "levels", "convert", WALK, tmp_path / "walk.png", code=2)
    assert "suffix" in err


def test_a_missing_level_names_similar_ones(capsys):
    _, err = run(capsys, "levels", "show", "first_steps/wlak", code=2)
    assert WALK in err
    _, err = run(capsys, "levels", "show", "./nowhere.txt", code=2)
    assert "nowhere.txt" in err


def test_replay_of_every_kind_of_file(capsys, tmp_path, winning):
    level, path, inputs = winning
    recording = Recording.of_level(level, inputs)
    (tmp_path / "run.attract").write_bytes(write_attract(recording))
    (tmp_path / "run.npprec").write_bytes(write_recording(recording))
    (tmp_path / "bare.npprec").write_bytes(write_recording(recording, embed_level=False))
    (tmp_path / "inputs.bin").write_bytes(inputs.tobytes())
    np.save(tmp_path / "inputs.npy", inputs)
    reports = [
        run_json(capsys, "replay", tmp_path / "run.attract"),
        run_json(capsys, "replay", tmp_path / "run.npprec"),
        run_json(capsys, "replay", tmp_path / "bare.npprec", "--level", path),
        run_json(capsys, "replay", path, tmp_path / "inputs.bin"),
        run_json(capsys, "replay", path, tmp_path / "inputs.npy"),
    ]
    assert all(report == reports[0] for report in reports)
    assert (reports[0]["outcome"], reports[0]["gold"]) == ("won", 1)
    out, _ = run(capsys, "replay", tmp_path / "run.npprec")
    assert out.startswith(f"won at frame {reports[0]['frames']}, gold 1, score {reports[0]['score']:.3f}")


def test_replay_writes_a_trace(capsys, tmp_path, winning):
    _, path, inputs = winning
    (tmp_path / "inputs.bin").write_bytes(inputs.tobytes())
    trace = tmp_path / "trace.npz"
    report = run_json(capsys, "replay", path, tmp_path / "inputs.bin", "--trace", trace)
    with np.load(trace) as data:
        assert data["ninja"].shape == (report["frames"], 4)
        assert data["ninja"].dtype == np.float64
        assert data["state"].shape == (report["frames"],)
        assert data["state"][-1] == 8
    _, err = run(capsys, "replay", path, tmp_path / "inputs.bin", "--trace", trace, code=2)
    assert "-f overwrites it" in err
    run(capsys, "replay", path, tmp_path / "inputs.bin", "--trace", trace, "-f")


def test_replay_says_when_a_recording_contradicts_itself(capsys, tmp_path, winning):
    level, _, inputs = winning
    save_recording(Recording.of_level(level, inputs, outcome="died", frames=7, gold=1), tmp_path / "liar.npprec")
    out, err = run(capsys, "replay", tmp_path / "liar.npprec", code=1)
    assert out.startswith("won")
    assert "says died, the replay gives won" in err
    assert "frames" in err
    assert "gold" not in err


def test_replay_errors(capsys, tmp_path, winning):
    level, path, inputs = winning
    bare = tmp_path / "bare.npprec"
    bare.write_bytes(write_recording(Recording.of_level(level, inputs), embed_level=False))
    (tmp_path / "bad.bin").write_bytes(b"\x02\xff")
    (tmp_path / "bad.npy").write_bytes(b"\x93NUMPY rubbish")
    for arguments, message in (
        ([bare], level.hash),
        ([bare, "--level", WALK], "belongs to level"),
        ([tmp_path / "missing"], "missing"),
        ([path], "this is a level, not a recording"),
        ([path, tmp_path / "bad.bin"], "input 1 is 255"),
        ([path, tmp_path / "bad.npy"], "bad.npy"),
        ([path, bare, bare], "3 files"),
    ):
        _, err = run(capsys, "replay", *arguments, code=2)
        assert err.startswith("npp-env replay: ")
        assert message in err


def test_replay_as_video(capsys, tmp_path, winning):
    _, path, inputs = winning
    (tmp_path / "inputs.bin").write_bytes(inputs[:40].tobytes())
    run(capsys, "replay", path, tmp_path / "inputs.bin", "-o", tmp_path / "run.gif")
    assert (tmp_path / "run.gif").read_bytes().startswith(b"GIF8")


def test_demo(capsys):
    report = run_json(capsys, "demo", "--num-envs", "8", "--steps", "50")
    assert report["steps"] == 50
    assert 0 < report["ticks"] <= 8 * 50 * 4
    assert report["ticks_per_cpu_second"] > 0
    assert report["levels"] == len(verified_level_names())
    out, err = run(capsys, "demo", "--num-envs", "4", "--seconds", "0.2")
    assert "ticks per CPU second" in out
    assert "bytes per environment" in out
    assert err == ""
    _, err = run(capsys, "demo", "--num-envs", "0", code=2)
    assert "positive" in err


def test_demo_depends_on_its_seed_alone(capsys):
    def played(seed: str) -> tuple[int, ...]:
        report = run_json(capsys, "demo", "--num-envs", "16", "--steps", "300", "--seed", seed)
        return report["ticks"], report["episodes"], report["wins"], report["deaths"]

    assert played("3") == played("3")
    assert played("3") != played("4")
