"""Where the centre of the ninja can be: every whole pixel, tested against the true shape of the walls.

An image here has one pixel per whole coordinate, [y, x], of the 1056 x 600 world. A pixel is free if no wall comes
nearer than the fit radius.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.graph.pieces import stamp
from npp_env.sim.structs import COLUMNS, ROWS, WALL_CONVEX, WALL_HORIZONTAL, WALL_SLANTED, WALL_VERTICAL
from npp_env.sim.tiles import TILE_SHAPES

HALF_PX = 12
TILE_PX = 24
HALF_COLUMNS, HALF_ROWS = 2 * COLUMNS, 2 * ROWS
WIDTH_PX, HEIGHT_PX = TILE_PX * COLUMNS, TILE_PX * ROWS
ARC_RADIUS_PX = 24.0

FIT_RADIUS_PX = 9.28
"""The ninja has a radius of 10, but slips through what is a little narrower than 20: it is swept with half its radius
and pushed out afterwards. Of the narrow gaps that tile shapes make, 19.9 px lets it through as it walks and 19.3 px
once it is faster (one try in a hundred at 3 to 5 px a tick): these are open, with the pixels as coarse as they are.
Gaps of 18.9 and 17.0 px stop it at such speeds (beyond 5 px a tick one try in fifty gets through): these are closed.
"""

_REACH_PX = 10  # of a wall, at most; rounds the fit radius up
_BAND_PX = TILE_PX + 2 * _REACH_PX + 1


def segment_distance(
    x: NDArray[Any], y: NDArray[Any], x1: float, y1: float, x2: float, y2: float
) -> NDArray[np.float64]:
    """Distance of points from a line segment."""
    ex, ey = x2 - x1, y2 - y1
    u = np.clip(((x - x1) * ex + (y - y1) * ey) / (ex * ex + ey * ey), 0.0, 1.0)
    return np.hypot(x - x1 - u * ex, y - y1 - u * ey)


def arc_distance(x: NDArray[Any], y: NDArray[Any], cx: float, cy: float, qx: float, qy: float) -> NDArray[np.float64]:
    """Distance of points from a quarter circle of radius 24 around (cx, cy) in quadrant (qx, qy)."""
    dx, dy = (x - cx) * qx, (y - cy) * qy
    ends = np.minimum(np.hypot(dx - ARC_RADIUS_PX, dy), np.hypot(dx, dy - ARC_RADIUS_PX))
    return np.where((dx > 0) & (dy > 0), np.abs(np.hypot(dx, dy) - ARC_RADIUS_PX), ends)


def blocked_image(walls: NDArray[Any], tiles: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Pixels too near to a wall of the tiles (doors are left out).

    Args:
        walls: The wall pieces of a compiled level.
        tiles: Its tiles by [column, row] with the ring.

    Returns:
        A fresh image (600, 1056).
    """
    walls = walls[walls["door"] < 0]
    image = np.zeros((HEIGHT_PX + 2 * _BAND_PX, WIDTH_PX + 2 * _BAND_PX), np.bool_)
    for kind in (WALL_HORIZONTAL, WALL_VERTICAL):
        pieces = walls[walls["kind"] == kind]
        column = np.minimum(pieces["x1"], pieces["x2"]).astype(np.int64) + _BAND_PX
        row = np.minimum(pieces["y1"], pieces["y2"]).astype(np.int64) + _BAND_PX
        stamp(image.view(np.uint8), row, column, _straight_stamp(kind == WALL_VERTICAL))
    margin = _BAND_PX - _REACH_PX
    for column, row in np.argwhere((tiles >= 6) & (tiles <= 33)).tolist():
        y, x = margin + TILE_PX * row, margin + TILE_PX * column
        image[y : y + _BAND_PX, x : x + _BAND_PX] |= _slanted_stamp(int(tiles[column, row]))
    return np.ascontiguousarray(image[_BAND_PX:-_BAND_PX, _BAND_PX:-_BAND_PX])


