"""`npp-env plan`."""

from __future__ import annotations

import json

import numpy as np
import pytest

from npp_env.cli import main
from npp_env.recording import load_recording

COMMAND = ["plan", "first_steps/jump", "--frame-skip", "45", "--no-progress"]


def test_a_plan_with_picture_and_recording(tmp_path, capsys):
    import cv2

    picture, recording = tmp_path / "plan.png", tmp_path / "best.npprec"
    assert main([*COMMAND, "--horizon", "6", "--whole-horizon", "-o", str(picture), "--recording", str(recording)]) == 0
    told = capsys.readouterr().out
    frames = load_recording(recording).frames
    assert f"{frames} frames" in told
    assert "the solver finds" in told
    assert told.startswith("estimate of the whole horizon: ")
    image = cv2.imread(str(picture))
    assert image.shape == (600, 1056, 3)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 50


def test_data_and_a_folder_that_is_used_again(tmp_path, capsys):
    arguments = [*COMMAND, "--horizon", "4", "--json", "--no-solver", "--directory", str(tmp_path / "plan")]
    assert main(arguments) == 1
    first = json.loads(capsys.readouterr().out)
    assert first["frames"] is None
    assert sum(first["levels"]) == first["states"] == first["estimated_states"]
    assert main(arguments) == 1
    second = json.loads(capsys.readouterr().out)
    assert {**first, "cpu_seconds": 0} == {**second, "cpu_seconds": 0}


def test_what_is_too_large_is_refused_before_it_begins(capsys):
    assert main([*COMMAND, "--horizon", "12", "--whole-horizon", "--most-states", "1000000"]) == 2
    captured = capsys.readouterr()
    assert captured.out.startswith("estimate of the whole horizon: ")
    assert "are more than 1,000,000" in captured.err
    assert "by the growth of the first" in captured.out


def test_a_plan_goes_no_further_than_the_first_victory(capsys):
    assert main([*COMMAND, "--horizon", "12", "--no-solver", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["horizon"] == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--horizon", "0"], "not a whole number"),
        (["--frame-skip", "61"], "not a whole number"),
        (["--memory-budget", "lots"], "memory_budget"),
        (["-o", "plan.txt"], "suffix"),
    ],
)
def test_what_is_refused(arguments, message, capsys):
    assert main([*COMMAND, *arguments]) == 2
    assert message in capsys.readouterr().err
