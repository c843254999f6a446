from __future__ import annotations

import numpy as np
import pytest
from golden_levels import golden
from hypothesis import given, settings
from hypothesis import strategies as st

from npp_env.errors import NppError
from npp_env.level import read_map
from npp_env.render.background import build_frame_background
from npp_env.render.frames import aim_and_shot, global_view, player_frame
from npp_env.render.greys import EMPTY, WALL
from npp_env.sim.simulation import Simulation
from render.scenes import KINDS, SWITCH, level_with, simulation_of

FRAME, VIEW = (84, 84, 1), (100, 176, 1)


def frames_of(simulation: Simulation) -> tuple[np.ndarray, np.ndarray]:
    background = build_frame_background(simulation.level)
    frame, view = np.zeros(FRAME, np.uint8), np.zeros(VIEW, np.uint8)
    assert player_frame(simulation.handle, simulation.state, background, frame) is frame
    assert global_view(simulation.handle, simulation.state, background, view) is view
    return frame[..., 0], view[..., 0]


def test_ninja_is_the_brightest_and_in_the_middle():
    for spawn in ((80, 50), (81, 51), (9, 9)):
        frame, view = frames_of(Simulation(level_with((2, 150, 80), spawn=spawn)))
        assert frame[42, 42] == 255
        rows, columns = np.nonzero(frame == 255)
        assert rows.mean() == pytest.approx(41.5, abs=1)
        assert columns.mean() == pytest.approx(41.5, abs=1)
        rows, columns = np.nonzero(view == 255)
        assert columns.mean() + 0.5 == pytest.approx(spawn[0], abs=0.5)
        assert rows.mean() + 0.5 == pytest.approx(spawn[1], abs=0.5)


def test_beyond_the_level_is_wall():
    # The ninja at (24, 24): the frame reaches 60 world pixels, 30 of its own, over two borders.
    frame, _ = frames_of(Simulation(level_with((2, 150, 80), spawn=(4, 4))))
    assert (frame[:30] == WALL).all()
    assert (frame[:, :30] == WALL).all()
    assert (frame[60:, 60:] == EMPTY).all()


@pytest.mark.parametrize("place", [(-5000.0, 300.0), (1e300, 300.0), (np.nan, np.nan), (528.0, -np.inf)])
def test_a_ninja_far_outside_sees_only_wall(place):
    simulation = Simulation(level_with((2, 150, 80)))
    simulation.ninja["x"], simulation.ninja["y"] = place
    frame, view = frames_of(simulation)
    assert frame.min() == WALL
    assert (frame[:30] == WALL).all()
    assert not (view == 255).any()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_shows_in_both_frames(kind):
    simulation = simulation_of(kind)
    empty = Simulation(level_with())
    if kind == 8:
        # An open trap door is no obstacle and is not drawn; its switch is.
        row, column = (42 + 3 * (SWITCH[1] - 50), 42 + 3 * (SWITCH[0] - 80))
    else:
        row, column = 42, 42 + 3 * 8
    for found, without in zip(frames_of(simulation), frames_of(empty), strict=True):
        assert (found != without).any()
    frame, without = frames_of(simulation)[0], frames_of(empty)[0]
    changed = np.argwhere(frame != without)
    assert np.abs(changed - (row, column)).max(axis=1).min() <= 3


def test_kinds_look_different():
    pictures = {kind: frames_of(simulation_of(kind))[0].tobytes() for kind in KINDS}
    assert len(set(pictures.values())) == len(KINDS)


@pytest.mark.parametrize("kind", [1, 21])
def test_mines_show_their_mode(kind):
    simulation = simulation_of(kind)
    looks = []
    for mode in range(3):
        simulation.flags[0] = mode
        looks.append(int(frames_of(simulation)[0][42, 66]))
    armed, idle, arming = looks
    assert armed < arming < idle < EMPTY


@pytest.mark.parametrize(("kind", "closed", "opened"), [(5, 0, 1), (6, 0, 3), (8, 2, 1)])
def test_doors_show_only_while_closed(kind, closed, opened):
    simulation = simulation_of(kind, orientation=0)
    simulation.flags[0] = closed
    assert frames_of(simulation)[0][42, 66] != EMPTY
    simulation.flags[0] = opened
    assert frames_of(simulation)[0][42, 66] == EMPTY


