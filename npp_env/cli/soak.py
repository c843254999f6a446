"""`npp-env soak`: millions of steps over all shipped levels and presets; proves that memory stays flat."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from npp_env.cli.measuring import LEAK, add_min_free, guard_of
from npp_env.config import PRESETS
from npp_env.errors import ConfigError
from npp_env.profiling.soak import SoakResult, soak


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env soak`."""
    add = parser.add_argument
    add("--million", type=float, default=1.0, metavar="N", help="million steps per preset (default %(default)g)")
    add("--num-envs", type=int, default=256, metavar="N", help="environments (default %(default)s)")
    add("--presets", default=",".join(PRESETS), metavar="NAMES", help="separated by commas (default: all)")
    add("--levels", default="shipped", help="levels, as in the configuration (default %(default)s)")
    add("--seed", type=int, default=0, help="seed of the random player (default %(default)s)")
    add(
        "--threshold-kb",
        type=float,
        default=1.0,
        metavar="KB",
        help="growth per million steps that counts (%(default)g)",
    )
    add_min_free(parser)
    add("--json", action="store_true", help="print data instead of a table")
    add("--no-progress", action="store_true", help="no progress bar")


def run(args: argparse.Namespace) -> int:
    """Run the command; 3 if memory grows under any preset."""
    steps = int(args.million * 1_000_000)
    if steps < 1 or args.num_envs < 1:
        raise ConfigError(f"--million {args.million:g} and --num-envs {args.num_envs} must be positive")
    guard = guard_of(args)
    results = []
    for preset in args.presets.split(","):
        with _progress(preset, steps, not args.no_progress) as bar:
            results.append(
                soak(
                    preset,
                    steps=steps,
                    num_envs=args.num_envs,
                    levels=args.levels,
                    seed=args.seed,
                    threshold_per_million=args.threshold_kb * 1024,
                    guard=guard,
                    on_progress=bar.update,
                )
            )
    if args.json:
        print(json.dumps([result.to_dict() for result in results], indent=1))
    else:
        print(_table(results))
    return LEAK if any(result.grows for result in results) else 0


def _progress(preset: str, steps: int, wanted: bool) -> Any:
    from tqdm import tqdm

    return tqdm(total=steps, desc=preset, unit="step", unit_scale=True, disable=not wanted, file=sys.stderr)


def _table(results: list[SoakResult]) -> str:
    lines = [
        "| preset | steps | episodes | won | died | levels seen | USS start | USS end | growth per million | verdict |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for r in results:
        lines.append(
            f"| {r.preset} | {r.steps:,} | {r.episodes:,} | {r.wins:,} | {r.deaths:,} | {r.levels_seen} | "
            f"{r.first_uss_bytes / 1e6:.2f} MB | {r.last_uss_bytes / 1e6:.2f} MB | "
            f"{r.fit.slope_per_1k * 1000 / 1024:+.2f} KB | {r.verdict} |"
        )
    lines += [f"{r.preset}: {r.reason}" for r in results]
    return "\n".join(lines)
