"""The levels that come with the package."""

from __future__ import annotations

from pathlib import Path

from npp_env.errors import LevelError
from npp_env.level.files import BINARY_SUFFIX, TEXT_SUFFIX, load_level
from npp_env.level.model import Level
from npp_env.level.validation import shorten

_PACKAGE = Path(__file__).resolve().parent.parent


def shipped_folder() -> Path:
    """Folder of the shipped levels: inside the package when installed, beside it in a checkout.

    Raises:
        LevelError: There is neither.
    """
    candidates = (_PACKAGE / "levels", _PACKAGE.parent / "levels")
    for folder in candidates:
        if folder.is_dir():
            return folder
    raise LevelError(f"no shipped levels in {candidates[0]} or {candidates[1]}; install npp_env again")


def shipped_level_names() -> list[str]:
    """Names of all shipped levels, sorted: folder and file without suffix, such as ``first_steps/walk``."""
    return sorted(_shipped_files())


def load_shipped(name: str) -> Level:
    """Load a shipped level by its name.

    Raises:
        LevelError: There is no such level; the message lists similar names.

    Example:
        >>> load_shipped("first_steps/walk").metadata["group"]
        'first_steps'
    """
    files = _shipped_files()
    if name not in files:
        from difflib import get_close_matches

        near = get_close_matches(str(name)[:100], sorted(files), n=5, cutoff=0.4) or sorted(files)[:5]
        raise LevelError(f"no shipped level {shorten(name)}; similar names are: {', '.join(near)}")
    return load_level(files[name])


def _shipped_files() -> dict[str, Path]:
    folder = shipped_folder()
    return {
        path.relative_to(folder).with_suffix("").as_posix(): path
        for suffix in (BINARY_SUFFIX, TEXT_SUFFIX)
        for path in folder.rglob(f"*{suffix}")
    }