def line_stamp(x1: float, y1: float, x2: float, y2: float) -> tuple[slice, slice, NDArray[np.bool_]]:
    """Rows, columns and mask of the pixels too near to a line segment, cut to the image."""
    left, right = max(0, int(min(x1, x2)) - _REACH_PX), min(WIDTH_PX, int(max(x1, x2)) + _REACH_PX + 1)
    top, bottom = max(0, int(min(y1, y2)) - _REACH_PX), min(HEIGHT_PX, int(max(y1, y2)) + _REACH_PX + 1)
    y, x = np.mgrid[top : max(top, bottom), left : max(left, right)]
    rows, columns = slice(top, max(top, bottom)), slice(left, max(left, right))
    return rows, columns, segment_distance(x, y, x1, y1, x2, y2) < FIT_RADIUS_PX


def solid_image(tiles: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Pixels inside the matter of a tile; a fresh image (600, 1056)."""
    return np.asarray(_solid_shapes()[tiles.T].transpose(0, 2, 1, 3).reshape(HEIGHT_PX, WIDTH_PX))


@lru_cache(maxsize=2)
def _straight_stamp(vertical: bool) -> NDArray[np.int32]:
    """Rows of pixels too near to a half-cell piece, relative to its start: row, first column, end of the columns."""
    y, x = np.mgrid[-_REACH_PX : HALF_PX + _REACH_PX + 1, -_REACH_PX : HALF_PX + _REACH_PX + 1]
    end = (0.0, float(HALF_PX)) if vertical else (float(HALF_PX), 0.0)
    near = segment_distance(x, y, 0.0, 0.0, *end) < FIT_RADIUS_PX
    runs = [(row[0], columns[0], columns[-1] + 1) for row, columns in _rows_of(y, x, near)]
    return np.array(runs, np.int32)


def _rows_of(
    y: NDArray[np.int64], x: NDArray[np.int64], near: NDArray[np.bool_]
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Coordinates of the pixels of each row that has some."""
    return [(y[k, row], x[k, row]) for k, row in enumerate(near) if row.any()]


@lru_cache(maxsize=64)
def _slanted_stamp(tile: int) -> NDArray[np.bool_]:
    """Pixels too near to the slanted line or arc of a tile, from 10 px above and left of it on."""
    y, x = np.mgrid[-_REACH_PX : TILE_PX + _REACH_PX + 1, -_REACH_PX : TILE_PX + _REACH_PX + 1]
    extra = TILE_SHAPES[tile].extra
    assert extra is not None
    distance = segment_distance if extra.kind == WALL_SLANTED else arc_distance
    return distance(x, y, extra.x1, extra.y1, extra.x2, extra.y2) < FIT_RADIUS_PX


@lru_cache(maxsize=1)
def _solid_shapes() -> NDArray[np.bool_]:
    """Which pixels of a tile are matter, for all 256 ids (256, 24, 24)."""
    solid = np.zeros((256, TILE_PX, TILE_PX), np.bool_)
    y, x = np.mgrid[0:TILE_PX, 0:TILE_PX]
    solid[1], solid[2], solid[3], solid[4], solid[5] = True, y < HALF_PX, x >= HALF_PX, y >= HALF_PX, x < HALF_PX
    for tile, shape in enumerate(TILE_SHAPES):
        if shape.extra is None:
            continue
        kind, x1, y1, x2, y2 = shape.extra
        if kind == WALL_SLANTED:
            solid[tile] = (y - y1) * (x2 - x1) - (x - x1) * (y2 - y1) < 0
        elif kind == WALL_CONVEX:
            solid[tile] = np.hypot(x - x1, y - y1) < ARC_RADIUS_PX
        else:
            solid[tile] = np.hypot(x - x1, y - y1) > ARC_RADIUS_PX
    return solid