def test_gold_and_switch_vanish_and_the_exit_opens():
    simulation = Simulation(level_with((2, 84, 50), (3, 88, 50), (4, 76, 50)))
    before = frames_of(simulation)[0].astype(int)
    simulation.flags[:] = 1
    after = frames_of(simulation)[0].astype(int)
    assert after[42, 54] == EMPTY < before[42, 54]
    assert after[42, 30] == EMPTY < before[42, 30]
    assert after[42, 66] > before[42, 66]


def test_motion_below_a_pixel_shows_in_both_frames():
    simulation = simulation_of(25)
    before = [picture.copy() for picture in frames_of(simulation)]
    simulation.movers["x"] += 0.7
    for old, new in zip(before, frames_of(simulation), strict=True):
        assert (old != new).any()


def test_a_beam_ends_at_the_wall():
    tiles = np.zeros((23, 42), np.uint8)
    tiles[:, 25] = 1
    simulation = Simulation(level_with((23, 80, 40, 0), spawn=(80, 50), tiles=tiles))
    # From x = 480 to the wall in column 26.
    assert aim_and_shot(simulation.handle, simulation.state, 0) == ((624.0, 240.0), (624.0, 240.0))
    _, view = frames_of(simulation)
    assert (view[39:41, 84:103].min(axis=0) < WALL).all()
    assert (view[38:42, 108:] == EMPTY)[:, :-4].all()


def test_a_beam_needs_a_finite_start():
    simulation = simulation_of(23)
    with pytest.raises(NppError, match="bytes"):
        aim_and_shot(simulation.handle, simulation.state[:-8], 0)
    for entity in (-1, 1):
        with pytest.raises(NppError, match="aims at nothing"):
            aim_and_shot(simulation.handle, simulation.state, entity)
    for field, value in (("u", np.nan), ("x", np.inf), ("y", 1e9)):
        simulation.reset()
        simulation.movers[field][0] = value
        assert aim_and_shot(simulation.handle, simulation.state, 0) == (None, None)
    gold = simulation_of(2)
    with pytest.raises(NppError, match="aims at nothing"):
        aim_and_shot(gold.handle, gold.state, 0)


def shooting(kind: int, ticks: int, *records: tuple[int, ...]) -> Simulation:
    """A shooter at (528, 300) after some ticks in which the ninja is held to its right, at (628, 300)."""
    simulation = Simulation(level_with((kind, 88, 50, 0), *records))
    for _ in range(ticks):
        n = simulation.ninja
        n["x"], n["y"], n["vx"], n["vy"], n["state"] = 628.0, 300.0, 0.0, 0.0, 4
        simulation.advance(0, 1, stop=False)
    return simulation


def test_shots_end_at_the_first_wall_or_closed_door():
    # Tick 1 sees, F = 46 begins to fire; the ninja was to the right, a little above where the drone has flown.
    for records, x in (((), 1032.0), (((5, 124, 50, 0),), 744.0)):
        simulation = shooting(13, 60, *records)
        aim, shot = aim_and_shot(simulation.handle, simulation.state, 0)
        assert aim == shot
        assert aim[0] == pytest.approx(x)
        assert aim[1] == pytest.approx(300 + 2 / 7 * (1 - (x - 528) / 100), abs=1e-9)


def test_a_gauss_turret_shows_its_aim_and_in_one_tick_its_shot():
    shots = []
    simulation = shooting(19, 0)
    for tick in range(1, 200):
        n = simulation.ninja
        n["x"], n["y"], n["vx"], n["vy"], n["state"] = 548.0, 300.0, 0.0, 0.0, 4
        simulation.advance(0, 1, stop=False)
        aim, shot = aim_and_shot(simulation.handle, simulation.state, 0)
        assert aim == (simulation.movers["u"][0], simulation.movers["v"][0])
        if shot is not None:
            shots.append((tick, shot))
    # As test_gauss_turrets.py has it: fired in tick 42, again 15 to recover, 26 to follow and 15 to fire later.
    assert shots == [(42 + 56 * k, (1032.0, 300.0)) for k in range(3)]


