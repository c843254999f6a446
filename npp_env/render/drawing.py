"""Drawings as data: what a pen would draw, kept as lines and discs that any canvas can draw at any size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from npp_env.errors import NppError
from npp_env.render.palette import Colour
from npp_env.render.pen import Pen, Point

DISC, RING, POLYGON, LINES, LOOP, TEXT = range(6)
"""What the first number of a mark says."""
UNITS_PER_PX = 8
_FAR_PX = 4000.0

Mark = tuple[Any, ...]


def _units(value: float) -> int:
    """A length in eighths of a pixel; a state may hold anything."""
    return round(UNITS_PER_PX * min(max(value, -_FAR_PX), _FAR_PX)) if value == value else 0


class DrawingPen(Pen):
    """A pen that remembers what it is to draw, relative to a place.

    A mark is a tuple of whole numbers, lengths in eighths of a pixel: `DISC` colour x y radius; `RING` colour x y
    radius width; `POLYGON` colour x y x y...; `LINES` and `LOOP` colour width x y x y...; `TEXT` colour x y text.
    Colours are numbers 0xRRGGBB.

    Args:
        place: What coordinates are relative to.
    """

    def __init__(self, place: Point = (0.0, 0.0)) -> None:
        self._place = place
        self._marks: list[Mark] = []

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What was drawn so far."""
        return tuple(self._marks)

    def disc(self, x: float, y: float, radius: float, colour: Colour) -> None:
        """Keep a disc."""
        self._marks.append((DISC, _number(colour), *self._point(x, y), _units(radius)))

    def ring(self, x: float, y: float, radius: float, colour: Colour, width: float = 1.0) -> None:
        """Keep a circle."""
        self._marks.append((RING, _number(colour), *self._point(x, y), _units(radius), _units(width)))

    def polygon(self, points: Sequence[Point], colour: Colour) -> None:
        """Keep a filled polygon."""
        self._marks.append((POLYGON, _number(colour), *self._points(points)))

    def outline(self, points: Sequence[Point], colour: Colour, width: float = 1, closed: bool = True) -> None:
        """Keep lines from point to point."""
        self._marks.append((LOOP if closed else LINES, _number(colour), _units(width), *self._points(points)))

    def brush(self, place: Point, lines: Sequence[tuple[Sequence[Point], float]], colour: Colour) -> None:
        """Keep fine lines around a place."""
        for points, width in lines:
            self.outline([(place[0] + dx, place[1] + dy) for dx, dy in points], colour, width, closed=False)

    def text(self, x: int, y: int, text: str, colour: Colour, *, right: bool = False) -> None:
        """Keep a line of text."""
        self._marks.append((TEXT, _number(colour), *self._point(x, y), text, int(right)))

    def stamp(self, left: int, top: int, mask: Any, colour: Colour) -> NoReturn:
        """Refuse what has no lines."""
        raise NppError("a drawing cannot keep a mask; draw with lines and discs")

    def _point(self, x: float, y: float) -> tuple[int, int]:
        return _units(x - self._place[0]), _units(y - self._place[1])

    def _points(self, points: Sequence[Point]) -> list[int]:
        return [value for x, y in points for value in self._point(x, y)]


def _number(colour: Colour) -> int:
    return colour[0] << 16 | colour[1] << 8 | colour[2]
