"""Sorted sets of integers.

Those of numpy import `numpy.ma` on first use: 4 MB that a training process would carry for nothing.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_Number = TypeVar("_Number", bound=np.integer)


def sorted_unique(values: NDArray[_Number]) -> NDArray[_Number]:
    """The distinct values of an array (n,), sorted; a fresh array.

    Example:
        >>> sorted_unique(np.array([3, 1, 3])).tolist()
        [1, 3]
    """
    values = np.sort(values)
    first = np.ones(len(values), np.bool_)
    first[1:] = values[1:] != values[:-1]
    return values[first]


def sorted_difference(values: NDArray[_Number], others: NDArray[_Number]) -> NDArray[_Number]:
    """Those of sorted values that are not among the sorted others; a fresh array.

    Example:
        >>> sorted_difference(np.array([1, 2, 5]), np.array([2, 3])).tolist()
        [1, 5]
    """
    behind = np.searchsorted(others, values, side="right")
    kept: NDArray[_Number] = values[behind == np.searchsorted(others, values, side="left")]
    return kept
