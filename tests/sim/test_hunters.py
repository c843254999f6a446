"""Chasers and evil ninjas, against numbers worked out by hand."""

from __future__ import annotations

import pytest

from npp_env.errors import LevelError
from npp_env.sim import Simulation
from npp_env.sim.structs import CHASER_CALM, CHASER_CHASING, FOLLOWER_ACTIVE, FOLLOWER_ASLEEP, FOLLOWER_TOUCHED
from npp_env.sim.structs import FOLLOWER_WAITING as WAITING
from sim.rooms import room
from sim.shooting import CELEBRATING, DEAD, lives, place, tick, ticks

CHASER, EVIL, ZAP = 15, 22, 14
RIGHT, DOWN, LEFT, UP = 0, 2, 4, 6
CLOCKWISE, ANTICLOCKWISE, AHEAD = 0, 1, 2
FAR = (30.0, 30.0)
CALM_PX, CHASE_PX = 8 / 7, 16 / 7


# Chaser (6.19), at (372, 300), the middle of a cell, so that it reaches goals every 24 px; the ninja is put where it
# shall be seen at the moment of the advance pass.


def chaser(mode: int = AHEAD, orientation: int = RIGHT, records=(), **how) -> Simulation:
    return Simulation(room((CHASER, 62, 50, orientation, mode), *records, **how))


def state_of(simulation: Simulation) -> tuple[int, int]:
    """Phase and direction."""
    return int(simulation.movers["phase"][0]), int(simulation.movers["turn"][0])


def test_without_a_ninja_in_sight_it_flies_as_a_zap_drone_does():
    for mode in range(4):
        both = [Simulation(room((kind, 62, 50, RIGHT, mode), walls=[(18, 12), (15, 16)])) for kind in (CHASER, ZAP)]
        for _ in range(200):
            for simulation in both:
                tick(simulation, *FAR)
            assert place(both[0]) == place(both[1])


def test_it_begins_to_chase_at_a_goal_with_the_rest_of_the_tick_at_the_new_speed():
    simulation = chaser()
    tick(simulation, 600.0, 300.0)
    # Its first goal is its own place: d = 0.
    assert state_of(simulation) == (CHASER_CHASING, 0)
    assert place(simulation) == (372.0 + CHASE_PX, 300.0)
    tick(simulation, 600.0, 300.0)
    assert place(simulation) == (372.0 + CHASE_PX + CHASE_PX, 300.0)


def test_between_goals_it_looks_at_nothing():
    simulation = chaser()
    tick(simulation, *FAR)
    # 24 px at 8/7 take 21 ticks, give or take a rounding; up to then it does not see a ninja straight ahead of it.
    ticks(simulation, 19, 600.0, 300.0)
    assert state_of(simulation) == (CHASER_CALM, 0)
    assert place(simulation)[0] == pytest.approx(372 + 20 * CALM_PX)
    ticks(simulation, 2, 600.0, 300.0)
    assert state_of(simulation) == (CHASER_CHASING, 0)


@pytest.mark.parametrize(
    ("orientation", "x", "y", "direction"),
    [
        (RIGHT, 600.0, 300.0, 0),
        (RIGHT, 372.0, 100.0, 3),  # to its left hand: j = -1
        (RIGHT, 372.0, 440.0, 1),  # to its right hand: j = +1
        (LEFT, 100.0, 300.0, 2),
        (LEFT, 372.0, 440.0, 1),
        (UP, 372.0, 100.0, 3),
        (DOWN, 600.0, 300.0, 0),
    ],
)
def test_it_looks_ahead_and_to_both_hands(orientation, x, y, direction):
    simulation = chaser(orientation=orientation)
    tick(simulation, x, y)
    assert state_of(simulation) == (CHASER_CHASING, direction)


@pytest.mark.parametrize(("orientation", "x", "y"), [(RIGHT, 100.0, 300.0), (UP, 372.0, 440.0), (RIGHT, 372.0, 300.0)])
def test_it_does_not_look_behind_or_at_itself(orientation, x, y):
    simulation = chaser(orientation=orientation)
    tick(simulation, x, y)
    assert state_of(simulation)[0] == CHASER_CALM


