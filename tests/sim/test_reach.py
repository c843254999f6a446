"""How far entities reach: just inside something happens, just outside nothing does."""

from __future__ import annotations

import math

import pytest

from npp_env.sim import Simulation
from sim.rooms import NOTHING, hover, play, room

X, Y = 366.0, 246.0
"""Where the entity stands: in the upper left corner of a cell, so that what is left of it or above is in another."""
RECORD = (61, 41)
FAR = (160, 10)


def is_dead(simulation: Simulation) -> bool:
    return simulation.outcome == "died"


def has_flag(value: int):
    return lambda simulation: simulation.flags[0] == value


CIRCLES = {
    "mine": ([(1, *RECORD)], 4, is_dead),
    "idle toggle mine": ([(21, *RECORD)], 3.5, has_flag(2)),
    "gold": ([(2, *RECORD)], 6, lambda simulation: simulation.ninja["gold"] == 1),
    "exit switch": ([(3, *FAR), (4, *RECORD)], 6, has_flag(1)),
    "regular door": ([(5, *RECORD, 0)], 10, has_flag(1)),
    "locked door's switch": ([(6, *FAR, 0), (7, *RECORD)], 5, has_flag(3)),
    "trap door's switch": ([(8, *FAR, 0), (9, *RECORD)], 5, has_flag(2)),
    "boost pad": ([(24, *RECORD)], 6, has_flag(1)),
    "floor guard": ([(16, *RECORD)], 6, is_dead),
}


def happens(records, effect, x: float, y: float) -> bool:
    simulation = play(room(*records))
    hover(simulation, x, y)
    simulation.advance(NOTHING)
    return bool(effect(simulation))


# Straight below a regular door its own line holds the ninja off.
DIRECTIONS = [(name, eighth) for name in CIRCLES for eighth in range(8) if (name, eighth) != ("regular door", 2)]


@pytest.mark.parametrize(("name", "eighth"), DIRECTIONS)
def test_a_circle_reaches_its_radius_and_the_ninjas(name, eighth):
    records, radius, effect = CIRCLES[name]
    ux, uy = math.cos(eighth * math.pi / 4), math.sin(eighth * math.pi / 4)
    for reach, expected in ((radius + 9.9, True), (radius + 10.1, False)):
        assert happens(records, effect, X + reach * ux, Y + reach * uy) == expected


@pytest.mark.parametrize(("distance", "mode"), [(14.4, 2), (14.6, 0)])
def test_an_arming_mine_waits_for_the_ninja_to_leave(distance, mode):
    simulation = play(room((21, *RECORD)))
    hover(simulation, X + 13, Y)
    simulation.advance(NOTHING)
    assert simulation.flags[0] == 2
    hover(simulation, X + distance, Y)
    simulation.advance(NOTHING)
    assert simulation.flags[0] == mode


@pytest.mark.parametrize(("distance", "outcome"), [(21.9, "won"), (22.1, "alive")])
def test_an_open_exit_reaches_twelve_pixels(distance, outcome):
    simulation = play(room((3, *RECORD), (4, 20, 20)))
    hover(simulation, 120, 120)
    simulation.advance(NOTHING)
    assert simulation.flags[0] == 1
    hover(simulation, X, Y - distance)
    simulation.advance(NOTHING)
    assert simulation.outcome == outcome


@pytest.mark.parametrize(("orientation", "ux", "uy"), [(0, 1, 0), (2, 0, 1), (4, -1, 0), (6, 0, -1)])
@pytest.mark.parametrize(("distance", "launched"), [(10.05, True), (10.15, False)])
def test_a_launch_pad_acts_on_what_stands_on_it(orientation, ux, uy, distance, launched):
    simulation = play(room((10, *RECORD, orientation)))
    hover(simulation, X + distance * ux, Y + distance * uy)
    simulation.advance(NOTHING)
    assert (math.hypot(simulation.ninja["vx"], simulation.ninja["vy"]) > 3) == launched


def test_a_launch_pad_level_with_the_floor_throws_up_what_stands_on_it():
    simulation = play(room((10, 20, 80, 6)), (NOTHING, 30))
    assert simulation.ninja["y"] < 400
