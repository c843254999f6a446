from __future__ import annotations

import math

import numpy as np
import pytest

from npp_env.render.background import FRAME_BACKGROUND, build_frame_background
from npp_env.render.greys import BACKGROUND_BYTES, EMPTY, HALF_SHAPE, SIXTH_SHAPE, WALL
from npp_env.render.tile_coverage import level_coverage, tile_coverage
from npp_env.sim.geometry import compile_level
from npp_env.sim.structs import WALL_CONCAVE, WALL_CONVEX
from render.scenes import level_with

QUARTER = math.pi / 4
AREAS = {
    0: 0.0, 1: 1.0,
    **dict.fromkeys(range(2, 10), 0.5),
    **dict.fromkeys(range(10, 14), QUARTER),
    **dict.fromkeys(range(14, 18), 1 - QUARTER),
    **dict.fromkeys((*range(18, 22), *range(26, 30)), 0.25),
    **dict.fromkeys((*range(22, 26), *range(30, 34)), 0.75),
    **dict.fromkeys(range(34, 38), 1 / 12),
    38: 0.0, 255: 0.0,
}  # fmt: skip


@pytest.mark.parametrize("side_px", [4, 12, 24])
def test_area_of_every_shape(side_px):
    coverage = tile_coverage(side_px)
    for tile, area in AREAS.items():
        assert coverage[tile].mean() / 255 == pytest.approx(area, abs=0.01), tile


def test_every_shape_is_its_own():
    shapes = {tile_coverage(24)[tile].tobytes() for tile in range(38)}
    assert len(shapes) == 38


@pytest.mark.parametrize("tile", range(2, 34))
def test_outlines_are_the_walls_that_the_physics_uses(tile):
    tiles = np.zeros((23, 42), np.uint8)
    tiles[10, 20] = tile
    level = level_with((2, 4, 4), tiles=tiles)
    solid = level_coverage(level, 24)
    left, top = 24 * 21, 24 * 11
    geometry = compile_level(level)
    cell = 21 * 25 + 11
    for wall in geometry["walls"][geometry["wall_start"][cell] : geometry["wall_start"][cell + 1]]:
        if wall["kind"] in (WALL_CONVEX, WALL_CONCAVE):
            outward = 1 if wall["kind"] == WALL_CONVEX else -1
            nx, ny = outward * wall["x2"] * math.sqrt(0.5), outward * wall["y2"] * math.sqrt(0.5)
            x = wall["x1"] + 24 * wall["x2"] * math.sqrt(0.5)
            y = wall["y1"] + 24 * wall["y2"] * math.sqrt(0.5)
        else:
            ex, ey = wall["x2"] - wall["x1"], wall["y2"] - wall["y1"]
            length = math.hypot(ex, ey)
            # Ninety degrees from its direction lies the outer side.
            nx, ny = -ey / length, ex / length
            x, y = (wall["x1"] + wall["x2"]) / 2, (wall["y1"] + wall["y2"]) / 2
        # Thin ends of slopes and pipes are but one pixel thick at the middle of a piece.
        outside, inside = (x + 0.7 * nx, y + 0.7 * ny), (x - 0.7 * nx, y - 0.7 * ny)
        assert left <= inside[0] <= left + 24
        assert top <= inside[1] <= top + 24
        inner, outer = solid[int(inside[1]), int(inside[0])], solid[int(outside[1]), int(outside[0])]
        assert int(inner) > int(outer) + 60


def test_background_holds_both_sizes():
    tiles = np.zeros((23, 42), np.uint8)
    tiles[4, 7] = 1
    background = build_frame_background(level_with((2, 4, 4), tiles=tiles))
    assert background.shape == (BACKGROUND_BYTES,)
    half = background[: HALF_SHAPE[0] * HALF_SHAPE[1]].reshape(HALF_SHAPE)
    sixth = background[HALF_SHAPE[0] * HALF_SHAPE[1] :].reshape(SIXTH_SHAPE)
    for picture, side in ((half, 12), (sixth, 4)):
        # The ring, the one solid tile in column 8 and row 5, and empty space beside it.
        assert (picture[:side] == WALL).all()
        assert (picture[:, -side:] == WALL).all()
        assert (picture[5 * side : 6 * side, 8 * side : 9 * side] == WALL).all()
        assert (picture[5 * side : 6 * side, 9 * side : 10 * side] == EMPTY).all()


def test_background_is_an_artifact(tmp_path):
    from npp_env.level.cache import LevelCache

    cache = LevelCache(directory=tmp_path)
    level = level_with((2, 4, 4))
    background = cache.get(level, FRAME_BACKGROUND)
    assert not background.flags.writeable
    assert (background == build_frame_background(level)).all()
