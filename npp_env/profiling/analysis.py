"""Text and data of a snapshot analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from npp_env.profiling.process_memory import MEBIBYTE
from npp_env.profiling.report import chosen_rows
from npp_env.profiling.snapshots import SnapshotSeries
from npp_env.profiling.tensorboard_scalars import Correlation, ScalarSeries, correlate

KIND_TITLES = {"process": "process snapshots (npp_env)", "cuda": "CUDA snapshots (torch)"}
MAX_CORRELATIONS = 15


def analyse_series(series: SnapshotSeries, scalars: Sequence[ScalarSeries], threshold_per_1k: float) -> dict[str, Any]:
    """Everything about one series, as plain data for JSON."""
    correlations = [asdict(entry) for entry in correlate(series.rows, list(scalars))]
    return {**series.to_dict(threshold_per_1k), "correlations": correlations}


def format_series(series: SnapshotSeries, scalars: Sequence[ScalarSeries], threshold_per_1k: float) -> str:
    """Growth table, fitted slope, correlations, contexts and problems of one series."""
    title = KIND_TITLES[series.kind]
    lines = [title, "-" * len(title), _table(series), ""]
    lines.append(series.growth(threshold_per_1k).to_text())
    if scalars:
        lines += ["", _correlations(correlate(series.rows, list(scalars)))]
    lines += ["", _contexts(series)]
    if series.problems:
        lines += ["", "Problems", *(f"  {problem}" for problem in series.problems)]
    return "\n".join(lines)


def _table(series: SnapshotSeries) -> str:
    lines = [f"{'step':>12} {'total active MB':>16} {'small pool MB':>14} {'large pool MB':>14} {'blocks':>10}"]
    for index in chosen_rows(len(series.rows)):
        row = series.rows[index]
        sizes = (row.total_active_bytes, row.small_pool_bytes, row.large_pool_bytes)
        total, small, large = (f"{size / MEBIBYTE:,.3f}" for size in sizes)
        lines.append(f"{row.step:>12,} {total:>16} {small:>14} {large:>14} {row.block_count:>10,}")
    return "\n".join(lines)


def _correlations(found: Sequence[Correlation]) -> str:
    lines = ["Scalars that move with the memory (trust the changes: two rising series always agree)"]
    lines.append(f"{'changes':>9} {'levels':>9} {'points':>7}  scalar")
    lines += [
        f"{entry.of_changes:>+9.2f} {entry.of_levels:>+9.2f} {entry.points:>7}  {entry.tag}"
        for entry in found[:MAX_CORRELATIONS]
    ]
    return "\n".join(lines) if found else "No scalar covers the steps of these snapshots."


def _contexts(series: SnapshotSeries) -> str:
    contexts = series.top_contexts()
    if not contexts:
        return "No contexts: these snapshots carry no stacks."
    lines = ["Top contexts", f"{'growth KB':>12} {'last KB':>12}  context (innermost first)"]
    lines += [f"{c.growth_bytes / 1024:>+12,.1f} {c.bytes / 1024:>12,.1f}  {c.context}" for c in contexts]
    return "\n".join(lines)
