"""Faults in the entity rules of the kernel."""

from __future__ import annotations

from ..faults import Fault

CONTACT = "npp_env/sim/contact.pyx"
MOVERS = "npp_env/sim/movers.pyx"

FAULTS = [
    Fault(
        "death-ball-kills-from-afar",
        CONTACT,
        "touches(w, b.x, b.y, 5)",
        "touches(w, b.x, b.y, 6)",
        "sim",
        "wrong-radius",
    ),
    Fault(
        "one-way-holds-from-below",
        CONTACT,
        "if not (dist > 0 and dist <= 10):",
        "if not dist <= 10:",
        "sim",
        "dropped-condition",
    ),
    Fault(
        "clockwise-drone-turns-the-other-way",
        MOVERS,
        "order = 0x2103",
        "order = 0x2301",
        "sim",
        "neighbouring-constant",
    ),
    Fault(
        "boost-pad-x-y-swapped",
        MOVERS,
        "n.vx += ax\n            n.vy += ay",
        "n.vx += ay\n            n.vy += ax",
        "sim",
        "swapped-arguments",
    ),
    Fault(
        "guard-looks-a-row-too-low",
        MOVERS,
        "floor_value(w, i_new, j + 1) != 2",
        "floor_value(w, i_new, j + 2) != 2",
        "sim",
        "wrong-index",
    ),
    Fault(
        "sweep-goes-on-after-a-touch",
        "npp_env/sim/walls.pyx",
        "if tau == 0:",
        "if tau < 0:",
        "sim",
        "dropped-condition",
        within="sweep",
        invisible="only ends a search early: no later wall is nearer than one that is touched",
    ),
]
