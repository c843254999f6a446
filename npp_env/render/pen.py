"""Anti-aliased drawing with fractional coordinates on an RGB picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.render.opencv import load_cv2
from npp_env.render.palette import Colour

Point = tuple[float, float]

_SHIFT = 4
_ONE = 1 << _SHIFT
_FAR_PX = 4000.0
_PHASES = 4
_LETTERS = 0.42
_PATCH_PX = 40
_FINE = 4


def _fixed(value: float) -> int:
    """A coordinate in sixteenths of a pixel; cv2 puts whole numbers on the centres of pixels."""
    # A state may hold anything; cv2 takes only what fits its integers.
    bounded = min(max(value, -_FAR_PX), _FAR_PX) if value == value else -_FAR_PX
    return round((bounded - 0.5) * _ONE)


class Pen:
    """Draws on one picture, in world pixels.

    Args:
        picture: uint8 (height, width, 3), contiguous; drawn on in place.
    """

    def __init__(self, picture: NDArray[np.uint8]) -> None:
        self.picture = picture
        self._cv2: Any = load_cv2()

    def disc(self, x: float, y: float, radius: float, colour: Colour) -> None:
        """Fill a disc."""
        self._stamp_ring(x, y, radius, 0.0, colour)

    def ring(self, x: float, y: float, radius: float, colour: Colour, width: float = 1.0) -> None:
        """Draw a circle, its line centred on the radius."""
        self._stamp_ring(x, y, radius + width / 2, radius - width / 2, colour)

    def _stamp_ring(self, x: float, y: float, outer: float, inner: float, colour: Colour) -> None:
        if not (-_FAR_PX < x < _FAR_PX and -_FAR_PX < y < _FAR_PX):
            return
        column, row = math.floor(x), math.floor(y)
        phase_x, phase_y = int((x - column) * _PHASES), int((y - row) * _PHASES)
        mask = ring_mask(round(8 * outer), round(8 * inner), phase_x, phase_y)
        reach = mask.shape[0] // 2
        self.stamp(column - reach, row - reach, mask, colour)

    def stamp(self, left: int, top: int, mask: NDArray[np.float32], colour: Colour) -> None:
        """Lay a colour over the picture through a mask (height, width, 1) of shares 0..1."""
        height, width = mask.shape[:2]
        rows, columns = self.picture.shape[:2]
        first_row, first_column = max(-top, 0), max(-left, 0)
        last_row, last_column = min(rows - top, height), min(columns - left, width)
        if first_row >= last_row or first_column >= last_column:
            return
        share = mask[first_row:last_row, first_column:last_column]
        patch = self.picture[top + first_row : top + last_row, left + first_column : left + last_column]
        patch[:] = patch + (np.array(colour, np.float32) - patch) * share + np.float32(0.5)

    def polygon(self, points: Sequence[Point], colour: Colour) -> None:
        """Fill a polygon."""
        self._cv2.fillPoly(self.picture, [self._corners(points)], colour, self._cv2.LINE_AA, _SHIFT)

    def outline(self, points: Sequence[Point], colour: Colour, width: int = 1, closed: bool = True) -> None:
        """Draw lines from point to point."""
        corners = self._corners(points)
        self._cv2.polylines(self.picture, [corners], closed, colour, width, self._cv2.LINE_AA, _SHIFT)

    def line(self, a: Point, b: Point, colour: Colour, width: int = 1) -> None:
        """Draw a line with round ends."""
        self.outline((a, b), colour, width, closed=False)

    def box(self, x: float, y: float, half_width: float, half_height: float, colour: Colour) -> None:
        """Fill an axis-aligned box around (x, y)."""
        self.polygon(box_corners(x, y, half_width, half_height), colour)

    def frame(self, x: float, y: float, half_width: float, half_height: float, colour: Colour, width: int = 1) -> None:
        """Outline an axis-aligned box around (x, y)."""
        self.outline(box_corners(x, y, half_width, half_height), colour, width)

    def brush(self, place: Point, lines: Sequence[tuple[Sequence[Point], float]], colour: Colour) -> None:
        """Draw lines that may be thinner than a pixel, each through points around a place that are at most 20 px away.

        Args:
            place: What the points are relative to.
            lines: Points and width of each.
            colour: Of all of them.
        """
        column, row = math.floor(place[0]), math.floor(place[1])
        mask = np.zeros((_PATCH_PX * _FINE, _PATCH_PX * _FINE), np.uint8)
        centre = (_PATCH_PX / 2 + place[0] - column, _PATCH_PX / 2 + place[1] - row)
        for points, width in lines:
            # Thin limbs need finer lines than one pixel allows: drawn four times as large, then averaged.
            fine = [((centre[0] + dx) * _FINE, (centre[1] + dy) * _FINE) for dx, dy in points]
            corners = np.array([(round(16 * a), round(16 * b)) for a, b in fine], np.int32)
            self._cv2.polylines(mask, [corners], False, 255, round(width * _FINE), self._cv2.LINE_AA, 4)
        small = self._cv2.resize(mask, (_PATCH_PX, _PATCH_PX), interpolation=self._cv2.INTER_AREA)
        share = small.astype(np.float32) * np.float32(1 / 255)
        self.stamp(column - _PATCH_PX // 2, row - _PATCH_PX // 2, share[..., None], colour)

    def text(self, x: int, y: int, text: str, colour: Colour, *, right: bool = False) -> None:
        """Write a line of text with its base line at y, from x on or up to x."""
        if right:
            x -= self.text_width(text)
        font = self._cv2.FONT_HERSHEY_SIMPLEX
        self._cv2.putText(self.picture, _printable(text), (x, y), font, _LETTERS, colour, 1, self._cv2.LINE_AA)

    def text_width(self, text: str) -> int:
        """Pixels that a line of text takes."""
        (width, _), _ = self._cv2.getTextSize(_printable(text), self._cv2.FONT_HERSHEY_SIMPLEX, _LETTERS, 1)
        return int(width)

    @staticmethod
    def _corners(points: Sequence[Point]) -> NDArray[np.int32]:
        return np.array([(_fixed(x), _fixed(y)) for x, y in points], np.int32)


def _printable(text: str) -> str:
    return text.encode("ascii", "replace").decode("ascii")


def box_corners(x: float, y: float, half_width: float, half_height: float) -> list[Point]:
    """Corners of a box around (x, y)."""
    left, right, top, bottom = x - half_width, x + half_width, y - half_height, y + half_height
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


@lru_cache(maxsize=512)
def ring_mask(outer_eighths: int, inner_eighths: int, phase_x: int, phase_y: int) -> NDArray[np.float32]:
    """Share of each pixel that lies between two circles, radii in eighths of a pixel; read-only.

    Returns:
        (2r + 1, 2r + 1, 1), with the centre in the middle pixel, by phase in steps of a quarter.
    """
    outer, inner = outer_eighths / 8, inner_eighths / 8
    reach = math.ceil(outer + 0.5)
    offsets = np.arange(-reach, reach + 1) + 0.5
    x = offsets - (phase_x + 0.5) / _PHASES
    y = offsets - (phase_y + 0.5) / _PHASES
    distance = np.sqrt(x[None, :] ** 2 + y[:, None] ** 2)
    share = np.clip(outer + 0.5 - distance, 0.0, 1.0)
    if inner > 0:
        share -= np.clip(inner + 0.5 - distance, 0.0, 1.0)
    mask = share[..., None].astype(np.float32)
    mask.setflags(write=False)
    return mask