def test_a_chaingun_shows_a_bullet_in_its_tick_and_always_the_next():
    simulation = shooting(12, 53)
    seen = []
    upcoming = aim_and_shot(simulation.handle, simulation.state, 0)[0]
    for tick in range(1, 73):
        simulation.advance(0, 1, stop=False)
        aim, shot = aim_and_shot(simulation.handle, simulation.state, 0)
        if shot is not None:
            seen.append((tick, shot))
            assert shot == pytest.approx(upcoming)
        upcoming = aim
        assert (aim is None) == (tick >= 63)
    assert [tick for tick, _ in seen] == [9, 18, 27, 36, 45, 54, 63]


def test_a_rocket_shows_where_it_flies():
    simulation = shooting(18, 40)
    x, y = float(simulation.movers["x"][0]), float(simulation.movers["y"][0])
    assert x > 540
    frame, view = frames_of(simulation)
    # The camera stands over the ninja; the rocket is darker than anything around it.
    left = np.floor(simulation.ninja["x"] / 2 + 0.5) - 42
    top = np.floor(simulation.ninja["y"] / 2 + 0.5) - 42
    assert frame[int(y / 2 - top), int(x / 2 - left)] == 0
    assert view[int(y / 6), int(x / 6)] < WALL


def test_the_dead_look_different():
    simulation = Simulation(level_with((2, 150, 80)))
    alive = frames_of(simulation)[0].copy()
    simulation.ninja["state"] = 6
    dead = frames_of(simulation)[0]
    assert dead[42, 42] < alive[42, 42]
    assert dead.max() == 255


def test_wrong_sizes_are_refused():
    simulation = Simulation(level_with((2, 150, 80)))
    background = build_frame_background(simulation.level)
    handle, state = simulation.handle, simulation.state
    with pytest.raises(NppError, match="7056 pixels"):
        player_frame(handle, state, background, np.zeros((84, 83), np.uint8))
    with pytest.raises(NppError, match="17600 pixels"):
        global_view(handle, state, background, np.zeros((84, 84), np.uint8))
    with pytest.raises(NppError, match="176000 bytes, got 175999"):
        global_view(handle, state, background[1:], np.zeros(VIEW, np.uint8))
    with pytest.raises(NppError, match=f"takes {handle.state_bytes} bytes"):
        player_frame(handle, state[:-8], background, np.zeros(FRAME, np.uint8))
    with pytest.raises((ValueError, TypeError)):
        player_frame(handle, state, background, np.zeros(FRAME, np.float32))


def test_drawing_changes_nothing_but_out():
    level = read_map(golden()[2].map)
    simulation = Simulation(level)
    simulation.advance(2, 30)
    background = build_frame_background(level)
    background.setflags(write=False)
    state = simulation.state.copy()
    state.setflags(write=False)
    # A frame in the middle of a larger buffer: what lies around it stays.
    buffer = np.full(84 * 84 + 200, 7, np.uint8)
    player_frame(simulation.handle, state, background, buffer[100:-100].reshape(FRAME))
    assert (buffer[:100] == 7).all()
    assert (buffer[-100:] == 7).all()
    assert (buffer[100:-100] != 7).all()
    assert (state == simulation.state).all()


def test_every_pixel_is_written():
    for row in golden()[::16]:
        simulation = Simulation(read_map(row.map))
        background = build_frame_background(simulation.level)
        for draw, shape in ((player_frame, FRAME), (global_view, VIEW)):
            first = draw(simulation.handle, simulation.state, background, np.zeros(shape, np.uint8))
            second = draw(simulation.handle, simulation.state, background, np.full(shape, 255, np.uint8))
            assert (first == second).all()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_state_makes_it_draw_outside(data):
    simulation = Simulation(level_with(*((kind, *(88 + k, 50), 2) for k, kind in enumerate((14, 23, 20, 25)))))
    numbers = st.floats(width=64) | st.floats(-2000, 2000)
    for mover in simulation.movers:
        mover["x"], mover["y"], mover["u"] = data.draw(numbers), data.draw(numbers), data.draw(numbers)
    simulation.ninja["x"], simulation.ninja["y"] = data.draw(numbers), data.draw(numbers)
    background = build_frame_background(simulation.level)
    for draw, shape in ((player_frame, FRAME), (global_view, VIEW)):
        size = int(np.prod(shape))
        buffer = np.full(size + 2000, 7, np.uint8)
        draw(simulation.handle, simulation.state, background, buffer[1000:-1000].reshape(shape))
        assert (buffer[:1000] == 7).all()
        assert (buffer[-1000:] == 7).all()
