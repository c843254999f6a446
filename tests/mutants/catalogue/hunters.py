"""Faults in chasers and evil ninjas, and in what policies see of them."""

from __future__ import annotations

from ..faults import Fault

CHASERS = "npp_env/sim/entities/chasers.pyx"
EVIL = "npp_env/sim/entities/evil_ninjas.pyx"
GRID = "npp_env/sim/grid.pyx"
KERNEL = "npp_env/sim/kernel.pyx"
KINDS = "npp_env/level/entity_kinds.py"

CONSTANT, DROPPED, SIGN, INDEX = "neighbouring-constant", "dropped-condition", "sign", "wrong-index"
STEP, FIELDS, RADIUS = "off-by-one", "exchanged-fields", "wrong-radius"

FAULTS = [
    Fault("chaser-calm-too-fast", CHASERS, "CALM_SPEED = 8.0 / 7", "CALM_SPEED = 9.0 / 7", "hunters", CONSTANT),
    Fault("chaser-sees-farther-aside", CHASERS, "ASIDE_PX = 12.0", "ASIDE_PX = 12.5", "hunters", CONSTANT),
    Fault("chaser-sees-the-dead", CHASERS, "if not is_target(w):", "if False:", "hunters", DROPPED),
    Fault("chaser-looks-behind", CHASERS, "dx * direction_x(direction) > 0 and ", "", "hunters", DROPPED),
    Fault(
        "chaser-looks-through-walls",
        CHASERS,
        "return way_free(w, i",
        "return True or way_free(w, i",
        "hunters",
        DROPPED,
    ),
    Fault(
        "chaser-looks-through-ceilings",
        CHASERS,
        "return way_free(w, j",
        "return True or way_free(w, j",
        "hunters",
        DROPPED,
    ),
    Fault("chaser-looks-right-first", CHASERS, "(base + turn + 3) % 4", "(base - turn + 5) % 4", "hunters", SIGN),
    Fault("chaser-looks-from-its-new-way", CHASERS, "(base + turn + 3)", "(b.direction + turn + 3)", "hunters", INDEX),
    Fault("chaser-never-ends", CHASERS, "        b.phase = CHASER_CALM\n", "", "hunters", DROPPED),
    Fault("chaser-turns-on", CHASERS, "base - first_turn(e.mode) + 4", "base + first_turn(e.mode)", "hunters", SIGN),
    Fault("chaser-flies-back", CHASERS, "max(0.0, speed_of(b) - d)", "speed_of(b) - d", "hunters", DROPPED),
    Fault("chaser-shown-calm", CHASERS, "pose.phase = 1.0 if", "pose.phase = 0.0 if", "observe", INDEX),
    Fault("chaser-shown-slow", CHASERS, "pose.vx = pose.nx * speed_of(b)", "pose.vx = pose.vx", "observe", FIELDS),
    Fault(
        "way-free-leaves-out-a-row",
        GRID,
        "clamp(min(start, end) + 1, last)",
        "clamp(min(start, end) + 2, last)",
        "hunters",
        STEP,
    ),
    Fault("evil-delay", KINDS, "DELAY_TICKS = 120", "DELAY_TICKS = 121", "hunters", STEP),
    Fault(
        "evil-a-tick-later", EVIL, "DELAY_TICKS * <int>b.number - 1)", "DELAY_TICKS * <int>b.number)", "hunters", STEP
    ),
    Fault("evil-starts-early", EVIL, "w.ninja.frame - 1 + DELAY", "w.ninja.frame - 2 + DELAY", "hunters", STEP),
    Fault("evil-all-first", EVIL, "b.number = w.ninja.followers", "b.number = 1", "hunters", INDEX),
    Fault("evil-stays-listed", EVIL, "        relist(w, b)\n", "", "hunters", DROPPED),
    Fault(
        "evil-woken-by-the-winner",
        EVIL,
        "if is_target(w) and touches(w, b.x, b.y, kinds",
        "if touches(w, b.x, b.y, kinds",
        "hunters",
        DROPPED,
    ),
    Fault(
        "evil-kills-while-it-waits",
        EVIL,
        "elif b.phase == FOLLOWER_ACTIVE:\n        if is",
        "else:\n        if is",
        "hunters",
        DROPPED,
    ),
    Fault("evil-kills-from-afar", EVIL, "DEADLY_RADIUS = 6.0", "DEADLY_RADIUS = 6.5", "hunters", RADIUS),
    Fault("evil-path-exchanged", KERNEL, "place.y = w.ninja.y", "place.y = w.ninja.x", "hunters", FIELDS),
    Fault("evil-past-kept-always", KERNEL, "if w.ninja.followers:", "if w.level.history_ticks:", "hunters", DROPPED),
    Fault("evil-timer-of-the-first", EVIL, "/ (DELAY_TICKS * b.number)", "/ DELAY_TICKS", "observe", INDEX),
    Fault("evil-aims-a-tick-later", EVIL, "woken_in(b) + 1)", "woken_in(b) + 2)", "observe", STEP),
    Fault("evil-next-move-is-the-last", EVIL, "repeated_tick(w, b) + 1)", "repeated_tick(w, b) - 1)", "observe", SIGN),
    Fault("evil-shown-as-large-as-asleep", EVIL, "        pose.radius = DEADLY_RADIUS\n", "", "observe", RADIUS),
]
