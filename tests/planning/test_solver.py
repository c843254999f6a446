from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from npp_env import NppEnv
from npp_env.cli.profile import ACTION_OF_INPUT
from npp_env.errors import ConfigError, StateError
from npp_env.level import Level, read_text
from npp_env.level.shipped import load_shipped
from npp_env.planning import SolveBudget, solve, winning_recording
from npp_env.sim import Simulation
from npp_env.sim.outcome import Outcome
from npp_env.sim.simulation import RIGHT

QUICK = SolveBudget(ticks=4_000_000, shorten_ticks=100_000, memory_mb=64)


def room(rows: dict[int, str], entities: str) -> Level:
    """A solid map with some rows of its own."""
    grid = "\n".join(rows.get(row, "#" * 42).ljust(42, "#") for row in range(1, 24))
    return read_text(f"npp-level 1\nname: room\ntiles:\n{grid}\nentities:\n{entities}\n")


def corridor(entities: str) -> Level:
    return room(dict.fromkeys((10, 11, 12), "##" + "." * 20), entities)


def outcome_of(level: Level, inputs: np.ndarray) -> tuple[str, int]:
    simulation = Simulation(level)
    for byte in inputs.tolist():
        simulation.advance(byte)
    return simulation.outcome, int(simulation.ninja["frame"])


@pytest.mark.parametrize("name", ["first_steps/walk", "first_steps/wall_jump", "doors/first_key"])
def test_finds_a_recording_that_wins_on_its_last_frame(name):
    level = load_shipped(name)
    result = solve(level, budget=SolveBudget(shorten_ticks=100_000))
    assert result.status == "solved"
    assert result.solved
    assert outcome_of(level, result.recording.inputs) == ("won", result.recording.frames)
    assert result.recording.frames <= result.statistics.frames_found
    assert result.recording.level == level


def test_the_same_seed_and_budget_give_the_same_recording_on_any_number_of_threads():
    level = load_shipped("jumps/stepping_stones")
    one, again, threaded = (solve(level, budget=QUICK, seed=3, threads=n) for n in (1, 1, 3))
    assert one.recording == again.recording == threaded.recording
    assert one.statistics.ticks == again.statistics.ticks == threaded.statistics.ticks


@pytest.mark.parametrize(
    ("name", "frame_skip"), [("first_steps/jump", 4), ("first_steps/gap", 4), ("mines/first_mines", 3)]
)
def test_decides_as_a_policy_does(name, frame_skip):
    level = load_shipped(name)
    result = solve(level, budget=SolveBudget(shorten_ticks=200_000), frame_skip=frame_skip)
    inputs = result.inputs
    assert outcome_of(level, inputs) == ("won", len(inputs))
    assert result.recording.inputs.tolist() == inputs.tolist()
    assert len(inputs) <= result.statistics.frames_found
    steps = [inputs[first : first + frame_skip] for first in range(0, len(inputs), frame_skip)]
    assert all(len(set(step.tolist())) == 1 for step in steps)
    # As an environment with this frame_skip would play it.
    env = NppEnv(levels=f"shipped:{name}", frame_skip=frame_skip, max_episode_frames=None)
    env.reset(seed=0)
    for step in steps:
        _, _, terminated, _, info = env.step(ACTION_OF_INPUT[int(step[0])])
    assert terminated
    assert Outcome(info["outcome"]) is Outcome.WON


def forms_of(level: Level, name: str) -> list:
    """One state in the middle of a level, in every form in which the package hands it out."""
    simulation = Simulation(level)
    simulation.advance(RIGHT, 24)
    rows = NppEnv(levels=f"shipped:{name}", observation={"layout": "state"}, frame_skip=4)
    rows.reset(seed=0)
    for _ in range(6):
        row = rows.step(2)[0]
    return [simulation.state.copy(), simulation.get_state(), rows.get_state(), row]


def test_begins_with_any_state_in_any_form():
    name = "first_steps/gap"
    level = load_shipped(name)
    found = [solve(level, budget=QUICK, start=start, frame_skip=4) for start in forms_of(level, name)]
    assert len({result.inputs.tobytes() for result in found}) == 1
    assert found[0].recording is None
    simulation = Simulation(level)
    simulation.advance(RIGHT, 24)
    for byte in found[0].inputs.tolist():
        assert simulation.outcome == "alive"
        simulation.advance(byte)
    assert simulation.outcome == "won"
    assert int(simulation.ninja["frame"]) == 24 + len(found[0].inputs)


def test_begins_with_the_last_door_open():
    level = load_shipped("doors/two_keys")
    whole = solve(level, budget=SolveBudget(shorten_ticks=0)).inputs
    simulation = Simulation(level)
    for byte in whole[:-30].tolist():
        simulation.advance(byte)
    rest = solve(level, budget=QUICK, start=simulation.get_state())
    assert len(rest.inputs) <= 60
    for byte in rest.inputs.tolist():
        simulation.advance(byte)
    assert simulation.outcome == "won"


def test_a_start_that_has_ended_is_not_found():
    level = load_shipped("first_steps/walk")
    simulation = Simulation(level)
    for byte in solve(level, budget=QUICK).inputs.tolist():
        simulation.advance(byte)
    assert solve(level, budget=QUICK, start=simulation.state).status == "not found"


def test_a_start_of_another_level_or_damaged_is_refused():
    level, other = load_shipped("first_steps/walk"), load_shipped("first_steps/gap")
    for start in forms_of(other, "first_steps/gap")[1:]:
        with pytest.raises(StateError):
            solve(level, budget=QUICK, start=start)
    broken = Simulation(level).state.copy()
    broken.view("<f8")[0] = np.nan
    for start in (broken, b"nonsense", b"", np.zeros(3, np.uint8)):
        with pytest.raises(StateError):
            solve(level, budget=QUICK, start=start)


