"""Laser turrets, against expectations worked out by hand."""

from __future__ import annotations

import math

import pytest

from sim.rooms import NOTHING, play, room, run_until

FAR = (200, 10)
HALF_HIGH, SLOPE_UP_TO_THE_RIGHT = 4, 8


def position(simulation) -> tuple[float, float]:
    return float(simulation.movers["x"][0]), float(simulation.movers["y"][0])


@pytest.mark.parametrize(("mode", "sense"), [(0, 1), (1, -1), (7, 1)])
def test_a_laser_in_the_open_spins(mode, sense):
    simulation = play(room((23, 120, 40, 2, mode)))
    angle = math.pi / 2
    for _ in range(700):
        simulation.advance(NOTHING, 1, stop=False)
        angle = (angle + sense * 0.010471975) % (2 * math.pi)
        assert simulation.movers["u"][0] == pytest.approx(angle, abs=1e-9)
    assert position(simulation) == (720, 240)


def test_a_laser_kills_what_its_beam_meets():
    # The beam begins to the right and turns clockwise; the ninja rests straight below, 170 px away.
    simulation = play(room((23, 20, 50, 0)))
    needed = (math.pi / 2 - math.asin(10 / 170)) / 0.010471975
    died = run_until(simulation, NOTHING, lambda s: s.outcome == "died")
    assert died == math.floor(needed) + 2  # the test looks at the beam as the tick before left it
    assert play(room((23, 20, 50, 2)), NOTHING).outcome == "died"


def test_a_laser_does_not_kill_through_walls():
    shelter = room((23, 20, 50, 0), walls=[(4, 16), (5, 16), (6, 16)])
    assert play(shelter, (NOTHING, 590)).outcome == "alive"


@pytest.mark.parametrize(("mode", "sense"), [(0, 1), (1, -1)])
def test_a_laser_on_a_wall_crawls_a_pixel_a_tick(mode, sense):
    simulation = play(room((23, 100, 79, 0, mode), ninja=(20, 2), walls=[(4, 1), (5, 1)]))
    assert position(simulation) == pytest.approx((600, 480 - 5.9), abs=1e-9)
    assert simulation.movers["u"][0] == pytest.approx(-math.pi / 2)
    for tick in range(1, 300):
        simulation.advance(NOTHING, 1, stop=False)
        assert position(simulation) == pytest.approx((600 + sense * tick, 480 - 5.9), abs=1e-6)


def test_a_crawling_laser_turns_back_where_a_wall_stands_square_on_its_floor():
    simulation = play(room((23, 168, 79, 0, 0)))
    for _ in range(100):
        simulation.advance(NOTHING, 1, stop=False)
    # 18.1 px to the wall at x = 1032, the rest back.
    x, y = position(simulation)
    assert x == pytest.approx(1026.1 - 81.9, abs=0.2)
    assert y == pytest.approx(474.1, abs=1e-6)
    assert simulation.movers["phase"][0] == -1


def test_a_crawling_laser_goes_around_a_block():
    simulation = play(room((23, 82, 47, 0, 0), walls=[(20, 12)]))
    sides = set()
    for _ in range(400):
        x, y = position(simulation)
        out_x, out_y = max(480 - x, x - 504, 0), max(288 - y, y - 312, 0)
        assert math.hypot(out_x, out_y) == pytest.approx(5.9, abs=1e-6)
        if min(out_x, out_y) == 0:
            sides.add((out_x > 0, x > 492 if out_x else y > 300))
        simulation.advance(NOTHING, 1, stop=False)
    assert len(sides) == 4


def test_a_crawling_laser_turns_back_at_a_door():
    level = room((23, 168, 79, 0, 0), (6, 172, 78, 0), (7, *FAR))
    simulation = play(level)
    furthest = 0.0
    for _ in range(100):
        simulation.advance(NOTHING, 1, stop=False)
        furthest = max(furthest, position(simulation)[0])
    assert furthest < 1032
    assert position(simulation)[0] < 1000


@pytest.mark.parametrize(("shelter", "outcome"), [({(6, 19): HALF_HIGH}, "alive"), ({}, "died")])
def test_a_laser_does_not_kill_what_it_does_not_see(shelter, outcome):
    # The turret stands 18 px above the floor, the half tile is 12 high, the ninja's centre 10 and its head 20: a level
    # beam passes over the tile and through the head, while the line to the centre ends at the tile. The beam comes from
    # above and is level after 75 ticks of 0.6 degrees; soon afterwards it meets the floor in front of the tile.
    simulation = play(room((23, 80, 77, 5, 1), shapes=shelter), (NOTHING, 85))
    assert simulation.outcome == outcome


@pytest.mark.parametrize(("mode", "side_x"), [(0, 504 + 5.9), (1, 480 - 5.9)])
def test_a_crawling_laser_takes_28_ticks_to_turn_around_a_corner(mode, side_x):
    # 12 px along the top of the block, a quarter turn of 0.05524805665672641 a tick, 12 px down its side.
    simulation = play(room((23, 82, 47, 0, mode), walls=[(20, 12)]))
    ticks = run_until(simulation, NOTHING, lambda s: s.movers["y"][0] >= 300)
    assert position(simulation)[0] == pytest.approx(side_x, abs=1e-6)
    assert ticks == pytest.approx(24 + math.pi / 2 / 0.05524805665672641, abs=1.5)


@pytest.mark.parametrize("mode", [0, 1])
def test_the_beam_of_a_crawling_laser_points_away_from_its_block(mode):
    simulation = play(room((23, 82, 47, 0, mode), walls=[(20, 12)]))
    for _ in range(450):
        x, y = position(simulation)
        out_x, out_y = x - min(max(x, 480), 504), y - min(max(y, 288), 312)
        angle = simulation.movers["u"][0]
        assert (math.cos(angle), math.sin(angle)) == pytest.approx((out_x / 5.9, out_y / 5.9), abs=1e-6)
        simulation.advance(NOTHING, 1, stop=False)


def test_the_beam_follows_a_slope_in_small_turns():
    # From a level floor (the normal points up) on to a slope of 45 degrees (up and to the left).
    simulation = play(room((23, 100, 79, 0, 0), shapes={(27, 19): SLOPE_UP_TO_THE_RIGHT}))
    run_until(simulation, NOTHING, lambda s: s.movers["v"][0] < -2)
    for turns in range(1, 8):
        assert simulation.movers["v"][0] == pytest.approx(-math.pi * 3 / 4, abs=1e-9)
        assert simulation.movers["u"][0] == pytest.approx(-math.pi / 2 - turns * 0.11049611331345282, abs=1e-9)
        simulation.advance(NOTHING, 1, stop=False)
    assert simulation.movers["u"][0] == simulation.movers["v"][0]
