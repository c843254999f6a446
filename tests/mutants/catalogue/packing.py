"""Faults in packed observations."""

from __future__ import annotations

from ..faults import Fault

PACKING = "npp_env/rollouts/packing.py"

FAULTS = [
    Fault(
        "nodes-of-the-last-level-stay",
        PACKING,
        "if held > nodes:",
        "if held > nodes + 1:",
        "packing",
        "off-by-one",
    ),
    Fault(
        "rows-compared-by-their-beginning-only",
        PACKING,
        "return not row[block.size :].view(np.bool_).any()",
        "return True",
        "packing",
        "dropped-condition",
    ),
]