def test_left_comes_before_ahead_and_ahead_before_right():
    # Within 12 px of both axes: above and ahead, or ahead and below. A ninja so near dies, which changes nothing here.
    simulation = chaser()
    tick(simulation, 372.0 + 11, 300.0 - 11)
    assert state_of(simulation) == (CHASER_CHASING, 3)
    simulation = chaser()
    tick(simulation, 372.0 + 11, 300.0 + 11)
    assert state_of(simulation) == (CHASER_CHASING, 0)


@pytest.mark.parametrize(("aside", "seen"), [(12.0, True), (-12.0, True), (12.0001, False), (-12.0001, False)])
def test_it_sees_up_to_twelve_pixels_beside_its_way(aside, seen):
    for x, y in ((600.0, 300.0 + aside), (372.0 + aside, 100.0)):
        simulation = chaser()
        tick(simulation, x, y)
        assert (state_of(simulation)[0] == CHASER_CHASING) == seen


@pytest.mark.parametrize("state", [DEAD, CELEBRATING])
def test_it_sees_only_a_target(state):
    simulation = chaser()
    tick(simulation, 600.0, 300.0, state=state)
    assert state_of(simulation)[0] == CHASER_CALM


def test_walls_and_closed_doors_hide_the_ninja():
    walled = chaser(walls=[(20, 12)])
    tick(walled, 600.0, 300.0)
    assert state_of(walled)[0] == CHASER_CALM
    # The ninja in the half cell before the wall is in sight.
    near = chaser(walls=[(20, 12)])
    tick(near, 470.0, 300.0)
    assert state_of(near)[0] == CHASER_CHASING
    for flag, seen in ((0, False), (3, True)):
        door = chaser(records=[(6, 80, 50, 0), (7, 10, 10)])
        door.flags[0] = flag
        tick(door, 600.0, 300.0)
        assert (state_of(door)[0] == CHASER_CHASING) == seen
    over = chaser(walls=[(15, 8)])
    tick(over, 372.0, 100.0)
    assert state_of(over)[0] == CHASER_CALM
    # A tile with a top edge alone, just below the ninja.
    edge = chaser(shapes={(15, 8): 34})
    tick(edge, 372.0, 190.0)
    assert state_of(edge)[0] == CHASER_CALM


def test_it_begins_no_chase_where_it_cannot_go():
    # A solid tile beside its own: the ninja below is in line, and nothing hides it but that tile's edge.
    simulation = chaser(walls=[(15, 13)])
    tick(simulation, 372.0, 330.0)
    assert state_of(simulation)[0] == CHASER_CALM


def test_a_chase_goes_on_without_the_ninja_until_something_is_in_the_way():
    simulation = chaser(walls=[(25, 12)])
    tick(simulation, 560.0, 300.0)
    ticks(simulation, 60, *FAR, state=DEAD)
    # Cells of columns 15 to 24 are free: the last goal is x = 588, and (588 - 372) / (16 / 7) = 94.5.
    assert state_of(simulation) == (CHASER_CHASING, 0)
    ticks(simulation, 33, *FAR)
    assert place(simulation) == pytest.approx((372 + 94 * CHASE_PX, 300))
    assert state_of(simulation) == (CHASER_CHASING, 0)


@pytest.mark.parametrize(
    ("mode", "direction"),
    # Ahead is blocked. Clockwise (first turn 1): from up, up + 1 = right is blocked, up + 0 is free. Anticlockwise
    # (first turn 3): from down, down + 3 = right is blocked, down + 0 is free. Ahead first (0): from right, right is
    # blocked, then + 1 is down, or + 3 is up.
    [(0, 3), (1, 1), (2, 1), (3, 3)],
)
def test_a_chase_ends_at_a_wall_and_turns_from_one_turn_back(mode, direction):
    simulation = chaser(mode=mode, walls=[(17, 12)])
    tick(simulation, 400.0, 300.0 - 12)
    assert state_of(simulation) == (CHASER_CHASING, 0)
    # The goal is x = 396, 24 px away: after 11 ticks it has 24 - 10 * 16/7 = 8/7 left, and its speed becomes 8/7.
    ticks(simulation, 9, *FAR)
    assert state_of(simulation) == (CHASER_CHASING, 0)
    tick(simulation, *FAR)
    assert state_of(simulation) == (CHASER_CALM, direction)
    assert place(simulation) == pytest.approx((396, 300), abs=1e-9)
    tick(simulation, *FAR)
    assert place(simulation) == pytest.approx((396, 300 + CALM_PX * (1 if direction == 1 else -1)), abs=1e-9)


