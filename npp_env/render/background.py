"""The part of the grey frames that never changes: a level's tiles, drawn once per level."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import StateError
from npp_env.level.cache import Artifact, LevelCache
from npp_env.level.model import Level
from npp_env.render.greys import EMPTY, WALL
from npp_env.render.tile_coverage import level_coverage

_HALF_TILE_PX, _SIXTH_TILE_PX = 12, 4
_BYTES = 300 * 528 + 100 * 176


def build_frame_background(level: Level) -> NDArray[np.uint8]:
    """Draw the tiles of a level for both frames.

    Returns:
        Fresh uint8 (176000,): the half-size picture (300, 528) followed by the sixth-size picture (100, 176).
    """
    # One table look-up turns coverage into grey.
    greys = np.rint(EMPTY + (WALL - EMPTY) * np.arange(256) / 255).astype(np.uint8)
    pictures = [greys[level_coverage(level, side_px)] for side_px in (_HALF_TILE_PX, _SIXTH_TILE_PX)]
    return np.concatenate([picture.reshape(-1) for picture in pictures])


def _check(level: Level, cache: LevelCache, array: NDArray[Any]) -> None:
    if array.dtype != np.uint8 or array.shape != (_BYTES,):
        raise StateError(f"a frame background of {array.dtype} with shape {array.shape}; want {_BYTES} bytes")


FRAME_BACKGROUND = Artifact("frame_background", 1, lambda level, cache: build_frame_background(level), check=_check)
"""What `npp_env.render.frames` takes as background, 176,000 bytes a level."""
