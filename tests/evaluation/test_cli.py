"""`npp-env evaluate` as a user runs it."""

from __future__ import annotations

import json
import sys

import pytest

from npp_env.cli import main
from npp_env.evaluation.scores import Evaluation
from npp_env.recording import load_recording
from npp_env.recording.replay import replay

FEW = ["--levels", "shipped:first_steps", "--episodes", "4"]


def test_evaluate_prints_a_table(capsys):
    assert main(["evaluate", "baseline:path", *FEW]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert out.count("first_steps/") == 6
    assert "24 episodes of baseline:path" in out


def test_evaluate_keeps_data_and_recordings(tmp_path, capsys):
    out = tmp_path / "run"
    assert main(["evaluate", "baseline:path", *FEW, "--out", str(out), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((out / "evaluation.json").read_text())
    result = Evaluation.from_dict(printed)
    for number, level in enumerate(result.levels):
        frames = result.episodes["frames"][result.episodes["level"] == number]
        assert "best" in level.recordings
        for name in level.recordings.values():
            recording = load_recording(out / name)
            assert recording.level_hash == level.hash
            assert replay(recording).frames in frames
    assert main(["evaluate", "baseline:path", *FEW, "--out", str(out)]) == 2
    assert "-f overwrites" in capsys.readouterr().err
    assert main(["evaluate", "baseline:path", *FEW, "--out", str(out), "-f", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == printed


def test_evaluate_takes_a_function(tmp_path, monkeypatch, capsys):
    (tmp_path / "agent_of_a_user.py").write_text("def act(observations, masks):\n    return [2] * len(masks)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert main(["evaluate", "agent_of_a_user:act", *FEW]) == 0
    assert "one episode on each level" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "names no policy"),
        (["no_such_module:f"], "cannot be imported"),
        (["baseline:best"], "no baseline"),
        (["missing.zip"], "no such file"),
        (["missing.nppmodel"], "no such file"),
        (["baseline:random", "--levels", "shipped:nothing"], "no shipped level"),
        (["baseline:random", "--levels", "generated:caverns"], "no end"),
        (["baseline:random", "--episodes", "0"], "not a whole number"),
        (["baseline:random", "--seed", "-1"], "not a whole number|expected one argument"),
        (["baseline:random", "--out", "no/such/folder"], "there is no folder"),
        (["baseline:random", "--config", "missing.json"], "cannot be read"),
    ],
)
def test_mistakes_are_explained(arguments, message, capsys):
    assert main(["evaluate", *arguments]) == 2
    found = capsys.readouterr().err
    assert any(part in found for part in message.split("|")), found


def test_what_cannot_be_written_is_found_before_anything_is_played(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("npp_env.evaluation.evaluate.evaluate", lambda *args, **kwargs: pytest.fail("it was played"))
    file = tmp_path / "file"
    file.write_text("")
    assert main(["evaluate", "baseline:random", "--out", str(file)]) == 2
    assert "is a file" in capsys.readouterr().err
    # Nobody can write there, the superuser included, whose permissions say otherwise.
    assert main(["evaluate", "baseline:random", "--out", "/proc/new"]) == 2
    assert "cannot be written to" in capsys.readouterr().err
    assert main(["draw", "mines/ring", "-o", "/proc/new"]) == 2
    assert "cannot be written to" in capsys.readouterr().err