def test_where_a_chase_ends_it_may_see_the_ninja_from_the_way_it_came():
    simulation = chaser(mode=CLOCKWISE, walls=[(17, 12)])
    tick(simulation, 390.0, 300.0 + 12)
    assert state_of(simulation) == (CHASER_CHASING, 0)
    ticks(simulation, 9, *FAR)
    # Base is right, as it flew: down is its right hand, though by its rule it would now turn from up.
    tick(simulation, 396.0, 440.0)
    assert state_of(simulation) == (CHASER_CHASING, 1)
    # 24 px at 16/7 take 10.5 ticks: 8/7 were left to the goal, so 8/7 of this tick go down.
    assert place(simulation) == pytest.approx((396, 300 + CALM_PX), abs=1e-9)


def test_a_chaser_shut_in_tries_again_in_every_tick():
    ring = [(14, 12), (16, 12), (15, 11), (15, 13)]
    door = [(5, 64, 50, 0)]
    shut = chaser(walls=ring)
    ticks(shut, 5, 600.0, 300.0)
    assert place(shut) == (372.0, 300.0)
    # The same with a door instead of the wall at its right: it flies on once that is open.
    opened = chaser(walls=[ring[0], *ring[2:]], records=door)
    ticks(opened, 5, 600.0, 300.0)
    assert place(opened) == (372.0, 300.0)
    opened.flags[0] = 1
    tick(opened, 600.0, 300.0)
    assert state_of(opened) == (CHASER_CHASING, 0)
    assert place(opened) == (372.0 + CHASE_PX, 300.0)


@pytest.mark.parametrize(("distance", "dies"), [(17.4, True), (17.6, False)])
def test_touching_it_kills(distance, dies):
    simulation = chaser(orientation=UP)
    tick(simulation, *FAR)
    x, y = place(simulation)
    # It flies up by 8/7 in the tick to come; the ninja, without gravity's first bit, falls by 1/15.
    tick(simulation, x + distance, y - CALM_PX - 1 / 15)
    assert lives(simulation) != dies


# Evil ninja (6.20), at (360, 300). A tick puts the ninja to a place and then moves it by gravity, so the path is read
# from the simulation.


class Path:
    """Plays ticks and notes where the ninja was after each."""

    def __init__(self, *records, **how) -> None:
        self.simulation = Simulation(room(*records, **how))
        self.after: dict[int, tuple[float, float]] = {}

    @property
    def frame(self) -> int:
        return int(self.simulation.ninja["frame"])

    def tick(self, x: float, y: float, **how: float) -> None:
        tick(self.simulation, x, y, **how)
        self.after[self.frame] = (float(self.simulation.ninja["x"]), float(self.simulation.ninja["y"]))

    def wander(self, until: int, **how: float) -> None:
        """Go on along a way that no two ticks share, far from everything."""
        while self.frame < until:
            self.tick(500.0 + self.frame * 0.25, 100.0 + self.frame % 7, **how)

    def phase(self, k: int = 0) -> int:
        return int(self.simulation.movers["phase"][k])


@pytest.mark.parametrize(("distance", "wakes"), [(19.9, True), (20.1, False)])
def test_it_wakes_at_the_first_touch(distance, wakes):
    path = Path((EVIL, 60, 50))
    path.tick(360.0 - distance, 300.0 - 1 / 15)
    assert path.phase() == (FOLLOWER_TOUCHED if wakes else FOLLOWER_ASLEEP)
    assert lives(path.simulation)


def test_only_a_target_wakes_it():
    path = Path((EVIL, 60, 50))
    path.tick(360.0, 300.0, state=CELEBRATING)
    assert path.phase() == FOLLOWER_ASLEEP


def test_it_follows_119_ticks_behind():
    path = Path((EVIL, 60, 50))
    path.wander(9)
    path.tick(360.0, 300.0)  # tick 10
    assert path.phase() == FOLLOWER_TOUCHED
    path.wander(11)
    assert path.phase() == WAITING
    path.wander(129)
    assert path.phase() == WAITING
    assert place(path.simulation) == (360.0, 300.0)
    for frame in range(130, 300):
        path.wander(frame)
        assert path.phase() == FOLLOWER_ACTIVE
        assert place(path.simulation) == path.after[frame - 119]


