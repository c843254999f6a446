from __future__ import annotations

import argparse
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

from npp_env.cli import analyze, main
from npp_env.cli import profile as profile_command
from npp_env.errors import ConfigError, NppError
from npp_env.level.shipped import shipped_file
from npp_env.profiling import Holding, MemoryReport
from npp_env.profiling.run import REPORT_FILES
from npp_env.recording import RECORDING_SUFFIX

from .test_snapshots import cuda_snapshot


def arguments(module, *words):
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    return parser.parse_args([str(word) for word in words])


@pytest.fixture
def program(monkeypatch):
    """Stands in for the environment: leaks as many bytes a step as the seed says."""
    kept, closed = [], []

    def make_stepper(args):
        def step():
            if args.seed:
                kept.append(bytearray(args.seed))

        def owners():
            return MemoryReport([Holding("kept", "list", len(kept) * args.seed), Holding("states", "x", 100)])

        return profile_command.Stepper(step, owners, lambda: closed.append(True))

    monkeypatch.setattr(profile_command, "make_stepper", make_stepper)
    return closed


FAST = (
    "--headless",
    "--profile-memory",
    "--no-progress",
    "--memory-snapshot-interval",
    "20",
    "--profile-frames",
    "2000",
)


def test_a_leak_gives_exit_code_3(program, tmp_path, capsys):
    code = profile_command.run(arguments(profile_command, *FAST, "--seed", "200", "-o", tmp_path / "out"))
    assert code == 3
    assert program == [True]
    assert "growing" in capsys.readouterr().out
    assert len(list((tmp_path / "out").iterdir())) == 4


def test_no_leak_gives_exit_code_0_and_json(program, tmp_path, capsys):
    assert profile_command.run(arguments(profile_command, *FAST, "-o", tmp_path, "--json")) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 2000


def test_reports_are_not_overwritten_by_chance(program, tmp_path):
    words = (*FAST, "-o", tmp_path)
    profile_command.run(arguments(profile_command, *words))
    with pytest.raises(NppError, match="-f overwrites"):
        profile_command.run(arguments(profile_command, *words))
    assert profile_command.run(arguments(profile_command, *words, "-f")) == 0


def test_a_baseline_is_compared_by_owner(program, tmp_path, capsys):
    profile_command.run(arguments(profile_command, *FAST, "--seed", "200", "-o", tmp_path / "before"))
    capsys.readouterr()
    words = (*FAST, "-o", tmp_path / "after", "--compare", tmp_path / "before" / "memory.json")
    profile_command.run(arguments(profile_command, *words))
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("kept"))
    assert "-390.6" in line
    assert "Before against after" in (tmp_path / "after" / "report.html").read_text()


@pytest.mark.parametrize("option", ["--profile-frames", "--memory-snapshot-interval", "--num-envs"])
def test_counts_below_one_are_refused(program, tmp_path, option):
    with pytest.raises(ConfigError, match=option):
        profile_command.run(arguments(profile_command, "-o", tmp_path, option, "0"))


