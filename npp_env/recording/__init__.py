"""Recordings: the inputs of one attempt at a level, in the attract format of the game and one of our own."""

from __future__ import annotations

from npp_env.recording.attract import read_attract, write_attract
from npp_env.recording.compact import read_recording, write_recording
from npp_env.recording.files import (
    MAX_FILE_BYTES,
    RECORDING_SUFFIX,
    SHIPPED_FRAME_SKIPS,
    load_recording,
    load_shipped_recording,
    save_recording,
)
from npp_env.recording.model import DEMO_HEADER_BYTES, MAX_FRAMES, OUTCOMES, Recording

__all__ = [
    "DEMO_HEADER_BYTES",
    "MAX_FILE_BYTES",
    "MAX_FRAMES",
    "OUTCOMES",
    "RECORDING_SUFFIX",
    "SHIPPED_FRAME_SKIPS",
    "Recording",
    "load_recording",
    "load_shipped_recording",
    "read_attract",
    "read_recording",
    "save_recording",
    "write_attract",
    "write_recording",
]
