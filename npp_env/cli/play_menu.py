"""The list of levels that a player chooses from: a page of rows, with times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from npp_env.render import palette
from npp_env.render.pen import Pen
from npp_env.render.picture import PICTURE_SHAPE

ROWS, COLUMNS = 20, 2
_LEFT_PX, _TOP_PX, _ROW_PX = 36, 76, 24
_COLUMN_PX = (PICTURE_SHAPE[1] - 2 * _LEFT_PX) // COLUMNS
_MARKED = (58, 66, 84)
_FAINT = (208, 213, 220)
_KEYS = "arrows choose   Enter or jump play   Esc back   Q quit"


@dataclass(frozen=True, slots=True)
class MenuRow:
    """What is to say of a level: its name, how hard it is, and times in frames if there are any."""

    name: str
    difficulty: str
    best_frames: int | None
    winning_frames: int | None


class LevelMenu:
    """Where the player is in the list.

    Args:
        count: Number of levels, at least one.
        chosen: Number of the level that is marked first.
    """

    def __init__(self, count: int, chosen: int = 0) -> None:
        self.count = count
        self.chosen = chosen

    @property
    def page(self) -> range:
        """The levels on the page with the marked one."""
        first = self.chosen // (ROWS * COLUMNS) * ROWS * COLUMNS
        return range(first, min(first + ROWS * COLUMNS, self.count))

    def move(self, rows: int = 0, columns: int = 0) -> None:
        """Mark another level; beyond the ends is the other end."""
        self.chosen = (self.chosen + rows + columns * ROWS) % self.count

    def draw(self, out: NDArray[np.uint8], rows: dict[int, MenuRow]) -> None:
        """Draw the page; `rows` says what there is to say of its levels."""
        out[:] = palette.WALL
        pen = Pen(out)
        pages = -(-self.count // (ROWS * COLUMNS))
        pen.text(_LEFT_PX, 32, "N++   choose a level", palette.HUD_TEXT)
        place = f"page {self.chosen // (ROWS * COLUMNS) + 1} of {pages}"
        pen.text(PICTURE_SHAPE[1] - _LEFT_PX, 32, place, _FAINT, right=True)
        for column in range(COLUMNS):
            right = _LEFT_PX + (column + 1) * _COLUMN_PX
            pen.text(_LEFT_PX + column * _COLUMN_PX + 8, 60, "level", _FAINT)
            pen.text(right - 220, 60, "hard", _FAINT, right=True)
            pen.text(right - 120, 60, "your best", _FAINT, right=True)
            pen.text(right - 24, 60, "to beat", _FAINT, right=True)
        for index, number in enumerate(self.page):
            left = _LEFT_PX + index // ROWS * _COLUMN_PX
            base = _TOP_PX + index % ROWS * _ROW_PX + 16
            if number == self.chosen:
                out[base - 17 : base + 7, left : left + _COLUMN_PX - 16] = _MARKED
            self._draw_row(pen, rows[number], left, base)
        pen.text(_LEFT_PX, PICTURE_SHAPE[0] - 12, _KEYS, _FAINT)

    @staticmethod
    def _draw_row(pen: Pen, row: MenuRow, left: int, base: int) -> None:
        right = left + _COLUMN_PX
        beaten = row.best_frames is not None and (row.winning_frames or 0) >= row.best_frames
        pen.text(left + 8, base, row.name[:34], palette.HUD_TEXT)
        pen.text(right - 220, base, row.difficulty, _FAINT, right=True)
        colour = palette.HUD_WON if beaten else palette.HUD_TEXT
        pen.text(right - 120, base, seconds(row.best_frames), colour, right=True)
        pen.text(right - 24, base, seconds(row.winning_frames), _FAINT, right=True)


def seconds(frames: int | None) -> str:
    """A time in frames as people read it.

    Example:
        >>> seconds(90), seconds(None)
        ('1.50', '-')
    """
    return "-" if frames is None else f"{frames / 60:.2f}"
