"""What is worth knowing of a level without having it: which types of entities it has, and how many."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from npp_env.level.layout import COUNT_TYPES
from npp_env.level.model import Level
from npp_env.level.validation import count_records

_BITMAP = 16
"""Numbers that hold a bit for each of 256 types."""
FACTS = _BITMAP + COUNT_TYPES
"""Numbers that hold the facts of a level."""


def facts_of(level: Level) -> NDArray[np.uint16]:
    """The facts of a level; a fresh array (56,)."""
    types = level.records[:, 0]
    present = np.zeros(256, np.uint8)
    present[types] = 1
    return np.concatenate([np.packbits(present, bitorder="little").view("<u2"), count_records(level.records)])


def types_in(facts: NDArray[np.uint16]) -> int:
    """What types of entities the level of facts (56,) has, as `npp_env.level.doubts.type_bits` gives them."""
    return int.from_bytes(facts[:_BITMAP].astype("<u2").tobytes(), "little")


def counts_in(facts: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """How many records of each type below 40 the levels of facts (..., 56) have; a view (..., 40)."""
    return facts[..., _BITMAP:]
