"""What a level holds but the physics does not simulate, as outlines that nobody takes for an entity."""

from __future__ import annotations

from npp_env.level.doubts import NOT_SIMULATED, doubtful_types
from npp_env.level.layout import UNIT_PX
from npp_env.level.model import Level
from npp_env.render import palette
from npp_env.render.pen import Pen, Point, box_corners

_HALF_SIDE_PX = 11.0
_DASH_PX, _GAP_PX = 4.0, 3.3
_DIGIT_PX, _RISE_PX = 7, 4


def draw_outlines(pen: Pen, level: Level) -> None:
    """Draw a dashed box with the type number in it at the place of every record that is not simulated."""
    kinds = doubtful_types(NOT_SIMULATED)
    for kind, x, y in sorted({(k, x, y) for k, x, y in level.records[:, :3].tolist() if k in kinds}):
        centre = float(UNIT_PX * x), float(UNIT_PX * y)
        corners = box_corners(*centre, _HALF_SIDE_PX, _HALF_SIDE_PX)
        for a, b in zip(corners, [*corners[1:], corners[0]], strict=True):
            _dashes(pen, a, b)
        text = str(kind)
        left = round(centre[0] - len(text) * _DIGIT_PX / 2)
        pen.text(left, round(centre[1]) + _RISE_PX, text, palette.UNKNOWN)


def _dashes(pen: Pen, a: Point, b: Point) -> None:
    length = abs(b[0] - a[0]) + abs(b[1] - a[1])
    ux, uy = (b[0] - a[0]) / length, (b[1] - a[1]) / length
    start = 0.0
    while start < length:
        end = min(start + _DASH_PX, length)
        pen.line((a[0] + start * ux, a[1] + start * uy), (a[0] + end * ux, a[1] + end * uy), palette.UNKNOWN, 1)
        start += _DASH_PX + _GAP_PX
