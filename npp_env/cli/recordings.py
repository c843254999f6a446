"""Recordings that commands take: files, and folders of them."""

from __future__ import annotations

from pathlib import Path

from npp_env.errors import RecordingError


def find_recordings(text: str) -> list[Path] | None:
    """The files that an argument names: itself, or all recordings in a folder; None if it is neither.

    Raises:
        RecordingError: The folder holds none.
    """
    from npp_env.recording import RECORDING_SUFFIX

    path = Path(text)
    if path.is_dir():
        found = sorted(path.rglob(f"*{RECORDING_SUFFIX}"))
        if not found:
            raise RecordingError(f"{text}: there is no recording (*{RECORDING_SUFFIX}) in this folder")
        return found
    return [path] if path.exists() else None
