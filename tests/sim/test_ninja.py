"""Rules of the ninja itself, against expectations worked out by hand."""

from __future__ import annotations

import pytest

from sim.rooms import LEFT, RIGHT, play, room

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
