"""Faults in the tables that a level is compiled to, and in looking things up in them."""

from __future__ import annotations

from ..faults import Fault

DRONES = "npp_env/sim/entities/drones.pyx"
LASERS = "npp_env/sim/entities/lasers.pyx"
BUILD = "npp_env/sim/entities/build.py"
LISTS = "npp_env/sim/grid.pxd"
GRID = "npp_env/sim/grid.pyx"
GEOMETRY = "npp_env/sim/geometry.py"
TILES = "npp_env/sim/tiles.py"

FAULTS = [
    Fault(
        "half-columns-end-a-step-early",
        GRID,
        "i + 1 if step > 0 else i",
        "i if step > 0 else i",
        "entities",
        "off-by-one",
        within="col_free",
    ),
    Fault(
        "half-rows-end-a-step-early",
        GRID,
        "j + 1 if step > 0 else j",
        "j + 1 if step < 0 else j",
        "entities",
        "sign",
        within="row_free",
    ),
    Fault("open-doors-block-drones", GRID, "& DOOR_OPEN) == 0", "& DOOR_OPEN) != 0", "entities", "sign"),
    Fault(
        "movers-listed-by-half-their-row",
        LISTS,
        "cell_of(b.x, b.y)",
        "cell_of(b.x, b.y / 2)",
        "entities",
        "wrong-index",
    ),
    Fault(
        "drone-starts-in-a-wrong-direction",
        DRONES,
        "orientation // 2",
        "orientation // 4",
        "entities",
        "neighbouring-constant",
    ),
    Fault(
        "exit-takes-the-next-record-for-its-switch",
        BUILD,
        "switch_distance(kind, exit_count)",
        "switch_distance(kind, 1)",
        "entities",
        "wrong-index",
    ),
    Fault(
        "door-edges-on-the-wrong-side", BUILD, "column_of(x - 12 * ox)", "column_of(x + 12 * ox)", "entities", "sign"
    ),
    Fault(
        "lying-door-edges-on-the-wrong-side", BUILD, "row_of(y - 12 * oy)", "row_of(y + 12 * oy)", "entities", "sign"
    ),
    Fault("door-closes-half-an-edge", BUILD, "(edge, edge + 1, flag,", "(edge, edge, flag,", "entities", "wrong-index"),
    Fault(
        "door-line-too-short", BUILD, "(x, y - 12, x, y + 12,", "(x, y - 12, x, y,", "entities", "neighbouring-constant"
    ),
    Fault(
        "switch-x-y-swapped",
        BUILD,
        "_, xc, yc, _, _ = records",
        "_, yc, xc, _, _ = records",
        "entities",
        "swapped-arguments",
    ),
    Fault("laser-sense-exchanged", LASERS, "-1 if e.mode == 1 else 1", "1 if e.mode == 1 else -1", "lasers", "sign"),
    Fault(
        "death-ball-ordinals-from-one",
        BUILD,
        "-1, len(slots[kind])",
        "-1, len(slots[kind]) + 1",
        "entities",
        "off-by-one",
    ),
    Fault(
        "one-ways-unknown-to-cells-below-them",
        BUILD,
        "for dr in range(3):",
        "for dr in range(1, 3):",
        "entities",
        "off-by-one",
    ),
    Fault(
        "number-of-death-balls-from-the-next-count",
        BUILD,
        "(EntityKind.EXIT, EntityKind.DEATH_BALL)",
        "(EntityKind.EXIT, EntityKind.MINI_DRONE)",
        "entities",
        "wrong-index",
    ),
    Fault(
        "lying-walls-turned-around",
        GEOMETRY,
        "12 * i + 12 * (facing < 0), 12 * i + 12 * (facing > 0)",
        "12 * i + 12 * (facing > 0), 12 * i + 12 * (facing < 0)",
        "sim",
        "exchanged-fields",
    ),
    Fault(
        "edges-lost-below-solid-ones", GEOMETRY, "(above != 0) & (below != 0)", "above != 0", "sim", "dropped-condition"
    ),
    Fault(
        "upright-middle-edges-of-the-wrong-side",
        GEOMETRY,
        "v_value[:, :, 2 + half]",
        "v_value[:, :, half]",
        "sim",
        "wrong-index",
    ),
    Fault(
        "map-shifted-by-a-row",
        GEOMETRY,
        "tiles[1:-1, 1:-1] = level.tiles.T",
        "tiles[1:-1, :-2] = level.tiles.T",
        "sim",
        "off-by-one",
    ),
    Fault(
        "arcs-moved-with-their-quadrant", GEOMETRY, "x * is_line + extra.x2", "x + extra.x2", "sim", "dropped-condition"
    ),
    Fault("slope-turned-around", TILES, "_line(0, 24, 24, 0)", "_line(24, 0, 0, 24)", "sim", "swapped-arguments"),
    Fault("quarter-moon-in-another-quadrant", TILES, "_convex(24, 0, -1, 1)", "_convex(24, 0, 1, 1)", "sim", "sign"),
    Fault(
        "quarter-pipe-convex", TILES, "_concave(24, 24, -1, -1)", "_convex(24, 24, -1, -1)", "sim", "exchanged-fields"
    ),
    Fault(
        "raised-steep-slope-exchanged-sides",
        TILES,
        '"--..s+", "ss..++"',
        '"--..+s", "ss..++"',
        "sim",
        "exchanged-fields",
    ),
    Fault(
        "mild-slope-half-a-tile-higher",
        TILES,
        "_line(0, 24, 24, 12)",
        "_line(0, 12, 24, 0)",
        "sim",
        "neighbouring-constant",
    ),
    Fault("slopes-are-floor-for-guards", TILES, '"s": 1', '"s": 2', "sim", "neighbouring-constant"),
    Fault(
        "one-edge-tile-at-the-other-side", TILES, '"....++", "......"', '"++....", "......"', "sim", "exchanged-fields"
    ),
]
