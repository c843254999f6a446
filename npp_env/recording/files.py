"""Recordings as files, of either format."""

from __future__ import annotations

import os
from collections.abc import Callable

from npp_env.errors import RecordingError
from npp_env.level.files import is_level, read_bounded, write_file
from npp_env.level.shipped import shipped_file
from npp_env.recording.attract import read_attract
from npp_env.recording.compact import MAGIC, read_recording, write_recording
from npp_env.recording.model import Recording

MAX_FILE_BYTES = 2 << 20
RECORDING_SUFFIX = ".npprec"
SHIPPED_FRAME_SKIPS = {1: RECORDING_SUFFIX, 4: f".skip4{RECORDING_SUFFIX}"}
"""Decisions of so many ticks that shipped levels have recordings for, and how the files of these end."""


def load_recording(path: str | os.PathLike[str]) -> Recording:
    """Load a recording file, ours or an attract file, told apart by content.

    Raises:
        RecordingError: The file cannot be opened, is larger than 2 MB, or is not a recording.
    """
    data = read_bounded(path, MAX_FILE_BYTES, RecordingError)
    read: Callable[[bytes], Recording] = read_recording if data.startswith(MAGIC) else read_attract
    try:
        return read(data)
    except RecordingError as error:
        if is_level(data):
            raise RecordingError(
                f"{os.fspath(path)}: this is a level, not a recording; `npp-env replay LEVEL INPUTS` plays inputs on it"
            ) from error
        raise RecordingError(f"{os.fspath(path)}: {error}") from error


def load_shipped_recording(name: str, frame_skip: int = 1) -> Recording:
    """Load a recording that wins a shipped level.

    Args:
        name: The level, such as `first_steps/walk`.
        frame_skip: 1 for the shortest way that is known; 4 for one that a policy with this `frame_skip` can take: every
            input is held for 4 frames, up to the frame of victory.

    Raises:
        LevelError: There is no such level; the message lists similar names.
        RecordingError: There is no recording of this level with this `frame_skip`.

    Example:
        >>> load_shipped_recording("first_steps/walk").outcome
        'won'
        >>> load_shipped_recording("first_steps/walk", frame_skip=4).inputs[:4].tolist()
        [5, 5, 5, 5]
    """
    first = shipped_file(name, RECORDING_SUFFIX)
    if frame_skip not in SHIPPED_FRAME_SKIPS:
        known = ", ".join(map(str, SHIPPED_FRAME_SKIPS))
        raise RecordingError(f"frame_skip is {frame_skip}; shipped recordings have {known}; `solve` finds others")
    path = first.with_name(first.name.removesuffix(RECORDING_SUFFIX) + SHIPPED_FRAME_SKIPS[frame_skip])
    if not path.is_file():
        raise RecordingError(f"there is no recording of level {name} with a frame_skip of {frame_skip}: none was found")
    return load_recording(path)


def save_recording(recording: Recording, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Save a recording in our compact format, with its level.

    Raises:
        RecordingError: The file exists and may not be overwritten, or cannot be written.
    """
    write_file(path, write_recording(recording), overwrite, RecordingError)
