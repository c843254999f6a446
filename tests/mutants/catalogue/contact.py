"""Faults where the ninja and entities meet."""

from __future__ import annotations

from ..faults import Fault

BLOCKS = "npp_env/sim/entities/bounce_blocks.pyx"
THWUMPS = "npp_env/sim/entities/thwumps.pyx"
MINES = "npp_env/sim/entities/mines.pyx"
BALLS = "npp_env/sim/entities/death_balls.pyx"
SHOVES = "npp_env/sim/entities/shove_thwumps.pyx"
GOALS = "npp_env/sim/entities/goals.pyx"
LAUNCH_PADS = "npp_env/sim/entities/launch_pads.pyx"
ONE_WAYS = "npp_env/sim/entities/one_ways.pyx"
PASSES = "npp_env/sim/entities/passes.pyx"
KINDS = "npp_env/level/entity_kinds.py"
BODY = "npp_env/sim/body.pxd"
CONTACT = "npp_env/sim/contact.pxd"

FAULTS = [
    Fault(
        "death-ball-kills-from-afar",
        KINDS,
        "radius_px=5.0, column=15",
        "radius_px=6.0, column=15",
        "sim",
        "wrong-radius",
    ),
    Fault(
        "one-way-holds-from-below", ONE_WAYS, "dist > 0 and dist <= 10", "dist <= 10", "entities", "dropped-condition"
    ),
    Fault("square-side-chosen-by-the-deeper-axis", CONTACT, "if py <= px:", "if py >= px:", "entities", "sign"),
    Fault(
        "one-way-widths-exchanged",
        ONE_WAYS,
        "0.90 if motion < 0 else 0.51",
        "0.51 if motion < 0 else 0.90",
        "entities",
        "exchanged-fields",
    ),
    Fault(
        "one-way-holds-what-came-through",
        ONE_WAYS,
        "10 - old <= 1.1",
        "10 - old <= 11",
        "entities",
        "neighbouring-constant",
    ),
    Fault("one-way-lateral-sign", ONE_WAYS, "dy * nx - dx * ny", "dy * nx + dx * ny", "entities", "sign"),
    Fault("block-drawn-along-by-the-ninja", BLOCKS, "b.vx -= cx", "b.vx += cx", "entities", "sign"),
    Fault(
        "pushes-do-not-count-for-crushing",
        CONTACT,
        "w.crush_length += length",
        "w.crush_length -= length",
        "entities",
        "sign",
    ),
    Fault(
        "shove-thwump-pushes-too-late",
        SHOVES,
        "inside_square(w, b.x, b.y, 22, ",
        "inside_square(w, b.x, b.y, 21, ",
        "entities",
        "wrong-radius",
    ),
    Fault(
        "launch-pad-does-not-arm-its-jump", LAUNCH_PADS, "n.b_pad = 0", "n.b_pad = -1", "entities", "dropped-condition"
    ),
    Fault("launch-pad-throws-up-too-weakly", LAUNCH_PADS, "1 - ny if ny < 0", "1 + ny if ny < 0", "entities", "sign"),
    Fault("launch-pads-in-the-floor-never-fire", LAUNCH_PADS, ">= -0.1:", ">= 0.1:", "entities", "sign"),
    Fault("gold-counts-twice", GOALS, "w.ninja.gold += 1", "w.ninja.gold += 2", "entities", "neighbouring-constant"),
    Fault(
        "exit-listed-in-a-wrong-cell",
        GOALS,
        "cell_of(door.x, door.y)",
        "cell_of(door.x, door.y) - 3",
        "entities",
        "wrong-index",
    ),
    Fault("mine-too-large", MINES, "return 4.0", "return 5.0", "entities", "wrong-radius"),
    Fault(
        "regular-door-opens-from-afar",
        KINDS,
        "radius_px=10.0, column=3",
        "radius_px=11.0, column=3",
        "sim",
        "wrong-radius",
    ),
    Fault(
        "upright-thwump-lethal-at-a-slanted-edge",
        THWUMPS,
        "b.x - 7, b.y + reach",
        "b.x - 7, b.y - reach",
        "entities",
        "sign",
    ),
    Fault(
        "thwump-lethal-too-late",
        THWUMPS,
        "b.x + 7, b.y + reach, 12)",
        "b.x + 7, b.y + reach, 10)",
        "entities",
        "wrong-radius",
    ),
    Fault(
        "shove-thwump-armed-from-afar",
        SHOVES,
        "inside_square(w, b.x, b.y, 22.1, ",
        "inside_square(w, b.x, b.y, 23.1, ",
        "entities",
        "wrong-radius",
    ),
    Fault(
        "shove-thwump-core-too-large",
        SHOVES,
        "touches(w, b.x, b.y, CORE_RADIUS)",
        "touches(w, b.x, b.y, CORE_RADIUS + 2)",
        "entities",
        "wrong-radius",
    ),
    Fault(
        "exit-too-small",
        GOALS,
        "touches(w, door.x, door.y, radius)",
        "touches(w, door.x, door.y, radius - 1)",
        "entities",
        "wrong-radius",
    ),
    Fault(
        "fraction-of-another-point",
        GOALS,
        "door.x, door.y, w.xo",
        "door.y, door.x, w.xo",
        "entities",
        "swapped-arguments",
    ),
    Fault(
        "guard-too-large",
        KINDS,
        "radius_px=6.0, speed_px=float",
        "radius_px=7.0, speed_px=float",
        "sim",
        "wrong-radius",
    ),
    Fault(
        "death-ball-recoils-too-little",
        BALLS,
        "b.vx += dx / d * 10",
        "b.vx += dx / d * 9",
        "entities",
        "neighbouring-constant",
    ),
    Fault(
        "movers-in-the-row-below-are-not-met",
        PASSES,
        "NEAR_CELLS = 7 * (",
        "NEAR_CELLS = 3 * (",
        "entities",
        "wrong-index",
    ),
    Fault(
        "statics-are-met-before-earlier-movers",
        PASSES,
        ".stamp < level.listed[i]",
        ".stamp > level.listed[i]",
        "entities",
        "sign",
    ),
    Fault(
        "all-circles-too-small", BODY, "radius + NINJA_RADIUS", "radius + NINJA_RADIUS - 1", "entities", "wrong-radius"
    ),
    Fault(
        "segment-projected-with-a-wrong-sign",
        BODY,
        "ex + (w.ninja.y - y1) * ey",
        "ex - (w.ninja.y - y1) * ey",
        "entities",
        "sign",
    ),
    Fault("segment-goes-on-beyond-its-end", BODY, "if u > 1:", "if u > 2:", "entities", "dropped-condition"),
    Fault("winner-rises-on", BODY, "w.ninja.g = G_FALL", "w.ninja.g = w.ninja.g", "entities", "dropped-condition"),
]
