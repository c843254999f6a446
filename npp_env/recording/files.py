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


def load_shipped_recording(name: str) -> Recording:
    """Load the recording that wins a shipped level.

    Raises:
        LevelError: There is no such level; the message lists similar names.

    Example:
        >>> load_shipped_recording("first_steps/walk").outcome
        'won'
    """
    return load_recording(shipped_file(name, RECORDING_SUFFIX))


def save_recording(recording: Recording, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Save a recording in our compact format, with its level.

    Raises:
        RecordingError: The file exists and may not be overwritten, or cannot be written.
    """
    write_file(path, write_recording(recording), overwrite, RecordingError)
