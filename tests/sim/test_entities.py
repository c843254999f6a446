"""Rules of the entities that stay where they are, against expectations worked out by hand."""

from __future__ import annotations

import math

import pytest

from sim.rooms import JUMP, LEFT, NOTHING, RIGHT, STANDING_Y, play, room, run_until

G_FALL = float.fromhex("0x1.1111111111110p-4")
DRAG = float.fromhex("0x1.fc94b94afbccdp-1")
DEAD, CELEBRATING, FALLING = 6, 8, 4


def distance(simulation, x, y) -> float:
    return math.sqrt((simulation.ninja["x"] - x) ** 2 + (simulation.ninja["y"] - y) ** 2)


def test_the_ninja_falls_and_stands():
    first = play(room(), NOTHING)
    assert first.ninja["y"] == 468 + G_FALL
    settled = play(room(), (NOTHING, 30))
    assert (settled.ninja["x"], settled.ninja["y"], settled.ninja["vy"]) == (120, STANDING_Y, 0)
    assert settled.ninja["state"] == 0


@pytest.mark.parametrize(("spawn_y", "outcome"), [(20, "died"), (62, "alive")])
def test_a_fall_kills_above_an_impact_of_six_less_four_thirds(spawn_y, outcome):
    simulation = play(room(ninja=(20, spawn_y)))
    fastest = 0.0
    while simulation.ninja["air"] or simulation.ninja["frame"] == 0:
        fastest = simulation.ninja["vy"] * DRAG + simulation.ninja["g"]
        if not simulation.advance(NOTHING):
            break
    assert simulation.outcome == outcome
    assert (fastest > 6 - 4 / 3) == (outcome == "died")


def test_a_mine_kills_within_fourteen_pixels_and_the_dead_stay():
    simulation = play(room((1, 40, 78)))
    previous = 999.0
    while simulation.outcome == "alive":
        assert previous >= 14
        simulation.advance(RIGHT)
        previous = distance(simulation, 240, 468)
    assert previous < 14
    assert simulation.flags.tolist() == [1]
    body = simulation.state[:32].tobytes()
    simulation.advance(RIGHT | JUMP, 20, stop=False)
    assert simulation.state[:32].tobytes() == body
    assert simulation.ninja["frame"] > 20


def test_a_toggle_mine_arms_when_the_ninja_has_left_it():
    simulation = play(room((21, 30, 78)))
    mode, seen = 1, set()
    for _ in range(70):
        near = distance(simulation, 180, 468)  # its rule sees the ninja as the tick before left it
        simulation.advance(RIGHT)
        if mode == 2 and not near < 14.5:
            mode = 0
        elif mode == 1 and near < 13.5:
            mode = 2
        assert simulation.flags[0] == mode
        seen.add(mode)
    assert seen == {0, 1, 2}
    assert simulation.outcome == "alive"
    run_until(simulation, LEFT, lambda s: s.outcome == "died")
    assert distance(simulation, 180, 468) < 14
    assert simulation.flags[0] == 1


def test_gold_counts_once_within_sixteen_pixels():
    simulation = play(room((2, 30, 78), (2, 60, 40)))
    run_until(simulation, RIGHT, lambda s: s.ninja["gold"] == 1)
    assert 16 - 3.4 < distance(simulation, 180, 468) < 16
    simulation.advance(RIGHT, 40)
    simulation.advance(LEFT, 100)
    assert simulation.ninja["gold"] == 1
    assert simulation.flags.tolist() == [1, 0]


def test_the_exit_opens_with_its_switch_and_is_met_from_the_next_tick_on():
    simulation = play(room((3, 40, 78), (4, 40, 78)))
    switched = run_until(simulation, RIGHT, lambda s: s.flags[0] == 1)
    assert simulation.outcome == "alive"
    assert distance(simulation, 240, 468) < 16
    simulation.advance(RIGHT)
    assert simulation.outcome == "won"
    assert simulation.ninja["state"] == CELEBRATING
    assert simulation.ninja["frame"] == switched + 1
    assert simulation.ninja["fraction"] == 0  # it was inside before the tick


def test_a_closed_exit_is_nothing_and_the_fraction_tells_when_it_was_met():
    simulation = play(room((3, 40, 78), (4, 30, 78)))
    passing = play(room((3, 24, 78), (4, 200, 10)), (RIGHT, 60))
    assert passing.outcome == "alive"
    x, y = 0.0, 0.0
    while simulation.outcome == "alive":
        x, y = float(simulation.ninja["x"]), float(simulation.ninja["y"])
        simulation.advance(RIGHT)
    assert distance(simulation, 240, 468) < 22
    vx, vy = simulation.ninja["x"] - x, simulation.ninja["y"] - y
    dx, dy = x - 240, y - 468
    gap, p, w = dx * dx + dy * dy - 22.0 * 22.0, dx * vx + dy * vy, vx * vx + vy * vy
    assert simulation.ninja["fraction"] == (-p - math.sqrt(p * p - w * gap)) / w
    assert 0 < simulation.ninja["fraction"] < 1


def test_a_winner_that_rises_falls_like_everybody():
    # The switch lies at its feet, the exit is met in the middle of a jump that goes on being held.
    simulation = play(room((3, 20, 70), (4, 20, 78)), (NOTHING, 10))
    run_until(simulation, JUMP, lambda s: s.outcome == "won")
    vy = float(simulation.ninja["vy"])
    assert vy < -1
    simulation.advance(JUMP, 1, stop=False)
    assert simulation.ninja["vy"] == vy * DRAG + G_FALL


