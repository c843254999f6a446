"""What generators draw on: tiles, entities, and a pass that rounds corners off."""

from __future__ import annotations

import random
from collections import deque

import numpy as np
from numpy.typing import NDArray

from npp_env.level.entity_kinds import EntityKind
from npp_env.level.layout import COLUMNS, ROWS
from npp_env.level.model import Level

EMPTY, FULL = 0, 1
RIGHT, DOWN, LEFT, UP = 0, 2, 4, 6
"""Orientations of records."""

# Shapes that may stand for an outer corner, and for an inner one, by the corner that is solid.
_SLOPE, _MOON, _PIPE = 6, 10, 14
_TOP_LEFT, _TOP_RIGHT, _BOTTOM_RIGHT, _BOTTOM_LEFT = range(4)
_REACH = 2


class Canvas:
    """A level in the making: all solid at first, columns 1..42 and rows 1..23 as in the text format.

    Args:
        rng: The only source of chance.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        # With the solid ring around the map, so that neighbours always exist.
        self.tiles: NDArray[np.uint8] = np.ones((ROWS + 2, COLUMNS + 2), np.uint8)
        self._spawn: tuple[int, int] | None = None
        self._exits: list[tuple[int, int]] = []
        self._switches: list[tuple[int, int]] = []
        self._records: list[tuple[int, int, int, int, int]] = []
        self.reserved: set[tuple[int, int]] = set()

    def carve(self, left: int, top: int, right: int, bottom: int) -> None:
        """Empty a rectangle of tiles, bounds included."""
        self.tiles[top : bottom + 1, left : right + 1] = EMPTY

    def fill(self, left: int, top: int, right: int, bottom: int) -> None:
        """Fill a rectangle of tiles, bounds included."""
        self.tiles[top : bottom + 1, left : right + 1] = FULL

    def is_open(self, column: int, row: int) -> bool:
        """Whether a tile is empty."""
        return bool(self.tiles[row, column] == EMPTY)

    def open_above(self, column: int, row: int) -> tuple[int, int]:
        """The first empty tile at a place or straight above it."""
        while self.tiles[row, column] != EMPTY:
            row -= 1
        return column, row

    def spawn(self, column: int, row: int) -> None:
        """Where the ninja starts."""
        self._spawn = _middle(column, row)
        self.reserved.add((column, row))

    def goal(self, exit_at: tuple[int, int], switch_at: tuple[int, int]) -> None:
        """An exit and its switch."""
        self._exits.append(_middle(*exit_at))
        self._switches.append(_middle(*switch_at))
        self.reserved.update((exit_at, switch_at))

    def add(
        self, kind: EntityKind, column: float, row: float, orientation: int = RIGHT, mode: int = 0, drop: int = 0
    ) -> None:
        """An entity in the middle of a tile, `drop` quarter tiles lower."""
        x, y = _middle(column, row)
        self._records.append((int(kind), x, y + drop, orientation, mode))
        self.reserved.add((int(column), int(row)))

    def mine(self, column: int, row: int) -> None:
        """A mine on the floor of a tile."""
        self.add(EntityKind.MINE, column, row, drop=1)

    def lock_passage(self, column: int, row: int, switch_at: tuple[int, int]) -> None:
        """A locked door, upright on the right border of a tile, and its switch."""
        x, y = _middle(column, row)
        self._records.append((int(EntityKind.LOCKED_DOOR), x + 2, y, RIGHT, 0))
        self._records.append((int(EntityKind.LOCKED_DOOR_SWITCH), *_middle(*switch_at), 0, 0))
        self.reserved.update(((column, row), switch_at))

    def scatter_gold(self, count: int) -> None:
        """Gold in random free tiles."""
        rows, columns = np.nonzero(self.tiles[1:-1, 1:-1] == EMPTY)
        for _ in range(count):
            k = self.rng.randrange(len(rows))
            place = (int(columns[k]) + 1, int(rows[k]) + 1)
            if place not in self.reserved:
                self.add(EntityKind.GOLD, *place)

    def round_corners(self, share: float) -> None:
        """Turn a share of the corners into slopes and curves.

        Outer corners become slopes or convex moons. Inner ones become slopes or concave pipes where two tiles each way
        are free, so that no passage gets narrower than it was.
        """
        full, free = _with_rim(self.tiles == FULL), _with_rim(self.tiles == EMPTY)
        cut = np.zeros(self.tiles.shape, np.bool_)
        for corner in range(4):
            dx, dy = _into(corner)
            behind = _shift(full, -dx, 0) & _shift(full, 0, -dy)
            outer = _shift(full, 0, 0) & _shift(free, dx, 0) & _shift(free, 0, dy) & behind
            self._reshape(outer, corner, (_SLOPE, _MOON), share, cut)
        # A filled corner beside a cut one would make a tooth.
        near_cut, all_cut = np.zeros_like(cut), _with_rim(cut)
        for dx, dy in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)):
            near_cut |= _shift(all_cut, dx, dy)
        for corner in range(4):
            dx, dy = _into(corner)
            inner = _shift(free, 0, 0) & ~near_cut & _shift(full, -dx, 0) & _shift(full, 0, -dy)
            for ax, ay in ((dx, 0), (0, dy), (dx, dy), (2 * dx, 0), (0, 2 * dy)):
                inner &= _shift(free, ax, ay)
            self._reshape(inner, corner, (_SLOPE, _PIPE), share, cut)

    def _reshape(
        self, places: NDArray[np.bool_], corner: int, families: tuple[int, int], share: float, done: NDArray[np.bool_]
    ) -> None:
        """Give a share of some tiles a shape whose solid corner is `corner`; marks them as done."""
        for row, column in np.argwhere(places[1:-1, 1:-1]).tolist():
            if (column + 1, row + 1) not in self.reserved and self.rng.random() < share:
                self.tiles[row + 1, column + 1] = self.rng.choice(families) + corner
                done[row + 1, column + 1] = True

    def open_component(self, column: int, row: int) -> set[tuple[int, int]]:
        """All empty tiles connected with one, by their sides."""
        free = self.tiles == EMPTY
        seen = {(column, row)}
        queue = deque(seen)
        while queue:
            c, r = queue.popleft()
            for place in ((c + 1, r), (c - 1, r), (c, r + 1), (c, r - 1)):
                if place not in seen and free[place[1], place[0]]:
                    seen.add(place)
                    queue.append(place)
        return seen

    def finish(self, name: str, metadata: dict[str, str]) -> Level:
        """The level."""
        assert self._spawn is not None
        assert self._exits
        records = [
            (int(EntityKind.NINJA), *self._spawn, 0, 0),
            *((int(EntityKind.EXIT), x, y, 0, 0) for x, y in self._exits),
            *((int(EntityKind.EXIT_SWITCH), x, y, 0, 0) for x, y in self._switches),
            *self._records,
        ]
        return Level.from_parts(self.tiles[1:-1, 1:-1], records, name=name, metadata=metadata)


def _into(corner: int) -> tuple[int, int]:
    """The diagonal direction from a solid corner into its tile."""
    return (1 if corner in (_TOP_LEFT, _BOTTOM_LEFT) else -1, 1 if corner in (_TOP_LEFT, _TOP_RIGHT) else -1)


def _middle(column: float, row: float) -> tuple[int, int]:
    return int(4 * column + 2), int(4 * row + 2)


def _with_rim(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """A mask with False around it, as wide as `_shift` reaches."""
    wide = np.zeros((mask.shape[0] + 2 * _REACH, mask.shape[1] + 2 * _REACH), np.bool_)
    wide[_REACH:-_REACH, _REACH:-_REACH] = mask
    return wide


def _shift(wide: NDArray[np.bool_], dx: int, dy: int) -> NDArray[np.bool_]:
    """The values of a mask with a rim at (x + dx, y + dy), False beyond its edge; a view."""
    height, width = wide.shape[0] - 2 * _REACH, wide.shape[1] - 2 * _REACH
    return wide[_REACH + dy : _REACH + dy + height, _REACH + dx : _REACH + dx + width]
