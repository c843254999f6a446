"""Stand-in for the C struct of `canvas.pxd`, for the uncompiled frames."""

from __future__ import annotations


class Canvas:
    """A grey picture and where it lies.

    Attributes:
        pixels: Flat buffer of bytes.
        width: In pixels.
        height: In pixels.
        scale: Pixels per world pixel.
        left: World pixels times scale minus this is a column.
        top: World pixels times scale minus this is a row.
    """

    __slots__ = ("height", "left", "pixels", "scale", "top", "width")

    pixels: memoryview
    width: int
    height: int
    scale: float
    left: float
    top: float
