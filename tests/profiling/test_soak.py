from __future__ import annotations

import json
import subprocess
import sys

import pytest

from npp_env.cli import main
from npp_env.profiling import Verdict
from npp_env.profiling.soak import soak


def test_soak_is_flat_and_meets_ends():
    result = soak("parallel_training", steps=400_000, num_envs=128, threshold_per_million=2**20)
    assert result.verdict is not Verdict.GROWING
    assert result.deaths > 0
    assert result.levels_seen > 3


LEAKY = """
import numpy as np
import npp_env
from npp_env.profiling.soak import soak
kept, plain = [], npp_env.NppVectorEnv.step
def leaky(self, actions):
    kept.append(np.ones(20_000))
    return plain(self, actions)
npp_env.NppVectorEnv.step = leaky
print(soak("parallel_training", steps=60_000, num_envs=64, threshold_per_million=2**20).verdict)
"""


def test_soak_finds_a_leak():
    # In a process of its own: here the heap may have room from earlier tests that a leak fills first.
    done = subprocess.run([sys.executable, "-c", LEAKY], capture_output=True, text=True)
    assert done.stdout == "growing\n", done.stderr


def test_command(capsys):
    code = main(
        [
            "soak",
            "--million",
            "0.02",
            "--num-envs",
            "16",
            "--presets",
            "evaluation",
            "--json",
            "--no-progress",
        ]
    )
    assert code in (0, 3)
    [result] = json.loads(capsys.readouterr().out)
    assert result["preset"] == "evaluation"
    assert result["steps"] > 19_000


@pytest.mark.parametrize("arguments", [["--million", "0"], ["--presets", "fast"], ["--levels", "nowhere.txt"]])
def test_mistakes(arguments, capsys):
    assert main(["soak", "--no-progress", "--million", "0.001", *arguments]) == 2
    assert capsys.readouterr().err


def test_profile_runs_the_environment(tmp_path, capsys):
    out = tmp_path / "out"
    arguments = [
        "profile",
        "--headless",
        "--profile-memory",
        "--profile-frames",
        "1000",
        "-o",
        str(out),
        "--no-progress",
    ]
    assert main(arguments) in (0, 3)
    assert {path.name for path in out.iterdir()} >= {
        "memory_profiling_report.txt",
        "profiling_stats.txt",
        "memory.json",
        "report.html",
    }
    assert "observation buffers" in (out / "memory_profiling_report.txt").read_text()
    assert main(["profile", "-o", str(out)]) == 2
    recording = next(iter(sorted(_recordings())), None)
    if recording is not None:
        again = [
            "profile",
            "--profile-frames",
            "200",
            "--num-envs",
            "4",
            "--actions",
            str(recording),
            "--no-progress",
        ]
        assert main([*again, "-o", str(tmp_path / "b"), "--compare", str(out / "memory.json")]) in (0, 3)


def _recordings():
    from npp_env.level.shipped import shipped_folder

    return shipped_folder().rglob("*.npprec")
