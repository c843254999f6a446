"""What pushes the ninja: one-way platforms, blocks and thwumps, against expectations worked out by hand."""

from __future__ import annotations

import pytest

from sim.rooms import NOTHING, hover, play, room

X, Y = 360.0, 240.0
RECORD = (60, 40)
UP = 6


def after(records, x: float, y: float, vx: float = 0.0, vy: float = 0.0, **options):
    """The simulation after a tick that brings the ninja to a place with a velocity."""
    simulation = play(room(*records, **options))
    hover(simulation, x, y, vx, vy)
    simulation.advance(NOTHING)
    return simulation


@pytest.mark.parametrize(
    ("y", "vy", "held"),
    [
        (Y - 8, 1.0, True),  # 9 px above before the tick
        (Y - 8, 0.0, False),  # 8 px above already: it came through
        (Y - 8.8, 0.0, False),
        (Y - 9, 0.0, True),
        (Y - 8, -1.0, False),  # on its way up
        (Y - 0.5, 9.0, True),
        (Y + 3, 12.0, False),  # through in one tick
    ],
)
def test_a_one_way_holds_what_comes_down_on_it(y, vy, held):
    simulation = after([(11, *RECORD, UP)], X, y, vy=vy)
    assert simulation.ninja["y"] == pytest.approx(Y - 10 if held else y, abs=1e-9)
    assert simulation.ninja["air"] == (not held)


@pytest.mark.parametrize(
    ("offset", "vx", "held"),
    [
        (17, 1.0, True),  # leaving: 12 + 5.1 px
        (17.2, 1.0, False),
        (20.9, -1.0, True),  # coming: 12 + 9 px
        (21.1, -1.0, False),
        (-17, -1.0, True),
        (-17.2, -1.0, False),
        (-20.9, 1.0, True),
        (-21.1, 1.0, False),
    ],
)
def test_a_one_way_reaches_farther_for_what_moves_over_it(offset, vx, held):
    simulation = after([(11, *RECORD, UP)], X + offset, Y - 9, vx=vx)
    assert simulation.ninja["air"] == (not held)


@pytest.mark.parametrize(("kind", "outcome"), [(20, "died"), (28, "alive")])
def test_a_thwump_crushes_against_a_wall(kind, outcome):
    # The ring ends at x = 24, the thwump's body at 48 - 9 (or 12): less than 20 px for a ninja of 20. It faces away.
    simulation = after([(kind, 8, 40, 0)], 34, 240)
    assert simulation.outcome == outcome


def test_what_is_squeezed_out_sideways_is_not_crushed():
    # Between a thwump on its right and a slope on its lower left: pushes at 135 degrees, their sum is 0.4 of their
    # lengths.
    simulation = after([(20, 66, 41, 0)], 379.07, 244.93, shapes={(15, 10): 9})
    assert simulation.outcome == "alive"
    assert simulation.ninja["y"] < 244


@pytest.mark.parametrize(("distance", "pushed"), [(21.9, True), (22.1, False)])
def test_a_shove_thwump_pushes_up_to_its_side(distance, pushed):
    simulation = after([(28, *RECORD)], X - distance, Y)
    assert simulation.ninja["x"] == pytest.approx(X - 22 if pushed else X - distance, abs=1e-9)


@pytest.mark.parametrize(("distance", "phase"), [(22.05, 1), (22.15, 0)])
def test_a_shove_thwump_is_armed_by_a_touch(distance, phase):
    assert after([(28, *RECORD)], X - distance, Y).movers["phase"][0] == phase


@pytest.mark.parametrize(("distance", "outcome"), [(17.9, "died"), (18.1, "alive")])
def test_the_core_of_a_flying_shove_thwump_kills(distance, outcome):
    # It flies up by 4 px a tick before it is met.
    simulation = play(room((28, *RECORD)))
    simulation.movers["phase"][0] = 2
    simulation.movers["u"][0], simulation.movers["v"][0] = 0, 1
    hover(simulation, X - distance, Y - 4)
    simulation.advance(NOTHING)
    assert simulation.movers["y"][0] == Y - 4
    assert simulation.outcome == outcome


@pytest.mark.parametrize(
    ("orientation", "x", "y", "outcome"),
    [
        # The lethal edge lies 11 px before the centre, 14 px long; it reaches 12 px.
        (0, X + 18.9, Y, "died"),
        (0, X + 18.9, Y + 15, "died"),  # (7.9, 8) from its end
        (0, X + 18.9, Y + 16.5, "alive"),  # (7.9, 9.5): more than 12 px
        (4, X - 18.9, Y, "died"),
        (0, X - 18.9, Y, "alive"),
        (2, X, Y + 18.9, "died"),
        (2, X + 15, Y + 18.9, "died"),
        (2, X + 16.5, Y + 18.9, "alive"),
        (2, X - 16.5, Y + 18.9, "alive"),
        (6, X, Y - 18.9, "died"),
        (6, X, Y + 18.9, "alive"),
    ],
)
def test_a_thwump_kills_with_its_front(orientation, x, y, outcome):
    assert after([(20, *RECORD, orientation)], x, y).outcome == outcome
