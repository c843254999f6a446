"""A strip below a picture that says what its colours and marks mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from npp_env.render import palette
from npp_env.render.opencv import load_cv2
from npp_env.render.palette import Colour
from npp_env.render.pen import Pen

LEGEND_PX = 44
SCALE_PX = 240
"""Length of the scale: ten tiles."""
_RAMP_PX = 130
_BACKGROUND: Colour = (34, 38, 45)
_MAPS = {"viridis": "COLORMAP_VIRIDIS", "turbo": "COLORMAP_TURBO", "hot": "COLORMAP_AUTUMN", "distance": "COLORMAP_JET"}


@lru_cache(maxsize=16)
def colour_ramp(name: str, count: int) -> NDArray[np.uint8]:
    """Colours from low to high, RGB (count, 3); read-only.

    Args:
        name: `viridis`, `turbo`, `hot` or `distance`.
        count: How many.
    """
    cv2 = load_cv2()
    places = np.linspace(0, 255, count).round().astype(np.uint8).reshape(-1, 1)
    # Few are yellow, many are red.
    places = 255 - places if name == "hot" else places
    colours = np.ascontiguousarray(cv2.applyColorMap(places, getattr(cv2, _MAPS[name]))[:, 0, ::-1])
    colours.setflags(write=False)
    return colours


class Legend:
    """Writes a legend from left to right.

    Args:
        picture: uint8 (height, 1056, 3) that it stands below.
        title: What the picture shows.
    """

    def __init__(self, picture: NDArray[np.uint8], title: str) -> None:
        self._height, width = picture.shape[:2]
        self._image = np.empty((self._height + LEGEND_PX, width, 3), np.uint8)
        self._image[: self._height] = picture
        self._image[self._height :] = _BACKGROUND
        self._pen = Pen(self._image)
        self._x = 14.0
        self._upper, self._lower = self._height + 18, self._height + 36
        self._text(14, self._upper, title[:40] or "untitled")

    def ramp(self, colours: NDArray[np.uint8], name: str, low: str, high: str) -> None:
        """Show a scale of colours with its ends."""
        self._write(f"{name}: {low}")
        self._x -= 4
        left, top = round(self._x), self._lower - 9
        places = np.linspace(0, len(colours) - 1, _RAMP_PX).round().astype(np.int64)
        self._image[top : top + 9, left : left + _RAMP_PX] = colours[places]
        self._x += _RAMP_PX + 8
        self._write(high)

    def outcomes(self, colours: Mapping[str, Colour]) -> None:
        """Show lines of several colours."""
        for name, colour in colours.items():
            self._pen.line((self._x, self._lower - 4), (self._x + 16, self._lower - 4), colour, 3)
            self._x += 22
            self._write(name)

    def marks(self, marks: Sequence[tuple[str, Colour]], filled: bool = False) -> None:
        """Show what rings or discs stand for."""
        for name, colour in marks:
            if filled:
                self._pen.disc(self._x + 5, self._lower - 4, 5.0, colour)
            else:
                self._pen.ring(self._x + 5, self._lower - 4, 5.0, palette.PAPER, 4)
                self._pen.ring(self._x + 5, self._lower - 4, 5.0, colour, 2)
            self._x += 16
            self._write(name)

    def finish(self, note: str = "") -> NDArray[np.uint8]:
        """Add a note and the scale, and give the whole picture."""
        right = self._image.shape[1] - 14
        self._pen.text(right, self._upper, note, palette.HUD_TEXT, right=True)
        self._pen.line((right - SCALE_PX, self._lower - 4), (right, self._lower - 4), palette.HUD_TEXT, 1)
        for x in (right - SCALE_PX, right - SCALE_PX // 2, right):
            self._pen.line((x, self._lower - 8), (x, self._lower), palette.HUD_TEXT, 1)
        self._pen.text(right - SCALE_PX - 8, self._lower, "10 tiles = 240 px", palette.HUD_TEXT, right=True)
        return self._image

    def _write(self, text: str) -> None:
        self._text(round(self._x), self._lower, text)
        self._x += self._pen.text_width(text) + 12

    def _text(self, x: int, y: int, text: str) -> None:
        self._pen.text(x, y, text, palette.HUD_TEXT)
