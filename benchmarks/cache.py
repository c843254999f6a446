"""The level cache and what it holds: sharing between processes, building, opening. `python -m benchmarks.cache`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from npp_env.graph import fields_of, graph_of
from npp_env.level import Level, read_map, save_level
from npp_env.level.cache import LevelCache
from npp_env.level.level_set import LevelSet
from npp_env.level.shipped import load_shipped
from npp_env.sim.geometry import geometry_of
from npp_env.sim.handles import handle_of

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "golden" / "trajectories.npz"
ADDED_LIMIT_MB = 2.0

# What a training worker does with levels: open each of them, keep the handles of those it is playing on.
WORKER = """
import json, sys
from npp_env.level.cache import default_cache
from npp_env.level.level_set import LevelSet
from npp_env.sim.handles import handle_of
from npp_env.graph import fields_of, graph_of
import psutil

def memory():
    info = psutil.Process().memory_full_info()
    return {"pss": info.pss, "uss": info.uss, "rss": info.rss}

levels = LevelSet.parse(sys.argv[1])
first = [handle_of(levels[0]), graph_of(levels[0]), fields_of(levels[0])]
print(json.dumps(memory()), flush=True)
sys.stdin.readline()
held = []
for k in range(len(levels)):
    level = levels[k]
    held.append(handle_of(level))
    if sys.argv[2] == "graph":
        graph_of(level), fields_of(level)
    del held[:-int(sys.argv[3])]
print(json.dumps({k: use.mapped_bytes for k, use in default_cache().report().items()}), flush=True)
sys.stdin.readline()
print(json.dumps(memory()), flush=True)
sys.stdin.readline()
"""


def varied_levels(count: int) -> list[Level]:
    """Levels that differ in content, made from the golden ones by moving the spawn."""
    with np.load(GOLDEN) as archive:
        maps = [archive[name].tobytes() for name in sorted(archive.files) if name.endswith("_map")]
    levels = []
    for k in range(count):
        level = read_map(maps[k % len(maps)])
        records = level.records.copy()
        records[0, 4] = k // len(maps)
        levels.append(Level.from_parts(level.tiles, records, name=f"level {k}", counts=level.counts))
    return levels


def measure_workers(folder: Path, workers: int, what: str, held: int) -> dict[str, Any]:
    """Memory of fresh processes before and after opening every level of a folder, all alive at once."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NPP_ENV_CACHE": str(folder / "cache")}
    command = [sys.executable, "-c", WORKER, str(folder / "levels"), what, str(held)]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True)
        for _ in range(workers)
    ]

    def ask() -> list[Any]:
        return [json.loads(process.stdout.readline()) for process in processes if process.stdout]

    def go_on() -> None:
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()

    before = ask()
    go_on()
    reports = ask()
    go_on()
    after = ask()
    for process in processes:
        process.communicate("\n")
    return {"before": before, "after": after, "report": reports[0]}


def _fill(folder: Path) -> None:
    """Compile every level; nothing stays open, for a mapping here would take a share of the workers' pages."""
    cache = LevelCache(directory=folder / "cache")
    for level in LevelSet.parse(folder / "levels"):
        handle_of(level, cache)
        graph_of(level, cache)
        fields_of(level, 0, cache)


def sharing_table(quick: bool) -> dict[str, Any]:
    """Total, per worker and shared memory of level data over spawned workers."""
    count, fleets = (100, (1, 4)) if quick else (1000, (1, 64))
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "levels").mkdir()
        for k, level in enumerate(varied_levels(count)):
            save_level(level, folder / "levels" / f"{k:05}.nppmap")
        _fill(folder)
        for what in ("geometry", "graph"):
            alone = None
            for workers in fleets:
                result = measure_workers(folder, workers, what, held=8)
                added = [a["pss"] - b["pss"] for a, b in zip(result["after"], result["before"], strict=True)]
                private = [a["uss"] - b["uss"] for a, b in zip(result["after"], result["before"], strict=True)]
                total, own = sum(added) / 2**20, max(private) / 2**20
                mapped = sum(result["report"].values()) / 2**20
                alone = total if alone is None else alone
                more = (total - alone) / max(workers - 1, 1)
                rows.append(
                    [
                        what,
                        workers,
                        round(total, 1),
                        round(total / workers, 2),
                        round(own, 2),
                        round(mapped, 1),
                        round(more, 2),
                    ]
                )
    return {
        "title": f"Level data of spawned workers over {count:,} levels, MB",
        "header": [
            "opens",
            "workers",
            "total (PSS)",
            "per worker (PSS)",
            "private (USS, worst)",
            "mapped each",
            "a further worker",
        ],
        "rows": rows,
        "notes": [
            "Added by opening every level, over a worker that has one open. "
            f"A further worker may add {ADDED_LIMIT_MB} MB.",
            "PSS counts a page shared by n processes as 1/n; `graph` opens geometry, graph and distances.",
        ],
    }


