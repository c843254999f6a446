"""What shooters see, and the order in which they act, against numbers worked out by hand."""

from __future__ import annotations

import pytest

from npp_env.sim import Simulation
from sim.rooms import NOTHING, play, room
from sim.shooting import (
    CELEBRATING,
    CHAINGUN,
    DEAD,
    FAR_AWAY,
    GAUSS,
    IDLE,
    LASER_DRONE,
    PREFIRE,
    ROCKET,
    SAFE,
    TARGETING,
    lives,
    phase_of,
    place,
    tick,
    ticks,
)

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
