"""Every level that is shipped: it loads, it can be won, and its recording proves it."""

from __future__ import annotations

import warnings
from collections import Counter

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from npp_env.errors import LevelError
from npp_env.graph import fields_of
from npp_env.level.cache import LevelCache
from npp_env.level.mirror import mirror_level
from npp_env.level.shipped import load_shipped, shipped_level_names
from npp_env.recording import load_shipped_recording
from npp_env.render.picture import draw_rgb
from npp_env.sim import Simulation

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
}
HELD_TICKS = 2000


def test_there_are_enough_in_every_group():
    count = Counter(name.split("/")[0] for name in NAMES)
    assert set(count) == GROUPS
    assert len(NAMES) >= 60
    assert min(count.values()) >= 5


def test_all_elements_appear():
    kinds = {int(kind) for name in NAMES for kind in load_shipped(name).records[:, 0]}
    assert kinds >= {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14, 16, 17, 20, 21, 23, 24, 25, 26, 28}


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
        check_env(gym.make("npp_env:Npp-v0", levels=f"shipped:{name}").unwrapped, skip_render_check=True)
