"""Faults in the vectors that a policy sees."""

from __future__ import annotations

from ..faults import Fault

ENTITIES = "npp_env/observe/entity_features.pyx"
NINJA = "npp_env/observe/ninja_features.pyx"
PATHS = "npp_env/observe/path_features.pyx"
VIEW = "npp_env/observe/view.pxd"

FAULTS = [
    Fault(
        "entity-direction-x-y-swapped",
        ENTITIES,
        "out[5] = half(unit(nx))\n    out[6] = half(unit(ny))",
        "out[5] = half(unit(ny))\n    out[6] = half(unit(nx))",
        "observe",
        "swapped-arguments",
    ),
    Fault(
        "death-ball-shown-too-large",
        ENTITIES,
        "if kind == 6 or kind == 8 or kind == 25:",
        "if kind == 6 or kind == 8:",
        "observe",
        "wrong-radius",
    ),
    Fault(
        "one-hot-of-ball-and-mini-drone-exchanged",
        ENTITIES,
        "return kind - 10",
        "return 41 - kind if kind >= 25 else kind - 10",
        "observe",
        "exchanged-fields",
    ),
    Fault("mine-scale-doubled", ENTITIES, "132.0", "264.0", "observe", "neighbouring-constant"),
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
        "out[22] = half((n.b_floor + 1) / 6.0)\n    out[23] = half((n.b_wall + 1) / 6.0)",
        "out[22] = half((n.b_wall + 1) / 6.0)\n    out[23] = half((n.b_floor + 1) / 6.0)",
        "observe",
        "exchanged-fields",
    ),
    Fault(
        "next-hop-x-y-swapped",
        PATHS,
        "out[1] = half(dx / d if d > 0 else 0.0)\n    out[2] = half(dy / d if d > 0 else 0.0)",
        "out[1] = half(dy / d if d > 0 else 0.0)\n    out[2] = half(dx / d if d > 0 else 0.0)",
        "paths",
        "swapped-arguments",
    ),
    Fault(
        "mask-forgets-the-buffered-jump",
        NINJA,
        "if n.jump_prev and n.state != 3 and n.b_jump < 0:",
        "if n.jump_prev and n.state != 3:",
        "observe",
        "dropped-condition",
    ),
    Fault(
        "switch-state-of-the-next-field",
        ENTITIES,
        "out[5 * count + 4] = half(1.0 if w.flags[level.entities[i].slot] & 1 else 0.0)",
        "out[5 * count + 4] = half(1.0 if w.flags[level.entities[i].slot] & 2 else 0.0)",
        "observe",
        "wrong-index",
    ),
    Fault(
        "grid-cut-one-row-early",
        ENTITIES,
        "j < 0 or j >= 50",
        "j < 0 or j >= 49",
        "observe",
        "off-by-one",
    ),
    Fault(
        "cut-to-the-unit-range-loses-its-lower-end",
        VIEW,
        "return -1.0",
        "return 1.0",
        "observe",
        "sign",
        within="unit",
    ),
]
