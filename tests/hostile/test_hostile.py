"""What a level costs is known before it is played; what a command costs is bounded; both are really looked at."""

from __future__ import annotations

import time

import numpy as np
import pytest

from npp_env.errors import LevelError
from npp_env.level import Level
from npp_env.level.entity_kinds import EntityKind
from npp_env.level.work import MAX_TICK_NS
from npp_env.sim import Simulation
from tests.hostile.commands import Cost, cost_of, file_case, folder_case, level_case
from tests.hostile.crowds import DOORS, KINDS, Crowd
from tests.hostile.inputs import FILES, FOLDERS, MOST_BYTES

ROCKETS = Crowd(EntityKind.ROCKET_TURRET, DOORS, False)
TICKS = 8


def cpu_ns_of_a_tick(level: Level) -> float:
    """Of the dearest tick among a few; the ninja dies now and then, and begins anew."""
    simulation = Simulation(level)
    dearest = 0.0
    for tick in range(TICKS):
        began = time.process_time_ns()
        simulation.advance((0, 2, 3, 4)[tick % 4])
        dearest = max(dearest, time.process_time_ns() - began)
        if simulation.outcome != "alive":
            simulation.reset()
    return dearest


def test_rockets_behind_thousands_of_doors_are_refused():
    """A tick of them took 69 ms, and was taken for one of 0.2 ms: they have a flag, and so were held to be at rest."""
    with pytest.raises(LevelError, match=r"4000 of rocket-turret, 4000 doors .* at most 16 ms are accepted"):
        ROCKETS.level(4000)
    accepted = ROCKETS.largest()
    assert accepted is None or accepted.tick_ns <= MAX_TICK_NS


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.label)
def test_no_crowd_takes_far_longer_than_it_is_taken_for(kind):
    """The numbers are bounds for an ordinary processor; three times as much is no matter of the processor."""
    for crowd in (Crowd(kind, 0, False), Crowd(kind, 0, True), Crowd(kind, DOORS, True)):
        level = crowd.largest()
        if level is not None:
            assert level.tick_ns <= MAX_TICK_NS
            assert cpu_ns_of_a_tick(level) < 3 * level.tick_ns + 1e6, crowd.name


def test_what_acts_in_every_tick_counts():
    few, many = (Crowd(EntityKind.GAUSS_TURRET, 0, True).level(count).tick_ns for count in (10, 1000))
    assert many > 50 * few / 2
    at_rest = Crowd(EntityKind.MINE, 0, True)
    assert at_rest.level(1000).tick_ns < 10 * at_rest.level(10).tick_ns


def run(case, folder) -> Cost:
    words = case.prepare(folder)
    return cost_of(words, folder / "log")


@pytest.mark.parametrize("name", FILES)
def test_files_are_as_long_as_they_may_be(name):
    size = len(FILES[name]())
    assert size <= MOST_BYTES + 50_000
    assert size > MOST_BYTES / 2 or name in ("long.npprec", "walk.nppmap")


@pytest.mark.parametrize("name", FOLDERS)
def test_snapshots_and_events(name, tmp_path):
    cost = run(folder_case(name), tmp_path)
    assert cost.is_right, cost


@pytest.mark.parametrize(
    "case",
    [
        file_case("long.txt", "levels validate {}"),
        file_case("nothing.pack", "levels list pack:{}"),
        file_case("long.npprec", "replay {} -o {out}/run.gif"),
        file_case("deep.json", "profile --compare {} --no-progress --profile-frames 5 -o {out}/profile"),
        file_case("deep.json", "evaluate random --config {} --episodes 1"),
        level_case(Crowd(EntityKind.LOCKED_DOOR, 0, False), "levels show {} --graph -o {out}/graph.png"),
        level_case(Crowd(EntityKind.EVIL_NINJA, 0, True), "replay {} {inputs} --trace {out}/run.npz", 400),
    ],
    ids=lambda case: case.name.replace("/", "_"),
)
def test_commands(case, tmp_path):
    cost = run(case, tmp_path)
    assert cost.is_right, cost


def burn(words: list[str]) -> int:
    """A command that is as bad as its word says."""
    if words[0] == "time":
        while True:
            pass
    if words[0] == "memory":
        np.ones(1_100_000_000, np.uint8)
    if words[0] == "words":
        print("\x1b[31m")
    if words[0] == "error":
        raise ValueError
    return int(words[0] == "code") * 9


@pytest.mark.parametrize("fault", ["time", "memory", "words", "error", "code"])
def test_a_bound_that_is_broken_is_noticed(fault, tmp_path, monkeypatch):
    monkeypatch.setattr("tests.hostile.commands.KILLED_AFTER_SECONDS", 1)
    assert not cost_of([fault], tmp_path / "log", burn).is_right
    assert cost_of(["nothing"], tmp_path / "log", burn).is_right
