"""Faults in the decoding of states."""

from __future__ import annotations

from ..faults import Fault

ROWS = "npp_env/rollouts/decode_rows.pyx"

FAULTS = [
    Fault(
        "limit-from-the-next-word",
        ROWS,
        "view.limit_frames = (<int*>row)[2]",
        "view.limit_frames = (<int*>row)[3]",
        "decoder",
        "wrong-index",
    ),
    Fault(
        "node-offsets-exchanged",
        ROWS,
        "out[8 * i + 3] = offsets[8 * source.y_of[i] + 3]",
        "out[8 * i + 3] = offsets[8 * source.x_of[i] + 2]",
        "decoder",
        "exchanged-fields",
    ),
]
