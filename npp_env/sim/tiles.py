"""The 38 tile shapes of the game: which half edges they have and which slanted line or arc."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from npp_env.sim.structs import WALL_CONCAVE, WALL_CONVEX, WALL_SLANTED


class ExtraWall(NamedTuple):
    """A wall that is not axis-aligned, relative to the tile's top left corner, in pixels.

    A line runs from (x1, y1) to (x2, y2); an arc of radius 24 has its centre at (x1, y1) and lies in quadrant
    (x2, y2).
    """

    kind: int
    x1: int
    y1: int
    x2: int
    y2: int


class TileShape(NamedTuple):
    """Half-edge slots of a tile and its slanted line or arc.

    Horizontal slots run top-left, top-right, middle-left, middle-right, bottom-left, bottom-right; vertical
    ones left-upper, left-lower, centre-upper, centre-lower, right-upper, right-lower. A slot is `.` nothing,
    `s` semi-solid (cut by a slope or curve), `-` solid with its outer side up or left, `+` solid with its
    outer side down or right.
    """

    horizontal: str
    vertical: str
    extra: ExtraWall | None


def _line(x1: int, y1: int, x2: int, y2: int) -> ExtraWall:
    return ExtraWall(WALL_SLANTED, x1, y1, x2, y2)


def _convex(x: int, y: int, qx: int, qy: int) -> ExtraWall:
    return ExtraWall(WALL_CONVEX, x, y, qx, qy)


def _concave(x: int, y: int, qx: int, qy: int) -> ExtraWall:
    return ExtraWall(WALL_CONCAVE, x, y, qx, qy)


TILE_SHAPES = (
    TileShape("......", "......", None),
    TileShape("--..++", "--..++", None),
    TileShape("--++..", "-...+.", None),
    TileShape(".-...+", "..--++", None),
    TileShape("..--++", ".-...+", None),
    TileShape("-...+.", "--++..", None),
    TileShape("--.ss.", "--.ss.", _line(0, 24, 24, 0)),
    TileShape("--s..s", "s..s++", _line(0, 0, 24, 24)),
    TileShape(".ss.++", ".ss.++", _line(24, 0, 0, 24)),
    TileShape("s..s++", "--s..s", _line(24, 24, 0, 0)),
    TileShape("--..ss", "--..ss", _convex(0, 0, 1, 1)),
    TileShape("--..ss", "ss..++", _convex(24, 0, -1, 1)),
    TileShape("ss..++", "ss..++", _convex(24, 24, -1, -1)),
    TileShape("ss..++", "--..ss", _convex(0, 24, 1, -1)),
    TileShape("--.ss.", "--.ss.", _concave(24, 24, -1, -1)),
    TileShape("--s..s", "s..s++", _concave(0, 24, 1, -1)),
    TileShape(".ss.++", ".ss.++", _concave(0, 0, 1, 1)),
    TileShape("s..s++", "--s..s", _concave(24, 0, -1, 1)),
    TileShape("--ss..", "-...s.", _line(0, 12, 24, 0)),
    TileShape("--ss..", "s...+.", _line(0, 0, 24, 12)),
    TileShape("..ss++", ".s...+", _line(24, 12, 0, 24)),
    TileShape("..ss++", ".-...s", _line(24, 24, 0, 12)),
    TileShape("--..ss", "--..+s", _line(0, 24, 24, 12)),
    TileShape("--..ss", "-s..++", _line(0, 12, 24, 24)),
    TileShape("ss..++", "s-..++", _line(24, 0, 0, 12)),
    TileShape("ss..++", "--..s+", _line(24, 12, 0, 0)),
    TileShape("-...s.", "--ss..", _line(0, 24, 12, 0)),
    TileShape(".-...s", "..ss++", _line(12, 0, 24, 24)),
    TileShape(".s...+", "..ss++", _line(24, 0, 12, 24)),
    TileShape("s...+.", "--ss..", _line(12, 24, 0, 0)),
    TileShape("--..+s", "--..ss", _line(12, 24, 24, 0)),
    TileShape("--..s+", "ss..++", _line(0, 0, 12, 24)),
    TileShape("s-..++", "ss..++", _line(12, 0, 0, 24)),
    TileShape("-s..++", "--..ss", _line(24, 24, 12, 0)),
    TileShape("--....", "......", None),
    TileShape("......", "....++", None),
    TileShape("....++", "......", None),
    TileShape("......", "--....", None),
)

_FACING = {".": 0, "s": 0, "-": -1, "+": 1}
_VALUE = {".": 0, "s": 1, "-": 2, "+": 2}


def _slots(table: dict[str, int], vertical: bool) -> NDArray[np.int8]:
    """Slot values of all 256 tile ids; ids beyond the shapes have none."""
    values = np.zeros((256, 6), np.int8)
    for tile, shape in enumerate(TILE_SHAPES):
        values[tile] = [table[symbol] for symbol in (shape.vertical if vertical else shape.horizontal)]
    values.setflags(write=False)
    return values


HORIZONTAL_FACING = _slots(_FACING, vertical=False)  # (256, 6)
VERTICAL_FACING = _slots(_FACING, vertical=True)  # (256, 6)
HORIZONTAL_VALUE = _slots(_VALUE, vertical=False)  # (256, 6)
VERTICAL_VALUE = _slots(_VALUE, vertical=True)  # (256, 6)


@cache
def solid_pixels() -> NDArray[np.uint8]:
    """Solid pixels of each quarter [lower, right] of all 256 tile ids, 0..144, sampled at pixel centres.

    Computed when first asked for: whoever opens compiled levels does without. One read-only array.
    """
    counts = np.zeros((256, 2, 2), np.uint8)
    y, x = np.mgrid[0:24, 0:24] + 0.5
    for tile, shape in enumerate(TILE_SHAPES):
        if shape.extra is None:
            inside = _half_tile(tile, x, y)
        elif shape.extra.kind == WALL_SLANTED:
            _, x1, y1, x2, y2 = shape.extra
            inside = (y - y1) * (x2 - x1) - (x - x1) * (y2 - y1) < 0
        else:
            distance = np.hypot(x - shape.extra.x1, y - shape.extra.y1)
            inside = distance < 24 if shape.extra.kind == WALL_CONVEX else distance > 24
        counts[tile] = inside.reshape(2, 12, 2, 12).sum(axis=(1, 3))
    counts.setflags(write=False)
    return counts


def _half_tile(tile: int, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The solid part of full and half tiles; the one-edge tiles have none."""
    match tile:
        case 1:
            return np.ones_like(x, bool)
        case 2:
            return y < 12
        case 3:
            return x > 12
        case 4:
            return y > 12
        case 5:
            return x < 12
    return np.zeros_like(x, bool)
