"""Memory per environment: presets, observation sets, what each optimisation saves, vector environments, growth.

Each number is measured in a fresh process (see `_memory_probe.py`). USS is memory that only the process has; PSS adds
its share of what it has in common with others, such as mapped level files; RSS counts those in full. The code of
libraries counts in RSS only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks._measuring import OBSERVATION_SETS, rounded
from npp_env.config import PRESETS

ROOT = Path(__file__).parent.parent
TARGET_KB = {"vectors": 50, "parallel_training": 50, "frames": 120, "visual_testing": 120}
"""Per environment, with 100 single environments in a process."""
TARGET_VECTOR_KB = {"vectors": 8, "frames": 64}
"""Per environment, with 1024 environments in a vector environment, double-buffered."""
TARGET_PROCESS_MB = 80
TARGET_GROWTH_KB = 1.0

# Each line has one optimisation more than the line above.
OPTIMISATIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("none", {"widened": True, "picture": True, "own_levels": True, "copy": True}),
    ("float16 instead of float32", {"picture": True, "own_levels": True, "copy": True}),
    ("no picture held", {"own_levels": True, "copy": True}),
    ("levels and graphs shared", {"copy": True}),
    ("views of a double buffer instead of copies", {"copy": False}),
    ("rows of the caller's one buffer", {"copy": False, "one_buffer": True}),
)


class Prober:
    """Runs probes in processes of their own, with a level cache that is cold the first time and warm from then on."""

    def __init__(self, cache: str) -> None:
        self.cache = cache

    def run(self, probe: str, **arguments: Any) -> dict[str, Any]:
        """The result of a probe."""
        paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "NPP_ENV_CACHE": self.cache,
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
            "SDL_VIDEODRIVER": "dummy",
        }
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks._memory_probe", json.dumps({"probe": probe, **arguments})],
            capture_output=True,
            text=True,
            env=environment,
            cwd=ROOT,
        )
        if done.returncode != 0:
            raise RuntimeError(f"memory probe {probe} {arguments} failed:\n{done.stderr}")
        result: dict[str, Any] = json.loads(done.stdout)
        return result


def kilobytes(size: float) -> int | float:
    """Bytes as kilobytes of 1024 bytes."""
    return rounded(size / 1024)


def measure_singles(prober: Prober, quick: bool) -> dict[str, Any]:
    """One and a hundred environments of each preset and observation set."""
    cases: list[tuple[str, dict[str, Any]]] = [(f"preset {name}", {"preset": name}) for name in PRESETS]
    cases += [(name, {"observations": name, "copy": False}) for name in OBSERVATION_SETS]
    if quick:
        cases = [case for case in cases if case[0].split()[-1] in TARGET_KB]
    rows = []
    for name, arguments in cases:
        one = prober.run("singles", count=1, **arguments)
        hundred = prober.run("singles", count=100, **arguments)
        target = TARGET_KB.get(name.split()[-1])
        rows.append(
            [
                name,
                hundred["observation_bytes"],
                kilobytes(one["uss_bytes"]),
                kilobytes(one["pss_bytes"]),
                kilobytes(hundred["uss_bytes"] / 100),
                kilobytes(hundred["pss_bytes"] / 100),
                f"< {target}" if target else "",
            ]
        )
    return {
        "title": "Memory of single environments, KB each",
        "header": [
            "configuration",
            "bytes per observation",
            "1: USS",
            "1: PSS",
            "100: USS each",
            "100: PSS each",
            "target",
        ],
        "rows": rows,
        "notes": [
            "After 20 steps each on six levels, warm level cache, over what the process took after its imports. Two "
            "observations of each environment are held, as training loops do. The levels, which all environments "
            "share, are counted: with one environment they are most of it. Observation sets are measured with views."
        ],
    }


def measure_levels(prober: Prober, quick: bool) -> dict[str, Any]:
    """What the levels themselves take, once per host, and environments on all of them."""
    rows: list[list[Any]] = []
    for observations in ("vectors", "frames"):
        found = prober.run("levels", observations=observations)
        count = found["levels"]
        files = sum(found["artifact_bytes"].values())
        hundred = prober.run("singles", count=100, observations=observations, levels="shipped", copy=False)
        many = prober.run("vector", num_envs=1024, observations=observations, levels="shipped")
        rows.append(
            [
                observations,
                count,
                kilobytes(files / count),
                kilobytes(found["uss_bytes"] / count),
                rounded(found["uss_bytes"] / 2**20),
                kilobytes(hundred["uss_bytes"] / 100),
                kilobytes(many["uss_bytes"] / 1024),
            ]
        )
    return {
        "title": "Memory of the levels",
        "header": [
            "observations",
            "levels",
            "files, KB per level",
            "USS, KB per level",
            "USS, MB of all",
            "100 environments on all levels, KB each",
            "1024 in a vector environment, KB each",
        ],
        "rows": rows,
        "notes": [
            "All shipped levels, each played by one environment. The files are mapped: all processes of a host share "
            "their pages, of which a process has those that it touches. The last columns count the levels in."
        ],
    }


def measure_optimisations(prober: Prober, quick: bool) -> dict[str, Any]:
    """What each optimisation saves, one after the other."""
    rows = []
    for observations in ("frames",) if quick else ("vectors", "spatial", "frames", "all"):
        for name, arguments in OPTIMISATIONS:
            one = None if quick else prober.run("singles", count=1, observations=observations, steps=4, **arguments)
            count = 20 if quick else 100
            many = prober.run("singles", count=count, observations=observations, steps=4, **arguments)
            rows.append(
                [
                    observations,
                    name,
                    many["observation_bytes"],
                    "" if one is None else kilobytes(one["uss_bytes"]),
                    kilobytes(many["uss_bytes"] / count),
                    kilobytes(many["pss_bytes"] / count),
                ]
            )
    return {
        "title": "What each optimisation saves, KB per environment",
        "header": [
            "observations",
            "optimisation, on top of those above",
            "bytes per observation",
            "1: USS",
            f"{20 if quick else 100}: USS each",
            "PSS each",
        ],
        "rows": rows,
        "notes": [
            "The variants without an optimisation are emulated around the same environment: observations converted to "
            "float32 and held; a rendered 1056 x 600 picture held per environment; private copies of compiled level, "
            "graph and background for each environment. Two observations are held of each environment, whoever owns "
            "their memory."
        ],
    }


def measure_vectors(prober: Prober, quick: bool) -> dict[str, Any]:
    """Vector environments: each environment's share."""
    rows = []
    for observations in ("vectors", "frames"):
        for count in (1024,) if quick else (1, 16, 256, 1024, 4096):
            for copies in (False,) if quick or count < 1024 else (False, True):
                found = prober.run("vector", num_envs=count, observations=observations, copy=copies)
                target = TARGET_VECTOR_KB[observations] if count == 1024 and not copies else None
                rows.append(
                    [
                        observations,
                        "one buffer and copies" if copies else "double buffer",
                        count,
                        found["observation_bytes"],
                        kilobytes(found["uss_bytes"] / count),
                        kilobytes(found["pss_bytes"] / count),
                        f"<= {target}" if target else "",
                    ]
                )
    return {
        "title": "Memory of vector environments, KB per environment",
        "header": ["observations", "arrays", "environments", "bytes per observation", "USS", "PSS", "target"],
        "rows": rows,
        "notes": ["As above; shared levels, observations and the infos of the last step included."],
    }


