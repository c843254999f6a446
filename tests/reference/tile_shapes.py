"""Which points of a tile are solid, for all 38 tiles, from the table of the physics."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

TILE = 24.0
# Corners of what is solid, clockwise as seen on the screen.
_CORNERS: dict[int, list[tuple[int, int]]] = {
    1: [(0, 0), (24, 0), (24, 24), (0, 24)],
    2: [(0, 0), (24, 0), (24, 12), (0, 12)],
    3: [(12, 0), (24, 0), (24, 24), (12, 24)],
    4: [(0, 12), (24, 12), (24, 24), (0, 24)],
    5: [(0, 0), (12, 0), (12, 24), (0, 24)],
    6: [(0, 0), (24, 0), (0, 24)],
    7: [(0, 0), (24, 0), (24, 24)],
    8: [(24, 0), (24, 24), (0, 24)],
    9: [(0, 0), (24, 24), (0, 24)],
    18: [(0, 0), (24, 0), (0, 12)],
    19: [(0, 0), (24, 0), (24, 12)],
    20: [(24, 12), (24, 24), (0, 24)],
    21: [(0, 12), (24, 24), (0, 24)],
    22: [(0, 0), (24, 0), (24, 12), (0, 24)],
    23: [(0, 0), (24, 0), (24, 24), (0, 12)],
    24: [(24, 0), (24, 24), (0, 24), (0, 12)],
    25: [(0, 0), (24, 12), (24, 24), (0, 24)],
    26: [(0, 0), (12, 0), (0, 24)],
    27: [(12, 0), (24, 0), (24, 24)],
    28: [(24, 0), (24, 24), (12, 24)],
    29: [(0, 0), (12, 24), (0, 24)],
    30: [(0, 0), (24, 0), (12, 24), (0, 24)],
    31: [(0, 0), (24, 0), (24, 24), (12, 24)],
    32: [(12, 0), (24, 0), (24, 24), (0, 24)],
    33: [(0, 0), (12, 0), (24, 24), (0, 24)],
}
# Quarter moons are solid within 24 px of a corner, quarter pipes beyond.
_MOON_CENTRES = {10: (0, 0), 11: (24, 0), 12: (24, 24), 13: (0, 24)}
PIPE_CENTRES = {14: (24, 24), 15: (0, 24), 16: (0, 0), 17: (24, 0)}
# Tiles that are one edge without a body, and the strip that pictures show of them: x from, to, y from, to.
EDGE_STRIPS = {34: (0, 24, 0, 2), 35: (22, 24, 0, 24), 36: (0, 24, 22, 24), 37: (0, 2, 0, 24)}


def solid_in_tile(tile: int, x, y):
    """Whether points (x, y), relative to the tile's upper left corner, lie in its solid part."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    if tile in _MOON_CENTRES or tile in PIPE_CENTRES:
        cx, cy = {**_MOON_CENTRES, **PIPE_CENTRES}[tile]
        near = (x - cx) ** 2 + (y - cy) ** 2 < TILE**2
        return near if tile in _MOON_CENTRES else ~near
    corners = _CORNERS.get(tile)
    if corners is None:
        return np.zeros(np.broadcast(x, y).shape, bool)
    sides = []
    for (x1, y1), (x2, y2) in zip(corners, corners[1:] + corners[:1], strict=True):
        sides.append((x2 - x1) * (y - y1) - (y2 - y1) * (x - x1) > 0)
    return np.all(sides, axis=0)


@lru_cache(maxsize=4)
def tile_shares(side: int, samples: int):
    """Share of each pixel that every tile covers, float (256, side, side), from samples x samples points a pixel."""
    axis = (np.arange(side * samples) + 0.5) * TILE / (side * samples)
    x, y = np.meshgrid(axis, axis)
    shares = np.zeros((256, side, side))
    for tile in range(38):
        if tile in EDGE_STRIPS:
            x1, x2, y1, y2 = EDGE_STRIPS[tile]
            solid = (x > x1) & (x < x2) & (y > y1) & (y < y2)
        else:
            solid = solid_in_tile(tile, x, y)
        shares[tile] = solid.reshape(side, samples, side, samples).mean(axis=(1, 3))
    return shares


def solid_at(tiles, x, y):
    """Whether points of the world are solid; `tiles` by [column, row], nothing is solid beyond them."""
    x, y = np.atleast_1d(np.asarray(x, float)), np.atleast_1d(np.asarray(y, float))
    column, row = np.floor(x / TILE).astype(int), np.floor(y / TILE).astype(int)
    inside = (column >= 0) & (column < 44) & (row >= 0) & (row < 25)
    ids = np.where(inside, tiles[np.clip(column, 0, 43), np.clip(row, 0, 24)], 0)
    solid = np.zeros(x.shape, bool)
    for tile in np.unique(ids):
        at = ids == tile
        solid[at] = solid_in_tile(int(tile), x[at] - TILE * column[at], y[at] - TILE * row[at])
    return solid
