"""Curves of training runs: success against steps and processor minutes, median and range over seeds."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import NppError, requires
from npp_env.learning.run_folder import RunFolder
from npp_env.level.whole_file import write_whole

_POINTS = 200


def seeds_by_label(folders: Sequence[Path]) -> dict[str, list[list[dict[str, float]]]]:
    """The curves of runs that differ in nothing but the seed, together under one label.

    Raises:
        NppError: A folder holds no run, or one that has not begun.
    """
    found: dict[str, list[list[dict[str, float]]]] = {}
    for folder in folders:
        run = RunFolder(folder)
        settings, curve = run.settings(), run.curve()
        if not curve:
            raise NppError(f"{folder}: the run has no curve yet")
        task = settings.task if isinstance(settings.task, str) else ", ".join(settings.task)
        found.setdefault(f"{task}, {settings.algo}, {settings.policy}", []).append(curve)
    return found


def at_steps(
    curves: Sequence[Sequence[Mapping[str, float]]], column: str, steps: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A column of several curves (curves, points) at the same steps."""
    rows = [np.interp(steps, [row["steps"] for row in curve], [row[column] for row in curve]) for curve in curves]
    return np.stack(rows)


def draw_curves(folders: Sequence[Path], path: Path) -> None:
    """Write a picture (.png or .svg) of the curves of some runs.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    with requires("matplotlib", "drawing curves", "pip install 'npp_env[report]'"):
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 3.2), sharey=True)
    for number, (label, curves) in enumerate(seeds_by_label(folders).items()):
        last = min(curve[-1]["steps"] for curve in curves)
        steps = np.linspace(max(curve[0]["steps"] for curve in curves), last, _POINTS)
        won = 100 * at_steps(curves, "success", steps)
        minutes = np.median(at_steps(curves, "cpu_seconds", steps), axis=0) / 60
        name = f"{label} ({len(curves)} seed{'s' if len(curves) > 1 else ''})"
        for axes, x in ((left, steps / 1e6), (right, minutes)):
            # There are ten colours.
            axes.plot(x, np.median(won, axis=0), "-" if number // 10 % 2 == 0 else "--", label=name)
            axes.fill_between(x, won.min(axis=0), won.max(axis=0), alpha=0.2)
    left.set(xlabel="million steps", ylabel="episodes won, %", ylim=(0, 101))
    right.set(xlabel="minutes of one core")
    # Beside the curves: of many runs it would hide some of them.
    right.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0)
    for axes in (left, right):
        axes.grid(alpha=0.3)
    memory = io.BytesIO()
    figure.tight_layout()
    # With the legend in full.
    figure.savefig(memory, format=path.suffix.removeprefix(".") or "png", dpi=90, bbox_inches="tight")
    pyplot.close(figure)
    write_whole(path, memory.getvalue())
