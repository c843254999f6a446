"""Rocket turrets (6.16), at (360, 300), against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest

from npp_env.sim import Simulation
from sim.rooms import NOTHING, room
from sim.shooting import CELEBRATING, FALLING, FAR_AWAY, HOMING, IDLE, PREFIRE, ROCKET, lives, place, tick, ticks


def launched(*records, x: float = 660.0, y: float = 300.0, **how) -> Simulation:
    """Sixteen ticks after the start, with the ninja in sight: the rocket has just left the turret."""
    simulation = Simulation(room((ROCKET, 60, 50), *records, **how))
    ticks(simulation, 16, x, y)
    return simulation


def speeds() -> list[float]:
    """Of a rocket, tick by tick, until it flies at its highest speed."""
    found, accel = [0.0], 0.1 * 4 / 9
    while found[-1] != 16 / 7:
        if found[-1] < 16 / 7:
            accel *= 1.0656022367666107
            found.append(found[-1] + accel)
        else:
            found.append(16 / 7)
    return found


def test_a_rocket_leaves_sixteen_ticks_after_its_turret_saw_the_ninja():
    simulation = Simulation(room((ROCKET, 60, 50)))
    phases = []
    for _ in range(18):
        tick(simulation, 660.0, 300.0)
        phases.append((int(simulation.flags[0]), int(simulation.movers["cell"][0]), place(simulation)[0]))
    cell = 15 * 25 + 12
    assert phases[:15] == [(PREFIRE, -1, 360.0)] * 15
    assert phases[15] == (HOMING, cell, 360.0)
    assert phases[16] == (HOMING, cell, 360.0 + 0.1 * 4 / 9 * 1.0656022367666107)


def test_a_rocket_gains_speed_for_23_ticks_and_then_keeps_16_sevenths():
    simulation = launched()
    expected, before = speeds(), 360.0
    assert len(expected) == 25
    assert expected[22] < 16 / 7 < expected[23] < 2.4
    for speed in [*expected[1:], 16 / 7, 16 / 7]:
        tick(simulation, 660.0, 300.0)
        x, y = place(simulation)
        assert (x, y) == (before + speed, 300.0)
        before = x


def test_a_turret_does_not_look_again_before_it_fires():
    simulation = Simulation(room((ROCKET, 60, 50), walls=[(20, row) for row in range(1, 20)]))
    tick(simulation, 400.0, 300.0)
    ticks(simulation, 15, 700.0, 200.0)
    assert int(simulation.flags[0]) == HOMING
    way = (float(simulation.movers["u"][0]), float(simulation.movers["v"][0]))
    d = math.sqrt(340.0 * 340.0 + 100.0 * 100.0)
    assert way == (340.0 / d, -100.0 / d)


def test_a_turret_begins_anew_if_the_target_is_lost_before_it_fires():
    simulation = Simulation(room((ROCKET, 60, 50)))
    ticks(simulation, 10, 660.0, 300.0)
    tick(simulation, 660.0, 300.0, state=CELEBRATING)
    assert int(simulation.flags[0]) == IDLE
    ticks(simulation, 15, 660.0, 300.0)
    assert int(simulation.flags[0]) == PREFIRE
    tick(simulation, 660.0, 300.0)
    assert int(simulation.flags[0]) == HOMING


def test_a_rocket_that_leaves_at_the_ninjas_place_flies_to_the_right():
    simulation = Simulation(room((ROCKET, 60, 50)))
    ticks(simulation, 15, 660.0, 300.0)
    n = simulation.ninja
    n["x"], n["y"], n["vx"], n["vy"] = 360.0, 300.0, 0.0, 12.0  # so fast that it is gone before the touch
    simulation.advance(NOTHING, 1)
    assert lives(simulation)
    assert (simulation.movers["u"][0], simulation.movers["v"][0]) == (1.0, 0.0)


@pytest.mark.parametrize(("away", "dies"), [(9.9, True), (10.1, False)])
def test_a_rocket_can_be_touched_in_the_tick_that_it_leaves(away, dies):
    simulation = launched(x=360.0 + away)
    assert lives(simulation) != dies
    assert int(simulation.flags[0]) == (IDLE if dies else HOMING)


def test_a_rocket_turns_by_the_cross_product_with_where_the_ninja_will_be():
    simulation = launched()
    speed = speeds()[1]
    x = 360.0 + speed
    # Where both will be in one and a half ticks, the ninja is 100 px to the right and 100 px below.
    tick(simulation, x + 1.5 * speed + 100.0 - 1.5 * 2.0, 400.0 + 1.5 * 0.5, vx=2.0, vy=-0.5)
    p = math.sqrt(0.5)
    turned = (1.0, (0.1 * 2 / 3) * p)
    length = math.hypot(*turned)
    way = float(simulation.movers["u"][0]), float(simulation.movers["v"][0])
    assert way == pytest.approx((turned[0] / length, turned[1] / length), abs=1e-12)
    # The new direction counts from the next tick on.
    assert place(simulation) == (x, 300.0)
    tick(simulation, 660.0, 400.0)
    assert place(simulation)[1] == 300.0 + speeds()[2] * way[1]


@pytest.mark.parametrize(("dx", "turns"), [(0.01, True), (-0.01, False), (-200.0, False)])
def test_a_rocket_flies_straight_past_what_is_beside_or_behind_it(dx, turns):
    simulation = launched()
    speed = speeds()[1]
    tick(simulation, 360.0 + speed + 1.5 * speed + dx, 400.0)
    assert (simulation.movers["v"][0] > 0) == turns


def test_a_rocket_without_a_target_flies_on_to_a_wall():
    simulation = launched(walls=[(20, 12)], x=440.0)
    x = 360.0
    for speed in speeds()[1:] + [16 / 7] * 60:
        tick(simulation, 660.0, 300.0, state=CELEBRATING)
        x += speed
        if x >= 480.0:
            break
        assert place(simulation) == (x, 300.0)
    # It met the wall on the way: the turret is idle, and nothing is listed.
    assert int(simulation.flags[0]) == IDLE
    assert int(simulation.movers["cell"][0]) == -1
    # The next look is in the next tick; the ninja is a target again.
    tick(simulation, 300.0, 300.0)
    assert int(simulation.flags[0]) == PREFIRE


@pytest.mark.parametrize(("flag", "passes"), [(0, False), (3, True)])
def test_a_rocket_passes_open_doors_only(flag, passes):
    simulation = launched((6, 64, 50, 0), (7, *FAR_AWAY), x=380.0, y=250.0)
    ticks(simulation, 5, 380.0, 250.0)
    simulation.flags[1] = flag
    simulation.movers["u"][0], simulation.movers["v"][0] = 1.0, 0.0
    ticks(simulation, 40, 380.0, 250.0, state=CELEBRATING)
    assert (int(simulation.flags[0]) == HOMING) == passes


@pytest.mark.parametrize(("away", "dies"), [(9.999, True), (10.0, False)])
def test_a_rocket_kills_below_ten_pixels(away, dies):
    simulation = launched()
    simulation.movers["x"][0], simulation.movers["y"][0] = 500.0, 300.0
    simulation.movers["turn"][0] = 30  # at its highest speed
    n = simulation.ninja
    # The touch comes after both have moved: the rocket by 16/7 to the right, the ninja to 300 - 10 above it.
    n["x"], n["y"], n["vx"], n["vy"], n["state"] = 500.0 + 16 / 7, 300.0 - away, 0.0, 0.0, FALLING
    gravity = float(n["g"])
    n["y"] -= gravity
    simulation.advance(NOTHING, 1)
    assert lives(simulation) != dies
    assert (int(simulation.movers["cell"][0]) == -1) == dies


@pytest.mark.parametrize(("pad", "outcome"), [((10, 64, 51, 6), "alive"), ((10, 63, 51, 6), "died")])
def test_a_rocket_acts_in_the_order_of_the_lists(pad, outcome):
    # The ninja is at (382, 300), in column 15; the rocket at its turret in the same cell. A launch pad at x = 384 lies
    # in column 16, behind it; one at 378 in the rocket's cell, where the rocket was listed later.
    simulation = Simulation(room((ROCKET, 63, 50), pad, ninja=(20, 78)))
    ticks(simulation, 15, 660.0, 300.0)
    n = simulation.ninja
    n["x"], n["y"], n["vx"], n["vy"] = 382.0, 300.0, 0.0, 0.0
    simulation.advance(NOTHING, 1)
    assert int(simulation.flags[0]) == IDLE
    assert simulation.outcome == outcome


def test_a_rocket_is_listed_anew_when_it_enters_a_cell():
    simulation = launched()
    stamp = int(simulation.movers["stamp"][0])
    for _ in range(60):
        tick(simulation, 660.0, 300.0)
        x, y = place(simulation)
        assert int(simulation.movers["cell"][0]) == int(x // 24) * 25 + int(y // 24)
    # From x = 360 to about 470 it has entered columns 16, 17, 18 and 19.
    assert int(x // 24) == 19
    assert int(simulation.movers["stamp"][0]) == stamp + 4