def test_the_environment_is_profiled_within_its_own_process(tmp_path):
    words = "profile --headless --profile-memory --profile-frames 1000 --memory-snapshot-interval 100 --no-progress"
    command = [sys.executable, "-m", "npp_env", *words.split(), "-o", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(REPORT_FILES)
    profile = json.loads((tmp_path / "out" / "memory.json").read_text())
    # All levels are loaded before the first snapshot, so nothing that an owner holds changes from then on.
    held = profile["owner_history"]["owners"]
    assert set(held) == {"levels", "observation buffers", "python objects", "states"}
    # But for the actions of the present episode, a byte each.
    objects = held.pop("python objects")
    assert max(objects) - min(objects) < 1000
    assert all(len(set(series)) == 1 for series in held.values())
    assert profile["summary"]["verdict"] != "growing", profile["growth"]
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 2
    assert "-f overwrites" in again.stderr


def test_a_cold_profile_shows_the_levels_come_in(tmp_path):
    words = ("profile", "--cold", "--profile-frames", "2000", "--no-progress", "-o", str(tmp_path / "out"))
    assert main(words) in (0, 3)
    levels = json.loads((tmp_path / "out" / "memory.json").read_text())["owner_history"]["owners"]["levels"]
    assert levels[-1] > levels[0]


def test_a_recording_is_played_in_several_environments(tmp_path):
    words = ("profile", "--profile-frames", "200", "--num-envs", "4", "--level", "shipped:first_steps/walk")
    recording = shipped_file("first_steps/walk", RECORDING_SUFFIX)
    assert main([*words, "--actions", str(recording), "--no-progress", "-o", str(tmp_path)]) in (0, 3)
    assert json.loads((tmp_path / "memory.json").read_text())["summary"]["steps"] == 200


def test_observations_take_the_names_of_groups_as_in_an_estimate(tmp_path, capsys):
    words = ("profile", "--profile-frames", "20", "--level", "shipped:first_steps/walk", "--no-progress", "--cold")
    assert main([*words, "--observations", "frames,game_state", "-o", str(tmp_path)]) == 0
    names = {entry["name"] for entry in json.loads((tmp_path / "memory.json").read_text())["owners"]["holdings"]}
    assert {"player_frame", "global_view", "game_state"} <= {name.split()[0] for name in names}, names
    assert main([*words, "--observations", "sound", "-o", str(tmp_path / "none")]) == 2
    assert "--observations names 'sound'" in capsys.readouterr().err


def test_recorded_actions_are_played_over_and_over(tmp_path):
    class Env:
        class action_space:
            shape = (2,)

        class unwrapped:
            class config:
                frame_skip = 4

    path = tmp_path / "actions.npy"
    np.save(path, np.array([3, 5]))
    next_action = profile_command._recorded(path, Env)
    assert [next_action().tolist() for _ in range(3)] == [[3, 3], [5, 5], [3, 3]]
    np.save(path, np.array([0.5]))
    with pytest.raises(ConfigError, match="integers"):
        profile_command._recorded(path, Env)
    path.write_bytes(pickle.dumps([1]))
    with pytest.raises(ConfigError, match="not a"):
        profile_command._recorded(path, Env)


def write_series(folder, leak):
    folder.mkdir()
    for step in range(0, 20_000, 1000):
        path = folder / f"snapshot_step_{step}.pickle"
        path.write_bytes(pickle.dumps(cuda_snapshot(step, leak=leak)))


def test_analyze_prints_the_table_the_slope_and_the_contexts(tmp_path, capsys):
    write_series(tmp_path / "s", 50 * 1024)
    assert analyze.run(arguments(analyze, tmp_path / "s")) == 3
    text = capsys.readouterr().out
    for part in (
        "total active MB",
        "small pool MB",
        "large pool MB",
        "blocks",
        "growing: +50.0 KB",
        "collect (",
    ):
        assert part in text


def test_analyze_writes_json_and_does_not_overwrite(tmp_path):
    write_series(tmp_path / "s", 0)
    words = (tmp_path / "s", "--json", "-o", tmp_path / "out.json")
    assert analyze.run(arguments(analyze, *words)) == 0
    (series,) = json.loads((tmp_path / "out.json").read_text())["series"]
    assert series["growth"]["verdict"] == "flat"
    assert len(series["rows"]) == 20
    with pytest.raises(NppError, match="-f overwrites"):
        analyze.run(arguments(analyze, *words))


def test_analyze_of_unreadable_files_is_a_negative_result(tmp_path, capsys):
    (tmp_path / "snapshot_step_1.pickle").write_bytes(b"nonsense")
    assert analyze.run(arguments(analyze, tmp_path)) == 1
    assert "snapshot_step_1.pickle" in capsys.readouterr().out
