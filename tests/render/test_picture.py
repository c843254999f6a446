from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from golden_levels import golden
from hypothesis import given, settings
from hypothesis import strategies as st

from npp_env.errors import NppError
from npp_env.level import read_map
from npp_env.level.cache import LevelCache
from npp_env.render import palette
from npp_env.render.ninja_pose import strokes
from npp_env.render.picture import PICTURE_SHAPE, RGB_BACKGROUND, draw_rgb
from npp_env.sim.simulation import Simulation
from render.scenes import KINDS, SWITCH, level_with, simulation_of

CACHE = LevelCache(persist=False)


def picture_of(simulation: Simulation, **options) -> np.ndarray:
    return draw_rgb(simulation.level, simulation.geometry, simulation.state, cache=CACHE, **options)


def changed_box(a: np.ndarray, b: np.ndarray) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of what differs."""
    rows, columns = np.nonzero((a != b).any(axis=2))
    return columns.min(), rows.min(), columns.max() + 1, rows.max() + 1


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (3, 6, 8, 23)])
def test_every_kind_shows_where_it_is(kind):
    left, top, right, bottom = changed_box(
        picture_of(simulation_of(kind), hud=False), picture_of(Simulation(level_with()), hud=False)
    )
    assert 528 - 16 <= left < 528 < right <= 528 + 16
    assert 300 - 16 <= top < 300 + 3
    assert 300 - 3 < bottom <= 300 + 16


@pytest.mark.parametrize("kind", [3, 6, 8])
def test_switches_show_until_taken(kind):
    simulation = simulation_of(kind)
    x, y = 6 * SWITCH[0], 6 * SWITCH[1]
    assert (picture_of(simulation)[y, x] != palette.EMPTY).any()
    simulation.flags[0] = {3: 1, 6: 3, 8: 2}[kind]
    assert (picture_of(simulation)[y, x] == palette.EMPTY).all()


def test_a_beam_reaches_the_wall_of_the_room():
    picture = picture_of(simulation_of(23, orientation=0))
    assert (picture[300, 540:1030] != palette.EMPTY).any(axis=1).all()
    assert (picture[320, 540:1030] == palette.EMPTY).all()


def test_every_state_has_a_pose_of_its_own():
    simulation = Simulation(level_with())
    simulation.ninja["vx"], simulation.ninja["vy"] = 1.0, 1.0
    poses = []
    for state in (0, 1, 2, 3, 4, 5, 6, 8):
        simulation.ninja["state"] = state
        poses.append(repr(strokes(simulation.ninja)))
    assert len(set(poses)) == len(poses)


def test_a_ninja_that_turns_is_mirrored():
    simulation = Simulation(level_with())
    for state in (0, 2, 3, 4, 8):
        simulation.ninja["state"] = state
        simulation.ninja["vx"] = 2.0
        right = strokes(simulation.ninja)
        simulation.ninja["vx"] = -2.0
        left = strokes(simulation.ninja)
        for a, b in zip(right, left, strict=True):
            assert np.allclose(np.array(a.points) * (-1, 1), b.points)


def test_running_is_animated_and_feet_stay_near_the_floor():
    simulation = Simulation(level_with())
    simulation.ninja["state"], simulation.ninja["vx"] = 1, 3.0
    seen = set()
    for step in range(14):
        simulation.ninja["x"] = 480 + 3 * step
        figure = strokes(simulation.ninja)
        lowest = max(y for stroke in figure for _, y in stroke.points)
        assert lowest == pytest.approx(9.2)
        seen.add(repr(figure))
    assert len(seen) == 14


def test_a_wall_slide_reaches_for_the_wall():
    simulation = Simulation(level_with())
    simulation.ninja["state"] = 5
    for normal in (1.0, -1.0):
        simulation.ninja["wn"] = normal
        limbs = [point for stroke in strokes(simulation.ninja) if not stroke.is_band for point in stroke.points]
        reach = max((x for x, _ in limbs), key=abs)
        # The wall lies against its normal.
        assert np.sign(reach) == -normal


def test_the_figure_leans_with_the_slope():
    simulation = Simulation(level_with())
    upright = np.array([point for stroke in strokes(simulation.ninja) for point in stroke.points])
    simulation.ninja["fnx"], simulation.ninja["fny"] = np.sqrt(0.5), -np.sqrt(0.5)
    turned = np.array([point for stroke in strokes(simulation.ninja) for point in stroke.points])
    c = np.sqrt(0.5)
    assert np.allclose(upright @ np.array([[c, c], [-c, c]]), turned)


def test_hud_stays_in_the_wall_around_the_level():
    simulation = Simulation(level_with((2, 100, 50)))
    for state in (0, 6, 8):
        simulation.ninja["state"] = state
        plain = picture_of(simulation, hud=False)
        written = picture_of(simulation, hud=True, footer="a line")
        assert (plain[24:-24] == written[24:-24]).all()
        assert (plain[:24] != written[:24]).any()
        assert (plain[-24:] != written[-24:]).any()


def test_out_is_used_and_checked():
    simulation = Simulation(level_with())
    out = np.empty(PICTURE_SHAPE, np.uint8)
    assert picture_of(simulation, out=out) is out
    assert (out == picture_of(simulation)).all()
    with pytest.raises(NppError, match=r"\(600, 1055, 3\)"):
        picture_of(simulation, out=np.empty((600, 1055, 3), np.uint8))
    with pytest.raises(NppError, match="takes 144 bytes"):
        draw_rgb(simulation.level, simulation.geometry, simulation.state[:100], cache=CACHE)


def test_drawing_leaves_state_and_background_alone():
    simulation = Simulation(read_map(golden()[2].map))
    simulation.advance(2, 40)
    before = simulation.state.copy()
    background = CACHE.get(simulation.level, RGB_BACKGROUND)
    drawn = background.copy()
    first = picture_of(simulation)
    assert (picture_of(simulation) == first).all()
    assert (simulation.state == before).all()
    assert (background == drawn).all()
    assert not background.flags.writeable


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_numbers_in_a_state_can_be_drawn(data):
    simulation = simulation_of(data.draw(st.sampled_from([14, 16, 20, 23, 25, 28])))
    numbers = st.floats(width=64) | st.floats(-2000, 2000)
    for field in ("x", "y", "u", "v"):
        simulation.movers[field] = data.draw(numbers)
    for field in ("x", "y", "vx", "vy", "fnx", "fny"):
        simulation.ninja[field] = data.draw(numbers)
    simulation.ninja["state"] = data.draw(st.integers(0, 9))
    assert picture_of(simulation).shape == PICTURE_SHAPE


def test_importing_the_renderer_imports_no_heavy_library():
    program = (
        "import sys, npp_env.render.frames, npp_env.render.picture\n"
        "import npp_env.render.video, npp_env.render.window\n"
        "print(sorted({'cv2', 'pygame', 'imageio', 'PIL', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
