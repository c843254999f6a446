"""What several commands take: a level, and files to write."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from npp_env.errors import LevelError, NppError
from npp_env.level.files import load_level
from npp_env.level.model import Level
from npp_env.level.shipped import load_shipped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def add_force(parser: argparse.ArgumentParser) -> None:
    """The option that allows a command to overwrite files."""
    parser.add_argument("-f", "--force", action="store_true", help="overwrite files that exist")


def load_level_argument(text: str) -> Level:
    """A level given by the path of its file, or by the name of a shipped one.

    Raises:
        LevelError: It is neither, or the file is not a playable level.
    """
    if Path(text).is_file() or os.path.isabs(text) or text.startswith("."):
        return load_level(text)
    try:
        return load_shipped(text)
    except LevelError as error:
        if Path(text).exists() or Path(text).suffix:
            return load_level(text)
        raise LevelError(f"{text!r} is no file, and {error}") from error


def check_output(path: Path, force: bool) -> None:
    """Refuse to write over a file before any work is done.

    Raises:
        NppError: The file exists and may not be overwritten, or its folder does not exist.
    """
    if path.exists() and not force:
        raise NppError(f"{path} exists; -f overwrites it")
    if not path.parent.is_dir():
        raise NppError(f"{path}: there is no folder {path.parent}")


def write_png(rgb: NDArray[np.uint8], path: Path) -> None:
    """Write a picture to a PNG file.

    Raises:
        NppError: It could not be written.
    """
    import cv2

    if not cv2.imwrite(str(path), cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR)):
        raise NppError(f"{path}: the picture could not be written")
