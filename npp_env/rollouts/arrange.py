"""The order of a minibatch in which least of the memory that it is decoded into has to be written."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from npp_env.level.model import Level
from npp_env.observe.state_row import STATE_ROW


def level_number(level: Level) -> int:
    """A number that no other level has, and not 0: by it output rows know whose graph they hold."""
    return int.from_bytes(bytes.fromhex(level.hash)[:8], "little") | 1


def level_numbers(rows: NDArray[np.uint8], indices: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The `level_number` of the levels that some rows of states belong to; a fresh array (n,)."""
    start = STATE_ROW.fields["level"][1] if STATE_ROW.fields else 0
    digests = rows[:, start : start + 8].view("<u8")[:, 0]
    return np.asarray(digests[indices] | np.uint64(1))


def places_for(wanted: NDArray[np.uint64], held: NDArray[np.uint64]) -> NDArray[np.int64]:
    """A place for each item, all different: one that holds what is wanted as long as there are any, else any other.

    Args:
        wanted: What the items want, (n,).
        held: What the places hold, (n,).
    """
    items, places = np.argsort(wanted, kind="stable"), np.argsort(held, kind="stable")
    sorted_wanted, sorted_held = wanted[items], held[places]
    # The k-th item that wants a thing gets the k-th place that holds it.
    rank = np.arange(len(items)) - np.searchsorted(sorted_wanted, sorted_wanted)
    match = np.searchsorted(sorted_held, sorted_wanted) + rank
    fits = match < np.searchsorted(sorted_held, sorted_wanted, side="right")
    found = np.full(len(items), -1)
    found[items[fits]] = places[match[fits]]
    is_free = np.ones(len(items), np.bool_)
    is_free[found[found >= 0]] = False
    found[found < 0] = np.flatnonzero(is_free)
    return found
