"""Does a series of memory readings grow? A slope with an interval, and a verdict that says what it rests on.

The fit is made for what memory readings look like: a warm-up that ends, allocator noise that wanders, garbage
that is collected in one go (a sawtooth), single outliers. See `docs/memory.md` for the reasoning.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from npp_env.profiling.errors import ProfilingError
from npp_env.profiling.intervals import FloatArray, block_interval, sen_interval, theil_sen

DEFAULT_THRESHOLD_BYTES_PER_1K = 10 * 1024
MIN_SAMPLES = 8
MIN_RECLAIM_CYCLES = 4
STEPS_PER_UNIT = 1000.0
DRIFT_THRESHOLD_FRACTION = 0.10
CLIMB_PARTS, MIN_SAMPLES_PER_PART = 12, 8
# Readings that never rise by more than half of what growth at the threshold would add are flat, whatever their noise.
SMALL_RISE_FRACTION = 0.5
FADING_FRACTION = 0.4  # growth whose second half is below this share of its first is fading out


class Verdict(str, enum.Enum):
    """What a series of readings shows."""

    FLAT = "flat"
    GROWING = "growing"
    UNDECIDED = "undecided"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class GrowthFit:
    """A fitted slope, in units of the readings per 1,000 steps, and the verdict on it.

    Attributes:
        verdict: growing when the whole interval lies above the threshold, flat when it lies below, else
            undecided.
        slope_per_1k: Theil-Sen slope.
        low_per_1k: Lower end of the 98 % interval.
        high_per_1k: Upper end of the 98 % interval.
        threshold_per_1k: Slope from which growth counts.
        intercept: Value of the fitted line at step 0.
        first_step: First step after the warm-up that the fit left out.
        last_step: Last step of the fit.
        samples_used: Number of readings the fit rests on.
        samples_total: Number of readings given.
        basis: "readings", or "troughs" where a sawtooth was judged by its low points.
        reason: Why the verdict is what it is, in a sentence.
    """

    verdict: Verdict
    slope_per_1k: float
    low_per_1k: float
    high_per_1k: float
    threshold_per_1k: float
    intercept: float
    first_step: float
    last_step: float
    samples_used: int
    samples_total: int
    basis: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data; ends of an unbounded interval become None, which JSON can hold."""
        data = {name: getattr(self, name) for name in self.__slots__}
        for name in ("slope_per_1k", "low_per_1k", "high_per_1k", "intercept"):
            data[name] = data[name] if math.isfinite(data[name]) else None
        data["verdict"] = self.verdict.value
        return data

    def to_text(self, unit: str = "KB", scale: float = 1024.0) -> str:
        """One sentence: verdict, slope, interval, threshold, number of samples."""
        if not math.isfinite(self.low_per_1k):
            return f"{self.verdict}: {self.reason}"
        return (
            f"{self.verdict}: {self.slope_per_1k / scale:+.1f} {unit} per 1,000 steps "
            f"(98 % interval {self.low_per_1k / scale:+.1f} to {self.high_per_1k / scale:+.1f}; "
            f"threshold {self.threshold_per_1k / scale:.1f}; "
            f"{self.samples_used} of {self.samples_total} samples, "
            f"by {self.basis}). {self.reason}"
        )


