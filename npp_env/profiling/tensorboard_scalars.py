"""Scalars of TensorBoard event files, and how they go together with the growth of memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from npp_env.profiling.errors import SnapshotError
from npp_env.profiling.event_files import ScalarLog
from npp_env.profiling.snapshots import SnapshotRow

EVENT_FILE = "tfevents"
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
    """Read every scalar of the event files in a folder, sorted by tag.

    Of several values of a tag at one step, the one that was written last counts.

    Raises:
        SnapshotError: The folder does not exist, or one of its event files cannot be read.
    """
    if not folder.is_dir():
        raise SnapshotError(f"{folder} is not a folder of TensorBoard event files")
    log = ScalarLog()
    for path in sorted(path for path in folder.iterdir() if EVENT_FILE in path.name and path.is_file()):
        log.read(path)
    series = []
    for tag in sorted(log.steps):
        steps, values = np.array(log.steps[tag]), np.array(log.values[tag])
        order = np.argsort(steps, kind="stable")
        last = np.diff(steps[order], append=np.inf) > 0
        series.append(ScalarSeries(tag, steps[order][last], values[order][last]))
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
