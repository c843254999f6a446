"""Faults in what entities do by themselves."""

from __future__ import annotations

from ..faults import Fault

DRONES = "npp_env/sim/entities/drones.pyx"
GUARDS = "npp_env/sim/entities/floor_guards.pyx"
BLOCKS = "npp_env/sim/entities/bounce_blocks.pyx"
THWUMPS = "npp_env/sim/entities/thwumps.pyx"
BOOST_PADS = "npp_env/sim/entities/boost_pads.pyx"
MINES = "npp_env/sim/entities/mines.pyx"
BALLS = "npp_env/sim/entities/death_balls.pyx"
SHOVES = "npp_env/sim/entities/shove_thwumps.pyx"
DOORS = "npp_env/sim/entities/doors.pyx"
LASERS = "npp_env/sim/entities/lasers.pyx"
SIGHT = "npp_env/sim/sight.pyx"
KINDS = "npp_env/level/entity_kinds.py"

FAULTS = [
    Fault(
        "clockwise-drone-turns-the-other-way",
        DRONES,
        "[[1, 0, 3, 2]",
        "[[3, 0, 1, 2]",
        "entities",
        "neighbouring-constant",
    ),
    Fault(
        "drone-that-goes-ahead-prefers-the-left", DRONES, "[0, 1, 3, 2]", "[0, 3, 1, 2]", "entities", "exchanged-fields"
    ),
    Fault("zap-drone-too-fast", KINDS, "speed_px=8 / 7", "speed_px=9 / 7", "sim", "neighbouring-constant"),
    Fault("mini-drone-too-slow", KINDS, "speed_px=1.3", "speed_px=1.2", "sim", "neighbouring-constant"),
    Fault(
        "zap-drone-squeezes-through",
        DRONES,
        "kinds[e.kind].radius, step",
        "kinds[MINI_DRONE].radius, step",
        "entities",
        "wrong-radius",
    ),
    Fault(
        "zap-drone-with-short-steps",
        DRONES,
        "MINI_STEP_PX if e.kind == MINI_DRONE else STEP_PX",
        "MINI_STEP_PX",
        "entities",
        "neighbouring-constant",
    ),
    Fault("drone-overshoots-its-corner", DRONES, "go_on(b, speed - d)", "go_on(b, speed + d)", "entities", "sign"),
    Fault(
        "drone-stays-listed-where-it-began",
        DRONES,
        "relist(w, mover_of(w, e))",
        "pass",
        "entities",
        "dropped-condition",
        within="advance_drone",
    ),
    Fault(
        "drone-looks-along-the-wrong-side",
        DRONES,
        "i = ifloor(((b.x if ux != 0 else b.y) + run * radius) / 12)",
        "i = ifloor(((b.x if ux != 0 else b.y) - run * radius) / 12)",
        "entities",
        "sign",
    ),
    Fault(
        "guard-looks-a-row-too-low",
        GUARDS,
        "floor_value(w, i_new, j + 1)",
        "floor_value(w, i_new, j + 2)",
        "entities",
        "wrong-index",
    ),
    Fault(
        "guard-stops-too-early", GUARDS, "STOP_PX = 6 + 0.01", "STOP_PX = 6 + 0.1", "entities", "neighbouring-constant"
    ),
    Fault(
        "guard-stops-at-the-other-side-of-the-half-cell",
        GUARDS,
        "(i + 1 if run == 1 else i)",
        "(i + 1 if run == -1 else i)",
        "entities",
        "sign",
    ),
    Fault(
        "guard-sees-only-half-a-tile-up",
        GUARDS,
        "y + 6 - 24 <= n.y",
        "y + 6 - 12 <= n.y",
        "entities",
        "neighbouring-constant",
    ),
    Fault(
        "guard-sees-through-walls",
        GUARDS,
        "if way_free(w, ifloor(b.x / 12), ifloor(n.x / 12), ifloor(b.y / 12), False):",
        "if True:",
        "entities",
        "dropped-condition",
        within="react_guard",
    ),
    Fault("block-drag-too-strong", BLOCKS, "DRAG = 0.98", "DRAG = 0.97", "entities", "neighbouring-constant"),
    Fault(
        "block-spring-too-weak",
        BLOCKS,
        'float.fromhex("0x1.6c16c16c16c16p-6")',
        'float.fromhex("0x1.6c16c16c16c16p-7")',
        "entities",
        "neighbouring-constant",
    ),
    Fault(
        "block-moves-down-by-its-speed-to-the-right",
        BLOCKS,
        "b.y += b.vy",
        "b.y += b.vx",
        "entities",
        "exchanged-fields",
    ),
    Fault("block-pulled-the-wrong-way", BLOCKS, "b.vx += fx", "b.vx -= fx", "entities", "sign"),
    Fault(
        "thwump-blocked-by-what-lies-beside-it",
        THWUMPS,
        "(cross + EDGE_PX)",
        "(cross + EDGE_PX + 1)",
        "entities",
        "wrong-radius",
    ),
    Fault(
        "thwump-charges-at-its-return-speed",
        THWUMPS,
        "speed = kinds[THWUMP].speed if",
        "speed = RETURN_SPEED if",
        "entities",
        "exchanged-fields",
    ),
    Fault("thwump-jumps-home", THWUMPS, "(z[0] - origin) < 0", "(z[0] - origin) > 0", "entities", "sign"),
    Fault("thwump-lane-too-narrow", THWUMPS, "LANE_PX = 38", "LANE_PX = 36", "entities", "wrong-radius"),
    Fault(
        "thwump-looks-from-its-front",
        THWUMPS,
        "ifloor((z - q * EDGE_PX) / 12)",
        "ifloor((z + q * EDGE_PX) / 12)",
        "entities",
        "sign",
    ),
    Fault("thwump-misses-the-last-half-cell", THWUMPS, "delta * q <= 0", "delta * q < 0", "entities", "off-by-one"),
    Fault("boost-pad-x-y-swapped", BOOST_PADS, "n.vx += ax", "n.vx += ay", "entities", "swapped-arguments"),
    Fault("boost-pad-too-large", KINDS, "radius_px=6.0, column=14", "radius_px=7.0, column=14", "sim", "wrong-radius"),
    Fault(
        "boost-pad-boosts-in-every-tick",
        BOOST_PADS,
        "inside[0] = True",
        "inside[0] = False",
        "entities",
        "dropped-condition",
    ),
    Fault("arming-mine-too-small", MINES, "return 4.5", "return 4.0", "entities", "wrong-radius"),
    Fault("idle-mine-too-large", MINES, "return 3.5", "return 4.0", "entities", "wrong-radius"),
    Fault(
        "mines-in-the-row-below-never-toggle", MINES, "(r + 1 if r < ROWS - 1 else r)", "r", "entities", "wrong-index"
    ),
    Fault(
        "death-ball-pulled-too-hard",
        BALLS,
        "b.vx += dx * 0.04",
        "b.vx += dx * 0.05",
        "entities",
        "neighbouring-constant",
    ),
    Fault("death-ball-too-fast", BALLS, "MAX_SPEED = 0.85", "MAX_SPEED = 0.86", "entities", "neighbouring-constant"),
    Fault(
        "death-ball-brakes-too-little",
        BALLS,
        "b.vy = b.vy * 0.95",
        "b.vy = b.vy * 0.96",
        "entities",
        "neighbouring-constant",
    ),
    Fault(
        "death-ball-sweeps-a-wider-circle", BALLS, "SWEEP_RADIUS = 4", "SWEEP_RADIUS = 6", "entities", "wrong-radius"
    ),
    Fault(
        "death-ball-sinks-into-walls",
        BALLS,
        "length = BODY_RADIUS - d",
        "length = BODY_RADIUS - 1 - d",
        "entities",
        "wrong-radius",
    ),
    Fault(
        "fast-death-ball-does-not-bounce",
        BALLS,
        "<= 1.35 else 2",
        "<= 13.5 else 2",
        "entities",
        "neighbouring-constant",
    ),
    Fault(
        "death-balls-repel-too-late",
        BALLS,
        "d < 2 * BODY_RADIUS",
        "d < 2 * BODY_RADIUS - 1",
        "entities",
        "wrong-radius",
    ),
    Fault("death-ball-partner-is-drawn-along", BALLS, "o.vx -= dx", "o.vx += dx", "entities", "sign"),
    Fault(
        "death-balls-repel-one-too-many",
        BALLS,
        "ordinal + 1 >= w.level.ball_count",
        "ordinal >= w.level.ball_count",
        "entities",
        "off-by-one",
    ),
    Fault(
        "uncounted-death-balls-are-no-partners",
        BALLS,
        "range(ordinal + 1, w.level.n_balls)",
        "range(ordinal + 1, w.level.ball_count)",
        "entities",
        "wrong-index",
    ),
    Fault(
        "shove-thwump-blocked-by-what-lies-beside-it",
        SHOVES,
        "ifloor((b.y + CORE_RADIUS) / 12)",
        "ifloor((b.y + CORE_RADIUS + 4) / 12)",
        "entities",
        "wrong-radius",
    ),
    Fault(
        "shove-thwump-flies-too-slowly",
        SHOVES,
        "move(w, b, -1, LAUNCH_STEP)",
        "move(w, b, -1, LAUNCH_STEP - 1)",
        "entities",
        "neighbouring-constant",
    ),
    Fault(
        "shove-thwump-home-a-tick-early",
        SHOVES,
        "fabs(b.y - e.y0) >= 1",
        "fabs(b.y - e.y0) >= 2",
        "entities",
        "off-by-one",
    ),
    Fault("regular-door-closes-a-tick-late", DOORS, "> OPEN_TICKS", "> OPEN_TICKS + 1", "entities", "off-by-one"),
    Fault(
        "laser-spins-too-fast", LASERS, "SPIN = 0.010471975", "SPIN = 0.011471975", "lasers", "neighbouring-constant"
    ),
    Fault("laser-crawls-too-fast", LASERS, "CRAWL_PX = 0.1", "CRAWL_PX = 0.2", "lasers", "neighbouring-constant"),
    Fault("laser-too-far-from-its-wall", LASERS, "RADIUS = 5.9", "RADIUS = 6.9", "lasers", "wrong-radius"),
    Fault(
        "laser-turns-too-fast-around-corners",
        LASERS,
        "CORNER_TURN = 0.005524805665672641",
        "CORNER_TURN = 0.01",
        "lasers",
        "neighbouring-constant",
    ),
    Fault(
        "laser-beam-follows-too-slowly",
        LASERS,
        "BEAM_TURN = 0.11049611331345282",
        "BEAM_TURN = 0.1",
        "lasers",
        "neighbouring-constant",
    ),
    Fault(
        "laser-shoots-at-what-it-does-not-see",
        LASERS,
        " and (d <= NINJA_RADIUS or sees(w, b.x, b.y))",
        "",
        "lasers",
        "dropped-condition",
    ),
    Fault(
        "laser-beam-too-wide",
        SIGHT,
        "y + length * dy, NINJA_RADIUS)",
        "y + length * dy, NINJA_RADIUS + 2)",
        "lasers",
        "wrong-radius",
    ),
    Fault(
        "laser-angle-leaves-the-circle",
        LASERS,
        "b.beam -= TWO_PI",
        "b.beam += TWO_PI",
        "lasers",
        "sign",
        within="react_laser",
    ),
    Fault("laser-near-a-wall-spins", LASERS, "SURFACE_PX = 7.0", "SURFACE_PX = 5.0", "lasers", "wrong-radius"),
    Fault(
        "beam-follows-the-long-way",
        LASERS,
        "while d > PI and",
        "while d > 2 * PI and",
        "lasers",
        "neighbouring-constant",
    ),
]
