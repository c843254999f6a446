"""One ASCII character for each tile shape, as used by the grid of the text format."""

from __future__ import annotations

TILE_CHARACTERS = (
    "."  # 0 empty
    "#"  # 1 full
    '"]_['  # 2-5 half tiles: top, right, bottom, left half solid
    # From here to 33 each family goes by its solid corner: top left, top right, bottom right, bottom left.
    "ZN/\\"  # 6-9 slopes of 45 degrees
    "qpbd"  # 10-13 convex quarter moons: the bowl of the letter lies in the solid corner
    "F7JL"  # 14-17 concave quarter pipes: the letter draws the solid corner
    "rstu"  # 18-21 mild slopes, short
    "RSTU"  # 22-25 mild slopes, raised
    "vwxy"  # 26-29 steep slopes, short
    "VWXY"  # 30-33 steep slopes, raised
    "^>=<"  # 34-37 a single edge: top, right, bottom, left
)
"""Character of tile id 0..37, by position."""

OTHER_TILE = "?"
"""Stands for any id that has no shape; the id itself follows below the grid."""

TILE_OF_CHARACTER = {character: tile for tile, character in enumerate(TILE_CHARACTERS)}
