"""Recordings for levels flipped left to right, so that what wins one wins the other.

The physics is not symmetric to the last bit: lists are gathered from left to right, and sums round differently on the
other side of the map. Most recordings win mirrored on the same frame, but nothing promises it: play one before you
rely on it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import RecordingError
from npp_env.level.mirror import mirror_level
from npp_env.level.model import Level
from npp_env.recording.model import Recording
from npp_env.sim.simulation import LEFT, RIGHT


def _mirrored_inputs() -> NDArray[np.uint8]:
    table = np.arange(16, dtype=np.uint8)
    for byte in range(16):
        rest = byte & ~(RIGHT | LEFT)
        # Left and right together count as left, so their mirror image is right alone.
        table[byte] = rest | (RIGHT if byte & LEFT else LEFT if byte & RIGHT else 0)
    return table


INPUT_MIRROR = _mirrored_inputs()
"""Input byte of the mirror image, by input byte (16,)."""


def mirror_inputs(inputs: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Inputs with left and right exchanged; a fresh array."""
    return INPUT_MIRROR[inputs]


def mirror_recording(recording: Recording, level: Level | None = None) -> Recording:
    """The recording for the mirrored level.

    Args:
        recording: Any recording.
        level: Its level, where the recording does not hold it.

    Raises:
        RecordingError: There is no level, or not the right one.
    """
    level = level or recording.level
    if level is None or level.hash != recording.level_hash:
        raise RecordingError(
            f"the recording belongs to level {recording.level_hash}, which is needed to mirror it; "
            f"{'none is at hand' if level is None else 'the level given is ' + level.hash}"
        )
    mirrored = mirror_level(level)
    return Recording(
        mirrored,
        mirrored.hash,
        mirror_inputs(recording.inputs),
        recording.outcome,
        recording.frames,
        recording.gold,
        recording.demo_header,
    )
