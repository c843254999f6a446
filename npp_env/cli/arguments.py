"""What several commands take: a level, and files to write."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from npp_env.errors import LevelError, NppError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from npp_env.level.level_set import LevelSet
    from npp_env.level.model import Level

LEVEL_HELP = "a level file, the name of a shipped level, or a level of a pack (pack:FILE#12, pack:FILE#NAME)"
DEFAULT_BUDGET_SECONDS = 10.0
MAX_GENERATED = 10_000
"""Generated levels that a command takes at once."""


def whole_number(low: int, high: int = 2**63 - 1) -> Callable[[str], int]:
    """What argparse turns a word into a whole number with, from `low` to `high`."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{_quote(text)} is not a whole number from {low} to {high}")
        return value

    return parse


def number(low: float, high: float) -> Callable[[str], float]:
    """What argparse turns a word into a number with, from `low` to `high`; infinite or undefined is none."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high or math.isinf(value):
            raise argparse.ArgumentTypeError(f"{_quote(text)} is not a number from {low:g} to {high:g}")
        return value

    return parse


def _quote(text: str) -> str:
    from npp_env.level.validation import shorten

    return shorten(text)


def add_budget(parser: argparse.ArgumentParser) -> None:
    """The option that lets a command work for longer; `check_budget` reads it."""
    parser.add_argument(
        "--budget",
        type=number(0, 1e9),
        default=DEFAULT_BUDGET_SECONDS,
        metavar="S",
        help="refuse what would take more seconds of processor time (default %(default)g)",
    )


def check_budget(args: argparse.Namespace, nanoseconds: float, what: str) -> None:
    """Refuse work that would take too long, before it begins.

    Args:
        args: With the budget.
        nanoseconds: What it takes at most, roughly.
        what: The work, for the message.

    Raises:
        NppError: It is more than the budget.
    """
    seconds = nanoseconds / 1e9
    if seconds > args.budget:
        raise NppError(f"{what} may take {seconds:,.0f} s; allow it with --budget {math.ceil(seconds)}")


def add_force(parser: argparse.ArgumentParser) -> None:
    """The option that allows a command to overwrite files."""
    parser.add_argument("-f", "--force", action="store_true", help="overwrite files that exist")


def load_level_argument(text: str) -> Level:
    """The one level that an argument names: a file, a shipped level, a level of a pack, a generated one.

    Raises:
        LevelError: It names none or several, or the file is not a playable level.
    """
    levels = parse_finite_levels([text])
    if len(levels) > 1:
        raise LevelError(f"{text} names {len(levels)} levels; name one, such as {levels.name_of(0)}")
    level: Level = levels[0]
    return level


def parse_finite_levels(texts: list[str]) -> LevelSet:
    """The levels that arguments name; of generated ones, all seeds.

    Raises:
        LevelError: They name none, or have no end.
    """
    from npp_env.level.level_set import LevelSet

    levels = LevelSet.parse(texts)
    if not levels.is_finite:
        raise LevelError(f"{texts[0]}: this set has no end; give it one with seeds=FIRST-LAST")
    if levels.is_made and len(levels) > MAX_GENERATED:
        raise LevelError(f"{texts[0]}: {len(levels)} levels; at most {MAX_GENERATED} at once")
    return levels


def check_output(path: Path, force: bool, *suffixes: str) -> None:
    """Refuse to write over a file, or one of the wrong name, before any work is done.

    Args:
        path: The file.
        force: Whether it may be overwritten.
        suffixes: Those that its name may have; none if any will do.

    Raises:
        NppError: The file exists and may not be overwritten, its folder does not exist, or its suffix is another one.
    """
    if suffixes and path.suffix.lower() not in suffixes:
        raise NppError(f"{path}: the suffix is {path.suffix!r}; use {' or '.join(suffixes)}")
    if path.is_dir():
        raise NppError(f"{path} is a folder; name a file")
    if path.exists() and not force:
        raise NppError(f"{path} exists; -f overwrites it")
    if not path.parent.is_dir():
        raise NppError(f"{path}: there is no folder {path.parent}")
    if path.exists() and not path.is_file():
        return  # a device or a pipe is written to directly
    refuse_unwritable(path.parent, path)


def refuse_unwritable(folder: Path, path: Path) -> None:
    """Refuse a path in a folder that takes no files; permissions alone do not tell.

    Raises:
        NppError: No file can be written into the folder.
    """
    from npp_env.level.whole_file import check_writable

    try:
        check_writable(folder)
    except OSError as error:
        raise NppError(f"{path}: the folder {folder} cannot be written to: {error.strerror}") from error


def check_folder(folder: Path) -> None:
    """Make a folder, if need be, and make sure that files can be written there, before any work is done.

    Raises:
        NppError: They cannot.
    """
    from npp_env.level.whole_file import check_writable

    try:
        folder.mkdir(parents=True, exist_ok=True)
        check_writable(folder)
    except OSError as error:
        raise NppError(f"{folder}: files cannot be written there: {error.strerror}") from error


def write_png(rgb: NDArray[np.uint8], path: Path) -> None:
    """Write a picture to a PNG file.

    Raises:
        NppError: It could not be written.
    """
    from npp_env.level.whole_file import write_whole
    from npp_env.opencv import load_cv2

    cv2 = load_cv2()
    done, data = cv2.imencode(path.suffix or ".png", cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR))
    if not done:
        raise NppError(f"{path}: the picture could not be written")
    write_whole(path, data.tobytes())
