"""Death balls, against expectations worked out by hand."""

from __future__ import annotations

import math

import pytest

from sim.rooms import NOTHING, play, room


def position(simulation) -> tuple[float, float]:
    return float(simulation.movers["x"][0]), float(simulation.movers["y"][0])


def distance(simulation) -> float:
    x, y = position(simulation)
    return math.hypot(simulation.ninja["x"] - x, simulation.ninja["y"] - y)


def test_a_death_ball_is_drawn_to_the_ninja_and_kills():
    simulation = play(room((25, 70, 60)), NOTHING)
    dx, dy = 120 - 420, 468 - 360
    d = math.sqrt(dx * dx + dy * dy)
    assert position(simulation) == (420 + dx / d * 0.04, 360 + dy / d * 0.04)
    previous = 999.0
    while simulation.outcome == "alive":
        assert previous >= 15
        simulation.advance(NOTHING)
        # 0.85 is where the brake begins; a pull of 0.04 and a brake of a tenth balance 0.36 above it.
        previous = distance(simulation)
        speed = math.hypot(simulation.movers["u"][0], simulation.movers["v"][0])
        assert simulation.outcome == "died" or speed <= 0.85 + 0.36 + 1e-9
    assert previous < 15


@pytest.mark.parametrize(("counted", "bounces"), [(2, True), (1, False)])
def test_death_balls_repel_as_many_as_the_count_says(counted, bounces):
    simulation = play(room((25, 70, 60), (25, 72, 60), counts={25: counted}), NOTHING)
    apart = abs(simulation.movers["u"][0] - simulation.movers["u"][1])
    assert (apart > 7) == bounces
    assert (apart < 0.1) == (not bounces)


def test_balls_beyond_the_count_are_partners_of_the_others():
    # The third lies beside the first; only two are counted, so that the second would repel nobody.
    simulation = play(room((25, 70, 60), (25, 100, 20), (25, 72, 60), counts={25: 2}), NOTHING)
    assert simulation.movers["u"][2] - simulation.movers["u"][0] > 7


def pulled(u: float, v: float, dx: float, dy: float) -> tuple[float, float]:
    """A ball's velocity after the pull of a ninja in this direction, and the brake."""
    d = math.sqrt(dx * dx + dy * dy)
    u, v = u + dx / d * 0.04, v + dy / d * 0.04
    speed = math.sqrt(u * u + v * v)
    assert speed > 1
    braked = (speed - 0.85) * 0.9 + 0.85
    return u / speed * braked, v / speed * braked


def test_a_fast_ball_is_stopped_four_pixels_from_the_floor_pushed_out_to_eight_and_bounces():
    simulation = play(room((25, 70, 60)))
    simulation.movers["y"][0] = 460
    simulation.movers["u"][0], simulation.movers["v"][0] = 10, 20
    u, v = pulled(10, 20, 120 - 420, 468 - 460)
    simulation.advance(NOTHING)
    assert position(simulation) == pytest.approx((420 + 16 / v * u, 472), abs=1e-9)
    assert (simulation.movers["u"][0], simulation.movers["v"][0]) == pytest.approx((u, -v), abs=1e-9)


def test_a_slow_ball_loses_its_speed_against_the_floor():
    simulation = play(room((25, 70, 60)))
    simulation.movers["y"][0] = 471.8
    simulation.movers["u"][0], simulation.movers["v"][0] = 0.5, 1.0
    u, _ = pulled(0.5, 1.0, 120 - 420, 468 - 471.8)
    simulation.advance(NOTHING)
    assert position(simulation)[1] == pytest.approx(472, abs=1e-9)
    assert (simulation.movers["u"][0], simulation.movers["v"][0]) == pytest.approx((u, 0), abs=1e-9)