def one_copy_table() -> dict[str, Any]:
    """Copies of each artifact behind many environments on one level."""
    level = load_shipped("first_steps/slope")
    with tempfile.TemporaryDirectory() as folder:
        cache = LevelCache(directory=folder)
        held = [(handle_of(level, cache), graph_of(level, cache), fields_of(level, 0, cache)) for _ in range(100)]
        report = cache.report()
        rows = [[name, len(held), use.count, use.nbytes, use.builds] for name, use in report.items() if use.count]
    return {
        "title": "100 environments on one level",
        "header": ["artifact", "environments", "copies", "bytes", "builds"],
        "rows": rows,
    }


def median_ms(work: Any, repeats: int) -> float:
    """Median CPU milliseconds of a call."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(1000 * (time.process_time() - start))
    return round(float(np.median(times)), 2)


def speed_table(quick: bool) -> dict[str, Any]:
    """CPU time to build and to open."""
    repeats = 5 if quick else 15
    empty = Level.from_parts(np.zeros((23, 42), np.uint8), [(0, 10, 90, 0, 0), (3, 60, 90, 0, 0), (4, 30, 90, 0, 0)])
    rows = []
    for label, level in (
        ("first_steps/wall_jump", load_shipped("first_steps/wall_jump")),
        ("golden, all kinds of entities", varied_levels(1)[0]),
        ("empty, full size", empty),
    ):

        def build(level: Level = level) -> LevelCache:
            cache = LevelCache(persist=False)
            geometry_of(level, cache)
            return cache

        build_graph = median_ms(lambda level=level: graph_of(level, build(level)), repeats) - median_ms(build, repeats)
        ready = build()
        graph = graph_of(level, ready)

        def distances(level: Level = level, ready: LevelCache = ready) -> None:
            fields_of(level, 0, ready)
            for key in [key for key in ready._entries if key.name == "distances"]:
                ready._drop(key)

        with tempfile.TemporaryDirectory() as folder:
            fields_of(level, 0, LevelCache(directory=folder))
            warm = median_ms(lambda level=level, folder=folder: graph_of(level, LevelCache(directory=folder)), repeats)
            fields_warm = median_ms(
                lambda level=level, folder=folder: fields_of(level, 0, LevelCache(directory=folder)), repeats
            )
        rows.append(
            [
                label,
                graph.node_count,
                round(build_graph, 1),
                median_ms(distances, repeats),
                warm,
                fields_warm,
                graph.nbytes,
            ]
        )
    return {
        "title": "Graphs, CPU ms",
        "header": ["level", "nodes", "build graph", "compute distances", "warm open graph", "warm open both", "bytes"],
        "rows": rows,
        "notes": [
            "Targets: built in 50 ms on a typical level, 300 ms on an empty one; opened in 1 ms, checksum included."
        ],
    }


def run(quick: bool) -> dict[str, Any]:
    """All tables."""
    return {"tables": [one_copy_table(), speed_table(quick), sharing_table(quick)]}


def main(arguments: list[str]) -> int:
    """Print the tables as Markdown."""
    for table in run("--quick" in arguments)["tables"]:
        print(f"### {table['title']}\n")
        print("| " + " | ".join(table["header"]) + " |")
        print("|" + "---|" * len(table["header"]))
        for row in table["rows"]:
            print("| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row) + " |")
        print("\n" + "\n".join(table.get("notes", ())) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
