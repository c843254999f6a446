"""One-way platforms as the graph sees them: surfaces that the ninja's centre crosses in one direction only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.graph.free_space import HEIGHT_PX, WIDTH_PX
from npp_env.level.entity_kinds import EntityKind
from npp_env.sim.structs import ORIENTATION_VECTORS

SURFACE_PX = 9.5
"""The platform holds the centre 10 px above itself; whatever is lower came from below and may fall back."""
HALF_WIDTH_PX = 17.1  # what the hold rule of the physics takes as its narrow width
_DEPTH_PX = 8.0  # far enough below that no half cell reaches past it
_WINDOW_PX = 27


@dataclass(slots=True)
class OneWay:
    """The pixels around a platform.

    Attributes:
        window: Rows and columns of the image that the masks cover.
        under: Pixels under the surface.
        above: Pixels over it, from which it cannot be entered.
        holds_up: Whether the ninja can stand on it.
    """

    window: tuple[slice, slice]
    under: NDArray[np.bool_]
    above: NDArray[np.bool_]
    holds_up: bool


def find_one_ways(entities: NDArray[Any]) -> list[OneWay]:
    """The one-way platforms of a compiled level that reach into the world."""
    platforms = entities[entities["kind"] == EntityKind.ONE_WAY]
    found = []
    # Several in one place act as one.
    for x, y, orientation in dict.fromkeys(platforms[["x", "y", "orientation"]].tolist()):
        nx, ny = ORIENTATION_VECTORS[orientation]
        rows = slice(max(0, int(y) - _WINDOW_PX), min(HEIGHT_PX, int(y) + _WINDOW_PX + 1))
        columns = slice(max(0, int(x) - _WINDOW_PX), min(WIDTH_PX, int(x) + _WINDOW_PX + 1))
        if rows.stop <= rows.start or columns.stop <= columns.start:
            continue
        py, px = np.mgrid[rows, columns]
        along = (px - x) * nx + (py - y) * ny
        beside = np.abs((py - y) * nx - (px - x) * ny) < HALF_WIDTH_PX
        found.append(
            OneWay(
                (rows, columns),
                beside & (along > -_DEPTH_PX) & (along < SURFACE_PX),
                beside & (along >= SURFACE_PX),
                ny < 0,
            )
        )
    return found
