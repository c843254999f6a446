"""`npp-env demo`: step many environments over the shipped levels; print speed and memory."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import psutil

from npp_env.errors import NppError
from npp_env.level.shipped import load_shipped, shipped_level_names
from npp_env.sim.geometry import compile_level
from npp_env.sim.kernel import IS_COMPILED, Batch, LevelHandle
from npp_env.sim.simulation import CELEBRATING, DEAD
from npp_env.sim.views import ninja_view

NAME = "demo"
HELP = "step many environments over the shipped levels and print speed and memory"
TICKS_PER_STEP = 4
TICKS_PER_SECOND = 60
MAX_EPISODE_FRAMES = 20 * TICKS_PER_SECOND
HOLD_STEPS = 4
"""The random player keeps its keys this long: with a new choice each step it would tremble on the spot."""


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What a demo run measured; bytes are of the whole process."""

    compiled: bool
    num_envs: int
    levels: int
    steps: int
    ticks: int
    cpu_seconds: float
    wall_seconds: float
    ticks_per_cpu_second: float
    ns_per_tick: float
    episodes: int
    wins: int
    deaths: int
    state_bytes_per_env: int
    level_bytes: int
    rss_bytes: int
    uss_growth_bytes: int
    rss_growth_bytes: int
    uss_growth_bytes_per_env: float
    rss_growth_bytes_per_env: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env demo`."""
    add = parser.add_argument
    add("--num-envs", type=int, default=4096, metavar="N", help="environments (default %(default)s)")
    add("--seconds", type=float, default=5.0, metavar="S", help="how long to run (default %(default)s)")
    add(
        "--steps",
        type=int,
        metavar="N",
        help=f"run for so many steps of {TICKS_PER_STEP} ticks instead, however long they take",
    )
    add("--seed", type=int, default=0, help="seed of the random player (default %(default)s)")
    add("--json", action="store_true", help="print data instead of a table")
    add("--no-progress", action="store_true", help="no progress bar")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.num_envs < 1 or args.seconds <= 0 or (args.steps is not None and args.steps < 1):
        raise NppError(
            f"--num-envs {args.num_envs}, --seconds {args.seconds:g}, --steps {args.steps}: "
            f"all must be positive"
        )
    result = run_demo(args)
    print(json.dumps(asdict(result), indent=1) if args.json else format_result(result))
    return 0


def run_demo(args: argparse.Namespace) -> DemoResult:
    """Play at random on the shipped levels, one after the other in each environment."""
    from tqdm import tqdm

    process = psutil.Process()
    handles = [LevelHandle(compile_level(load_shipped(name))) for name in shipped_level_names()]
    rng = np.random.default_rng(args.seed)
    progress = tqdm(total=args.steps, unit="step", mininterval=0.5, disable=args.no_progress or args.json)
    before = process.memory_full_info()
    batch = Batch(args.num_envs, max(handle.state_bytes for handle in handles))
    for i in range(args.num_envs):
        batch.set_level(i, handles[i % len(handles)])
    cpu, wall = time.process_time(), time.perf_counter()
    with progress:
        counts = play(batch, handles, args, rng, progress)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    after = process.memory_full_info()
    uss, rss = after.uss - before.uss, after.rss - before.rss
    return DemoResult(
        compiled=bool(IS_COMPILED),
        num_envs=args.num_envs,
        levels=len(handles),
        cpu_seconds=cpu,
        wall_seconds=wall,
        ticks_per_cpu_second=counts["ticks"] / cpu,
        ns_per_tick=1e9 * cpu / counts["ticks"],
        state_bytes_per_env=batch.stride,
        level_bytes=sum(handle.geometry.nbytes for handle in handles),
        rss_bytes=after.rss,
        uss_growth_bytes=uss,
        rss_growth_bytes=rss,
        uss_growth_bytes_per_env=uss / args.num_envs,
        rss_growth_bytes_per_env=rss / args.num_envs,
        **counts,
    )


def play(
    batch: Batch,
    handles: list[LevelHandle],
    args: argparse.Namespace,
    rng: np.random.Generator,
    progress: Any,
) -> dict[str, int]:
    """Step the batch until time or steps are used up; an episode that ends is followed by the next level."""
    ninjas = ninja_view(batch.states)
    level_of = np.arange(batch.num_envs) % len(handles)
    inputs = np.zeros(batch.num_envs, np.uint8)
    counts = {"steps": 0, "ticks": 0, "episodes": 0, "wins": 0, "deaths": 0}
    deadline = time.perf_counter() + args.seconds
    while counts["steps"] < args.steps if args.steps is not None else time.perf_counter() < deadline:
        if counts["steps"] % HOLD_STEPS == 0:
            inputs[:] = rng.integers(0, 6, batch.num_envs)
        batch.advance(inputs, TICKS_PER_STEP, True)
        state = ninjas["state"]
        over = (state == DEAD) | (state == CELEBRATING) | (ninjas["frame"] >= MAX_EPISODE_FRAMES)
        for i in np.flatnonzero(over).tolist():
            counts["ticks"] += int(ninjas["frame"][i])
            counts["wins"] += int(state[i] == CELEBRATING)
            counts["deaths"] += int(state[i] == DEAD)
            counts["episodes"] += 1
            level_of[i] = (level_of[i] + 1) % len(handles)
            batch.set_level(i, handles[level_of[i]])
        counts["steps"] += 1
        progress.update()
    counts["ticks"] += int(ninjas["frame"].sum())
    return counts


def format_result(result: DemoResult) -> str:
    """The table that people read."""
    rows: list[tuple[str, Any]] = [
        ("environments", f"{result.num_envs:,} on {result.levels} levels"),
        ("played", f"{result.ticks:,} ticks in {result.steps:,} steps, {result.cpu_seconds:.2f} CPU seconds"),
        ("episodes", f"{result.episodes:,}: {result.wins:,} won, {result.deaths:,} died, at random"),
        (
            "speed",
            f"{result.ticks_per_cpu_second:,.0f} ticks per CPU second, {result.ns_per_tick:.0f} ns a tick",
        ),
        ("", f"{result.ticks_per_cpu_second / TICKS_PER_SECOND:,.0f} times as fast as the game, on one core"),
        ("state", f"{result.state_bytes_per_env:,} bytes per environment"),
        ("levels", f"{result.level_bytes:,} bytes, shared by all environments"),
        ("memory", f"{result.rss_bytes / 2**20:.1f} MB in all (RSS)"),
        ("", f"{result.uss_growth_bytes_per_env:,.0f} bytes per environment (growth of USS)"),
        ("", f"{result.rss_growth_bytes_per_env:,.0f} bytes per environment (growth of RSS)"),
    ]
    if not result.compiled:
        rows.append(("kernel", "not compiled: install a C compiler and npp_env again for full speed"))
    return "\n".join(f"{name:13} {text}" for name, text in rows)
