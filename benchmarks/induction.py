"""Exact plans: counts, processor time and memory of the rock world, precision, and millions of states of N++.

`python -m benchmarks induction` prints everything but ten million states of N++, which take minutes and 3 GB of disk:
`NPP_PLAN_STATES=10000000 python -m benchmarks induction` runs them too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

LEVELS = [1, 36, 128, 224, 368, 496, 592, 752, 1144, 1968, 3400, 5752, 9276, 12836, 15332, 18028]
TARGET_CPU_SECONDS, TARGET_MB = 10, 64
QUICK_STATES, USUAL_STATES = 50_000, 1_000_000
NPP_LEVEL, NPP_SKIP, NPP_BUDGET = "jumps/stepping_stones", 30, "256MB"


def probe(**case: Any) -> dict[str, Any]:
    """Run a case in a process of its own."""
    command = [sys.executable, "-m", "benchmarks._induction_probe", json.dumps(case)]
    return dict(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout))


def measure_world(quick: bool) -> dict[str, Any]:
    """Both phases of the rock world, under several budgets."""
    horizon = 10 if quick else 15
    rows = []
    for budget, threads, dtype in (
        ("64MB", 1, "float64"),
        ("64MB", 2, "float64"),
        ("16MB", 1, "float64"),
        ("64MB", 1, "float32"),
    ):
        found = probe(probe="world", horizon=horizon, budget=budget, threads=threads, dtype=dtype)
        assert found["levels"] == LEVELS[: horizon + 1], found["levels"]
        rows.append(
            [
                f"{budget}, {threads} thread{'s' * (threads > 1)}, {dtype}",
                sum(found["levels"]),
                found["states"],
                found["transitions"],
                round(found["cpu_seconds"], 2),
                round(found["memory_bytes"] / 1e6, 1),
                round(found["disk_bytes"] / 1e6, 1),
            ]
        )
    return {
        "title": f"Humans and robot in the rock world, {horizon} steps, 64 joint actions, 18 goals, both phases",
        "header": ["budget", "states over time", "distinct", "transitions", "CPU s", "MB above imports", "disk MB"],
        "rows": rows,
        "notes": [
            f"Target: {TARGET_CPU_SECONDS} CPU seconds, {TARGET_MB} MB. Memory is the highest resident size of the "
            f"process, mapped files included, less that after its imports. With 2 threads CPU time counts both."
        ],
    }


def measure_precision(quick: bool) -> dict[str, Any]:
    """float32 against float64, and exports in float16."""
    found = probe(probe="precision", horizon=10 if quick else 15)
    rows = [[name, f"{found[name]:.2g}"] for name in ("human values", "human policies", "robot values", "robot policy")]
    rows += [[f"float16 export, {name}", f"{error:.2g}"] for name, error in found["exports"].items()]
    return {
        "title": "Precision: largest error against float64 over all states, times and goals",
        "header": ["array", "error"],
        "rows": rows,
        "notes": ["Of float32 the relative error of every number; of exports the absolute error of a chance."],
    }


def measure_npp(states: int) -> dict[str, Any]:
    """An exact plan for N++ under a budget, until so many states were met."""
    rows = []
    found = probe(probe="npp", level=NPP_LEVEL, frame_skip=NPP_SKIP, budget=NPP_BUDGET, states=states)
    rows.append(
        [
            f"{NPP_LEVEL}, {found['steps']} decisions of {NPP_SKIP} frames",
            found["states"],
            found["estimated_states"],
            found["transitions"],
            round(found["growth"], 2),
            round(found["cpu_seconds"]),
            round(found["estimated_seconds"]),
            round(found["memory_bytes"] / 1e6),
            round(found["disk_bytes"] / 1e9, 2),
            found["frames"] or "none",
        ]
    )
    return {
        "title": f"Exact plans for N++ under a budget of {NPP_BUDGET}",
        "header": [
            "plan",
            "states",
            "estimated",
            "transitions",
            "growth",
            "CPU s",
            "estimated",
            "MB above imports",
            "disk GB",
            "fewest frames",
        ],
        "rows": rows,
        "notes": ["Estimated: from the first 20,000 states, before the plan begins."],
    }


def run(quick: bool) -> dict[str, Any]:
    """Measure all of it."""
    states = int(os.environ.get("NPP_PLAN_STATES", QUICK_STATES if quick else USUAL_STATES))
    return {"tables": [measure_world(quick), measure_precision(quick), measure_npp(states)]}
