"""The size of a level's states, from the numbers of its records alone: without compiling the level."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from npp_env.level.entity_kinds import SIMULATED_ROWS
from npp_env.level.layout import COUNT_TYPES
from npp_env.sim.structs import MOVER, NINJA, PLACE

# What an entity of each kind adds: a byte for its flag, its movers, and some of the ninja's past behind them.
_ADDED_BYTES = np.zeros(COUNT_TYPES, np.int64)
_HISTORY_TICKS = np.zeros(COUNT_TYPES, np.int64)
for _kind, _row in SIMULATED_ROWS.items():
    _ADDED_BYTES[_kind] = (_row.flag is not None) + MOVER.itemsize * _row.movers
    _HISTORY_TICKS[_kind] = _row.history_ticks


def state_bytes_of(record_counts: NDArray[np.uint16]) -> NDArray[np.int64]:
    """Bytes of a state, as the compiled level says too.

    Args:
        record_counts: How many records of each type below 40 levels have, shape (n, 40).

    Returns:
        A fresh array (n,).
    """
    counts = record_counts.astype(np.int64)
    size: NDArray[np.int64] = NINJA.itemsize + counts @ _ADDED_BYTES
    past: NDArray[np.int64] = PLACE.itemsize * (counts @ _HISTORY_TICKS)
    return size + -size % 8 + past
