from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from npp_env.cli import main
from npp_env.errors import NppError
from npp_env.level.entity_kinds import SIMULATED_ROWS
from npp_env.profiling import long_run
from npp_env.profiling.errors import ProfilingError
from npp_env.profiling.long_run import LongRun, LongRunPlan, LostNumberError
from npp_env.profiling.mixed_levels import mixed_level

PLAN = LongRunPlan(ticks=60_000, num_envs=8, generated=20, mixed=4)


def uninterrupted():
    return LongRun(PLAN).run()[0]


def test_every_level_is_met_and_every_kind():
    met = set()

    class Watched(LongRunPlan):
        def level(self, number):
            met.add(number)
            return super().level(number)

    plan = Watched(ticks=80_000, num_envs=8, generated=20, mixed=4)
    LongRun(plan).run()
    assert met == set(range(plan.num_levels))
    kinds = {int(kind) for seed in range(4) for kind in mixed_level(seed).records[:, 0]}
    assert kinds >= {int(kind) for kind in SIMULATED_ROWS}
    assert len({plan.level(number).hash for number in met}) == plan.num_levels


def test_a_killed_run_goes_on_to_the_same_end(tmp_path):
    """Killed at any moment, again and again, it comes to the digest of a run that nobody disturbed."""
    state = tmp_path / "state.json"
    words = ["soak", "--ticks", str(PLAN.ticks), "--generated", "20", "--num-envs", "8", "--state", str(state)]
    command = [sys.executable, "-m", "npp_env", *words, "--no-progress", "--json"]
    reference = LongRun(LongRunPlan(PLAN.ticks, 8, 20)).run()[0]
    pieces = []
    for _ in range(4):
        before = json.loads(state.read_text())["progress"]["pieces"] if state.exists() else 0
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            now = json.loads(state.read_text())["progress"]["pieces"] if state.exists() else 0
            if now > before:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        pieces.append(json.loads(state.read_text())["progress"]["pieces"])
    assert pieces == sorted(pieces)
    assert 0 < pieces[0] < reference.pieces
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for name in ("digest", "ticks", "pieces", "episodes", "wins", "deaths", "truncations", "states_checked"):
        assert found[name] == getattr(reference, name), name
    assert [name for name in os.listdir(tmp_path) if name != "state.json"] == []


def test_it_depends_on_the_seed():
    other = LongRun(LongRunPlan(PLAN.ticks, PLAN.num_envs, PLAN.generated, PLAN.mixed, seed=1)).run()[0]
    assert other.digest != uninterrupted().digest


def test_a_lost_number_is_noticed(monkeypatch):
    from npp_env.vector import NppVectorEnv

    plain = NppVectorEnv.step

    def losing(self, actions):
        result = plain(self, actions)
        result[1][3] = np.nan
        return result

    monkeypatch.setattr(NppVectorEnv, "step", losing)
    with pytest.raises(LostNumberError, match=r"reward of level 3 .*environment 3"):
        LongRun(PLAN).run()


def test_a_state_that_would_be_refused_is_noticed(monkeypatch):
    """The long run restores what play led to; a check that refuses it ends the run."""
    from npp_env.vector import NppVectorEnv

    def refuse(self, states, indices=None):
        raise NppError("refused")

    monkeypatch.setattr(NppVectorEnv, "set_state", refuse)
    with pytest.raises(NppError, match="refused"):
        LongRun(PLAN).run()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 3}', '{"format": "npp_env long run 1", "plan": 3}'])
def test_foreign_files(tmp_path, text):
    path = tmp_path / "state"
    path.write_text(text)
    with pytest.raises(ProfilingError, match="state"):
        LongRun(PLAN, path)
    assert path.read_text() == text


def test_another_plan(tmp_path):
    path = tmp_path / "state"
    LongRun(PLAN, path).run()
    with pytest.raises(ProfilingError, match="another run"):
        LongRun(LongRunPlan(PLAN.ticks, PLAN.num_envs, 21, PLAN.mixed), path)


def test_growth_is_judged_after_the_first_pass(monkeypatch, tmp_path):
    readings = iter(range(10**9))

    class Memory:
        @property
        def dirty_bytes(self):
            return 1_000_000 + 4096 * next(readings)

    monkeypatch.setattr(long_run, "read_page_memory", Memory)
    run = LongRun(PLAN)
    _, leg = run.run()
    assert leg.fit.verdict == "growing"
    assert run._first_piece + PLAN.pieces_per_pass <= run.progress.pieces
    assert leg.first_bytes == 1_000_000


def test_memory_that_follows_the_levels_of_a_pass_is_judged(monkeypatch):
    """Large levels come and go in each pass; a billion ticks ended undecided, as there were too few passes."""
    plan = LongRunPlan(ticks=2_000_000, num_envs=8, generated=20, mixed=4)
    run = LongRun(plan)

    class Memory:
        @property
        def dirty_bytes(self):
            return 40_000_000 + 100_000 * (run.progress.pieces % plan.pieces_per_pass)

    monkeypatch.setattr(long_run, "read_page_memory", Memory)
    monkeypatch.setattr(long_run, "STATE_CHECKS_PER_PIECE", 1)
    assert run.run()[1].fit.verdict == "flat"


@pytest.mark.parametrize(
    "words", ["--ticks 0", "--ticks nan", "--ticks 1e6 --generated -1", "--ticks 1e5 --num-envs 0"]
)
def test_mistakes(words, capsys):
    assert main(["soak", "--no-progress", *words.split()]) == 2
    assert capsys.readouterr().err
