"""What a picture knows of an entity."""

from __future__ import annotations

from typing import Any, NamedTuple

from npp_env.render.pen import Point
from npp_env.sim.structs import FACING_LEFT, FACING_RIGHT, ORIENTATION_VECTORS

BEHIND, AMONG, ABOVE = range(3)
"""Layers: what the ninja passes in front of, what it meets, and beams."""


class Shown(NamedTuple):
    """An entity to draw.

    Attributes:
        row: Its row of the entity table (see `npp_env.sim.structs.ENTITY`).
        flag: Its flag, 0 if it has none.
        mover: Its place, phase and turn (see `npp_env.sim.structs.MOVER`), or None if it stays where it is.
        frame: Frame counter of the state, for things that pulse.
        emerged: The mover of what has emerged from it, a rocket in flight, or None.
        aim: Where a shooter aims, or None.
        shot: Where the beam or bullet of this tick ends, or None.
    """

    row: Any
    flag: int
    mover: Any
    frame: int
    emerged: Any = None
    aim: Point | None = None
    shot: Point | None = None

    @property
    def place(self) -> Point:
        """Where it is: of a door or exit, its switch."""
        source = self.row if self.mover is None else self.mover
        return float(source["x"]), float(source["y"])

    @property
    def record_place(self) -> Point:
        """Where the map puts it: of a door or exit, itself."""
        return float(self.row["x0"]), float(self.row["y0"])

    @property
    def direction(self) -> Point:
        """Unit vector of its orientation."""
        return ORIENTATION_VECTORS[int(self.row["orientation"]) % 8]

    @property
    def is_upright(self) -> bool:
        """Whether it is a door whose line stands upright, or a thwump that moves sideways."""
        return int(self.row["orientation"]) in (FACING_RIGHT, FACING_LEFT)
