"""Faults in what policies see of the ninja and of its actions."""

from __future__ import annotations

from ..faults import Fault

NINJA = "npp_env/observe/ninja_features.pyx"

FAULTS = [
    Fault(
        "wall-normal-to-the-wrong-side",
        NINJA,
        "out[16] = half(unit(n.wn))",
        "out[16] = half(unit(-n.wn))",
        "observe",
        "sign",
    ),
    Fault(
        "floor-and-wall-buffer-exchanged",
        NINJA,
        "out[22] = buffered[<unsigned char>n.b_floor]\n    out[23] = buffered[<unsigned char>n.b_wall]",
        "out[22] = buffered[<unsigned char>n.b_wall]\n    out[23] = buffered[<unsigned char>n.b_floor]",
        "observe",
        "exchanged-fields",
    ),
    Fault(
        "mask-forgets-the-buffered-jump",
        NINJA,
        "n.state != RISING and n.b_jump < 0:",
        "n.state != RISING:",
        "observe",
        "dropped-condition",
    ),
    Fault(
        "x-scaled-to-a-narrower-map", NINJA, "n.x / 528.0 - 1", "n.x / 526.0 - 1", "observe", "neighbouring-constant"
    ),
    Fault("y-upside-down", NINJA, "n.y / 300.0 - 1", "1 - n.y / 300.0", "observe", "sign"),
    Fault(
        "x-within-the-half-tile",
        NINJA,
        "(n.x / 24 - ifloor(n.x / 24)) * 2 - 1",
        "(n.x / 12 - ifloor(n.x / 12)) * 2 - 1",
        "observe",
        "neighbouring-constant",
    ),
    Fault(
        "y-within-the-tile-taken-from-x",
        NINJA,
        "(n.y / 24 - ifloor(n.y / 24)) * 2 - 1",
        "(n.x / 24 - ifloor(n.x / 24)) * 2 - 1",
        "observe",
        "exchanged-fields",
    ),
    Fault(
        "both-velocities-are-the-vertical-one",
        NINJA,
        "unit(n.vx / SPEED_SCALE)",
        "unit(n.vy / SPEED_SCALE)",
        "observe",
        "exchanged-fields",
    ),
    Fault(
        "ninja-speed-over-ten", NINJA, "SPEED_SCALE = 12.0", "SPEED_SCALE = 10.0", "observe", "neighbouring-constant"
    ),
    Fault(
        "celebrating-column-never-cleared",
        NINJA,
        "memset(out + 6, 0, 8 *",
        "memset(out + 6, 0, 7 *",
        "observe",
        "off-by-one",
        within="write_game_state",
    ),
    Fault(
        "dead-and-celebrating-exchanged",
        NINJA,
        "DEAD + 1 if k == CELEBRATING else DEAD",
        "DEAD if k == CELEBRATING else DEAD + 1",
        "observe",
        "exchanged-fields",
    ),
    Fault("airborne-shows-the-wall", NINJA, "char>n.air]", "char>n.walled]", "observe", "exchanged-fields"),
    Fault("floor-normal-x-is-its-y", NINJA, "unit(n.fnx)", "unit(n.fny)", "observe", "wrong-index"),
    Fault("ceiling-normal-points-up", NINJA, "unit(n.cny)", "unit(-n.cny)", "observe", "sign"),
    Fault(
        "jump-buffer-a-tick-younger",
        NINJA,
        "buffered[<unsigned char>n.b_jump]",
        "half(n.b_jump / 6.0)",
        "observe",
        "off-by-one",
    ),
    Fault(
        "buffers-over-five", NINJA, "LONGEST_BUFFER = 6.0", "LONGEST_BUFFER = 5.0", "observe", "neighbouring-constant"
    ),
    Fault("hold-over-45", NINJA, "LONGEST_HOLD = 46.0", "LONGEST_HOLD = 45.0", "observe", "neighbouring-constant"),
    Fault("gravity-halved", NINJA, "n.g / G_FALL", "n.g / (2 * G_FALL)", "observe", "neighbouring-constant"),
    Fault("horizontal-input-mirrored", NINJA, "char>n.h]", "char>-n.h]", "observe", "sign"),
    Fault(
        "last-jump-input-is-the-buffer",
        NINJA,
        "small[<unsigned char>n.jump_prev]",
        "half(n.b_jump >= 0)",
        "observe",
        "exchanged-fields",
    ),
    Fault("pad-direction-x-is-its-y", NINJA, "unit(n.pnx)", "unit(n.pny)", "observe", "wrong-index"),
    Fault(
        "time-left-a-tick-less",
        NINJA,
        "n.frame / <double>view.limit_frames",
        "(n.frame + 1) / <double>view.limit_frames",
        "observe",
        "off-by-one",
    ),
    Fault(
        "one-exit-switch-is-not-enough",
        NINJA,
        "n.switches > 0",
        "n.switches > 1",
        "observe",
        "off-by-one",
        within="write_game_state",
    ),
    Fault("gold-taken-instead-of-left", NINJA, "(view.gold_total - n.gold)", "n.gold", "observe", "sign"),
    Fault(
        "mask-of-the-dead-is-open",
        NINJA,
        "n.state < DEAD",
        "n.state <= DEAD",
        "observe",
        "off-by-one",
        within="write_action_mask",
    ),
    Fault(
        "mask-leaves-the-plain-jump",
        NINJA,
        "for k in range(3, 6):",
        "for k in range(4, 6):",
        "observe",
        "off-by-one",
        within="write_action_mask",
    ),
    Fault(
        "mask-forgets-that-a-jump-goes-on",
        NINJA,
        "if n.jump_prev and n.state != RISING and",
        "if n.jump_prev and",
        "observe",
        "dropped-condition",
        within="write_action_mask",
    ),
]
