"""Attract files: how the game itself stores a recording, with its level."""

from __future__ import annotations

import struct

import numpy as np

from npp_env.errors import LevelError, RecordingError
from npp_env.level.binary import read_map, write_map
from npp_env.level.layout import LENGTH_EXCLUDED_BYTES
from npp_env.level.model import Level
from npp_env.recording.model import DEMO_HEADER_BYTES, Recording

_FRAME_COUNT_OFFSET = 9


def read_attract(data: bytes) -> Recording:
    """Read an attract file of the game; `write_attract` gives exactly these bytes back.

    Raises:
        RecordingError: The lengths do not fit together, or the map inside is not playable.
    """
    data = bytes(data)
    if len(data) < LENGTH_EXCLUDED_BYTES:
        raise RecordingError(f"offset {len(data)}: the file ends here; it begins with two lengths of 4 bytes")
    map_length, demo_length = struct.unpack_from("<II", data)
    demo_offset = LENGTH_EXCLUDED_BYTES + map_length
    expected = demo_offset + demo_length
    if len(data) != expected:
        fault = "is cut short" if len(data) < expected else "has rubbish at its end"
        raise RecordingError(
            f"offset {min(len(data), expected)}: the attract file {fault}: a map of {map_length} and a demo "
            f"of {demo_length} bytes make {expected}, but it has {len(data)}"
        )
    if demo_length < DEMO_HEADER_BYTES:
        raise RecordingError(f"offset {demo_offset}: the demo has {demo_length} bytes; its header alone takes 30")
    header = data[demo_offset : demo_offset + DEMO_HEADER_BYTES]
    (frame_count,) = struct.unpack_from("<I", header, _FRAME_COUNT_OFFSET)
    if frame_count != demo_length - DEMO_HEADER_BYTES:
        raise RecordingError(
            f"offset {demo_offset + _FRAME_COUNT_OFFSET}: the demo header says {frame_count} frames, but "
            f"{demo_length - DEMO_HEADER_BYTES} follow"
        )
    level = read_embedded_level(data[:demo_offset])
    inputs = np.frombuffer(data, np.uint8, offset=demo_offset + DEMO_HEADER_BYTES)
    return Recording(level, level.hash, inputs, demo_header=header)


def write_attract(recording: Recording) -> bytes:
    """Write an attract file; it always embeds the level.

    Raises:
        RecordingError: The recording has no level.
    """
    if recording.level is None:
        raise RecordingError(
            f"an attract file holds the level, but level {recording.level_hash} is not in the recording"
        )
    header = bytearray(recording.demo_header or bytes(DEMO_HEADER_BYTES))
    struct.pack_into("<I", header, _FRAME_COUNT_OFFSET, len(recording.inputs))
    demo = bytes(header) + recording.inputs.tobytes()
    level_map = write_map(recording.level)
    lengths = struct.pack("<II", len(level_map) - LENGTH_EXCLUDED_BYTES, len(demo))
    return lengths + level_map[LENGTH_EXCLUDED_BYTES:] + demo


def read_embedded_level(data: bytes) -> Level:
    """The level inside a recording.

    Raises:
        RecordingError: It is not playable.
    """
    try:
        return read_map(data)
    except LevelError as error:
        raise RecordingError(f"the level inside the recording: {error}") from error
