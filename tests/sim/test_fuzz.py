"""No map that is accepted makes the kernel crash, hang or lose its numbers."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from golden_levels import golden
from hypothesis import given, settings
from hypothesis import strategies as st

from npp_env.errors import LevelError
from npp_env.level import read_map
from npp_env.sim import Simulation
from sim.fuzz_maps import (
    SIMULATED,
    accepted_levels,
    crowded_map,
    find_insanity,
    mutated_map,
    random_inputs,
    random_map,
    wild_map,
)

TICKS = 400


def run_and_check(level, rng) -> None:
    simulation = Simulation(level)
    for byte in random_inputs(rng, TICKS):
        simulation.advance(byte, 10, stop=False)
        insanity = find_insanity(simulation.ninja, simulation.movers)
        assert insanity is None, (insanity, level.records.tolist())


@pytest.mark.parametrize("seed", range(8))
def test_accepted_levels_stay_sane(seed):
    rng = np.random.default_rng(seed)
    valid = [g.map for g in golden()]
    for level in islice(accepted_levels(rng, valid), 60):
        run_and_check(level, rng)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_a_level_or_an_error(seed):
    rng = np.random.default_rng(seed)
    for data in (random_map(rng), wild_map(rng), mutated_map(rng, golden()[seed % 96].map)):
        try:
            level = read_map(data)
        except LevelError:
            continue
        run_and_check(level, rng)


def test_the_generator_makes_levels_that_are_accepted():
    rng = np.random.default_rng(1)
    accepted = 0
    for _ in range(50):
        try:
            read_map(wild_map(rng))
        except LevelError:
            continue
        accepted += 1
    assert accepted >= 40


@pytest.mark.parametrize("kind", SIMULATED)
def test_crowds(kind):
    """Thousands of one type in one place: lists and scratch must be large enough."""
    try:
        level = read_map(crowded_map(kind))
    except LevelError:
        pytest.fail("the crowd should be a level")
    simulation = Simulation(level)
    for byte in (0, 2, 3):
        simulation.advance(byte, 2, stop=False)
    for name in ("x", "y", "vx", "vy"):
        assert np.isfinite(simulation.ninja[name])
    for name in ("x", "y", "u", "v"):
        assert np.isfinite(simulation.movers[name]).all()
