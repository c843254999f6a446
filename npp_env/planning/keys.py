"""Keys under which states that are nearly the same count as one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from npp_env.level.entity_kinds import EntityKind
from npp_env.sim.geometry import Geometry
from npp_env.sim.structs import MOVER, NINJA
from npp_env.sim.views import ninja_view

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_RISING = 3
_MINES = (EntityKind.MINE, EntityKind.TOGGLE_MINE)
_BLOCK_NUMBERS = 1 << 16


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


class StateKeys:
    """Computes keys of states of one level.

    Args:
        geometry: The compiled level.
        resolution: How finely states are told apart.
    """

    def __init__(self, geometry: Geometry, resolution: Resolution) -> None:
        self._resolution = resolution
        self._movers_end = NINJA.itemsize + len(geometry["mover_entity"]) * MOVER.itemsize
        kinds = geometry["entities"]["kind"][geometry["mover_entity"]]
        self._moving = np.flatnonzero(kinds != EntityKind.EXIT)
        entities = geometry["entities"]
        slots = entities["slot"][np.isin(entities["kind"], _MINES)]
        self._mine_columns = self._movers_end + slots.astype(np.int64)

    def of(self, states: NDArray[np.uint8], configurations: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Key of each state.

        Args:
            states: (n, stride).
            configurations: (n,), which switches are touched.

        Returns:
            A fresh array (n,).
        """
        ninja, r = ninja_view(states), self._resolution
        rising = ninja["state"] == _RISING
        posture = (
            rising.astype(np.int64) * (2 + ninja["hold"] // r.hold_ticks)
            + 16 * ninja["jump_prev"].astype(np.int64)
            + 32 * ninja["air"].astype(np.int64)
            + 64 * (ninja["walled"].astype(np.int64) * (2 + np.sign(ninja["wn"]).astype(np.int64)))
        )
        keys = configurations.astype(np.uint64)
        for part in (
            np.floor(ninja["x"] / r.position_px).astype(np.int64),
            np.floor(ninja["y"] / r.position_px).astype(np.int64),
            np.round(ninja["vx"] / r.speed_px).astype(np.int64),
            np.round(ninja["vy"] / r.speed_px).astype(np.int64),
            posture,
        ):
            keys = _mix(keys, part)
        if len(self._moving):
            keys = _mix(keys, self._mover_part(states, ninja["x"], ninja["y"]))
        if len(self._mine_columns):
            armed = states[:, self._mine_columns] == 0
            weights = np.arange(1, armed.shape[1] + 1, dtype=np.uint64) * _MIX
            keys = _mix(keys, (armed * weights).sum(axis=1, dtype=np.uint64))
        return keys

    def _mover_part(
        self, states: NDArray[np.uint8], x: NDArray[np.float64], y: NDArray[np.float64]
    ) -> NDArray[np.uint64]:
        r = self._resolution
        movers = states[:, NINJA.itemsize : self._movers_end].view(MOVER)
        total = np.zeros(len(states), np.uint64)
        # Some movers at a time: few of many states, many of few.
        block = max(1, _BLOCK_NUMBERS // max(1, len(states)))
        for first in range(0, len(self._moving), block):
            chosen = self._moving[first : first + block]
            mover = movers[:, chosen]
            mx, my = mover["x"], mover["y"]
            near = (np.abs(mx - x[:, None]) < r.mover_reach_px) & (np.abs(my - y[:, None]) < r.mover_reach_px)
            part = (chosen + 1).astype(np.uint64)
            part = _mix(part, np.floor(mx / r.mover_px).astype(np.int64))
            part = _mix(part, np.floor(my / r.mover_px).astype(np.int64))
            part = _mix(part, mover["phase"].astype(np.int64) * 8 + mover["turn"])
            total += np.where(near, part, np.uint64(0)).sum(axis=1, dtype=np.uint64)
        return total


def _mix(keys: NDArray[np.uint64], part: NDArray[np.int64] | NDArray[np.uint64]) -> NDArray[np.uint64]:
    mixed: NDArray[np.uint64] = (keys ^ part.astype(np.uint64)) * _MIX
    mixed ^= mixed >> _SHIFT
    return mixed


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
