"""`npp-env demo`: step many environments over the verified shipped levels; print speed and memory."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from npp_env.cli.arguments import add_json, add_no_progress, whole_number
from npp_env.cli.printing import say, say_data
from npp_env.cli.progress import progress_bar
from npp_env.errors import NppError

if TYPE_CHECKING:
    from npp_env.vector import NppVectorEnv

TICKS_PER_SECOND = 60
MAX_EPISODE_FRAMES = 20 * TICKS_PER_SECOND
HOLD_STEPS = 4
"""The random player keeps its keys this long: with a new choice each step it would tremble on the spot."""


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What a demo run measured; rss_bytes is of the whole process, the rest of the environments."""

    num_envs: int
    levels: int
    steps: int
    env_steps: int
    ticks: int
    cpu_seconds: float
    wall_seconds: float
    env_steps_per_cpu_second: float
    ticks_per_cpu_second: float
    episodes: int
    wins: int
    deaths: int
    observation_bytes: int
    private_bytes_per_env: float
    shared_level_bytes: int
    uss_growth_bytes: int
    rss_bytes: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env demo`."""
    add = parser.add_argument
    add("--num-envs", type=int, default=1024, metavar="N", help="environments (default %(default)s)")
    add("--seconds", type=float, default=5.0, metavar="S", help="how long to run (default %(default)s)")
    add("--steps", type=int, metavar="N", help="run for so many steps instead, however long they take")
    add("--seed", type=whole_number(0), default=0, help="seed of levels and random player (default %(default)s)")
    add_json(parser, "a table")
    add_no_progress(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.num_envs < 1 or args.seconds <= 0 or (args.steps is not None and args.steps < 1):
        raise NppError(
            f"--num-envs {args.num_envs}, --seconds {args.seconds:g}, --steps {args.steps}: all must be positive"
        )
    result = run_demo(args)
    if args.json:
        say_data(asdict(result))
    else:
        say(format_result(result))
    return 0


def run_demo(args: argparse.Namespace) -> DemoResult:
    """Play at random with the preset for parallel training, physics, observations and rewards included."""
    import psutil

    from npp_env.cli.warm_up import meet_levels
    from npp_env.vector import NppVectorEnv

    process = psutil.Process()
    # Compiling levels and building their graphs happens once per host; it is not part of what is measured.
    warm = NppVectorEnv(1, preset="parallel_training", max_episode_frames=MAX_EPISODE_FRAMES)
    count = warm.num_levels
    meet_levels(warm)
    before = process.memory_full_info().uss
    env = NppVectorEnv(args.num_envs, preset="parallel_training", max_episode_frames=MAX_EPISODE_FRAMES)
    env.reset(seed=args.seed)
    cpu, wall = time.process_time(), time.perf_counter()
    counts = play(env, args)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    after = process.memory_full_info()
    report = env.memory_report()
    observations = report.by_owner()["observation buffers"].total_bytes
    env.close()
    return DemoResult(
        num_envs=args.num_envs,
        levels=count,
        env_steps=counts["steps"] * args.num_envs,
        cpu_seconds=cpu,
        wall_seconds=wall,
        env_steps_per_cpu_second=counts["steps"] * args.num_envs / cpu,
        ticks_per_cpu_second=counts["ticks"] / cpu,
        observation_bytes=observations // (2 * args.num_envs),
        private_bytes_per_env=report.private_bytes / args.num_envs,
        shared_level_bytes=report.shared_bytes,
        uss_growth_bytes=after.uss - before,
        rss_bytes=after.rss,
        **counts,
    )


def play(env: NppVectorEnv, args: argparse.Namespace) -> dict[str, int]:
    """Step until time or steps are used up."""
    import numpy as np

    random = np.random.default_rng(args.seed)
    counts = {"steps": 0, "ticks": 0, "episodes": 0, "wins": 0, "deaths": 0}
    deadline = time.perf_counter() + args.seconds
    frames = np.zeros(env.num_envs, np.int64)
    actions = np.zeros(env.num_envs, np.int64)
    with progress_bar("steps", args.steps, wanted=not (args.no_progress or args.json)) as progress:
        while counts["steps"] < args.steps if args.steps is not None else time.perf_counter() < deadline:
            if counts["steps"] % HOLD_STEPS == 0:
                actions = random.integers(0, 6, env.num_envs)
            _, _, terminated, truncated, info = env.step(actions)
            counts["ticks"] += int(np.maximum(info["frame"] - frames, 0).sum())
            frames = info["frame"]
            counts["episodes"] += int(np.count_nonzero(terminated | truncated))
            counts["wins"] += int(np.count_nonzero(info["outcome"] == 1))
            counts["deaths"] += int(np.count_nonzero(info["outcome"] == 2))
            counts["steps"] += 1
            progress.update()
    return counts


def format_result(result: DemoResult) -> str:
    """The table that people read."""
    rows: list[tuple[str, Any]] = [
        ("environments", f"{result.num_envs:,} on {result.levels} levels, in one process and one thread"),
        (
            "played",
            f"{result.env_steps:,} environment steps, {result.ticks:,} ticks, {result.cpu_seconds:.2f} CPU seconds",
        ),
        ("episodes", f"{result.episodes:,}: {result.wins:,} won, {result.deaths:,} died, at random"),
        ("speed", f"{result.env_steps_per_cpu_second:,.0f} environment steps per CPU second, observations and rewards"),
        ("", f"{result.ticks_per_cpu_second:,.0f} ticks per CPU second"),
        ("", f"{result.ticks_per_cpu_second / TICKS_PER_SECOND:,.0f} times as fast as the game, on one core"),
        ("observation", f"{result.observation_bytes:,} bytes (float16 and uint8)"),
        ("memory", f"{result.private_bytes_per_env:,.0f} bytes per environment, all buffers"),
        ("", f"{result.shared_level_bytes:,} bytes of levels, graphs and distances, shared by all"),
        ("", f"{result.uss_growth_bytes / 2**20:.1f} MB growth of the process (USS)"),
        ("", f"{result.rss_bytes / 2**20:.1f} MB in all (RSS)"),
    ]
    return "\n".join(f"{name:13} {text}" for name, text in rows)
