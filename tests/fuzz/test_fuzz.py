"""The fuzzer finds planted faults; the corpus and the seeds are taken or refused in good order."""

from __future__ import annotations

import argparse
import random
import warnings
from pathlib import Path

import pytest
from sim.phases import phases_of

from npp_env.errors import NppError
from npp_env.observe.state_row import STATE_ROW
from npp_env.runtime.saved_state import read_saved_state
from npp_env.sim import Simulation
from tests.fuzz import __main__ as campaign
from tests.fuzz import states
from tests.fuzz.board import Board
from tests.fuzz.entrance import check_message
from tests.fuzz.mutate import BINARY, FIXED_LENGTH, MAX_BYTES, TEXT, Mutator
from tests.fuzz.planted import PLANTED
from tests.fuzz.table import entrances
from tests.fuzz.worker import Fuzzer

ENTRANCES = entrances()


def run_planted(tmp_path, name, executions=400, seconds=60.0):
    args = argparse.Namespace(
        seconds=seconds, executions=executions, seed=1, corpus=None, keep=None, worker="tests.fuzz.planted"
    )
    return campaign.fuzz(name, None, args, tmp_path / "results")


def test_coverage_leads_to_a_deep_fault(tmp_path):
    fuzzer = Fuzzer(PLANTED["deep"], tmp_path, Board(tmp_path / "board"), seed=1, watched="planted")
    fuzzer.run([b"aaaa"], executions=100_000, seconds=100, most_faults=1)
    assert [path.name for path in fuzzer.findings.glob("*.bin")] == ["deep.ZeroDivisionError-check-planted.bin"]
    assert next(fuzzer.findings.glob("*.bin")).read_bytes()[:3] == b"N++"
    assert fuzzer.board.new_paths >= 3


def test_without_coverage_it_would_not(tmp_path):
    fuzzer = Fuzzer(PLANTED["deep"], tmp_path, Board(tmp_path / "board"), seed=1, watched="no such file")
    fuzzer.run([b"aaaa"], executions=20_000, seconds=60)
    assert not list(fuzzer.findings.glob("*.bin"))


def test_a_death_is_a_finding_and_the_rest_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(campaign, "MAX_DEATHS", 2)
    outcome = run_planted(tmp_path, "dies")
    assert [path.name for path in outcome.findings] == ["dies.death-died.bin"]
    assert outcome.findings[0].read_bytes()[0] % 8 == 3
    assert outcome.executions > 3


def test_a_hang_is_a_finding(tmp_path, monkeypatch):
    monkeypatch.setattr(campaign, "HANG_SECONDS", 0.5)
    monkeypatch.setattr(campaign, "MAX_DEATHS", 0)
    [path] = run_planted(tmp_path, "hangs").findings
    assert "hangs" in path.name
    assert path.read_bytes()[0] % 8 == 3


def test_a_message_that_cannot_be_printed_is_a_finding(tmp_path):
    [path] = run_planted(tmp_path, "message").findings
    assert "control-characters" in path.name


def test_a_sound_reader_has_no_findings(tmp_path):
    outcome = run_planted(tmp_path, "sound", executions=100)
    assert (outcome.findings, outcome.executions >= 100) == ([], True)


@pytest.mark.parametrize("name", ENTRANCES)
def test_corpus(name, tmp_path):
    """What once was a finding, and what reaches far, in this build; seeds are accepted."""
    entrance = ENTRANCES[name]
    accepted = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = entrance.open(tmp_path)
        seeds = entrance.seeds()
        for data in seeds[:20]:
            try:
                run(data)
            except NppError:
                continue
            accepted += 1
        for path in sorted((Path(campaign.CORPUS) / name).glob("*")):
            try:
                run(path.read_bytes())
            except NppError as error:
                check_message(error)
    assert accepted >= min(len(seeds), 20) // 2


def test_states_in_every_phase_are_among_the_seeds():
    """Turrets that fire, rockets that fly, chasers that chase, evil ninjas that follow: else nothing of them is met."""
    rooms = {level.hash: Simulation(level).geometry for level in states.LEVELS}
    saved = [read_saved_state(data) for _, data in states.saved_states()]
    rows = [(row[states.LEVEL].tobytes().hex(), row[STATE_ROW.itemsize :]) for row in states.rows()]
    for found in ([(one.level_hash, one.state) for one in saved], rows):
        phases = {phase for level, state in found for phase in phases_of(state, rooms[level])}
        for kind in (12, 13, 19, 22, 28):
            assert {phase for known, phase, _, _ in phases if known == kind} >= {0, 1, 2, 3}, kind
        assert {flag for kind, _, flag, _ in phases if kind == 18} == {0, 1, 2}
        assert {phase for kind, phase, _, _ in phases if kind == 15} == {0, 1}


@pytest.mark.parametrize("changes", [BINARY, TEXT, FIXED_LENGTH])
def test_mutations(changes):
    mutator = Mutator(random.Random(1), changes, [b"token"])
    seed = bytes(range(200))
    made = {mutator.mutate(seed, b"other" * 9) for _ in range(300)}
    assert len(made) > 200
    assert all(0 < len(data) <= MAX_BYTES or changes is not FIXED_LENGTH for data in made)
    assert mutator.mutate(b"", b"") != b"" or changes is not FIXED_LENGTH