def fit_growth(
    steps: ArrayLike, values: ArrayLike, *, threshold_per_1k: float = DEFAULT_THRESHOLD_BYTES_PER_1K
) -> GrowthFit:
    """Fit the growth of `values` over `steps` and judge it.

    Args:
        steps: Step of each reading, ascending.
        values: Readings (bytes, usually); NaN where a reading was skipped.
        threshold_per_1k: Growth per 1,000 steps that counts as a leak.

    Returns:
        The fit; never an error for too few readings, which are "undecided".

    Raises:
        ProfilingError: The lengths differ, the steps do not ascend, or the threshold is not positive.

    Example:
        >>> import numpy as np
        >>> steps = np.arange(100) * 100
        >>> fit_growth(steps, 5e7 + 50.0 * steps).verdict.value
        'growing'
        >>> fit_growth(steps, np.full(100, 5e7)).verdict.value
        'flat'
    """
    x, y = _clean(steps, values, threshold_per_1k)
    total = len(x)
    if total < MIN_SAMPLES:
        reason = f"{total} samples are too few, at least {MIN_SAMPLES} are needed."
        return _unbounded(x, y, total, threshold_per_1k, reason)
    start = _warm_up_end(x, y)
    tail_x, tail_y = x[start:], y[start:]
    extent = float(tail_x[-1] - tail_x[0])
    largest_rise = float(np.max(tail_y - np.minimum.accumulate(tail_y)))
    threshold = threshold_per_1k / STEPS_PER_UNIT
    basis = "readings"
    if extent > 0 and largest_rise <= SMALL_RISE_FRACTION * threshold * extent:
        slope, intercept = theil_sen(tail_x, tail_y)
        low, high = min(slope, -float(np.ptp(tail_y)) / extent), max(slope, largest_rise / extent)
    else:
        troughs = _sawtooth_troughs(tail_y)
        if troughs is not None and len(troughs) < MIN_RECLAIM_CYCLES:
            reason = f"a sawtooth with {len(troughs)} low points, {MIN_RECLAIM_CYCLES} are needed; run longer."
            return _unbounded(tail_x, tail_y, total, threshold_per_1k, reason)
        if troughs is not None:
            tail_x, tail_y, basis = tail_x[troughs], tail_y[troughs], "troughs"
        slope, intercept = theil_sen(tail_x, tail_y)
        low, high = _interval(tail_x, tail_y, slope)
    verdict, reason = _judge(tail_x, tail_y, (low, slope, high), threshold)
    return GrowthFit(
        verdict=verdict,
        slope_per_1k=slope * STEPS_PER_UNIT,
        low_per_1k=low * STEPS_PER_UNIT,
        high_per_1k=high * STEPS_PER_UNIT,
        threshold_per_1k=threshold_per_1k,
        intercept=intercept,
        first_step=float(tail_x[0]),
        last_step=float(tail_x[-1]),
        samples_used=len(tail_x),
        samples_total=total,
        basis=basis,
        reason=reason,
    )


def fit_speed_drift(steps: ArrayLike, steps_per_second: ArrayLike) -> GrowthFit:
    """Judge the loss of speed, as a fraction of the median speed per 1,000 steps.

    "growing" means that the run loses more than a tenth of its speed over the steps seen; "flat" that it does
    not. The slope of the result is the loss: positive when the run becomes slower.
    """
    x = np.asarray(steps, dtype=np.float64)
    y = np.asarray(steps_per_second, dtype=np.float64)
    speeds = y[np.isfinite(y)]
    typical = float(np.median(speeds)) if len(speeds) else 0.0
    span = float(x[-1] - x[0]) if len(x) > 1 else 0.0
    threshold = DRIFT_THRESHOLD_FRACTION * STEPS_PER_UNIT / span if span > 0 else DRIFT_THRESHOLD_FRACTION
    loss = -y / typical if typical > 0 else np.full(len(y), np.nan)
    return fit_growth(x, loss, threshold_per_1k=threshold)


def worst_verdict(fits: Sequence[GrowthFit]) -> Verdict:
    """Growing if any is growing, flat if all are flat, else undecided."""
    verdicts = {fit.verdict for fit in fits}
    if Verdict.GROWING in verdicts:
        return Verdict.GROWING
    return Verdict.FLAT if verdicts == {Verdict.FLAT} else Verdict.UNDECIDED


def _clean(steps: ArrayLike, values: ArrayLike, threshold_per_1k: float) -> tuple[FloatArray, FloatArray]:
    x = np.asarray(steps, dtype=np.float64)
    y = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ProfilingError(f"steps and values must be two series of one length, got {x.shape} and {y.shape}")
    if not threshold_per_1k > 0:
        raise ProfilingError(f"threshold_per_1k must be positive, got {threshold_per_1k!r}")
    if np.any(np.diff(x) < 0):
        raise ProfilingError("steps must ascend; sort the readings by step first")
    known = np.isfinite(y)
    return x[known], y[known]


