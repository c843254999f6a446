from __future__ import annotations

import json
import subprocess
import sys

import pytest

from npp_env.cli import main
from npp_env.config import PRESETS
from npp_env.level.level_set import LevelSet


def run_soak(setup="", steps=300_000, levels="shipped:first_steps", preset="parallel_training"):
    """In a process of its own: here the heap may have room from earlier tests that a leak fills first."""
    script = f"""
import json
import npp_env
from npp_env.profiling.soak import soak
{setup}
print(json.dumps(soak({preset!r}, steps={steps}, num_envs=64, levels={levels!r}).to_dict()))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_flat(preset):
    found = run_soak(preset=preset, steps=100_000)
    assert found["verdict"] == "flat", found
    assert found["steps"] > 98_000
    assert found["deaths"] > 0


@pytest.mark.slow
def test_all_levels_are_flat():
    found = run_soak(levels="shipped", steps=600_000)
    assert found["verdict"] == "flat", found
    assert found["wins"] > 0
    assert found["deaths"] > 0
    assert found["truncations"] > 0
    assert found["levels_seen"] == len(LevelSet.parse("shipped"))


def test_a_leak_of_16_bytes_a_step_is_found():
    leak = """
kept, plain = [], npp_env.NppVectorEnv.step
def leaky(self, actions):
    kept.append(bytes(1000))
    return plain(self, actions)
npp_env.NppVectorEnv.step = leaky
"""
    assert run_soak(leak)["verdict"] == "growing"


def test_command(capsys):
    words = "--million 0.02 --num-envs 16 --presets evaluation --levels shipped:first_steps --no-progress --json"
    # Within this process other tests have left their traces, so that only the form of the answer is certain.
    assert main(["soak", *words.split()]) in (0, 3)
    [result] = json.loads(capsys.readouterr().out)
    assert result["preset"] == "evaluation"
    assert result["steps"] > 19_000


@pytest.mark.parametrize("arguments", [["--million", "0"], ["--presets", "fast"], ["--levels", "nowhere.txt"]])
def test_mistakes(arguments, capsys):
    assert main(["soak", "--no-progress", "--million", "0.001", *arguments]) == 2
    assert capsys.readouterr().err
