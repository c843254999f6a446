"""Entities that may behave here otherwise than in the game: not simulated at all, or by unverified rules."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from npp_env.level.entity_kinds import ENTITY_TABLE, FIRST_UNKNOWN_TYPE, EntityKind, type_label

_TYPES = 256


def type_bits(types: NDArray[np.uint8]) -> int:
    """Which type bytes occur, as one integer: bit t is set if type t does.

    Example:
        >>> bin(type_bits(np.array([0, 3, 3], np.uint8)))
        '0b1001'
    """
    return sum(1 << type_id for type_id in np.flatnonzero(np.bincount(types)).tolist())


NOT_SIMULATED = sum(1 << t for t in range(_TYPES) if t >= FIRST_UNKNOWN_TYPE or not EntityKind(t).simulated)
"""Types whose records are kept, but have no effect (bits as in `type_bits`)."""
UNVERIFIED = sum(1 << k for k, row in ENTITY_TABLE.items() if not row.evidence.verified) & ~NOT_SIMULATED
"""Types that are simulated by rules which no recording of the real game bears out."""
DOUBTFUL = NOT_SIMULATED | UNVERIFIED


def doubtful_types(bits: int) -> list[int]:
    """The types among these that are not simulated or unverified, ascending."""
    bits &= DOUBTFUL
    return [type_id for type_id in range(bits.bit_length()) if bits >> type_id & 1]


def describe_doubts(bits: Sequence[int]) -> str:
    """One sentence on what levels hold that is not simulated or unverified; empty if there is nothing.

    Args:
        bits: The types in each level, as `type_bits` gives them.

    Example:
        >>> describe_doubts([1 << 2, 1 << 27])
        '1 of 2 levels holds entities that are not simulated (unused-27)'
    """
    doubtful = [own for own in bits if own & DOUBTFUL]
    if not doubtful:
        return ""
    together = 0
    for own in doubtful:
        together |= own
    parts = [
        f"{what} ({_names(together & which)})"
        for what, which in (
            ("that are not simulated", NOT_SIMULATED),
            ("whose rules no recording of the game bears out", UNVERIFIED),
        )
        if together & which
    ]
    some = "the level" if len(bits) == 1 else f"{len(doubtful)} of {len(bits)} levels"
    return f"{some} {'hold' if len(doubtful) > 1 else 'holds'} entities {', and entities '.join(parts)}"


def _names(bits: int, limit: int = 8) -> str:
    types = doubtful_types(bits)
    names = [type_label(type_id) for type_id in types[:limit]]
    return ", ".join(names) + (f" and {len(types) - limit} more" if len(types) > limit else "")
