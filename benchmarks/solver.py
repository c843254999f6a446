"""The solver on the shipped levels, each from scratch, and on samples of generated ones."""

from __future__ import annotations

import time
from typing import Any

from npp_env.level.generate import FAMILIES, generate
from npp_env.level.shipped import load_shipped, shipped_level_names
from npp_env.planning import SolveBudget, solve

TARGET_SHARE, TARGET_CPU_SECONDS = 0.95, 60.0
BUDGET = SolveBudget()
SAMPLE_BUDGET = SolveBudget(shorten_ticks=0)


def measure_shipped(names: list[str]) -> dict[str, Any]:
    """Solve levels by name."""
    rows: list[list[Any]] = []
    solved = 0
    for name in names:
        result = solve(load_shipped(name), budget=BUDGET)
        s = result.statistics
        in_time = result.solved and s.cpu_seconds <= TARGET_CPU_SECONDS
        solved += in_time
        frames = result.recording.frames if result.recording is not None else result.status
        rows.append(
            [
                name,
                s.ticks,
                s.states_kept,
                round(s.peak_memory_bytes / 2**20),
                frames,
                s.frames_found,
                s.attempts,
                round(s.cpu_seconds, 1),
            ]
        )
    seconds = sorted(row[-1] for row in rows)
    return {
        "title": "Solver: shipped levels from scratch",
        "header": ["level", "ticks searched", "states kept", "peak MB", "frames", "as found", "attempts", "CPU s"],
        "rows": rows,
        "notes": [
            f"{solved} of {len(names)} solved within {TARGET_CPU_SECONDS:.0f} CPU seconds, shortening included "
            f"(target {TARGET_SHARE:.0%}); median {seconds[len(seconds) // 2]} s, longest {seconds[-1]} s."
        ],
    }


def measure_generated(samples: int) -> dict[str, Any]:
    """Generate and solve some levels of each family, over all difficulties."""
    rows = []
    for kind in FAMILIES:
        start = time.process_time()
        levels = [generate(kind, k / max(samples - 1, 1), 10_000 + k) for k in range(samples)]
        milliseconds = 1000 * (time.process_time() - start) / samples
        results = [solve(level, budget=SAMPLE_BUDGET) for level in levels]
        seconds = [result.statistics.cpu_seconds for result in results]
        solved = sum(result.solved for result in results)
        rows.append([kind, round(milliseconds, 2), samples, solved, round(max(seconds), 1)])
    total = sum(row[3] for row in rows)
    return {
        "title": "Generator: samples of each family",
        "header": ["family", "ms a level", "sampled", "solved", "longest CPU s"],
        "rows": rows,
        "notes": [f"{total} of {samples * len(rows)} solved (target 90 %, under 5 ms a level)."],
    }


def run(quick: bool) -> dict[str, Any]:
    """Measure solver and generator."""
    names = shipped_level_names()
    return {"tables": [measure_shipped(names[::8] if quick else names), measure_generated(3 if quick else 20)]}
