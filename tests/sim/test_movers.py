"""Rules of the entities that move, against expectations worked out by hand."""

from __future__ import annotations

import math

import pytest

from sim.rooms import LEFT, NOTHING, RIGHT, play, room, run_until

G_FALL = float.fromhex("0x1.1111111111110p-4")
GUARD_SPEED = float.fromhex("0x1.b6db6db6db6dap+1")


def position(simulation, mover: int = 0) -> tuple[float, float]:
    return float(simulation.movers["x"][mover]), float(simulation.movers["y"][mover])


def furthest_right(simulation, ticks: int) -> float:
    furthest = 0.0
    for _ in range(ticks):
        simulation.advance(NOTHING)
        furthest = max(furthest, position(simulation)[0])
    return furthest


def distance(simulation, mover: int = 0) -> float:
    x, y = position(simulation, mover)
    return math.hypot(simulation.ninja["x"] - x, simulation.ninja["y"] - y)


def on_square(length: float, side: float, clockwise: bool) -> tuple[float, float]:
    """Where a drone is that has gone this far around a square, its first side downwards (or upwards)."""
    corners = [(0, 0), (0, 1), (-1, 1), (-1, 0)] if clockwise else [(0, 0), (0, -1), (-1, -1), (-1, 0)]
    k, rest = divmod(length % (4 * side), side)
    (x1, y1), (x2, y2) = corners[int(k)], corners[(int(k) + 1) % 4]
    return side * x1 + rest * (x2 - x1), side * y1 + rest * (y2 - y1)


@pytest.mark.parametrize(("kind", "speed", "side"), [(14, 8 / 7, 24), (26, 1.3, 12)])
@pytest.mark.parametrize("mode", [0, 1])
def test_a_drone_in_the_open_goes_round_a_square(kind, speed, side, mode):
    simulation = play(room((kind, 60, 50, 0, mode)))
    for tick in range(1, 200):
        simulation.advance(NOTHING)
        dx, dy = on_square(tick * speed, side, clockwise=mode == 0)
        assert position(simulation) == pytest.approx((360 + dx, 300 + dy), abs=1e-9), tick


@pytest.mark.parametrize(("mode", "turn"), [(2, 1), (3, 3)])
def test_a_drone_that_goes_ahead_turns_only_when_blocked(mode, turn):
    # Right from (372, 300) in steps of 24, up to the tiles of column 19, which begin at x = 456.
    simulation = play(room((14, 62, 50, 0, mode), walls=[(19, 11), (19, 12), (19, 13)]))
    assert furthest_right(simulation, 90) == 444
    assert simulation.movers["turn"][0] == turn


def test_a_zap_drone_off_the_middle_of_its_row_meets_what_its_rim_meets():
    # Its rim reaches 1.5 px into the row below, where a tile begins at x = 456.
    simulation = play(room((14, 62, 51, 0, 2), walls=[(19, 13)]))
    assert furthest_right(simulation, 90) == 444


def test_a_drone_leaves_a_wall_that_its_back_overlaps():
    simulation = play(room((14, 65, 50, 0, 2), walls=[(15, 12)]), (NOTHING, 10))
    assert position(simulation) == pytest.approx((390 + 10 * 8 / 7, 300), abs=1e-9)


def test_a_drone_without_a_way_rests():
    around = [(14, 12), (16, 12), (15, 11), (15, 13)]
    simulation = play(room((14, 62, 50, 0, 0), walls=around), (NOTHING, 50))
    assert position(simulation) == (372, 300)


@pytest.mark.parametrize(("kind", "reach"), [(14, 17.5), (26, 14)])
def test_drones_kill(kind, reach):
    simulation = play(room((kind, 50, 78, 0, 0)))
    previous = 999.0
    while simulation.outcome == "alive":
        assert previous >= reach
        simulation.advance(RIGHT)
        previous = distance(simulation)
    assert simulation.outcome == "died"
    assert previous < reach


def test_a_floor_guard_runs_at_the_ninja_it_sees():
    simulation = play(room((16, 80, 79)), NOTHING)
    assert position(simulation) == (480, 474)
    assert simulation.movers["phase"][0] == -1
    simulation.advance(NOTHING)
    assert position(simulation) == (480 - GUARD_SPEED, 474)
    run_until(simulation, NOTHING, lambda s: s.outcome == "died")
    assert distance(simulation) < 16 <= distance(simulation) + GUARD_SPEED


def test_a_floor_guard_does_not_see_through_walls_nor_upwards():
    assert play(room((16, 80, 79), walls=[(12, 19)]), (NOTHING, 60)).movers["x"][0] == 480
    assert play(room((16, 80, 79), (11, 20, 60, 6), ninja=(20, 58)), (NOTHING, 60)).movers["x"][0] == 480


@pytest.mark.parametrize(("switch", "sees"), [((200, 10), False), ((20, 78), True)])
def test_a_floor_guard_does_not_see_through_a_closed_door(switch, sees):
    simulation = play(room((16, 80, 79), (6, 52, 78, 0), (7, *switch)), (NOTHING, 30))
    assert (position(simulation)[0] < 480) == sees


def test_a_mini_drone_turns_at_the_upper_half_of_a_closed_door():
    # Right from (246, 462) in steps of 12 px, up to the door at x = 312.
    simulation = play(room((26, 41, 77, 0, 2), (6, 52, 78, 0), (7, 200, 10), ninja=(150, 78)))
    assert furthest_right(simulation, 120) == 306


