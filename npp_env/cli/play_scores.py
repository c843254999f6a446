"""A player's best runs, kept as recordings: one file a level."""

from __future__ import annotations

import os
from pathlib import Path

from npp_env.errors import NppError, RecordingError
from npp_env.level.model import Level
from npp_env.recording import RECORDING_SUFFIX, Recording, load_recording, load_shipped_recording, save_recording

ENVIRONMENT_VARIABLE = "NPP_ENV_BEST_RUNS"


def default_folder() -> Path:
    """Where best runs are kept unless told otherwise."""
    given = os.environ.get(ENVIRONMENT_VARIABLE)
    if given:
        return Path(given)
    home = os.environ.get("XDG_DATA_HOME")
    return (Path(home) if home else Path.home() / ".local" / "share") / "npp_env" / "best"


class BestRuns:
    """The fastest win of every level.

    Args:
        folder: Where they are kept; made when the first is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, Recording | None] = {}

    def best(self, level: Level) -> Recording | None:
        """The best run of a level; None if there is none that can be read."""
        if level.hash not in self._known:
            try:
                found: Recording | None = load_recording(self._path(level))
            except RecordingError:
                found = None
            self._known[level.hash] = found if found is not None and found.level == level else None
        return self._known[level.hash]

    def offer(self, run: Recording) -> bool:
        """Keep a run if it won, and faster than the best so far.

        Raises:
            NppError: It cannot be written; it is the best for as long as this object lives nevertheless.
        """
        level = run.level
        if level is None or run.outcome != "won" or run.frames is None:
            return False
        before = self.best(level)
        if before is not None and before.frames is not None and before.frames <= run.frames:
            return False
        self._known[level.hash] = run
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise NppError(f"{self.folder} cannot be made: {error.strerror}") from error
        save_recording(run, self._path(level), overwrite=True)
        return True

    def _path(self, level: Level) -> Path:
        return self.folder / f"{level.hash}{RECORDING_SUFFIX}"


def winning_recording(name: str, level: Level) -> Recording | None:
    """The recording that comes with a level of this name; None for one that is not shipped."""
    try:
        found = load_shipped_recording(name)
    except NppError:
        return None
    return found if found.level == level else None
