"""Robust line fits: the Theil-Sen slope and two intervals around it, with numpy alone."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

MAX_PAIRWISE_POINTS = 300  # 300 points are 45,000 pairwise slopes: a millisecond, and under a megabyte
MIN_BLOCKS = 4
MAX_BLOCKS = 7  # fewer blocks average more noise away, more blocks know their own spread better

# Quantiles for a two-sided interval of 98 %: one chance in a hundred on each side.
NORMAL_QUANTILE = 2.3263
_T_QUANTILES = {1: 31.82, 2: 6.965, 3: 4.541, 4: 3.747, 5: 3.365, 6: 3.143}

# Means of neighbouring blocks of a random walk have increments that correlate by 1/4, which
# raises the variance of their sum by up to a half: sqrt(1.5).
_BLOCK_CORRELATION_FACTOR = 1.2247


def pairwise_slopes(x: FloatArray, y: FloatArray) -> FloatArray:
    """Sorted slopes of all pairs of points with different x."""
    first, second = np.triu_indices(len(x), k=1)
    run = x[second] - x[first]
    distinct = run != 0
    slopes: FloatArray = np.sort((y[second] - y[first])[distinct] / run[distinct])
    return slopes


def thin_to_medians(x: FloatArray, y: FloatArray, limit: int = MAX_PAIRWISE_POINTS) -> tuple[FloatArray, FloatArray]:
    """At most `limit` points: medians of equal runs of neighbours, so that the pairwise fit stays cheap."""
    if len(x) <= limit:
        return x, y
    groups = np.array_split(np.arange(len(x)), limit)
    return np.array([np.median(x[g]) for g in groups]), np.array([np.median(y[g]) for g in groups])


def theil_sen(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    """Slope and intercept of the Theil-Sen line.

    Example:
        >>> slope, intercept = theil_sen(np.arange(5.0), np.array([1.0, 3.0, 5.0, 99.0, 9.0]))
        >>> slope, intercept
        (2.0, 1.0)
    """
    x, y = thin_to_medians(x, y)
    slopes = pairwise_slopes(x, y)
    slope = float(np.median(slopes)) if len(slopes) else 0.0
    return slope, float(np.median(y - slope * x))


def lag_one_correlation(residuals: FloatArray) -> float:
    """Correlation of neighbouring residuals, between 0 and 0.98 (negative values would flatter the fit)."""
    centred = residuals - residuals.mean()
    power = float(centred @ centred)
    if power <= 0 or len(centred) < 3:
        return 0.0
    return float(np.clip((centred[1:] @ centred[:-1]) / power, 0.0, 0.98))


def sen_interval(x: FloatArray, y: FloatArray, slope: float) -> tuple[float, float]:
    """Sen's rank interval of the slope, widened for residuals that are not independent."""
    x, y = thin_to_medians(x, y)
    slopes = pairwise_slopes(x, y)
    if len(slopes) == 0:
        return -math.inf, math.inf
    n = len(x)
    correlation = lag_one_correlation(y - slope * x)
    variance = n * (n - 1) * (2 * n + 5) / 18 * (1 + correlation) / (1 - correlation)
    half_width = NORMAL_QUANTILE * math.sqrt(variance)
    last = len(slopes) - 1
    low = int(np.clip(math.floor((len(slopes) - half_width) / 2), 0, last))
    high = int(np.clip(math.ceil((len(slopes) + half_width) / 2), 0, last))
    return float(slopes[low]), float(slopes[high])


def block_interval(x: FloatArray, y: FloatArray, slope: float) -> tuple[float, float]:
    """Interval of the slope from the increments between the levels of a few large blocks.

    Allocator noise wanders: pages come and go, and what was taken is not given back at once. A rank interval
    takes such a random walk for a trend. The increments between a few large blocks are nearly independent
    even then, so the spread of those increments says how far a trendless series could have drifted.
    """
    blocks = int(np.clip(len(x) // 4, MIN_BLOCKS, MAX_BLOCKS))
    if len(x) < 2 * MIN_BLOCKS:
        return -math.inf, math.inf
    groups = np.array_split(np.arange(len(x)), blocks)
    centres = np.array([x[g].mean() for g in groups])
    levels = np.array([_interquartile_mean(y[g]) for g in groups])
    run = np.diff(centres)
    if not np.all(run > 0):
        return -math.inf, math.inf
    drifts = np.diff(levels) / run
    spread = float(drifts.std(ddof=1)) / math.sqrt(len(drifts))
    half_width = _T_QUANTILES[len(drifts)] * _BLOCK_CORRELATION_FACTOR * spread
    return slope - half_width, slope + half_width


def _interquartile_mean(values: FloatArray) -> float:
    """Mean of the middle half: nearly as precise as the mean, and blind to spikes."""
    cut = len(values) // 4
    return float(np.sort(values)[cut : len(values) - cut].mean())
