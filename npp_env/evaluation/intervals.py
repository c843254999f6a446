"""How sure a measured mean or share is: 95 % intervals without assumptions about the shape of what is measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_Z = 1.959963984540054
_RESAMPLES = 1000
_MOST_DRAWN = 1 << 22
"""Numbers that are drawn at once."""


class Estimate(NamedTuple):
    """A mean with its interval; without one (None) where a single value, or none, is known.

    Attributes:
        mean: The mean, None of nothing.
        low: Lower end of the 95 % interval.
        high: Upper end.
        size: How many values it is the mean of.
    """

    mean: float | None
    low: float | None
    high: float | None
    size: int


NOTHING = Estimate(None, None, None, 0)


def share_estimate(successes: int, trials: int) -> Estimate:
    """A share with the interval of Wilson, which holds for few trials and for shares of 0 and 1.

    Example:
        >>> [round(value, 3) for value in share_estimate(8, 10)[:3]]
        [0.8, 0.49, 0.943]
    """
    if trials == 0:
        return NOTHING
    share = successes / trials
    spread = _Z * math.sqrt(share * (1 - share) / trials + _Z * _Z / (4 * trials * trials))
    middle, scale = share + _Z * _Z / (2 * trials), 1 + _Z * _Z / trials
    low = 0.0 if successes == 0 else (middle - spread) / scale
    high = 1.0 if successes == trials else (middle + spread) / scale
    return Estimate(share, low, high, trials)


def mean_estimate(strata: Sequence[NDArray[Any]], seed: int = 0) -> Estimate:
    """The mean of all values, with a bootstrap interval that draws within every stratum.

    Args:
        strata: Values by where they are from, such as a level; their order matters not.
        seed: What the draws come from: the same values give the same interval.
    """
    filled = [np.sort(np.asarray(values, np.float64)) for values in strata if len(values)]
    count = sum(map(len, filled))
    if count == 0:
        return NOTHING
    mean = float(np.concatenate(filled).mean())
    if max(map(len, filled)) == 1:
        # One value of each: what varies is where they are from.
        filled = [np.concatenate(filled)]
    if count == 1:
        return Estimate(mean, None, None, 1)
    random = np.random.default_rng(seed)
    sums = np.zeros(_RESAMPLES)
    for values in filled:
        step = max(_MOST_DRAWN // len(values), 1)
        for first in range(0, _RESAMPLES, step):
            drawn = random.integers(len(values), size=(min(step, _RESAMPLES - first), len(values)))
            sums[first : first + step] += values[drawn].sum(axis=1)
    low, high = np.quantile(sums / count, [0.025, 0.975])
    # Sums in another order may differ from the mean by a rounding.
    return Estimate(mean, min(float(low), mean), max(float(high), mean), count)
