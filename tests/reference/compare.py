"""Compares what an environment said with what a reference says, number by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reference import vectors

TIE = 1e-9
"""How near, relatively, a reference must be to the middle of two float16 values for either of them to be right."""


def mismatches(key: str, moment: Any, observation: Any = None) -> list[str]:
    """Every number of one key that is wrong in a moment, in words; +0 and -0 are one number."""
    given = moment.observation[key] if observation is None else observation
    expected = np.array(vectors.VECTORS[key](moment.scene), np.float64)
    found = given.reshape(-1)
    dtype = np.uint8 if key == "action_mask" else np.float16
    if given.dtype != dtype or found.size != expected.size:
        return [f"{key} of {moment}: {given.dtype} {given.shape} instead of {expected.size} times {dtype.__name__}"]
    right = found == expected.astype(dtype)
    if dtype is np.float16 and not right.all():
        right |= found == (expected * (1 - TIE)).astype(dtype)
        right |= found == (expected * (1 + TIE)).astype(dtype)
    return [
        f"{key}[{k}] ({vectors.field_name(key, k)}) of {moment}: {found[k]!r} instead of {expected[k]!r}"
        for k in np.flatnonzero(~right).tolist()
    ]


def assert_equal(key: str, moments: Sequence[Any]) -> None:
    """Compare one key in all moments, up to the first that is wrong."""
    for moment in moments:
        wrong = mismatches(key, moment)
        assert not wrong, "\n".join(wrong[:10])