@pytest.mark.parametrize("frame_skip", [0, -1, 61])
def test_a_frame_skip_that_makes_no_sense_is_refused(frame_skip):
    with pytest.raises(ConfigError, match="frame_skip is"):
        solve(load_shipped("first_steps/walk"), frame_skip=frame_skip)


def test_another_seed_searches_in_another_order():
    level = load_shipped("jumps/stepping_stones")
    recordings = {solve(level, budget=QUICK, seed=seed).recording for seed in (1, 2, 5)}
    assert len(recordings) > 1


def test_an_exit_behind_a_wall_is_unreachable():
    level = room(dict.fromkeys((10, 11, 12), "##......##......##"), "ninja 22 50\nexit 54 50\nexit-switch 26 50")
    result = solve(level, budget=QUICK)
    assert (result.status, result.recording) == ("unreachable", None)
    assert result.statistics.ticks == 0


def test_a_level_without_exit_is_unreachable():
    assert solve(corridor("ninja 22 50"), budget=QUICK).status == "unreachable"


def test_a_door_whose_key_lies_behind_it_is_unreachable():
    locked = "ninja 22 50\nexit 70 50\nexit-switch 66 50\nlocked-door 46 50 right\nlocked-door-switch {} 50"
    rows = {10: "##" + "." * 20, 11: "##" + "." * 20, 12: "##" + "." * 20}
    rows[10] = rows[11] = "##........##........##"
    rows[12] = "##" + "." * 18
    assert solve(room(rows, locked.format(60)), budget=QUICK).status == "unreachable"
    assert solve(room(rows, locked.format(30)), budget=QUICK).status == "solved"


def test_a_wall_of_mines_is_not_found_rather_than_unreachable():
    mines = "\n".join(f"mine 50 {y}" for y in range(40, 53, 2))
    result = solve(corridor(f"ninja 22 50\nexit 78 50\nexit-switch 74 50\n{mines}"), budget=SolveBudget(4_000_000, 0))
    assert (result.status, result.recording) == ("not found", None)
    # The room is small: every attempt has seen all of it before its ticks are used up, or uses them up.
    assert result.statistics.attempts >= 2
    assert result.statistics.nearest_px > 200


def test_the_search_keeps_within_its_ticks_and_its_memory():
    level = load_shipped("long_routes/spiral")
    budget = SolveBudget(ticks=400_000, shorten_ticks=0, memory_mb=48)
    result = solve(level, budget=budget)
    assert result.status == "not found"
    # A round that has begun is carried out.
    assert 400_000 <= result.statistics.ticks <= 400_000 + 128 * 6 * 8
    assert 0 < result.statistics.peak_memory_bytes <= 48 << 20


@pytest.mark.parametrize("movers", [0, 60])
def test_all_that_it_allocates_stays_within_the_budget(movers):
    drones = "\n".join(f"zap-drone {10 + 2 * k} 46 right clockwise" for k in range(movers))
    level = corridor(f"ninja 22 50\nexit 78 50\nexit-switch 74 42\nmine 50 44\n{drones}")
    tracemalloc.start()
    try:
        solve(level, budget=SolveBudget(ticks=500_000, shorten_ticks=0, memory_mb=24))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 24 << 20


def test_a_budget_too_small_for_the_states_of_a_level():
    drones = "\n".join(f"zap-drone {10 + k % 60} 46 right clockwise" for k in range(3000))
    level = corridor(f"ninja 22 50\nexit 78 50\nexit-switch 74 42\n{drones}")
    with pytest.raises(ConfigError, match="the budget is 16 MB"):
        solve(level, budget=SolveBudget(memory_mb=16))


def test_slow_ticks_count_for_several():
    turrets = "\n".join(f"laser-turret {10 + k % 150} 46 right" for k in range(1000))
    level = corridor(f"ninja 22 50\nexit 78 50\nexit-switch 74 42\n{turrets}")
    statistics = solve(level, budget=SolveBudget(ticks=3_000_000, shorten_ticks=0)).statistics
    # A tick is thought to take a third of a millisecond in the mean; an ordinary one takes 300 ns.
    assert statistics.ticks < 20_000


def test_states_that_do_not_fit_are_not_made_shorter(monkeypatch):
    level = load_shipped("first_steps/jump")
    monkeypatch.setattr("npp_env.planning.shorten.CANDIDATES", 1 << 20)
    statistics = solve(level, budget=replace(QUICK, memory_mb=32)).statistics
    assert statistics.shorten_ticks == 0


def test_time_is_up():
    result = solve(load_shipped("long_routes/spiral"), budget=SolveBudget(shorten_ticks=0, seconds=1e-6))
    assert result.status == "not found"
    assert result.statistics.attempts == 1


def test_progress_is_reported_upwards():
    seen = []
    solve(load_shipped("first_steps/jump"), budget=QUICK, on_progress=lambda ticks, px: seen.append((ticks, px)))
    assert len(seen) > 3
    assert seen == sorted(seen, key=lambda pair: pair[0])
    assert seen[0][1] >= seen[-1][1]


@pytest.mark.parametrize(("field", "value"), [("ticks", 0), ("shorten_ticks", -1), ("memory_mb", 1), ("seconds", 0.0)])
def test_budgets_out_of_range(field, value):
    with pytest.raises(ConfigError, match=field):
        SolveBudget(**{field: value})


def test_threads_out_of_range():
    with pytest.raises(ConfigError, match="threads is 0"):
        solve(load_shipped("first_steps/walk"), threads=0)


def test_inputs_that_do_not_win_make_no_winning_recording():
    with pytest.raises(ConfigError, match="do not win"):
        winning_recording(load_shipped("first_steps/walk"), np.zeros(50, np.uint8))
