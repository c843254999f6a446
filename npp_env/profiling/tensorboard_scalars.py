"""Scalars of TensorBoard event files, and how they go together with the growth of memory."""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import requires
from npp_env.profiling.errors import SnapshotError
from npp_env.profiling.snapshots import SnapshotRow

MIN_POINTS = 4


@dataclass(frozen=True, slots=True)
class ScalarSeries:
    """One scalar over the steps."""

    tag: str
    steps: NDArray[np.float64]
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Correlation:
    """How a scalar goes together with the memory.

    Attributes:
        tag: Name of the scalar.
        of_levels: Correlation of the values. Two series that both rise correlate without having to do with
            each other.
        of_changes: Correlation of the changes from snapshot to snapshot: the one that tells.
        points: Number of snapshots compared.
    """

    tag: str
    of_levels: float
    of_changes: float
    points: int


def read_scalars(folder: Path) -> list[ScalarSeries]:
    """Read every scalar of the event files below a folder.

    Raises:
        MissingDependencyError: tensorboard is not installed.
        SnapshotError: The folder does not exist.
    """
    if not folder.is_dir():
        raise SnapshotError(f"{folder} is not a folder of TensorBoard event files")
    with requires("tensorboard", "reading event files", "pip install tensorboard"):
        module = importlib.import_module("tensorboard.backend.event_processing.event_accumulator")
    accumulator = module.EventAccumulator(str(folder), size_guidance={"scalars": 0})
    accumulator.Reload()
    series = []
    for tag in accumulator.Tags().get("scalars", []):
        events = sorted(accumulator.Scalars(tag), key=lambda event: event.step)
        steps = np.array([event.step for event in events], dtype=np.float64)
        series.append(ScalarSeries(tag, steps, np.array([event.value for event in events], dtype=np.float64)))
    return series


def correlate(rows: tuple[SnapshotRow, ...], scalars: list[ScalarSeries]) -> list[Correlation]:
    """Correlate the active bytes with each scalar, the strongest correlation of changes first."""
    steps = np.array([row.step for row in rows], dtype=np.float64)
    memory = np.array([row.total_active_bytes for row in rows], dtype=np.float64)
    found = []
    for scalar in scalars:
        known = np.isfinite(scalar.values)
        scalar_steps, scalar_values = scalar.steps[known], scalar.values[known]
        if len(scalar_steps) < 2:
            continue
        inside = (steps >= scalar_steps[0]) & (steps <= scalar_steps[-1])
        if int(inside.sum()) < MIN_POINTS:
            continue
        values = np.interp(steps[inside], scalar_steps, scalar_values)
        levels = pearson(memory[inside], values)
        changes = pearson(np.diff(memory[inside]), np.diff(values))
        found.append(Correlation(scalar.tag, levels, changes, int(inside.sum())))
    return sorted(found, key=lambda entry: (-abs(entry.of_changes), -abs(entry.of_levels), entry.tag))


def pearson(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Pearson's correlation; 0 where one of the series does not move."""
    a, b = first - first.mean(), second - second.mean()
    power = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / power if power > 0 else 0.0
