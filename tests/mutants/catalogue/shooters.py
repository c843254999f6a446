"""Faults in sight and in what shooters do, and in what policies see of them."""

from __future__ import annotations

from ..faults import Fault

ROCKETS = "npp_env/sim/entities/rockets.pyx"
GAUSS = "npp_env/sim/entities/gauss_turrets.pyx"
GUNS = "npp_env/sim/entities/gun_drones.pyx"
SIGHT = "npp_env/sim/sight.pyx"
SWEEPS = "npp_env/sim/sweeps.pyx"
COVER = "npp_env/sim/cover.py"
OUTLOOK = "npp_env/sim/outlook.pyx"
KINDS = "npp_env/level/entity_kinds.py"
ENTITIES = "npp_env/observe/entity_features.pyx"

FAULTS = [
    Fault("rocket-leaves-a-tick-early", ROCKETS, "r.age >= PREFIRE", "r.age + 1 >= PREFIRE", "shooters", "off-by-one"),
    Fault(
        "rocket-turns-too-slowly", ROCKETS, "TURN = 0.1 * 2 / 3", "TURN = 0.1 / 3", "shooters", "neighbouring-constant"
    ),
    Fault("rocket-turns-away", ROCKETS, "TURN * p * -r.way_y", "TURN * p * r.way_y", "shooters", "sign"),
    Fault(
        "rocket-turns-to-what-is-behind-it",
        ROCKETS,
        "    if flies_straight(r.way_x, r.way_y, wx, wy):\n        return\n",
        "",
        "shooters",
        "dropped-condition",
    ),
    Fault("rocket-does-not-lead", ROCKETS, "LEAD_TICKS = 1.5", "LEAD_TICKS = 0.5", "shooters", "neighbouring-constant"),
    Fault(
        "rocket-passes-walls",
        ROCKETS,
        "near_walls and sweep(w, x, y, vx, vy, 0) < 1",
        "near_walls and sweep(w, x, y, vx, vy, 0) < 0",
        "shooters",
        "off-by-one",
    ),
    Fault("rocket-touches-from-afar", KINDS, '("rocket", 23, 0.0)', '("rocket", 23, 4.0)', "shooters", "wrong-radius"),
    Fault(
        "rocket-flies-on-after-it-has-killed",
        ROCKETS,
        "rest(w, e)\n        kill(w)",
        "kill(w)",
        "shooters",
        "dropped-condition",
    ),
    Fault(
        "gauss-regions-shifted",
        GAUSS,
        "[9216.0, 1764.0, 576.0]",
        "[9216.0, 1764.0, 484.0]",
        "shooters",
        "neighbouring-constant",
    ),
    Fault(
        "gauss-follows-a-tick-longer",
        GAUSS,
        "TARGETING_HALF_TICKS = 180",
        "TARGETING_HALF_TICKS = 182",
        "shooters",
        "off-by-one",
    ),
    Fault(
        "gauss-keeps-aiming", GAUSS, "enter(b, GAUSS_PREFIRE)", "enter(b, GAUSS_TARGETING)", "shooters", "wrong-index"
    ),
    Fault(
        "gauss-keeps-its-aim-out-of-sight",
        GAUSS,
        "    b.aim_x = b.x\n",
        "",
        "shooters",
        "dropped-condition",
        within="drop_aim",
    ),
    Fault("chaingun-shoots-an-eighth-bullet", GUNS, "BULLETS = 7", "BULLETS = 8", "shooters", "off-by-one"),
    Fault("bullets-wander-the-other-way", GUNS, "line.side = -1 if", "line.side = 1 if", "shooters", "sign"),
    Fault("bullets-in-one-line", GUNS, "(bullet / 6.0 - 0.5)", "(3 / 6.0 - 0.5)", "shooters", "neighbouring-constant"),
    Fault("laser-drone-fires-a-tick-less", GUNS, "BEAM_TICKS = 80", "BEAM_TICKS = 79", "shooters", "off-by-one"),
    Fault(
        "laser-drone-aims-when-it-fires",
        GUNS,
        "            if e.kind == CHAINGUN_DRONE:\n                aim(w, b)",
        "            if e.kind != GUN_IDLE:\n                aim(w, b)",
        "shooters",
        "dropped-condition",
    ),
    Fault(
        "drone-flies-while-it-fires",
        GUNS,
        "mover_of(w, e).phase == GUN_IDLE",
        "mover_of(w, e).phase != GUN_PREFIRE",
        "shooters",
        "dropped-condition",
    ),
    Fault("sight-of-the-centre", SIGHT, "> d - NINJA_RADIUS else", "> d else", "shooters", "wrong-radius"),
    Fault(
        "a-look-counts-joints-as-walls",
        SIGHT,
        "return along > MARGIN_PX and along < 1 - MARGIN_PX\n\n\ncdef int look_in_cell",
        "return True\n\n\ncdef int look_in_cell",
        "shooters",
        "dropped-condition",
        invisible="A line through the joint of two walls would have to miss both by rounding.",
    ),
    Fault(
        "a-look-goes-through-corners", SIGHT, "line.slow < MARGIN_PX", "line.slow < 0", "shooters", "dropped-condition"
    ),
    Fault("outlook-knows-too-much", OUTLOOK, "back_c != 0 and outlook", "back_c > 0 and outlook", "shooters", "sign"),
    Fault(
        "cover-of-the-wrong-side",
        COVER,
        "(COVER_LEFT, COVER_RIGHT)),",
        "(COVER_RIGHT, COVER_LEFT)),",
        "shooters",
        "exchanged-fields",
    ),
    Fault(
        "rays-pass-by-arcs",
        SWEEPS,
        "c = beside(x2, y2, x, y, dx, dy)",
        "c = beside(x1, y1, x, y, dx, dy)",
        "shooters",
        "wrong-index",
    ),
    Fault(
        "aim-relative-to-nothing",
        ENTITIES,
        "(pose.aim_x - n.x) / WIDTH_PX",
        "pose.aim_x / WIDTH_PX",
        "observe",
        "dropped-condition",
    ),
    Fault(
        "phase-and-timer-exchanged",
        ENTITIES,
        "out[9] = half(pose.phase)\n    out[10] = half(pose.timer)",
        "out[9] = half(pose.timer)\n    out[10] = half(pose.phase)",
        "observe",
        "exchanged-fields",
    ),
    Fault(
        "next-bullet-is-the-last-one",
        GUNS,
        "line_of_bullet(b, bullet + 1, &dx, &dy)",
        "line_of_bullet(b, bullet, &dx, &dy)",
        "observe",
        "off-by-one",
    ),
    Fault(
        "rocket-seen-at-rest", ROCKETS, "pose.vx = speed_of(r) * r.way_x", "pose.vx = 0", "observe", "dropped-condition"
    ),
    Fault(
        "busy-drone-seen-flying",
        GUNS,
        "    if b.phase == GUN_IDLE:\n        pose.vx",
        "    if b.phase != GUN_FIRING:\n        pose.vx",
        "observe",
        "dropped-condition",
    ),
    Fault(
        "aiming-cross-at-the-turret",
        "npp_env/render/frames.pyx",
        "draw_line(c, pose.aim_x - size, pose.aim_y,",
        "draw_line(c, x - size, pose.aim_y,",
        "frames",
        "exchanged-fields",
    ),
    Fault(
        "rocket-drawn-too-small",
        KINDS,
        "_disc(4.0, 0, emerged=True)",
        "_disc(3.0, 0, emerged=True)",
        "frames",
        "wrong-radius",
    ),
]
