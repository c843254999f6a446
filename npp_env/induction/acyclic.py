"""Whether transitions never lead back to a state."""

from __future__ import annotations

import numpy as np

from npp_env.induction.errors import CyclicModelError
from npp_env.induction.peeling import peel
from npp_env.induction.transitions import NOT_EXPANDED, OpenSlice, Transitions


def check_acyclic(transitions: Transitions) -> None:
    """Refuse transitions with a cycle: states that nothing leads to are taken away until none is left.

    Raises:
        CyclicModelError: Some are left; the message names one.
    """
    count = transitions.state_count
    # How many transitions lead to each state; a state that was taken away has the highest number.
    arriving = np.zeros(count, np.uint32)
    opened = [OpenSlice(transitions.folder, part) for part in transitions.slices if part.transitions != NOT_EXPANDED]
    for part in opened:
        rows = part.rows(part.slice.first, part.slice.last)
        arriving += np.bincount(rows.successors, minlength=count).astype(np.uint32)
        part.release()
    before = -1
    taken = 0
    while taken > before:
        before = taken
        for part in opened:
            rows = part.rows(part.slice.first, part.slice.last)
            taken += peel(rows.offsets, rows.successors, part.slice.first, arriving)
            part.release()
    left = np.flatnonzero((arriving > 0) & (arriving < np.iinfo(np.uint32).max))
    # What a cycle leads to is left over too; a state of the cycle itself has successors that are left.
    if len(left):
        raise CyclicModelError(
            f"the model leads back to state {left[0]} (one of {len(left)} that lie on a cycle or behind one), so that "
            f"without a horizon it has no end; give a horizon, or put the time into the bytes of a state"
        )
