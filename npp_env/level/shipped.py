"""The levels that come with the package."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import LevelError
from npp_env.level.doubts import DOUBTFUL
from npp_env.level.facts import facts_of, types_in
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
    folder = shipped_folder()
    files = (path for suffix in (BINARY_SUFFIX, TEXT_SUFFIX) for path in folder.rglob(f"*{suffix}"))
    return sorted({path.relative_to(folder).with_suffix("").as_posix() for path in files})


def load_shipped(name: str) -> Level:
    """Load a shipped level by its name.

    Raises:
        LevelError: There is no such level; the message lists similar names.

    Example:
        >>> load_shipped("first_steps/walk").metadata["group"]
        'first_steps'
    """
    return load_level(shipped_file(name, TEXT_SUFFIX, BINARY_SUFFIX))


@lru_cache(maxsize=1024)
def shipped_facts(name: str) -> NDArray[np.uint16]:
    """What is worth knowing of a shipped level, as `npp_env.level.facts` has it; kept, and not to be written to."""
    facts = facts_of(load_shipped(name))
    facts.flags.writeable = False
    return facts


def verified_level_names() -> list[str]:
    """The shipped levels in which everything rests on recordings of the real game, sorted.

    Example:
        >>> "first_steps/walk" in verified_level_names(), "rockets/hive" in verified_level_names()
        (True, False)
    """
    return [name for name in shipped_level_names() if not types_in(shipped_facts(name)) & DOUBTFUL]


def shipped_file(name: str, *suffixes: str) -> Path:
    """The file of a shipped level with the first of these suffixes that there is.

    Raises:
        LevelError: There is no such level; the message lists similar names.
    """
    folder = shipped_folder()
    inside = isinstance(name, str) and "" not in (parts := name.split("/")) and not {".", ".."} & set(parts)
    for path in (folder / f"{name}{suffix}" for suffix in suffixes if inside):
        if path.is_file():
            return path
    raise LevelError(f"no shipped level {shorten(name)}; {suggestion(str(name))}")


def suggestion(name: str) -> str:
    """What to say to someone who asked for a level that does not exist.

    Example:
        >>> suggestion("wlak")
        'similar names are: first_steps/walk'
    """
    from difflib import get_close_matches

    names = shipped_level_names()
    last_words: dict[str, list[str]] = {}
    for full in names:
        last_words.setdefault(full.rpartition("/")[2], []).append(full)
    words = get_close_matches(name[:100].rpartition("/")[2], list(last_words), n=3, cutoff=0.7)
    near = [full for word in words for full in last_words[word]]
    near = near or get_close_matches(name[:100], names, n=3, cutoff=0.7)
    return f"similar names are: {', '.join(near[:5])}" if near else "`npp-env levels list` names the shipped ones"
