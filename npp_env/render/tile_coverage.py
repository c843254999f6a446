"""How much of each pixel the 38 tile shapes cover, from their true outlines."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from npp_env.level.model import Level
from npp_env.sim.geometry import full_tiles
from npp_env.sim.structs import WALL_CONVEX, WALL_SLANTED
from npp_env.sim.tiles import TILE_SHAPES, ExtraWall

TILE_PX = 24
_SAMPLES_PER_PX = 6
_HALF_TILES = {
    2: (slice(0, 12), slice(0, 24)),
    3: (slice(0, 24), slice(12, 24)),
    4: (slice(12, 24), slice(0, 24)),
    5: (slice(0, 24), slice(0, 12)),
}
# The glitched tiles are walls without a body; two pixels of the tile show where.
_EDGE_TILES = {
    34: (slice(0, 2), slice(0, 24)),
    35: (slice(0, 24), slice(22, 24)),
    36: (slice(22, 24), slice(0, 24)),
    37: (slice(0, 24), slice(0, 2)),
}


def _solid_behind(extra: ExtraWall, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which points of a tile lie on the inner side of its slanted line or arc."""
    dx, dy = x - extra.x1, y - extra.y1
    if extra.kind == WALL_SLANTED:
        inner: NDArray[np.bool_] = dy * (extra.x2 - extra.x1) - dx * (extra.y2 - extra.y1) < 0
        return inner
    inside: NDArray[np.bool_] = dx * dx + dy * dy < TILE_PX * TILE_PX
    return inside if extra.kind == WALL_CONVEX else ~inside


@lru_cache(maxsize=4)
def tile_coverage(side_px: int) -> NDArray[np.uint8]:
    """Coverage 0..255 of each pixel of every tile id, with tiles drawn this many pixels wide.

    Args:
        side_px: A divisor of 144.

    Returns:
        uint8 (256, side_px, side_px), read-only and shared between calls; ids without a shape are empty.
    """
    samples = TILE_PX * _SAMPLES_PER_PX
    block = samples // side_px
    assert block * side_px == samples
    axis = (np.arange(samples) + 0.5) / _SAMPLES_PER_PX
    x, y = np.meshgrid(axis, axis)
    coverage = np.zeros((256, side_px, side_px), np.uint8)
    for tile, shape in enumerate(TILE_SHAPES):
        solid = np.zeros((samples, samples), np.bool_)
        if shape.extra is not None:
            solid = _solid_behind(shape.extra, x, y)
        elif tile == 1:
            solid[:] = True
        elif tile:
            rows, columns = {**_HALF_TILES, **_EDGE_TILES}[tile]
            solid[_scaled(rows), _scaled(columns)] = True
        share = solid.reshape(side_px, block, side_px, block).mean(axis=(1, 3))
        coverage[tile] = np.rint(255 * share)
    coverage.setflags(write=False)
    return coverage


def _scaled(span: slice) -> slice:
    return slice(_SAMPLES_PER_PX * span.start, _SAMPLES_PER_PX * span.stop)


def level_coverage(level: Level, side_px: int) -> NDArray[np.uint8]:
    """How much of each pixel of a level is solid, 0..255; a fresh array (25 * side_px, 44 * side_px)."""
    tiles = full_tiles(level).T
    blocks = tile_coverage(side_px)[tiles]  # (25, 44, side_px, side_px)
    rows, columns = tiles.shape
    return np.ascontiguousarray(blocks.transpose(0, 2, 1, 3)).reshape(rows * side_px, columns * side_px)
