"""Exact plans for N++ against brute force with dictionaries and the simulator."""

from __future__ import annotations

import numpy as np
import pytest

from npp_env import NppEnv
from npp_env.errors import ConfigError
from npp_env.induction import EnvironmentModel, InductionError, Resources
from npp_env.induction.builder import build_transitions
from npp_env.induction.estimate import estimate_plan
from npp_env.induction.npp_model import KeyedNppModel, NppModel, has_won
from npp_env.induction.npp_plan import plan_level
from npp_env.induction.plan_picture import CELL_PX, draw_plan, least_frames
from npp_env.level.shipped import load_shipped
from npp_env.planning import SolveBudget, solve, winning_recording
from npp_env.planning.search import INPUTS
from npp_env.sim.simulation import Simulation
from npp_env.sim.views import ninja_view

LEVEL = "first_steps/jump"
SKIP, STEPS = 45, 6


class BruteForce:
    """All states under all inputs, by dictionaries of bytes."""

    def __init__(self, level, frame_skip, horizon):
        simulation = Simulation(level)
        self.levels = [{simulation.state.tobytes(): None}]
        self.best = None
        for _ in range(horizon):
            following = {}
            for state in self.levels[-1]:
                for byte in INPUTS.tolist():
                    simulation.state[:] = np.frombuffer(state, np.uint8)
                    if simulation.outcome != "alive":
                        break
                    simulation.advance(byte, frame_skip)
                    if simulation.outcome == "won":
                        frame = int(simulation.ninja["frame"])
                        self.best = frame if self.best is None else min(self.best, frame)
                    following[simulation.state.tobytes()] = None
            self.levels.append(following)


@pytest.fixture(scope="module")
def level():
    return load_shipped(LEVEL)


@pytest.fixture(scope="module")
def plan(level):
    return plan_level(NppModel(level, SKIP), STEPS)


def test_states_and_optimum_against_brute_force(level, plan):
    brute = BruteForce(level, SKIP, STEPS)
    assert plan.policy.transitions.level_sizes(STEPS) == [len(each) for each in brute.levels]
    for time in range(STEPS + 1):
        assert {row.tobytes() for row in plan.policy.states(time)} == set(brute.levels[time])
    assert plan.frames == brute.best
    assert brute.best is not None


def test_the_inputs_win_in_so_many_frames(level, plan):
    recording = winning_recording(level, plan.inputs)
    assert recording.frames == plan.frames == len(plan.inputs)
    # Every input is held for a whole step, but for the last.
    for first in range(0, len(plan.inputs), SKIP):
        assert len(set(plan.inputs[first : first + SKIP].tolist())) == 1


def test_no_solver_is_faster(level, plan):
    found = solve(level, budget=SolveBudget(ticks=3_000_000, shorten_ticks=300_000), frame_skip=SKIP)
    assert found.inputs is not None
    assert len(found.inputs) >= plan.frames


def test_threads_blocks_and_stopping_at_victory_change_no_frames(level, plan):
    other = plan_level(
        NppModel(level, SKIP, threads=3), STEPS + 2, until_won=True, resources=Resources(threads=2, block_states=50)
    )
    assert other.frames == plan.frames
    assert other.policy.horizon == STEPS
    assert (other.policy.values(3) == plan.policy.values(3)).all()


def test_the_plan_answers_for_an_environment(level, plan):
    env = NppEnv(levels=LEVEL, frame_skip=SKIP)
    env.reset(seed=0)
    left, played = [], 0
    while True:
        left.append(plan.frames_left(env))
        action = plan.policy.action(env)
        _, _, terminated, _, info = env.step(action)
        played += 1
        if terminated:
            break
    assert played == STEPS
    assert left == [plan.frames - SKIP * k for k in range(STEPS)]
    assert info["outcome"] == 1
    assert plan.frames_left(env) == 0


def test_a_state_from_elsewhere_is_not_known(level, plan):
    simulation = Simulation(level)
    simulation.advance(0)
    with pytest.raises(InductionError, match="does not know this state"):
        plan.policy.action(simulation.state.copy())
    assert plan.frames_left(plan.policy.states(0)[0]) == plan.frames


def test_a_plan_may_begin_in_any_state(level, plan):
    simulation = Simulation(level)
    for byte in plan.inputs[:SKIP].tolist():
        simulation.advance(byte)
    rest = plan_level(NppModel(level, SKIP, start=simulation.get_state()), STEPS - 1)
    assert rest.frames == plan.frames - SKIP


