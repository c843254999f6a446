"""Levels that the tests of this folder share."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from npp_env.level import Level
from npp_env.level.layout import COUNTS_OFFSET, HEADER_BYTES, RECORDS_OFFSET

GOLDEN = Path(__file__).parent.parent / "golden" / "trajectories.npz"
SMALL_RECORDS = [(0, 10, 90, 0, 0), (3, 60, 90, 0, 0), (4, 30, 90, 0, 0)]


@lru_cache(maxsize=1)
def golden_maps() -> tuple[bytes, ...]:
    with np.load(GOLDEN) as archive:
        return tuple(archive[key].tobytes() for key in sorted(archive.files) if key.endswith("_map"))


def small_level(extra=(), **options) -> Level:
    return Level.from_parts(np.zeros((23, 42), np.uint8), [*SMALL_RECORDS, *extra], **options)


def same_in_full(one: Level, other: Level) -> bool:
    """Stricter than ``==``: header and metadata count too."""
    return one == other and one.header == other.header and one.metadata == other.metadata


@st.composite
def map_bytes(draw) -> bytes:
    """Anything with the outline of a map: mostly plausible, sometimes wild in every part."""
    record = st.tuples(
        st.one_of(st.integers(0, 28), st.integers(0, 255)),
        st.integers(0, 255),
        st.integers(0, 255),
        st.one_of(st.integers(0, 7), st.integers(0, 255)),
        st.one_of(st.integers(0, 3), st.integers(0, 255)),
    )
    header = draw(st.one_of(st.just(bytes(HEADER_BYTES)), st.binary(min_size=HEADER_BYTES, max_size=HEADER_BYTES)))
    seed = draw(st.integers(0, 2**32 - 1))
    limit = draw(st.sampled_from([1, 38, 256]))
    tiles = np.random.default_rng(seed).integers(0, limit, COUNTS_OFFSET - HEADER_BYTES).astype(np.uint8)
    counts_bytes = RECORDS_OFFSET - COUNTS_OFFSET
    counts = draw(st.one_of(st.just(bytes(counts_bytes)), st.binary(min_size=counts_bytes, max_size=counts_bytes)))
    records = draw(st.lists(record, min_size=1, max_size=12))
    return header + tiles.tobytes() + counts + bytes(value for row in records for value in row)
