"""Every level that is shipped: it loads, it can be won, and its recording proves it."""

from __future__ import annotations

import warnings
from collections import Counter

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from sim.phases import phases_of

from npp_env import LevelWarning, NppEnv
from npp_env.errors import LevelError, RecordingError
from npp_env.graph import fields_of
from npp_env.level.cache import LevelCache
from npp_env.level.mirror import mirror_level
from npp_env.level.shipped import load_shipped, shipped_file, shipped_level_names
from npp_env.recording import load_shipped_recording
from npp_env.render.picture import draw_rgb
from npp_env.sim import Simulation
from npp_env.sim.outcome import Outcome

NAMES = shipped_level_names()
GROUPS = {
    "first_steps",
    "jumps",
    "slopes",
    "mines",
    "doors",
    "launch_boost",
    "one_ways",
    "bounce_blocks",
    "drones",
    "thwumps",
    "death_balls",
    "rockets",
    "gauss",
    "evil_ninjas",
    "chasers",
    "laser_drones",
    "chaingun_drones",
    "mixed",
    "long_routes",
}
ELEMENTS = {
    "mines": {1, 21},
    "doors": {5, 6, 8},
    "launch_boost": {10, 24},
    "one_ways": {11},
    "bounce_blocks": {17},
    "drones": {14, 16, 26},
    "thwumps": {20, 28},
    "death_balls": {25},
    "rockets": {18},
    "gauss": {19},
    "evil_ninjas": {22},
    "chasers": {15},
    "laser_drones": {13},
    "chaingun_drones": {12},
}
AT_WORK = {
    "rockets": (18, 0, 2, True),
    "gauss": (19, 1, 0, False),
    "evil_ninjas": (22, 3, 0, True),
    "chasers": (15, 1, 0, True),
    "laser_drones": (13, 2, 0, False),
    "chaingun_drones": (12, 2, 0, False),
}
"""What the winning run of each level of a group has to get past, as `sim.phases.phases_of` tells it: a rocket in
flight, an aim being taken, a shadow that follows, a chase, a beam, a burst."""
HELD_TICKS = 2000


def test_there_are_enough_in_every_group():
    count = Counter(name.split("/")[0] for name in NAMES)
    assert set(count) == GROUPS
    assert len(NAMES) == 106
    assert min(count.values()) >= 5


def test_all_elements_appear():
    kinds = {int(kind) for name in NAMES for kind in load_shipped(name).records[:, 0]}
    assert kinds == set(range(29)) - {27}


@pytest.mark.parametrize("name", ["", "walk", "../levels/first_steps/walk", "/etc/hosts", "first_steps/", 7])
def test_other_names_are_refused(name):
    for load in (load_shipped, load_shipped_recording):
        with pytest.raises(LevelError, match="no shipped level"):
            load(name)


@pytest.mark.parametrize("name", NAMES)
def test_the_recording_wins_on_its_exact_frame(name):
    level = load_shipped(name)
    recording = load_shipped_recording(name)
    assert recording.level == level
    assert recording.outcome == "won"
    simulation = Simulation(level)
    for byte in recording.inputs[:-1].tolist():
        simulation.advance(byte)
    assert simulation.outcome == "alive"
    simulation.advance(int(recording.inputs[-1]))
    assert simulation.outcome == "won"
    assert simulation.ninja["frame"] == recording.frames == len(recording.inputs)
    assert simulation.ninja["gold"] == recording.gold


WITHOUT_FRAME_SKIP_4: set[str] = set()
"""Levels for which no way with decisions of 4 ticks is known."""


def test_decisions_of_four_ticks_win_all_levels():
    found = {name for name in NAMES if shipped_file(name, ".npprec").with_suffix(".skip4.npprec").exists()}
    assert set(NAMES) - found == WITHOUT_FRAME_SKIP_4


