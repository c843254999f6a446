"""Scaling curves of the vector environment as a picture, `docs/images/scaling.png`."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from benchmarks._measuring import rounded
from benchmarks.vector import NUMBERS_OF_ENVIRONMENTS, native_speed, numbers_of_threads

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "scaling.png"
CURVES = (
    ("vectors", 1, "vectors, frame_skip 1", "#2a6fb0"),
    ("vectors", 4, "vectors, frame_skip 4", "#5aa9e6"),
    ("frames", 4, "both frames, frame_skip 4", "#d9822b"),
)
ENVIRONMENTS_OVER_THREADS = 1024


def draw(path: Path, quick: bool) -> None:
    """Draw the curves; matplotlib is asked for a file, not for a window."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 3.8), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    over_environments, over_threads = figure.subplots(1, 2, width_ratios=(3, 2))
    threads = numbers_of_threads()
    for name, frame_skip, label, colour in CURVES:
        cpu = [native_speed(name, frame_skip, n, 1, quick).per_cpu_second for n in NUMBERS_OF_ENVIRONMENTS]
        over_environments.plot(NUMBERS_OF_ENVIRONMENTS, cpu, marker="o", label=label, color=colour)
        wall = [
            native_speed(name, frame_skip, ENVIRONMENTS_OVER_THREADS, count, quick).per_wall_second for count in threads
        ]
        over_threads.plot(threads, wall, marker="o", label=label, color=colour)
    over_environments.set_xscale("log", base=2)
    over_environments.set_xticks(NUMBERS_OF_ENVIRONMENTS, [f"{n:,}" for n in NUMBERS_OF_ENVIRONMENTS])
    over_environments.set_xlabel("environments, one thread")
    over_environments.set_ylabel("environment steps per CPU second")
    over_environments.legend(frameon=False)
    over_threads.set_xticks(threads)
    over_threads.set_xlim(0.8, max(threads) + 0.2)
    over_threads.set_xlabel(f"threads, {ENVIRONMENTS_OVER_THREADS:,} environments ({os.cpu_count()} cores)")
    over_threads.set_ylabel("environment steps per second")
    for axes in (over_environments, over_threads):
        axes.set_yscale("log")
        axes.grid(True, which="major", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def run(quick: bool) -> dict[str, Any]:
    """Draw the curves and tell how far the vector environment scales; a quick run does not replace the picture."""
    rows = []
    for name, frame_skip, label, _ in CURVES:
        one, many = (native_speed(name, frame_skip, n, 1, quick).per_cpu_second for n in (1, 4096))
        wall = [
            native_speed(name, frame_skip, ENVIRONMENTS_OVER_THREADS, count, quick).per_wall_second
            for count in numbers_of_threads()
        ]
        rows.append([label, rounded(many / one), rounded(max(wall) / wall[0])])
    try:
        if quick:
            with tempfile.TemporaryDirectory() as folder:
                draw(Path(folder) / PICTURE.name, quick)
            notes = ["A run without --quick draws the curves into docs/images/scaling.png."]
        else:
            draw(PICTURE, quick)
            notes = ["Drawn: docs/images/scaling.png."]
    except ImportError:
        notes = ["No picture: matplotlib is missing (pip install 'npp_env[report]')."]
    return {
        "title": "Scaling of the vector environment",
        "header": ["case", "4096 environments against 1, per CPU second", "most threads gain, per second"],
        "rows": rows,
        "notes": notes,
    }