def test_what_cannot_be_won_is_proven(level):
    short = plan_level(NppModel(level, SKIP), 3)
    assert short.frames is None
    assert short.inputs is None
    assert short.frames_left(short.policy.states(1)[0]) == np.inf
    draw_plan(short)


def test_what_was_proven_before_there_were_too_many_states_is_told(level):
    with pytest.raises(InductionError, match="nothing wins within 4 steps of 45 frames, which is proven"):
        plan_level(NppModel(level, SKIP), 12, until_won=True, most_states=2000)
    with pytest.raises(InductionError, match="are more than 2,000"):
        plan_level(NppModel(level, SKIP), 12, most_states=2000)


def test_keys_merge_what_they_do_not_tell(level, tmp_path):
    exact = build_transitions(NppModel(level, SKIP), 4, tmp_path / "exact")

    def places(states):
        ninja = ninja_view(states)
        rows = np.stack([ninja["x"], ninja["y"], ninja["frame"]], axis=1).round().astype("<i4")
        return rows.view(np.uint8).reshape(len(states), 12)

    model = KeyedNppModel(level, SKIP, key=places, key_name="whole pixels", layered=True)
    merged = build_transitions(model, 4, tmp_path / "merged")
    sizes = merged.level_sizes(4)
    assert sizes[4] < exact.level_sizes(4)[4]
    for time in range(5):
        first, last = merged.span(time)
        keys = {places(merged.states(k, k + 1)).tobytes() for k in range(first, last)}
        assert len(keys) == sizes[time]
    assert "whole pixels" in model.name


def test_the_picture_shows_where_victory_is(level, plan):
    grid = least_frames(plan)
    x, y = level.spawn
    assert grid[int(y // CELL_PX), int(x // CELL_PX)] == plan.frames
    assert np.nanmin(grid) == plan.frames
    assert np.isinf(grid).any()
    met = {
        (int(n["y"] // CELL_PX), int(n["x"] // CELL_PX))
        for t in range(STEPS + 1)
        for n in ninja_view(plan.policy.states(t))
    }
    assert {tuple(place) for place in np.argwhere(~np.isnan(grid)).tolist()} == met
    picture = draw_plan(plan)
    assert picture.shape == (600, 1056, 3)
    bare = draw_plan(plan_level(NppModel(level, SKIP), 1))
    assert (picture != bare).any(axis=2).mean() > 0.02


def test_the_estimate(level):
    model = NppModel(level, SKIP)
    exact = plan_level(model, STEPS).policy.transitions
    estimate = estimate_plan(model, STEPS, sampled_states=500)
    assert not estimate.is_exact
    assert estimate.layers[: estimate.known] == tuple(exact.level_sizes(STEPS))[: estimate.known]
    assert 0.5 < estimate.states / exact.state_count < 2
    assert 0.5 < estimate.transitions / exact.transition_count < 2
    assert 0.5 < estimate.disk_bytes / exact.folder.nbytes < 2
    assert estimate.cpu_seconds > 0
    assert estimate_plan(model, 3).is_exact


def test_the_environment_as_a_model_sees_the_same(level):
    env = NppEnv(levels=LEVEL, frame_skip=SKIP)
    by_steps = EnvironmentModel(env, "jump", layered=True)
    direct = NppModel(level, SKIP)
    found = by_steps.expand(by_steps.start())
    assert found.counts.tolist() == [6]
    expected = {row.tobytes() for row in direct.expand(direct.start()).successors}
    got = set()
    for row in found.successors:
        env.set_state(row[1:].tobytes())
        got.add(direct.state_of(env).tobytes())
    assert got == expected


def test_numbers_are_checked(level):
    with pytest.raises(ConfigError, match="frame_skip is 0"):
        NppModel(level, 0)
    with pytest.raises(ConfigError, match="horizon is 0"):
        plan_level(NppModel(level, SKIP), 0)


def test_terminal_states_lead_nowhere(plan):
    model = NppModel(load_shipped(LEVEL), SKIP)
    last = plan.policy.states(STEPS)
    won = last[has_won(last)]
    assert len(won)
    assert model.expand(won).counts.tolist() == [0] * len(won)
