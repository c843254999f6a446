"""Chaingun and laser drones (6.18), against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest

from npp_env.sim import Simulation
from sim.rooms import room
from sim.shooting import (
    CELEBRATING,
    CHAINGUN,
    FAR_AWAY,
    FIRING,
    IDLE,
    LASER_DRONE,
    POSTFIRE,
    PREFIRE,
    SAFE,
    lives,
    phase_of,
    place,
    tick,
    ticks,
)


@pytest.mark.parametrize(("kind", "speed"), [(CHAINGUN, 3 / 7), (LASER_DRONE, 2 / 7)])
@pytest.mark.parametrize("mode", [0, 1])
def test_an_idle_drone_goes_round_a_square_of_24(kind, speed, mode):
    simulation = Simulation(room((kind, 62, 50, 0, mode)))
    for count in range(1, 400):
        tick(simulation, 600.0, 200.0, state=CELEBRATING)
        side, rest = divmod(count * speed % 96, 24)
        corners = [(0, 0), (0, 1), (-1, 1), (-1, 0), (0, 0)]
        (x1, y1), (x2, y2) = corners[int(side)], corners[int(side) + 1]
        sign = 1 if mode == 0 else -1
        expected = (372 + 24 * x1 + rest * (x2 - x1), 300 + sign * (24 * y1 + rest * (y2 - y1)))
        assert place(simulation) == pytest.approx(expected, abs=1e-9), count


def test_a_drone_moves_only_while_idle_and_is_harmless_to_the_touch():
    for kind, speed, busy in ((CHAINGUN, 3 / 7, 52), (LASER_DRONE, 2 / 7, 45)):
        simulation = Simulation(room((kind, 62, 50, 0, 0)))
        tick(simulation, 400.0, 300.0)
        assert phase_of(simulation, kind) == PREFIRE
        assert place(simulation) == (372.0, 300.0 + speed)  # it moved before it saw
        ticks(simulation, busy - 1, *place(simulation))
        assert place(simulation) == (372.0, 300.0 + speed)
        assert lives(simulation)
        assert (simulation.movers["cell"] == -1).all()


def test_a_drone_needs_the_room_of_a_zap_drone():
    # Two rows of half cells, 24 px, are enough for a radius of 7.5; a drone 5 px off its middle meets the wall.
    free = Simulation(room((CHAINGUN, 62, 50, 0, 2), walls=[(20, 11), (20, 13)]))
    low = Simulation(room((CHAINGUN, 62, 51, 0, 2), walls=[(20, 11), (20, 13)]))
    for simulation, passes in ((free, True), (low, False)):
        ticks(simulation, 400, 900.0, 200.0, state=CELEBRATING)
        assert (place(simulation)[0] > 480) == passes


def drone_room(kind: int, *records) -> Simulation:
    """A drone at (396, 300) in the open; its first tick leads it down."""
    return Simulation(room((kind, 66, 50, 0, 0), *records))


def firing(kind: int, x: float, y: float, **how: float) -> Simulation:
    """The drone saw the ninja in tick 1 and has just begun to fire: tick F."""
    simulation = drone_room(kind)
    ticks(simulation, 52 if kind == CHAINGUN else 45, x, y)
    assert phase_of(simulation, kind) == PREFIRE
    tick(simulation, x, y, **how)
    assert phase_of(simulation, kind) == FIRING
    return simulation


@pytest.mark.parametrize(("kind", "prefire", "firing_ticks", "postfire"), [(12, 52, 72, 90), (13, 45, 80, 60)])
def test_a_drone_makes_ready_fires_and_recovers(kind, prefire, firing_ticks, postfire):
    simulation = drone_room(kind)
    phases = []
    for count in range(1 + prefire + firing_ticks + postfire):
        tick(simulation, *((900.0, 300.0) if count == 0 else SAFE))
        phases.append(phase_of(simulation, kind))
    assert phases == [PREFIRE] * prefire + [FIRING] * firing_ticks + [POSTFIRE] * postfire + [PREFIRE]


def test_a_drone_that_recovers_without_sight_is_idle():
    for kind, total in ((CHAINGUN, 1 + 52 + 72 + 90), (LASER_DRONE, 1 + 45 + 80 + 60)):
        simulation = drone_room(kind)
        tick(simulation, 900.0, 300.0)
        ticks(simulation, total - 2, *SAFE)
        tick(simulation, *SAFE, state=CELEBRATING)
        assert phase_of(simulation, kind) == IDLE
        before = place(simulation)
        tick(simulation, *SAFE, state=CELEBRATING)
        assert place(simulation) != before


def test_a_drone_whose_target_is_gone_recovers_without_a_shot():
    for kind in (CHAINGUN, LASER_DRONE):
        simulation = drone_room(kind)
        ticks(simulation, 20, 900.0, 300.0)
        tick(simulation, 900.0, 300.0, state=CELEBRATING)
        assert phase_of(simulation, kind) == POSTFIRE
        assert int(simulation.movers["stamp"][0]) == 0


@pytest.mark.parametrize("bullet", range(1, 8))
def test_seven_bullets_sweep_across_where_the_ninja_was(bullet):
    # In tick F the ninja is 300 px to the right and moves down: s points down. Bullet n crosses x + 300 at
    # 300 * 0.3 * (n / 6 - 1 / 2) below: -30, -15, 0, ... 60, and is shot in tick F + 9 n.
    simulation = firing(CHAINGUN, 696.0, 300.0, vy=1.0)
    x, y = place(simulation)
    g = ((696.0 - x), (300.0 - y))
    d = math.hypot(*g)
    across = 0.3 * (bullet / 6 - 0.5)
    target = (x + g[0] - across * g[1], y + g[1] + across * g[0])
    assert d == pytest.approx(300, abs=1)
    ticks(simulation, 9 * bullet - 1, *SAFE)
    tick(simulation, *target)
    assert not lives(simulation)
    # A tick earlier or later nothing is shot.
    for early in (9 * bullet - 2, 9 * bullet):
        other = firing(CHAINGUN, 696.0, 300.0, vy=1.0)
        ticks(other, early, *SAFE)
        tick(other, *target)
        assert lives(other)


@pytest.mark.parametrize(("vx", "vy", "side"), [(0.0, 1.0, 1), (0.0, -1.0, -1), (0.0, 0.0, 1), (5.0, 0.0, 1)])
def test_bullets_wander_to_the_side_that_the_ninja_moves_to(vx, vy, side):
    simulation = drone_room(CHAINGUN)
    tick(simulation, 696.0, 300.0)
    x, y = place(simulation)
    ticks(simulation, 51, x + 300.0, y)
    tick(simulation, x + 300.0, y, vx=vx, vy=vy)
    assert phase_of(simulation, CHAINGUN) == FIRING
    ticks(simulation, 62, *SAFE)
    tick(simulation, x + 300.0, y + side * 60.0)
    assert not lives(simulation)


def test_a_burst_at_the_drones_own_place_goes_to_the_right():
    simulation = drone_room(CHAINGUN)
    tick(simulation, 696.0, 300.0)
    own = place(simulation)
    ticks(simulation, 52, *own)
    assert phase_of(simulation, CHAINGUN) == FIRING
    ticks(simulation, 62, *SAFE)
    tick(simulation, own[0] + 300.0, own[1])  # the seventh would be 60 px aside if it wandered
    assert not lives(simulation)


@pytest.mark.parametrize(("after", "dies"), [(0, False), (1, True), (80, True), (81, False)])
def test_a_laser_drone_shoots_in_the_80_ticks_after_it_began(after, dies):
    simulation = firing(LASER_DRONE, 696.0, 300.0) if after else drone_room(LASER_DRONE)
    if after == 0:
        tick(simulation, 696.0, 300.0)
        line = place(simulation)
        ticks(simulation, 44, *SAFE)
        tick(simulation, line[0] + 100.0, line[1])  # this is tick F itself
        assert phase_of(simulation, LASER_DRONE) == FIRING
    else:
        x, y = place(simulation)
        ticks(simulation, after - 1, *SAFE)
        tick(simulation, x + (696.0 - x) / 2, y + (300.0 - y) / 2)
    assert lives(simulation) != dies


@pytest.mark.parametrize(("aside", "dies"), [(9.9, True), (10.1, False)])
def test_the_beam_keeps_the_direction_in_which_it_saw_the_ninja(aside, dies):
    simulation = drone_room(LASER_DRONE)
    tick(simulation, 396.0, 100.0)  # straight above
    x, y = place(simulation)
    assert x == 396.0
    ticks(simulation, 45, *SAFE)
    tick(simulation, x + aside, y - 100.0)
    assert lives(simulation) != dies


def test_the_beam_is_cast_anew_in_every_tick():
    # A locked door at x = 480 ends the beam until it is opened.
    simulation = drone_room(LASER_DRONE, (6, 80, 50, 0), (7, *FAR_AWAY))
    tick(simulation, 430.0, 300.0 + 2 / 7)
    ticks(simulation, 45, *SAFE)
    assert phase_of(simulation, LASER_DRONE) == FIRING
    ticks(simulation, 5, 600.0, 300.0)
    assert lives(simulation)
    simulation.flags[0] = 3
    tick(simulation, 600.0, 300.0)
    assert not lives(simulation)


def test_a_burst_and_a_beam_go_on_without_a_target():
    for kind, total in ((CHAINGUN, 72), (LASER_DRONE, 80)):
        simulation = firing(kind, 696.0, 300.0)
        ticks(simulation, total - 1, 696.0, 300.0, state=CELEBRATING)
        assert phase_of(simulation, kind) == FIRING
        assert int(simulation.ninja["state"]) == CELEBRATING
        tick(simulation, 696.0, 300.0, state=CELEBRATING)
        assert phase_of(simulation, kind) == POSTFIRE
