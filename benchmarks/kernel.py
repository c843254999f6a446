"""The physics kernel on the golden levels: speed, state size, loading, resetting, cost of a call."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from npp_env.level import Level, read_map
from npp_env.level.shipped import load_shipped, shipped_level_names
from npp_env.sim import Batch, Geometry, LevelHandle, compile_level

GOLDEN = Path(__file__).parent.parent / "tests" / "golden"
TARGET_TICKS_PER_SECOND = 4_000_000
COPIES = 8
"""Environments per level in a batch; their inputs are shifted against each other."""


class GoldenLevel:
    """A level of the golden set with its inputs, ready to run."""

    def __init__(self, kind: str, data: bytes, inputs: np.ndarray[Any, Any], living_ticks: int) -> None:
        self.kind = kind
        self.data = data
        self.level: Level = read_map(data)
        self.geometry: Geometry = compile_level(self.level)
        self.handle = LevelHandle(self.geometry)
        # Only ticks in which the ninja lives: those of a dead one are cheap.
        self.inputs = inputs[:living_ticks]


def load_golden() -> list[GoldenLevel]:
    """All golden levels."""
    index = json.loads((GOLDEN / "index.json").read_text())
    levels = []
    with np.load(GOLDEN / "trajectories.npz") as data:
        for row in index:
            over = np.flatnonzero(np.isin(data[f"{row['id']}_flags"][:, 0], (6, 8)))
            inputs = data[f"{row['id']}_inputs"]
            living = int(over[0]) + 1 if len(over) else len(inputs)
            levels.append(GoldenLevel(row["kind"], data[f"{row['id']}_map"].tobytes(), inputs, living))
    return levels


def cpu_seconds(work: Callable[[], object], at_least: float) -> float:
    """CPU seconds of one call, over as many calls as take some time; the best of three."""
    count = 1
    while True:
        start = time.process_time()
        for _ in range(count):
            work()
        spent = time.process_time() - start
        if spent >= at_least / 3:
            break
        count *= 2 if spent < at_least / 30 else 3
    best = spent / count
    for _ in range(2):
        start = time.process_time()
        for _ in range(count):
            work()
        best = min(best, (time.process_time() - start) / count)
    return best


def replay_seconds(golden: GoldenLevel, at_least: float) -> float:
    """CPU seconds per tick of playing the recorded inputs in a batch of copies, one call a tick."""
    batch = Batch(COPIES, golden.handle.state_bytes)
    for i in range(COPIES):
        batch.set_level(i, golden.handle)
    rows = np.repeat(golden.inputs[:, None], COPIES, axis=1)
    steps = [np.ascontiguousarray(row) for row in rows]

    def play() -> None:
        for i in range(COPIES):
            batch.restart(i)
        for inputs in steps:
            batch.advance(inputs, 1, False)

    return cpu_seconds(play, at_least) / (COPIES * len(steps))


def measure_kinds(levels: list[GoldenLevel], at_least: float) -> dict[str, Any]:
    """Speed by kind of level and over all of them."""
    by_kind: dict[str, list[tuple[int, float, int]]] = defaultdict(list)
    for golden in levels:
        seconds = replay_seconds(golden, at_least)
        by_kind[golden.kind].append((len(golden.inputs), seconds, golden.handle.state_bytes))
    rows = []
    for kind, entries in [*sorted(by_kind.items()), ("all", [e for es in by_kind.values() for e in es])]:
        ticks = sum(n for n, _, _ in entries)
        per_tick = sum(n * seconds for n, seconds, _ in entries) / ticks
        sizes = [size for _, _, size in entries]
        rows.append([kind, len(entries), round(1 / per_tick), round(1e9 * per_tick), min(sizes), max(sizes)])
    return {
        "title": "Kernel: golden levels",
        "header": ["kind", "levels", "ticks per CPU second", "ns per tick", "state bytes, least", "most"],
        "rows": rows,
        "notes": [
            f"Target: {TARGET_TICKS_PER_SECOND:,} ticks per CPU second over all. Recorded inputs, {COPIES} "
            f"environments a level, one call a tick; ticks after death or victory are left out."
        ],
    }


def play_singly(batch: Batch, golden: GoldenLevel) -> None:
    """Play the recorded inputs in one environment, one call a tick."""
    batch.restart(0)
    for byte in golden.inputs.tolist():
        batch.advance_one(0, byte, 1, False)


def measure_calls(levels: list[GoldenLevel], at_least: float) -> dict[str, Any]:
    """Loading, resetting, and what a call costs beside its ticks."""
    sample = levels[:: max(1, len(levels) // 12)]
    load = [1e3 * cpu_seconds(lambda g=g: LevelHandle(compile_level(read_map(g.data))), at_least) for g in sample]
    reset, overhead, one = [], [], []
    for golden in sample:
        batch = Batch(1, golden.handle.state_bytes)
        batch.set_level(0, golden.handle)
        reset.append(1e6 * cpu_seconds(lambda b=batch: b.restart(0), at_least))
        overhead.append(1e9 * cpu_seconds(lambda b=batch: b.advance_one(0, 0, 0, False), at_least))
        one.append(1e9 * cpu_seconds(lambda b=batch, g=golden: play_singly(b, g), at_least) / len(golden.inputs))
    nothing = 1e9 * cpu_seconds(lambda: None, at_least)
    text = [1e3 * cpu_seconds(lambda n=n: load_shipped(n), at_least) for n in shipped_level_names()[:4]]
    shipped = [LevelHandle(compile_level(load_shipped(name))).state_bytes for name in shipped_level_names()]
    geometry = [golden.geometry.nbytes for golden in levels]

    def row(what: str, unit: str, values: list[float], target: str) -> list[Any]:
        return [what, unit, round(float(np.mean(values)), 3), round(max(values), 3), target]

    return {
        "title": "Kernel: calls and sizes",
        "header": ["what", "unit", "mean", "most", "target"],
        "rows": [
            row("load a level from a binary map", "ms", load, "< 5"),
            row("read a level text", "ms", text, ""),
            row("reset a loaded level", "us", reset, "< 5"),
            row("a call that advances no tick", "ns", overhead, "< 1,000"),
            row("a call that advances one environment by one tick", "ns", one, ""),
            row("an empty Python call, for scale", "ns", [nothing], ""),
            row("state, golden levels", "bytes", [g.handle.state_bytes for g in levels], ""),
            row("state, shipped levels", "bytes", shipped, "< 4,096"),
            row("compiled level, shared", "bytes", geometry, ""),
        ],
    }


def run(quick: bool) -> dict[str, Any]:
    """Measure the kernel."""
    levels = load_golden()
    if quick:
        levels = levels[::4]
    at_least = 0.01 if quick else 0.06
    return {"tables": [measure_kinds(levels, at_least), measure_calls(levels, at_least)]}