@pytest.mark.parametrize("name", sorted(set(NAMES) - WITHOUT_FRAME_SKIP_4))
def test_the_second_recording_wins_in_the_hands_of_a_policy(name):
    recording = load_shipped_recording(name, frame_skip=4)
    inputs = {0: 0, 1: 4, 2: 2, 3: 1, 4: 5, 5: 3}
    actions = [next(a for a, byte in inputs.items() if byte == given) for given in recording.inputs[::4].tolist()]
    assert np.repeat([inputs[a] for a in actions], 4)[: recording.frames].tolist() == recording.inputs.tolist()
    env = NppEnv(levels=f"shipped:{name}", frame_skip=4, observation={"keys": ["game_state"]}, max_episode_frames=None)
    env.reset(seed=0)
    steps = [env.step(action) for action in actions]
    assert [step[2] for step in steps] == [False] * (len(actions) - 1) + [True]
    assert steps[-1][4]["outcome"] == Outcome.WON
    env.close()


@pytest.mark.parametrize("frame_skip", [0, 2, 5])
def test_other_decisions_have_no_recordings(frame_skip):
    with pytest.raises(RecordingError, match="shipped recordings have 1, 4"):
        load_shipped_recording("first_steps/walk", frame_skip)


@pytest.mark.parametrize("name", NAMES)
def test_no_level_is_won_by_standing_still_or_holding_one_input(name):
    simulation = Simulation(load_shipped(name))
    for byte in range(8):
        simulation.reset()
        simulation.advance(byte, HELD_TICKS)
        assert simulation.outcome != "won", byte


@pytest.mark.parametrize("name", [name for name in NAMES if name.split("/")[0] in ELEMENTS])
def test_a_level_holds_what_its_group_teaches(name):
    assert ELEMENTS[name.split("/")[0]] & set(load_shipped(name).records[:, 0].tolist())


@pytest.mark.parametrize("name", [name for name in NAMES if name.split("/")[0] in AT_WORK])
def test_no_hunter_is_walled_in(name):
    level = load_shipped(name)
    hunters = level.records[np.isin(level.records[:, 0], [phase[0] for phase in AT_WORK.values()])].astype(int)
    assert not level.tiles[hunters[:, 2] // 4 - 1, hunters[:, 1] // 4 - 1].any()


@pytest.mark.parametrize("name", [name for name in NAMES if name.split("/")[0] in AT_WORK])
def test_the_recording_gets_past_what_its_group_teaches(name):
    simulation = Simulation(load_shipped(name))
    seen = set()
    for byte in load_shipped_recording(name).inputs.tolist():
        simulation.advance(byte)
        seen |= phases_of(simulation.state, simulation.geometry)
    assert AT_WORK[name.split("/")[0]] in seen


def test_no_two_levels_are_the_same_even_mirrored():
    seen: dict[str, str] = {}
    for name in NAMES:
        level = load_shipped(name)
        for image in {level.hash, mirror_level(level).hash}:
            assert seen.setdefault(image, name) == name


@pytest.mark.parametrize("name", NAMES)
def test_the_exit_is_reachable_in_the_graph(name):
    fields = fields_of(load_shipped(name), 0, LevelCache(persist=False))
    assert np.isfinite(fields.spawn_plan_distance)


@pytest.mark.parametrize("name", NAMES)
def test_it_renders(name):
    simulation = Simulation(load_shipped(name))
    picture = draw_rgb(simulation.level, simulation.geometry, simulation.state)
    assert picture.shape == (600, 1056, 3)
    colours = picture[::3, ::3].astype(np.uint32) @ np.array([65536, 256, 1], np.uint32)
    assert len(np.unique(colours)) > 3


@pytest.mark.parametrize("name", NAMES)
def test_it_makes_an_environment(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Six groups are about entities that no recording of the game bears out.
        warnings.filterwarnings("ignore", "the level holds entities", LevelWarning)
        check_env(gym.make("npp_env:Npp-v0", levels=f"shipped:{name}").unwrapped, skip_render_check=True)
