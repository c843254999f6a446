"""Where walls and matter are, from the tile table of the physics alone."""

from __future__ import annotations

import functools

import numpy as np

WIDTH, HEIGHT = 1056, 600
FIT_RADIUS = 9.28
ARC_RADIUS = 24

# id, horizontal slots, vertical slots, slanted wall: a line from point to point, or an arc by centre and quadrant.
_TABLE = """
0 ...... ......
1 --..++ --..++
2 --++.. -...+.
3 .-...+ ..--++
4 ..--++ .-...+
5 -...+. --++..
6 --.ss. --.ss. line 0 24 24 0
7 --s..s s..s++ line 0 0 24 24
8 .ss.++ .ss.++ line 24 0 0 24
9 s..s++ --s..s line 24 24 0 0
10 --..ss --..ss convex 0 0 1 1
11 --..ss ss..++ convex 24 0 -1 1
12 ss..++ ss..++ convex 24 24 -1 -1
13 ss..++ --..ss convex 0 24 1 -1
14 --.ss. --.ss. concave 24 24 -1 -1
15 --s..s s..s++ concave 0 24 1 -1
16 .ss.++ .ss.++ concave 0 0 1 1
17 s..s++ --s..s concave 24 0 -1 1
18 --ss.. -...s. line 0 12 24 0
19 --ss.. s...+. line 0 0 24 12
20 ..ss++ .s...+ line 24 12 0 24
21 ..ss++ .-...s line 24 24 0 12
22 --..ss --..+s line 0 24 24 12
23 --..ss -s..++ line 0 12 24 24
24 ss..++ s-..++ line 24 0 0 12
25 ss..++ --..s+ line 24 12 0 0
26 -...s. --ss.. line 0 24 12 0
27 .-...s ..ss++ line 12 0 24 24
28 .s...+ ..ss++ line 24 0 12 24
29 s...+. --ss.. line 12 24 0 0
30 --..+s --..ss line 12 24 24 0
31 --..s+ ss..++ line 0 0 12 24
32 s-..++ ss..++ line 12 0 0 24
33 -s..++ --..ss line 24 24 12 0
34 --.... ......
35 ...... ....++
36 ....++ ......
37 ...... --....
"""


@functools.cache
def tile_table():
    """By tile id: horizontal slots, vertical slots, (kind, four numbers) or None."""
    table = {}
    for line in _TABLE.split("\n")[1:-1]:
        number, horizontal, vertical, *slanted = line.split()
        table[int(number)] = (
            horizontal,
            vertical,
            (slanted[0], *(int(value) for value in slanted[1:])) if slanted else None,
        )
    return table


def ringed(tiles):
    """The tiles of a level by [row][column], with the solid ring around the map."""
    full = [[1] * 44 for _ in range(25)]
    for r, row in enumerate(tiles.tolist()):
        full[r + 1][1:43] = row
    return full


def half_edges(full):
    """Wall pieces along half cells: sets of (column, row) where a level and where an upright piece begins."""
    facing = {"-": -1, "+": 1, ".": 0, "s": 0}
    level, upright = {}, {}
    for i in range(88):
        level[i, 0], level[i, 50] = 1, -1
    for j in range(50):
        upright[0, j], upright[88, j] = 1, -1
    for r, row in enumerate(full):
        for c, tile in enumerate(row):
            if tile == 0 or tile not in tile_table():
                continue
            horizontal, vertical, _ = tile_table()[tile]
            for a in range(3):
                for b in range(2):
                    here = (2 * c + b, 2 * r + a)
                    level[here] = level.get(here, 0) + facing[horizontal[2 * a + b]]
                    here = (2 * c + a, 2 * r + b)
                    upright[here] = upright.get(here, 0) + facing[vertical[2 * a + b]]
    return {at for at, total in level.items() if total}, {at for at, total in upright.items() if total}


def distance_to_line(x, y, x1, y1, x2, y2):
    """Of points from a segment that runs along an axis or slantwise."""
    length = np.hypot(x2 - x1, y2 - y1)
    ex, ey = (x2 - x1) / length, (y2 - y1) / length
    along = (x - x1) * ex + (y - y1) * ey
    aside = (x - x1) * ey - (y - y1) * ex
    beyond = np.maximum(0.0, np.maximum(-along, along - length))
    return np.hypot(beyond, aside)


def distance_to_arc(x, y, cx, cy, qx, qy):
    """Of points from a quarter circle."""
    inside = ((x - cx) * qx > 0) & ((y - cy) * qy > 0)
    from_ends = np.minimum(np.hypot(x - (cx + ARC_RADIUS * qx), y - cy), np.hypot(x - cx, y - (cy + ARC_RADIUS * qy)))
    return np.where(inside, np.abs(np.hypot(x - cx, y - cy) - ARC_RADIUS), from_ends)


@functools.cache
def _shadow(kind, *numbers):
    """Offsets (dx, dy) of the pixels nearer than the fit radius to a wall that is placed at the origin."""
    y, x = np.mgrid[-12:37, -12:37]
    distance = distance_to_line if kind == "line" else distance_to_arc
    near = distance(x, y, *numbers) < FIT_RADIUS
    return x[near], y[near]


def tight_pixels(tiles):
    """Mask [y, x] of the pixels that are too near to a wall of the tiles."""
    full = ringed(tiles)
    margin = 64
    tight = np.zeros((HEIGHT + 2 * margin, WIDTH + 2 * margin), bool)
    level, upright = half_edges(full)
    walls = [(12 * i, 12 * j, ("line", 0, 0, 12, 0)) for i, j in level]
    walls += [(12 * i, 12 * j, ("line", 0, 0, 0, 12)) for i, j in upright]
    for r, row in enumerate(full):
        for c, tile in enumerate(row):
            slanted = tile_table()[tile][2] if tile in tile_table() else None
            if slanted:
                walls.append((24 * c, 24 * r, slanted))
    for x, y, wall in walls:
        dx, dy = _shadow(*wall)
        tight[margin + y + dy, margin + x + dx] = True
    return tight[margin:-margin, margin:-margin]


@functools.cache
def _matter(tile):
    """Pixels [y, x] of a tile that lie in matter."""
    y, x = np.mgrid[0:24, 0:24]
    halves = {1: x >= 0, 2: y < 12, 3: x >= 12, 4: y >= 12, 5: x < 12}
    if tile in halves:
        return halves[tile]
    slanted = tile_table()[tile][2] if tile in tile_table() else None
    if slanted is None:
        return np.zeros((24, 24), bool)
    kind, a, b, c, d = slanted
    if kind == "line":
        return (y - b) * (c - a) < (x - a) * (d - b)
    squared = (x - a) ** 2 + (y - b) ** 2
    return squared < ARC_RADIUS**2 if kind == "convex" else squared > ARC_RADIUS**2


def matter_pixels(tiles):
    """Mask [y, x] of the pixels in matter."""
    return np.block([[_matter(tile) for tile in row] for row in ringed(tiles)])
