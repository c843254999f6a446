"""Rules of the ninja itself, against expectations worked out by hand."""

from __future__ import annotations

import math

import pytest

from sim.rooms import LEFT, NOTHING, RIGHT, STANDING_Y, hover, play, room

DRAG = float.fromhex("0x1.fc94b94afbccdp-1")
A_FLOOR = float.fromhex("0x1.1111111111110p-4")


@pytest.mark.parametrize(
    ("spawn", "byte", "x"),
    [(36, RIGHT, 49.23232124849253), (48, RIGHT, 50.51197510492316), (60, LEFT, 49.153536108584795)],
)
def test_three_places_near_the_left_wall_count_as_uphill(spawn, byte, x):
    # Running uphill adds half the acceleration of the floor once more; here the slope is too small for anything else.
    simulation = play(room(ninja=(spawn // 6, 78)))
    sign = 1 if byte == RIGHT else -1
    while simulation.ninja["x"] != x:
        before = float(simulation.ninja["vx"])
        simulation.advance(byte)
        assert simulation.ninja["frame"] < 40
    assert simulation.ninja["vx"] == pytest.approx(before * DRAG + sign * 1.5 * A_FLOOR, abs=1e-12)
    before = float(simulation.ninja["vx"])
    simulation.advance(byte)
    assert simulation.ninja["vx"] == pytest.approx(before * DRAG + sign * A_FLOOR, abs=1e-12)


@pytest.mark.parametrize(
    ("x", "y", "vx", "vy", "outcome"),
    [
        # Floor, and ceiling: 6 - 4 / 3.
        (120, STANDING_Y + 0.5, 0, 4.6, "alive"),
        (120, STANDING_Y + 0.5, 0, 4.7, "died"),
        (120, 33.5, 0, -4.6, "alive"),
        (120, 33.5, 0, -4.7, "died"),
        # Wall: 6.
        (33.5, 240, -5.95, 0, "alive"),
        (33.5, 240, -6.05, 0, "died"),
        # A slope of 45 degrees takes sqrt(1 / 2) of a fall: 7.15 is 6 - 4 / 3 * sqrt(1 / 2) against it.
        (365, 245.4, 0, 7.1, "alive"),
        (365, 245.4, 0, 7.2, "died"),
        # Along the slope no speed is too much.
        (365, 245.4, 7, -7, "alive"),
    ],
)
def test_an_impact_kills_by_its_speed_against_the_surface(x, y, vx, vy, outcome):
    simulation = play(room(shapes={(15, 10): 8}), NOTHING)
    hover(simulation, x, y, vx, vy)
    simulation.advance(NOTHING)
    assert simulation.outcome == outcome
    assert simulation.ninja["air"] == (vy <= 0 and vx <= 0)


def test_a_fast_ninja_is_stopped_by_a_quarter_pipe():
    # The pipe's centre is (360, 240), its radius 24. Falling 6 px right of the centre the ninja is stopped 5 px from
    # the arc, and then pushed towards the centre until it is 10 px from it.
    simulation = play(room(shapes={(15, 10): 16}), NOTHING)
    hover(simulation, 366, 263, vy=20)
    simulation.advance(NOTHING)
    assert simulation.ninja["x"] == pytest.approx(360 + 6 / 19 * 14, abs=1e-6)
    assert simulation.ninja["y"] == pytest.approx(240 + math.sqrt(19**2 - 6**2) / 19 * 14, abs=1e-6)


@pytest.mark.parametrize(("byte", "sign"), [(NOTHING, 0), (RIGHT, 1), (LEFT, -1), (LEFT | RIGHT, -1)])
def test_left_wins_over_right(byte, sign):
    simulation = play(room(), (byte, 10))
    assert math.copysign(1, simulation.ninja["vx"]) * (simulation.ninja["vx"] != 0) == sign
    assert simulation.ninja["h"] == sign


@pytest.mark.parametrize(("tile", "ux", "uy"), [(34, 0, -1), (35, 1, 0), (36, 0, 1), (37, -1, 0)])
def test_a_tile_of_one_edge_is_a_wall_to_what_comes_from_outside(tile, ux, uy):
    # The tile's middle is (372, 252); the ninja comes within 9 px of its edge.
    simulation = play(room(shapes={(15, 10): tile}), NOTHING)
    hover(simulation, 372 + 21 * ux, 252 + 21 * uy, -0.5 * ux, -0.5 * uy)
    simulation.advance(NOTHING)
    assert simulation.ninja["x"] == pytest.approx(372 + 22 * ux, abs=1e-6)
    assert simulation.ninja["y"] == pytest.approx(252 + 22 * uy, abs=1e-6)
