from __future__ import annotations

import argparse
import json

import numpy as np
import pytest

from npp_env.cli import levels_generate, levels_sheet, main
from npp_env.errors import NppError
from npp_env.level import load_level
from npp_env.recording import load_recording


def run(module, *arguments: str) -> int:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    return module.run(parser.parse_args(list(arguments)))


def test_solve_writes_a_recording(tmp_path, capsys):
    output = tmp_path / "walk.npprec"
    arguments = ["solve", "first_steps/walk", "--no-progress", "--shorten-ticks", "0", "-o", str(output)]
    assert main(arguments) == 0
    assert "solved in" in capsys.readouterr().out
    assert load_recording(output).outcome == "won"
    assert main(arguments) == 2
    assert "-f overwrites it" in capsys.readouterr().err


def test_solve_as_data_without_a_bar_where_there_is_no_terminal(capsys):
    assert main(["solve", "first_steps/jump", "--shorten-ticks", "0", "--json"]) == 0
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert data["status"] == "solved"
    assert data["frames"] == data["statistics"]["frames_found"]
    assert err == ""


def test_solve_holds_inputs(tmp_path):
    output = tmp_path / "jump.npprec"
    arguments = ["--no-progress", "--shorten-ticks", "50000", "--frame-skip", "4", "-o", str(output)]
    assert main(["solve", "first_steps/jump", *arguments]) == 0
    inputs = load_recording(output).inputs
    held = np.repeat(inputs[::4], 4)[: len(inputs)]
    assert inputs.tolist() == held.tolist()


def test_solve_tells_not_found_from_unreachable(tmp_path, capsys):
    arguments = ["--no-progress", "--ticks", "20000", "--memory-mb", "32"]
    assert main(["solve", "long_routes/spiral", *arguments]) == 1
    assert "not found within the budget" in capsys.readouterr().out
    closed = tmp_path / "closed.txt"
    grid = "\n".join(["#" * 42] * 9 + ["#" * 4 + "....##...." + "#" * 28] * 3 + ["#" * 42] * 11)
    closed.write_text(f"npp-level 1\ntiles:\n{grid}\nentities:\nninja 22 50\nexit 50 50\nexit-switch 26 50\n")
    assert main(["solve", str(closed), *arguments, "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["status"], data["frames"], data["statistics"]["nearest_px"]) == ("unreachable", None, None)


def test_generate_writes_levels(tmp_path, capsys):
    assert run(levels_generate, "towers", "--count", "2", "--seed", "4", "-o", str(tmp_path)) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["towers_4.txt", "towers_5.txt"]
    assert load_level(tmp_path / "towers_5.txt").metadata["seed"] == "5"
    with pytest.raises(NppError, match="-f overwrites it"):
        run(levels_generate, "towers", "--seed", "4", "-o", str(tmp_path))
    with pytest.raises(NppError, match="--count is 0"):
        run(levels_generate, "towers", "--count", "0")


def test_generate_with_certificate(tmp_path, capsys):
    assert run(levels_generate, "platforms", "--difficulty", "0.1", "--certify", "--json", "-o", str(tmp_path)) == 0
    (row,) = json.loads(capsys.readouterr().out)
    recording = load_recording(tmp_path / "platforms_0.npprec")
    assert row["status"] == "solved"
    assert recording.frames == row["frames"]
    assert recording.level == load_level(tmp_path / "platforms_0.txt")


def test_sheet(tmp_path, capsys):
    import cv2

    output = tmp_path / "sheet.png"
    assert run(levels_sheet, "shipped:first_steps", "--columns", "4", "-o", str(output), "--json") == 0
    assert json.loads(capsys.readouterr().out)["levels"] == 6
    finite = tmp_path / "finite.png"
    assert run(levels_sheet, "generated:towers?seeds=3-5", "-o", str(finite), "--json") == 0
    assert json.loads(capsys.readouterr().out)["levels"] == 3
    picture = cv2.imread(str(output))
    assert picture.shape == (2 * (150 + 16 + 6) + 6, 4 * (264 + 6) + 6, 3)
    # Six pictures, and nothing in the two places behind them.
    assert np.ptp(picture[-100:, :500]) > 50
    assert np.ptp(picture[-100:, -400:]) < 20
    for arguments, message in (
        (("-o", str(output)), "-f overwrites it"),
        (("-o", str(tmp_path / "a.jpg")), "the sheet is a PNG"),
        (("-o", str(output), "-f", "--columns", "0"), "--columns 0"),
        (("generated:towers", "-o", str(output), "-f"), "this set has no end; give it one with seeds=FIRST-LAST"),
    ):
        with pytest.raises(NppError, match=message):
            run(levels_sheet, *arguments)