def test_a_floor_guard_stops_at_the_end_of_its_floor():
    simulation = play(room((16, 80, 79), holes=[(12, 20)]), (NOTHING, 90))
    assert position(simulation) == (12 * 26 + (6 + 0.01), 474)
    assert simulation.outcome == "alive"


def test_a_floor_guard_stops_where_a_slope_cuts_its_floor():
    # The right half of the top of tile 8, from x = 372 to 384, is cut by its slope.
    simulation = play(room((16, 80, 79), shapes={(15, 20): 8}), (NOTHING, 90))
    assert position(simulation) == (12 * 32 + (6 + 0.01), 474)


def test_a_bounce_block_takes_four_fifths_of_the_push():
    # Centres 18 apart, reach 19: after the first tick of gravity the ninja is 1 + G_FALL deep.
    simulation = play(room((17, 20, 67), ninja=(20, 64)), NOTHING)
    depth = 1 + G_FALL
    assert simulation.movers["y"][0] == pytest.approx(402 + 0.8 * depth, abs=1e-9)
    assert simulation.movers["v"][0] == pytest.approx(0.8 * depth, abs=1e-9)
    assert simulation.ninja["y"] == pytest.approx(384 + G_FALL - 0.2 * depth, abs=1e-9)
    assert simulation.ninja["vy"] == pytest.approx(G_FALL - 0.2 * depth, abs=1e-9)


def test_a_bounce_block_swings_back_to_its_origin():
    simulation = play(room((17, 20, 67), ninja=(20, 64)), NOTHING)
    lone = play(room((17, 20, 67)))
    assert position(lone) == (120, 402)
    y, v = float(simulation.movers["y"][0]), float(simulation.movers["v"][0])
    # Another ninja far away, the same block: one free step of the spring.
    lone.movers["y"][0], lone.movers["v"][0] = y, v
    lone.advance(NOTHING)
    v *= 0.98
    force = float.fromhex("0x1.6c16c16c16c16p-6") * (402 - (y + v))
    assert lone.movers["y"][0] == y + v + force
    assert lone.movers["v"][0] == v + force


def test_a_thwump_charges_kills_with_its_front_and_returns():
    simulation = play(room((20, 60, 77, 4)), NOTHING)
    assert (position(simulation), simulation.movers["phase"][0]) == ((360, 462), 1)
    x = 360.0
    while simulation.movers["phase"][0] == 1:
        assert position(simulation) == (x, 462)
        x += -1 * (20 / 7)
        simulation.advance(NOTHING, 1, stop=False)
    assert simulation.outcome == "died"
    # Blocked by the ring at x = 24, which its edge (11 px) may not pass; it turns where it is.
    x = position(simulation)[0]
    assert 24 + 11 <= x < 24 + 11 + 20 / 7
    while simulation.movers["phase"][0] == -1:
        assert position(simulation)[0] == x
        x += 8 / 7
        simulation.advance(NOTHING, 1, stop=False)
    assert (position(simulation), simulation.movers["phase"][0]) == ((360, 462), 0)
    simulation.advance(NOTHING, 50, stop=False)
    assert position(simulation) == (360, 462)


@pytest.mark.parametrize(
    "options",
    [
        {"ninja": (100, 78)},  # behind it
        {"walls": [(10, 19), (10, 18)]},  # behind an obstacle
        {"ninja": (20, 60)},  # out of its lane, held there by a one-way
    ],
)
def test_a_thwump_charges_only_at_what_is_before_it_in_its_lane(options):
    level = room((20, 60, 77, 4), (11, 20, 62, 6), **options)
    assert play(level, (NOTHING, 60)).movers["phase"][0] == 0


def test_a_thwump_is_safe_to_stand_on():
    simulation = play(room((20, 20, 77, 2), ninja=(20, 72)), (NOTHING, 60))
    assert simulation.outcome == "alive"
    assert simulation.ninja["y"] == 462 - 19
    assert simulation.ninja["state"] == 0


def test_a_shove_thwump_flies_from_the_ninja_that_leaves_it_and_returns():
    simulation = play(room((28, 40, 76)))
    run_until(simulation, RIGHT, lambda s: s.movers["phase"][0] == 1)
    assert 240 - 22.1 - simulation.ninja["x"] + 0.11 >= 0
    assert (simulation.movers["u"][0], simulation.movers["v"][0]) == (-1, 0)
    run_until(simulation, LEFT, lambda s: s.movers["phase"][0] == 2)
    x = position(simulation)[0]
    assert x == 244
    while simulation.movers["phase"][0] == 2:
        assert position(simulation) == (x, 456)
        x += 4
        simulation.advance(LEFT)
    assert 1032 - 4 <= position(simulation)[0] < 1032
    x = position(simulation)[0]
    for _ in range(100):
        x -= 1
        simulation.advance(LEFT)
        assert position(simulation) == (x, 456)
    # It steps by whole pixels onto its place, and rests from the tick after on.
    run_until(simulation, NOTHING, lambda s: position(s) == (240, 456), limit=800)
    assert simulation.movers["phase"][0] == 3
    simulation.advance(NOTHING)
    assert (position(simulation), simulation.movers["phase"][0]) == ((240, 456), 0)