def _unbounded(x: FloatArray, y: FloatArray, total: int, threshold_per_1k: float, reason: str) -> GrowthFit:
    slope, intercept = theil_sen(x, y) if len(x) > 1 else (0.0, float(y[0]) if len(y) else 0.0)
    return GrowthFit(
        verdict=Verdict.UNDECIDED,
        slope_per_1k=slope * STEPS_PER_UNIT,
        low_per_1k=-math.inf,
        high_per_1k=math.inf,
        threshold_per_1k=threshold_per_1k,
        intercept=intercept,
        first_step=float(x[0]) if len(x) else 0.0,
        last_step=float(x[-1]) if len(x) else 0.0,
        samples_used=len(x),
        samples_total=total,
        basis="readings",
        reason=reason,
    )


def _warm_up_end(x: FloatArray, y: FloatArray) -> int:
    """Index of the first reading that follows the line of the second half; at most half of them go."""
    half = len(x) // 2
    slope, intercept = theil_sen(x[half:], y[half:])
    residuals = y - (slope * x + intercept)
    spread = 1.4826 * float(np.median(np.abs(residuals[half:])))
    tail_range = float(np.ptp(y[half:]))
    tolerance = max(5.0 * spread, 0.5 * tail_range)
    # Warm-up lies below the later level. A series that starts above it has released something, and stays in
    # the fit.
    below = np.flatnonzero(residuals[:half] < -tolerance)
    if len(below) == 0:
        return 0
    # The approach to the level is gradual: its last part hides in the tolerance.
    return min(half, math.ceil(1.3 * (int(below[-1]) + 1)))


def _sawtooth_troughs(y: FloatArray) -> NDArray[np.intp] | None:
    """Indices of the low points, where the series is a sawtooth: many small rises, few large falls."""
    change = np.diff(y)
    fall = -change[change < 0].sum()
    span = float(np.ptp(y))
    if span <= 0 or fall <= 0:
        return None
    drops = np.flatnonzero(change < -0.4 * span)
    if len(drops) == 0 or len(drops) > len(y) / 4:
        return None
    rises = change[change > 0]
    typical_drop = float(np.median(-change[drops]))
    gradual = len(rises) > 0 and float(np.quantile(rises, 0.9)) < 0.5 * typical_drop
    if -change[drops].sum() < 0.6 * fall or not gradual:
        return None
    return drops + 1


def _interval(x: FloatArray, y: FloatArray, slope: float) -> tuple[float, float]:
    rank_low, rank_high = sen_interval(x, y, slope)
    if len(x) < MIN_SAMPLES:
        return rank_low, rank_high
    block_low, block_high = block_interval(x, y, slope)
    return min(rank_low, block_low), max(rank_high, block_high)


def _judge(x: FloatArray, y: FloatArray, slopes: tuple[float, float, float], threshold: float) -> tuple[Verdict, str]:
    low, slope, high = slopes
    if high < threshold:
        return Verdict.FLAT, "The whole interval lies below the threshold."
    if low <= threshold and not _climbs(x, y, threshold):
        return Verdict.UNDECIDED, "The interval contains the threshold; more samples narrow it."
    half = len(x) // 2
    early_slope, _ = theil_sen(x[:half], y[:half])
    late_slope, _ = theil_sen(x[half:], y[half:])
    if late_slope <= max(threshold, FADING_FRACTION * max(slope, early_slope)):
        return Verdict.UNDECIDED, "It grew, but fades towards the end: a long warm-up, perhaps. Run longer."
    if low <= threshold:
        return Verdict.GROWING, f"It rises in each of {CLIMB_PARTS} parts of the run, and still grows at the end."
    return Verdict.GROWING, "The whole interval lies above the threshold, and it still grows at the end."


def _climbs(x: FloatArray, y: FloatArray, threshold: float) -> bool:
    """Whether every part of the series lies above the one before, by more than the threshold.

    A straight rise with one fall in it (a garbage collection, say) has few independent readings, and so an interval
    without end; noise that wanders rises so often in a row once in thousands of runs.
    """
    if len(x) < MIN_SAMPLES_PER_PART * CLIMB_PARTS:
        return False
    places, levels = (np.array([np.median(part) for part in np.array_split(v, CLIMB_PARTS)]) for v in (x, y))
    return bool((np.diff(levels) > threshold * np.diff(places)).all())