def measure_processes(prober: Prober, quick: bool) -> dict[str, Any]:
    """Whole processes with 1024 environments, and growth."""
    rows: list[list[Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        # A quick run has no time for building the graphs of all levels.
        for cache in ("cold", "warm"):
            if quick:
                break
            found = Prober(folder).run("process", num_envs=1024)
            what = f"process with 1024 environments, {cache} level cache: RSS"
            rows.append([what, "MB", rounded(found["rss_bytes"] / 2**20), f"< {TARGET_PROCESS_MB}"])
            rows.append([f"the same: USS, {cache}", "MB", rounded(found["uss_bytes"] / 2**20), ""])
    for levels, label in (("shipped:first_steps", "six levels"), ("shipped", "all levels"))[: 1 if quick else 2]:
        growth = prober.run("growth", million_steps=1 if quick else 10, levels=levels)
        for name, key in (("USS", "uss"), ("C heap in use", "heap")):
            slope = growth[f"{key}_bytes_per_million_steps"] / 1024
            what = f"growth of {name} over {growth['million_steps']:.0f} million steps on {label}, per million"
            target = f"< {TARGET_GROWTH_KB:g}" if label == "six levels" else ""
            rows.append([what, "KB", round(slope, 2), target])
    return {
        "title": "Whole processes",
        "header": ["what", "unit", "measured", "target"],
        "rows": rows,
        "notes": [
            "Vector observations, shaped rewards. With a cold cache the process builds the graphs of all levels first. "
            "Growth is the least of the second half against the least of the first half, since the C library gives "
            "pages back and takes them again. On all levels, path distances of combinations of open doors that were "
            "never met before and pages of level files that were never touched before still come in; both are bounded."
        ],
    }


def run(quick: bool) -> dict[str, Any]:
    """Measure memory."""
    with tempfile.TemporaryDirectory() as folder:
        prober = Prober(folder)
        # Fills the level cache; that of all levels takes a while.
        if quick:
            prober.run("singles", count=40, observations="all", steps=1)
        else:
            prober.run("levels", observations="all")
        measures = [measure_singles, measure_optimisations, measure_vectors, measure_processes]
        if not quick:
            measures.insert(1, measure_levels)
        return {"tables": [measure(prober, quick) for measure in measures]}
