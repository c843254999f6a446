"""Saved states with flipped bits are refused, or played like any other."""

from __future__ import annotations

import numpy as np

from npp_env.errors import StateError
from npp_env.sim import Simulation
from sim.damage import refuse_every_flipped_bit, restore_forged
from sim.rooms import level_of_every_type


def test_every_flipped_bit_of_a_snapshot_is_noticed():
    simulation = Simulation(level_of_every_type())
    simulation.advance(2, 30)
    refuse_every_flipped_bit(simulation)


def test_every_flipped_bit_under_a_checksum_that_fits_is_refused_or_played():
    simulation = Simulation(level_of_every_type())
    simulation.advance(2, 30)
    good = simulation.state.copy()
    accepted = 0
    for bit in range(8 * len(good)):
        forged = good.copy()
        forged[bit // 8] ^= 1 << bit % 8
        try:
            restore_forged(simulation, forged)
        except StateError:
            continue
        accepted += 1
        assert simulation.state.tobytes() == forged.tobytes()
        simulation.advance(3, 5, stop=False)
        for name in ("x", "y", "vx", "vy"):
            assert np.isfinite(simulation.ninja[name]), bit
    # Most bits of a double are a matter of more or less.
    assert 0.2 < accepted / (8 * len(good)) < 0.9
