"""Gauss turrets (6.17), at (360, 300), against numbers worked out by hand."""

from __future__ import annotations

import pytest

from npp_env.sim import Simulation
from sim.rooms import room
from sim.shooting import (
    CELEBRATING,
    GAUSS,
    GAUSS_POSTFIRE,
    GAUSS_PREFIRE,
    IDLE,
    TARGETING,
    lives,
    phase_of,
    tick,
    ticks,
)


def aim(simulation: Simulation) -> tuple[float, float]:
    return float(simulation.movers["u"][0]), float(simulation.movers["v"][0])


@pytest.mark.parametrize(
    ("distance", "half_ticks", "share"),
    [
        (96.001, 0, 0.03 * 2 / 3),
        (96.0, 1, 0.035 * 2 / 3),
        (42.001, 1, 0.035 * 2 / 3),
        (42.0, 3, 0.05 * 2 / 3),
        (24.001, 3, 0.05 * 2 / 3),
        (24.0, 7, 0.05 * 2 / 3),
    ],
)
def test_the_aim_follows_by_how_far_it_is(distance, half_ticks, share):
    simulation = Simulation(room((GAUSS, 60, 50)))
    tick(simulation, 660.0, 300.0)
    assert phase_of(simulation, GAUSS) == TARGETING
    assert aim(simulation) == (360.0, 300.0)
    tick(simulation, 360.0, 300.0 - distance)
    assert aim(simulation) == (360.0, 300.0 + (300.0 - distance - 300.0) * share)
    assert int(simulation.movers["stamp"][0]) == half_ticks


def test_the_aim_leads_by_one_and_a_half_ticks():
    simulation = Simulation(room((GAUSS, 60, 50)))
    tick(simulation, 400.0, 300.0)
    tick(simulation, 400.0, 300.0, vx=2.0, vy=-4.0)
    assert aim(simulation) == (360.0 + (400.0 + 3.0 - 360.0) * (0.035 * 2 / 3), 300.0 + -6.0 * (0.035 * 2 / 3))


def test_the_velocity_is_that_after_boost_pads():
    simulation = Simulation(room((GAUSS, 60, 50), (24, 70, 50)))
    tick(simulation, 600.0, 300.0)
    tick(simulation, 420.0, 300.0, vx=1.0)  # at the pad: 1 + 2
    assert aim(simulation) == (360.0 + (420.0 + 1.5 * 3.0 - 360.0) * (0.035 * 2 / 3), 300.0)


def test_a_gauss_turret_takes_26_ticks_of_a_near_aim_and_15_to_fire():
    # Tick 1 sees; 26 ticks of 3.5 make 91 > 90 in tick 27; fired in tick 42; over in tick 57.
    simulation = Simulation(room((GAUSS, 60, 50)))
    place = (380.0, 300.0)
    expected = [TARGETING] * 26 + [GAUSS_PREFIRE] * 15
    found = []
    for _ in range(41):
        tick(simulation, *place)
        found.append(phase_of(simulation, GAUSS))
        assert lives(simulation)
    assert found == expected
    kept = aim(simulation)
    tick(simulation, *place)
    assert not lives(simulation)
    assert phase_of(simulation, GAUSS) == GAUSS_POSTFIRE
    ticks(simulation, 14, 370.0, 200.0)
    assert phase_of(simulation, GAUSS) == GAUSS_POSTFIRE
    tick(simulation, 370.0, 200.0)
    assert phase_of(simulation, GAUSS) == TARGETING
    assert aim(simulation) == kept


def gauss_about_to_fire(x: float, y: float, **how) -> Simulation:
    """Forty-one ticks with the ninja at one place near the turret: the next one fires."""
    simulation = Simulation(room((GAUSS, 60, 50), **how))
    ticks(simulation, 41, x, y)
    assert phase_of(simulation, GAUSS) == GAUSS_PREFIRE
    return simulation


@pytest.mark.parametrize(
    ("place", "dies"),
    [((700.0, 300.0), True), ((700.0, 309.9), True), ((700.0, 310.1), False), ((300.0, 300.0), False)],
)
def test_a_gauss_turret_fires_through_where_it_aimed(place, dies):
    simulation = gauss_about_to_fire(380.0, 300.0)
    tick(simulation, *place)
    assert lives(simulation) != dies


@pytest.mark.parametrize(("y", "dies"), [(300.0, True), (309.0, True), (312.0, False)])
def test_the_aim_stays_while_it_makes_ready_and_sight_is_not_asked(y, dies):
    simulation = Simulation(room((GAUSS, 60, 50)))
    ticks(simulation, 27, 380.0, 300.0)
    kept = aim(simulation)
    ticks(simulation, 14, 900.0, 400.0)
    assert aim(simulation) == kept
    tick(simulation, 900.0, y)
    assert lives(simulation) != dies


def test_a_shot_ends_at_walls():
    simulation = gauss_about_to_fire(380.0, 300.0, walls=[(20, 12)])
    tick(simulation, 520.0, 300.0)
    assert lives(simulation)


def test_an_aim_that_never_left_its_turret_shoots_to_the_right():
    for x, dies in ((700.0, True), (300.0, False)):
        simulation = gauss_about_to_fire(360.0, 300.0)
        assert aim(simulation) == (360.0, 300.0)
        tick(simulation, x, 300.0)
        assert lives(simulation) != dies


def test_a_gauss_turret_that_loses_sight_begins_at_itself():
    simulation = Simulation(room((GAUSS, 60, 50), walls=[(20, 12)]))
    ticks(simulation, 20, 380.0, 300.0)
    tick(simulation, 600.0, 300.0)
    assert phase_of(simulation, GAUSS) == IDLE
    ticks(simulation, 26, 380.0, 300.0)
    assert phase_of(simulation, GAUSS) == TARGETING
    tick(simulation, 380.0, 300.0)
    assert phase_of(simulation, GAUSS) == GAUSS_PREFIRE


def test_without_a_target_it_runs_through_its_phases_without_a_kill():
    simulation = gauss_about_to_fire(380.0, 300.0)
    tick(simulation, 380.0, 300.0, state=CELEBRATING)
    assert phase_of(simulation, GAUSS) == GAUSS_POSTFIRE
    ticks(simulation, 14, 380.0, 300.0, state=CELEBRATING)
    assert phase_of(simulation, GAUSS) == GAUSS_POSTFIRE
    tick(simulation, 380.0, 300.0, state=CELEBRATING)
    assert phase_of(simulation, GAUSS) == IDLE
    assert int(simulation.ninja["state"]) == CELEBRATING
