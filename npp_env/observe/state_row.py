"""A row of the state layout: a header, and the bytes of a state behind it. `state_row.pxd` has it as a C struct."""

from __future__ import annotations

import numpy as np

STATE_ROW_VERSION = 1
STATE_ROW = np.dtype(
    [
        ("version", "<u4"),
        ("level_index", "<i4"),
        ("limit_frames", "<i4"),
        ("episode_steps", "<i4"),
        ("level", "u1", 16),  # its hash
    ]
)
"""The header."""
