"""Rocket turrets, gauss turrets, chaingun and laser drones, against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest

from npp_env.sim import Simulation
from sim.rooms import NOTHING, play, room

CHAINGUN, LASER_DRONE, ROCKET, GAUSS = 12, 13, 18, 19
FALLING, DEAD, CELEBRATING = 4, 6, 8
IDLE, PREFIRE, HOMING = range(3)
TARGETING, GAUSS_PREFIRE, GAUSS_POSTFIRE = 1, 2, 3
FIRING, POSTFIRE = 2, 3
FAR_AWAY = (200, 10)


def tick(simulation: Simulation, x: float, y: float, vx: float = 0.0, vy: float = 0.0, state: int = FALLING) -> None:
    """One tick with the ninja put to a place first, where everything that reacts sees it."""
    n = simulation.ninja
    n["x"], n["y"], n["vx"], n["vy"], n["state"] = x, y, vx, vy, state
    simulation.advance(NOTHING, 1, stop=False)


def ticks(simulation: Simulation, count: int, x: float, y: float, **how: float) -> None:
    for _ in range(count):
        tick(simulation, x, y, **how)


def lives(simulation: Simulation) -> bool:
    return int(simulation.ninja["state"]) != DEAD


def place(simulation: Simulation, k: int = 0) -> tuple[float, float]:
    """Where the rocket or drone is."""
    return float(simulation.movers["x"][k]), float(simulation.movers["y"][k])


def phase_of(simulation: Simulation, kind: int) -> int:
    return int(simulation.flags[0] if kind == ROCKET else simulation.movers["phase"][0])


# Sight (6.15). The shooter stands at (360, 300); all of them look out in the same way.


@pytest.fixture(params=[ROCKET, GAUSS, CHAINGUN, LASER_DRONE])
def kind(request) -> int:
    return request.param


def watcher(kind: int, *records, **how) -> Simulation:
    """A shooter at (360, 300); doors come first among the flags, and shooters among the movers."""
    doors = [record for record in records if record[0] in (5, 6, 7, 8)]
    others = [record for record in records if record not in doors]
    return Simulation(room(*doors, (kind, 60, 50, 0, 0), *others, **how))


def sees(simulation: Simulation, kind: int, x: float, y: float, **how: float) -> bool:
    simulation.reset()
    tick(simulation, x, y, **how)
    return phase_of(simulation, kind) != IDLE


@pytest.mark.parametrize("place", [(30.5, 30.25), (1020.0, 30.0), (1020.0, 460.0), (360.0, 30.0), (361.0, 300.0)])
def test_sight_has_no_limit_of_range(kind, place):
    assert sees(watcher(kind), kind, *place)


def test_a_shooter_sees_a_ninja_at_its_own_place(kind):
    assert sees(watcher(kind), kind, 360.0, 300.0)


@pytest.mark.parametrize("state", [DEAD, CELEBRATING])
def test_a_shooter_sees_only_a_target(kind, state):
    assert not sees(watcher(kind), kind, 500.0, 300.0, state=state)


def test_walls_end_sight_and_entities_do_not(kind):
    assert not sees(watcher(kind, walls=[(20, 12)]), kind, 600.0, 300.0)
    blocks = [(17, 70, 50), (20, 80, 50, 0), (28, 90, 50)]
    assert sees(watcher(kind, *blocks), kind, 600.0, 300.0)


def test_a_ninja_is_seen_whose_edge_stands_out(kind):
    # The tile of column 20 begins at x = 480, 120 px from a turret: seen if 120 > d - 10. A drone has flown on by then:
    # down, since it turns clockwise, which does not change x.
    simulation = watcher(kind, walls=[(20, 11), (20, 12), (20, 13)])
    y = 300.0 + {CHAINGUN: 3 / 7, LASER_DRONE: 2 / 7}.get(kind, 0.0)
    assert sees(simulation, kind, 489.999, y)
    assert not sees(simulation, kind, 490.0, y)


@pytest.mark.parametrize(
    ("door", "flag", "seen"),
    [
        ((5, 80, 50, 0), 0, False),  # closed
        ((5, 80, 50, 0), 1 + 2 * 4, True),  # open, and the fifth tick since the last contact
        ((5, 80, 50, 0), 1 + 2 * 5, False),  # closes in this react pass, before type 12 looks
        ((6, 80, 50, 0), 0, False),
        ((6, 80, 50, 0), 3, True),
        ((8, 80, 50, 0), 1, True),
        ((8, 80, 50, 0), 2, False),
    ],
)
def test_doors_count_as_they_stand_in_the_react_pass(kind, door, flag, seen):
    simulation = watcher(kind, door, (7, *FAR_AWAY))
    simulation.reset()
    simulation.flags[0] = flag
    tick(simulation, 600.0, 300.0)
    now = int(simulation.flags[1]) if kind == ROCKET else int(simulation.movers["phase"][0])
    assert (now != IDLE) == seen


# Rocket turret (6.16), at (360, 300).


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


# Gauss turret (6.17), at (360, 300).


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


# Chaingun and laser drones (6.18).


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


SAFE = (40.0, 40.0)
"""Up and to the left, where none of these drones shoots."""


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


# The order of a tick.


def test_a_ninja_that_a_shot_has_doomed_still_moves_and_is_still_a_target():
    # The laser drone (13) kills in the react pass; the rocket turret (18) looks later in the same pass, and sees it.
    simulation = Simulation(room((LASER_DRONE, 66, 50, 0, 0), (ROCKET, 60, 40)))
    tick(simulation, 696.0, 300.0)
    x, y = place(simulation)
    ticks(simulation, 45, *SAFE)
    simulation.flags[0] = IDLE
    simulation.movers["turn"][2] = 0
    tick(simulation, x + 100.0, y, vx=1.0)
    assert not lives(simulation)
    assert float(simulation.ninja["x"]) > x + 100.5
    assert int(simulation.flags[0]) == PREFIRE


def test_a_gauss_turret_does_not_see_what_a_rocket_will_kill_later_in_the_tick():
    # Rockets kill in the ninja's pass, so that a turret that looks in the same tick still has its target.
    simulation = Simulation(room((GAUSS, 60, 40), (ROCKET, 60, 50)))
    ticks(simulation, 15, 660.0, 300.0)
    tick(simulation, 365.0, 300.0)
    assert not lives(simulation)
    assert int(simulation.movers["phase"][0]) == TARGETING
    simulation.advance(NOTHING, 1, stop=False)
    assert int(simulation.movers["phase"][0]) == IDLE


def test_nobody_uses_chance():
    level = room((CHAINGUN, 66, 50, 0, 0), (LASER_DRONE, 76, 50, 2, 1), (ROCKET, 60, 40), (GAUSS, 90, 40))
    runs = [play(level, (2, 60), (3, 40), (4, 80)).state.tobytes() for _ in range(2)]
    assert runs[0] == runs[1]