def test_each_switch_opens_its_own_exit():
    # Two exits, then two switches in the same order; the ninja meets the second switch and then both exits.
    level = room((3, 40, 78), (3, 60, 78), (4, 200, 10), (4, 28, 78))
    simulation = play(level)
    run_until(simulation, RIGHT, lambda s: s.outcome == "won")
    assert simulation.ninja["x"] > 360 - 22
    assert simulation.flags.tolist() == [0, 1]


def test_a_regular_door_opens_at_touch_and_closes_six_ticks_later():
    simulation = play(room((5, 40, 78, 0)))
    last_touch = opened = closed = None
    for tick in range(1, 120):
        simulation.advance(RIGHT)
        if distance(simulation, 240, 468) < 20:
            last_touch = tick
            opened = opened or tick
            assert simulation.flags[0] == 1
        elif opened and closed is None and not simulation.flags[0] & 1:
            closed = tick
    assert closed == last_touch + 6
    assert simulation.ninja["x"] > 260


def test_a_locked_door_blocks_until_its_switch_is_touched():
    closed = play(room((6, 40, 78, 0), (7, 200, 10)), (RIGHT, 150))
    assert closed.ninja["x"] == 230
    assert (closed.ninja["walled"], closed.ninja["wn"]) == (1, -1)
    assert closed.flags.tolist() == [0]
    opened = play(room((6, 40, 78, 0), (7, 30, 78)), (RIGHT, 150))
    assert opened.ninja["x"] > 250
    assert opened.flags[0] & 1


def test_a_trap_door_is_open_until_its_switch_is_touched():
    free = play(room((8, 40, 78, 0), (9, 200, 10)), (RIGHT, 150))
    assert free.ninja["x"] > 250
    trapped = play(room((8, 40, 78, 0), (9, 30, 78)), (RIGHT, 150))
    assert trapped.ninja["x"] == 230


def test_a_lying_door_carries_the_ninja():
    simulation = play(room((6, 20, 60, 2), (7, 200, 10), ninja=(20, 55)), (NOTHING, 90))
    assert simulation.ninja["y"] == 360 - 10
    assert simulation.ninja["state"] == 0


@pytest.mark.parametrize(
    ("orientation", "fx", "fy"),
    [
        (6, 0.0, -36 / 7 * 2.0),
        (0, 36 / 7, 0.0),
        (4, -36 / 7, 0.0),
        (7, 0.7071067811865476 * (36 / 7), -0.7071067811865476 * (36 / 7) * (1 + 0.7071067811865476)),
    ],
)
def test_a_launch_pad_replaces_the_velocity(orientation, fx, fy):
    # The pad lies at the ninja's centre, so that it is in front of every side.
    simulation = play(room((10, 20, 60, orientation), ninja=(20, 60)), NOTHING)
    bx, by = fx * 2 / 3, fy * 2 / 3
    n = simulation.ninja
    assert (n["vx"], n["vy"]) == (bx, by)
    assert n["x"] == 120 + bx
    assert n["y"] == 360 + G_FALL + by
    assert n["state"] == FALLING


def test_a_launch_pad_acts_once_the_edge_of_the_ninja_has_reached_its_plane():
    # It pushes down from y = 360. Both ninjas overlap its circle (16 px); the rear edge is at y - 10.
    before = play(room((10, 20, 60, 2), ninja=(20, 62)), NOTHING)
    assert before.ninja["vy"] == G_FALL
    reached = play(room((10, 20, 60, 2), ninja=(20, 61)), NOTHING)
    assert reached.ninja["vy"] == 36 / 7 * 2 / 3


def test_a_one_way_holds_from_its_front_only():
    above = play(room((11, 20, 72, 6), ninja=(20, 68)), (NOTHING, 60))
    assert (above.ninja["y"], above.ninja["state"]) == (422, 0)
    through = play(room((11, 20, 72, 6)), (NOTHING, 20), (JUMP, 45))
    assert through.ninja["y"] < 432 - 10
    run_until(through, NOTHING, lambda s: s.ninja["state"] == 0)
    assert through.ninja["y"] == 422


def test_an_upright_one_way_is_a_wall_to_its_front():
    level = room((11, 30, 78, 0))
    from_behind = play(level, (RIGHT, 100))
    assert from_behind.ninja["x"] > 200
    run_until(from_behind, LEFT, lambda s: s.ninja["walled"] == 1)
    assert from_behind.ninja["x"] == 190
    assert from_behind.ninja["wn"] == 1


def test_a_boost_pad_adds_two_once_per_entry():
    with_pad, without = play(room((24, 30, 78))), play(room())
    for _ in range(200):
        touching = distance(without, 180, 468) < 16
        x, vx = float(without.ninja["x"]), float(without.ninja["vx"])
        with_pad.advance(RIGHT)
        without.advance(RIGHT)
        if touching:
            break
        assert with_pad.ninja["x"] == without.ninja["x"]
    assert with_pad.ninja["x"] == x + (vx + 2 * vx / math.sqrt(vx * vx)) * DRAG
    assert with_pad.flags.tolist() == [1]
    boosted = float(with_pad.ninja["vx"])
    with_pad.advance(RIGHT)
    assert with_pad.flags.tolist() == [1]
    assert with_pad.ninja["vx"] <= boosted
    with_pad.advance(RIGHT, 30)
    assert with_pad.flags.tolist() == [0]


@pytest.mark.parametrize(("records", "outcome"), [([14, 10], "alive"), ([10, 14], "died")])
def test_a_launch_pad_revives_what_an_entity_before_it_has_doomed(records, outcome):
    # Drone and pad share a place with the ninja; they act in the order of the map.
    simulation = play(room(*((kind, 20, 60, 6) for kind in records), ninja=(20, 60)), NOTHING)
    assert simulation.outcome == outcome