def test_each_further_one_follows_120_ticks_later_numbered_in_the_order_of_waking():
    path = Path((EVIL, 60, 50), (EVIL, 120, 50), (EVIL, 100, 50))
    path.tick(600.0, 300.0)  # tick 1 wakes the third
    path.wander(20)
    path.tick(720.0, 300.0)  # tick 21 the second
    path.wander(30)
    path.tick(360.0, 300.0)  # tick 31 the first
    path.wander(700)
    starts = {2: 1 + 120, 1: 21 + 240, 0: 31 + 360}
    assert [int(n) for n in path.simulation.movers["u"]] == [3, 2, 1]
    assert [int(n) for n in path.simulation.movers["v"]] == [starts[k] for k in range(3)]
    for k, number in enumerate((3, 2, 1)):
        assert place(path.simulation, k) == path.after[700 - (120 * number - 1)]


def test_those_woken_in_one_tick_are_numbered_in_map_order():
    path = Path((EVIL, 61, 50), (EVIL, 59, 50))
    path.tick(360.0, 300.0)
    path.wander(2)
    assert path.simulation.movers["u"].tolist() == [1, 2]


def test_it_is_harmless_until_its_tick_and_deadly_from_then_on():
    path = Path((EVIL, 60, 50))
    path.tick(360.0, 300.0)  # tick 1: it starts in tick 121, where the ninja is after tick 2
    for _ in range(119):
        path.tick(360.0, 300.0)
    assert path.frame == 120
    assert lives(path.simulation)
    assert path.phase() == WAITING
    path.tick(360.0, 300.0)
    assert path.frame == 121
    assert not lives(path.simulation)


@pytest.mark.parametrize(("distance", "dies"), [(15.9, True), (16.1, False)])
def test_an_active_one_kills_within_sixteen_pixels(distance, dies):
    path = Path((EVIL, 60, 50))
    path.tick(360.0, 300.0)
    path.wander(200)
    x, y = path.after[201 - 119]
    path.tick(x + distance, y - 1 / 15)
    assert lives(path.simulation) != dies


def test_where_a_dead_or_celebrating_ninja_lies_is_repeated_too():
    path = Path((EVIL, 60, 50))
    path.tick(360.0, 300.0)
    path.wander(50)
    path.tick(700.0, 100.0, state=DEAD)
    for _ in range(150):
        path.tick(700.0, 100.0, state=DEAD)
    assert place(path.simulation) == path.after[path.frame - 119] == (700.0, 100.0)
    assert not lives(path.simulation)


def test_it_is_listed_where_it_is_from_its_tick_on():
    path = Path((EVIL, 60, 50))
    path.tick(360.0, 300.0)
    path.wander(120)
    assert path.simulation.movers["cell"][0] == 15 * 25 + 12
    path.wander(121)
    x, y = place(path.simulation)
    assert path.simulation.movers["cell"][0] == int(x // 24) * 25 + int(y // 24)


def test_only_levels_with_evil_ninjas_pay_for_the_past():
    plain = Simulation(room((ZAP, 60, 50), (2, 30, 30))).state.size
    for count in (1, 2, 5):
        size = Simulation(room((ZAP, 60, 50), (2, 30, 30), *[(EVIL, 60, 50)] * count)).state.size
        assert size == plain + count * (40 + 16 * 120)


def test_nothing_is_remembered_before_one_of_them_needs_it():
    path = Path((EVIL, 60, 50))
    past = path.simulation.state[144 + 40 :]
    path.wander(30)
    assert not past.any()
    path.tick(360.0, 300.0)
    assert not past.any()
    path.wander(32)
    assert past.view("<f8").reshape(-1, 2)[32 % 120].tolist() == list(path.after[32])


def test_a_level_may_have_256_of_them():
    assert Simulation(room(*[(EVIL, 60, 50)] * 256)).state.size == 144 + 256 * (40 + 16 * 120)
    with pytest.raises(LevelError, match="more than 256 of evil-ninja"):
        room(*[(EVIL, 60, 50)] * 257)
