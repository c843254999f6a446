"""`npp-env solve LEVEL`: search for inputs that win a level."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npp_env.cli.arguments import (
    LEVEL_HELP,
    add_force,
    add_json,
    add_no_progress,
    add_threads,
    check_output,
    load_level_argument,
    whole_number,
)
from npp_env.cli.printing import say, say_data
from npp_env.cli.progress import progress_bar
from npp_env.errors import printable

if TYPE_CHECKING:
    from npp_env.planning import SolveResult

UNSOLVED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env solve`."""
    from npp_env.planning import MAX_FRAME_SKIP, SolveBudget

    budget = SolveBudget()
    add = parser.add_argument
    add("level", metavar="LEVEL", help=LEVEL_HELP)
    add("-o", "--output", type=Path, metavar="OUT.npprec", help="write the winning recording")
    add("--ticks", type=int, default=budget.ticks, metavar="N", help="ticks to search (default %(default)s)")
    add(
        "--shorten-ticks",
        type=int,
        default=budget.shorten_ticks,
        metavar="N",
        help="ticks to spend on a shorter solution; 0 keeps the first (default %(default)s)",
    )
    add("--memory-mb", type=int, default=budget.memory_mb, metavar="MB", help="default %(default)s")
    add("--seconds", type=float, metavar="S", help="stop after this time (the result then depends on the machine)")
    add("--seed", type=whole_number(0), default=0, help="another seed searches in another order (default %(default)s)")
    add_threads(parser)
    add(
        "--frame-skip",
        type=whole_number(1, MAX_FRAME_SKIP),
        default=1,
        metavar="K",
        help="hold every input for K ticks, as a policy with this frame_skip would (default %(default)s)",
    )
    add_json(parser, "text")
    add_no_progress(parser)
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command; 1 if no solution was found."""
    from npp_env.planning import SolveBudget, solve
    from npp_env.recording import RECORDING_SUFFIX, save_recording

    level = load_level_argument(args.level)
    check_output(args.output, args.force, RECORDING_SUFFIX)
    budget = SolveBudget(args.ticks, args.shorten_ticks, args.memory_mb, args.seconds)
    # How much of the budget a search needs cannot be known: the bar counts, and promises nothing.
    with progress_bar("ticks", wanted=not args.no_progress, unit_scale=True) as bar:

        def on_progress(ticks: int, nearest_px: float) -> None:
            bar.update(ticks - bar.n)
            bar.set_postfix_str(f"{nearest_px:.0f} px left", refresh=False)

        result = solve(
            level,
            budget=budget,
            seed=args.seed,
            threads=args.threads,
            frame_skip=args.frame_skip,
            on_progress=on_progress,
        )
    if args.json:
        say_data(_data(args.level, result))
    else:
        say(_text(args.level, result))
    if result.recording is not None and args.output is not None:
        save_recording(result.recording, args.output, overwrite=args.force)
        if not args.json:
            say(f"written: {args.output}")
    return 0 if result.solved else UNSOLVED


def _data(name: str, result: SolveResult) -> dict[str, Any]:
    recording = result.recording
    statistics = asdict(result.statistics)
    if statistics["nearest_px"] == float("inf"):
        statistics["nearest_px"] = None
    return {
        "level": name,
        "status": result.status,
        "frames": recording.frames if recording else None,
        "gold": recording.gold if recording else None,
        "statistics": statistics,
    }


def _text(name: str, result: SolveResult) -> str:
    name, s = printable(name), result.statistics
    used = (
        f"{s.ticks:,} ticks searched, {s.states_kept:,} states kept, {s.attempts} attempts, "
        f"{s.peak_memory_bytes / 2**20:.0f} MB, {s.cpu_seconds:.1f} s of processor time"
    )
    if result.recording is not None:
        frames = result.recording.frames
        assert frames is not None
        return (
            f"{name}: solved in {frames} frames ({frames / 60:.2f} s), {result.recording.gold} gold; "
            f"{s.frames_found} frames as found\n{used}"
        )
    if result.status == "unreachable":
        return f"{name}: the exit is unreachable: the graph of the level knows no way over a switch to an exit"
    return f"{name}: not found within the budget; the nearest state had {s.nearest_px:.0f} px to go\n{used}"
