"""How finely a search tells states apart, and which of them it has met."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Resolution:
    """How finely states are told apart.

    Attributes:
        position_px: Side of the squares that positions are sorted into.
        speed_px: The same for velocities, in pixels a tick.
        hold_ticks: The same for the time that a jump has been held.
        mover_px: The same for the positions of moving entities.
        mover_reach_px: Entities farther from the ninja than this do not count.
    """

    position_px: float = 4.0
    speed_px: float = 0.4
    hold_ticks: int = 12
    mover_px: float = 12.0
    mover_reach_px: float = 90.0


class SeenKeys:
    """Remembers keys in a table of fixed size; an old key may be forgotten, a new one is never taken for an old.

    Args:
        size_bits: The table takes 8 << size_bits bytes.
    """

    def __init__(self, size_bits: int) -> None:
        self._table = np.zeros(1 << size_bits, np.uint64)
        self._mask = np.uint64((1 << size_bits) - 1)

    @property
    def nbytes(self) -> int:
        """Size of the table."""
        return int(self._table.nbytes)

    def add(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Remember keys; returns the indices of those that were new, of equal ones the first, ascending."""
        slots = keys & self._mask
        fresh = np.flatnonzero(self._table[slots] != keys)
        _, first = np.unique(keys[fresh], return_index=True)
        chosen = fresh[np.sort(first)]
        self._table[slots[chosen]] = keys[chosen]
        return chosen
