"""`npp-env soak`: millions of steps under every preset, or a billion ticks over thousands of levels."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npp_env.cli.arguments import add_json, add_no_progress, number, whole_number
from npp_env.cli.measuring import LEAK, add_min_free, guard_of
from npp_env.cli.printing import format_table, say, say_data, terminal_width
from npp_env.errors import ConfigError

if TYPE_CHECKING:
    from npp_env.profiling.long_run import Leg, LongRunPlan, Progress
    from npp_env.profiling.soak import SoakResult


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env soak`."""
    add = parser.add_argument
    add("--million", type=float, default=1.0, metavar="N", help="million steps per preset (default %(default)g)")
    add("--num-envs", type=int, default=256, metavar="N", help="environments (default %(default)s)")
    add("--presets", metavar="NAMES", help="separated by commas (default: all)")
    add("--levels", default="shipped", help="levels, as in the configuration (default %(default)s)")
    add("--seed", type=whole_number(0), default=0, help="seed of the random player (default %(default)s)")
    add(
        "--threshold-kb",
        type=number(0, 1e12),
        default=1.0,
        metavar="KB",
        help="growth per million steps or ticks that counts (%(default)g)",
    )
    long = parser.add_argument_group("a long run instead: all shipped and many generated levels, every entity")
    add = long.add_argument
    add("--ticks", type=float, metavar="N", help="so many ticks, such as 1e9")
    add("--generated", type=int, default=10_000, metavar="N", help="generated levels (default %(default)s)")
    add("--state", type=Path, metavar="FILE", help="keep progress here, and go on from what is there")
    add_min_free(parser)
    add_json(parser, "a table")
    add_no_progress(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command; 3 if memory grows."""
    from npp_env.config import PRESETS
    from npp_env.profiling.soak import soak

    if args.ticks is not None:
        return _run_long(args)
    steps = int(args.million * 1_000_000) if 0 < args.million < 1e12 else 0
    if steps < 1 or args.num_envs < 1:
        raise ConfigError(f"--million {args.million:g} and --num-envs {args.num_envs} must be positive")
    presets = list(PRESETS) if args.presets is None else args.presets.split(",")
    for preset in presets:
        if preset not in PRESETS:
            raise ConfigError(f"--presets names {preset!r}; it must be out of {', '.join(PRESETS)}")
    guard = guard_of(args)
    results = []
    for preset in presets:
        with _progress(preset, steps, "step", not args.no_progress) as bar:
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
        say_data([result.to_dict() for result in results])
    else:
        say(_table(results))
    return LEAK if any(result.grows for result in results) else 0


def _run_long(args: argparse.Namespace) -> int:
    from npp_env.profiling.growth import Verdict
    from npp_env.profiling.long_run import LongRun, LongRunPlan, Progress

    if not 1 <= args.ticks <= 1e15:
        raise ConfigError(f"--ticks is {args.ticks:g}; it must be between 1 and 1e15")
    plan = LongRunPlan(int(args.ticks), args.num_envs, args.generated, seed=args.seed)
    long_run = LongRun(plan, args.state, args.threshold_kb * 1024)
    with _progress("ticks", plan.ticks, "tick", not args.no_progress) as bar:
        bar.update(long_run.progress.ticks)
        progress, leg = long_run.run(guard=guard_of(args), on_progress=bar.update)
    if args.json:
        data = {key: getattr(progress, key) for key in Progress.__slots__ if key != "legs"}
        say_data({**data, "levels": plan.num_levels, "memory": leg.to_dict()})
    else:
        say(_long_text(plan, progress, leg))
    return LEAK if leg.fit.verdict is Verdict.GROWING else 0


def _long_text(plan: LongRunPlan, done: Progress, leg: Leg) -> str:
    return (
        f"{done.ticks:,} ticks on {plan.num_levels:,} levels in {done.pieces} pieces: {done.episodes:,} episodes, "
        f"{done.wins:,} won, {done.deaths:,} died, {done.truncations:,} out of time\n"
        f"no number was lost; {done.states_checked:,} states were checked and restored; digest {done.digest}\n"
        f"private memory {leg.first_bytes / 1e6:.2f} MB after the first pass, {leg.last_bytes / 1e6:.2f} MB at the "
        f"end, {leg.fit.slope_per_1k * 1000 / 1024:+.3f} KB per million ticks: {leg.fit.verdict} ({leg.fit.reason})"
    )


def _progress(title: str, total: int, unit: str, wanted: bool) -> Any:
    from tqdm import tqdm

    return tqdm(total=total, desc=title, unit=unit, unit_scale=True, disable=None if wanted else True, file=sys.stderr)


def _table(results: list[SoakResult]) -> str:
    played: list[tuple[str, ...]] = [("preset", "steps", "episodes", "won", "died", "levels seen")]
    memory: list[tuple[str, ...]] = [("preset", "at start", "at end", "growth per million", "verdict")]
    for r in results:
        counts = (r.steps, r.episodes, r.wins, r.deaths, r.levels_seen)
        played.append((r.preset, *(f"{count:,}" for count in counts)))
        sizes = (f"{r.first_bytes / 1e6:.2f} MB", f"{r.last_bytes / 1e6:.2f} MB")
        memory.append((r.preset, *sizes, f"{r.fit.slope_per_1k * 1000 / 1024:+.2f} KB", r.verdict))
    lines = [*format_table(played, terminal_width(), right=range(1, 6)), ""]
    lines += [*format_table(memory, terminal_width(), right=range(1, 4)), ""]
    return "\n".join([*lines, *(f"{r.preset}: {r.reason}" for r in results)])
