"""`npp-env solve LEVEL...`: search for inputs that win levels."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npp_env.cli.arguments import (
    add_force,
    add_json,
    add_no_progress,
    add_threads,
    check_folder,
    check_output,
    parse_finite_levels,
    whole_number,
)
from npp_env.cli.printing import complain, say, say_data
from npp_env.cli.progress import progress_bar
from npp_env.cli.work import add_work_arguments, is_divided, work_on, workers
from npp_env.errors import NppError, printable

if TYPE_CHECKING:
    from npp_env.level.level_set import LevelSet
    from npp_env.planning import SolveResult
    from npp_env.planning.solve_work import SolveWork

UNSOLVED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env solve`."""
    from npp_env.planning import MAX_FRAME_SKIP, SolveBudget

    budget = SolveBudget()
    add = parser.add_argument
    add("levels", nargs="+", metavar="LEVEL", help="files, folders, shipped levels, level sets")
    add("-o", "--output", type=Path, metavar="OUT", help="write the winning recording; several into a folder")
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
    add_work_arguments(parser)
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command; 1 if a level has no solution that was found."""
    from npp_env.planning import SolveBudget
    from npp_env.planning.solve_work import SolveWork

    levels = parse_finite_levels(args.levels)
    budget = SolveBudget(args.ticks, args.shorten_ticks, args.memory_mb, args.seconds)
    work = SolveWork(budget, args.seed, args.threads, args.frame_skip)
    if len(levels) > 1 or is_divided(args):
        return solve_many(args, levels, work)
    return solve_one(args, levels, work)


def solve_one(args: argparse.Namespace, levels: LevelSet, work: SolveWork) -> int:
    """Solve one level, and show how the search goes on."""
    from npp_env.planning import solve
    from npp_env.recording import RECORDING_SUFFIX, save_recording

    level, name = levels[0], args.levels[0]
    check_output(args.output, args.force, RECORDING_SUFFIX)
    # How much of the budget a search needs cannot be known: the bar counts, and promises nothing.
    with progress_bar("ticks", wanted=not args.no_progress, unit_scale=True) as bar:

        def on_progress(ticks: int, nearest_px: float) -> None:
            bar.update(ticks - bar.n)
            bar.set_postfix_str(f"{nearest_px:.0f} px left", refresh=False)

        result = solve(
            level,
            budget=work.budget,
            seed=work.seed,
            threads=work.threads,
            frame_skip=work.frame_skip,
            on_progress=on_progress,
        )
    if args.json:
        say_data(_data(name, result))
    else:
        say(_text(name, result))
    if result.recording is not None and args.output is not None:
        save_recording(result.recording, args.output, overwrite=args.force)
        if not args.json:
            say(f"written: {args.output}")
    return 0 if result.solved else UNSOLVED


def solve_many(args: argparse.Namespace, levels: LevelSet, work: SolveWork) -> int:
    """Solve several levels, each with a line, a row of data and a recording of its own."""
    from npp_env.evaluation.record_episodes import file_stem
    from npp_env.integrations.work import Job, key_of
    from npp_env.planning.solve_work import decoded
    from npp_env.recording import RECORDING_SUFFIX, save_recording

    if args.output is not None:
        check_folder(args.output)
        if not args.force and any(args.output.glob(f"*{RECORDING_SUFFIX}")):
            raise NppError(f"{args.output} holds recordings; -f overwrites those of the same levels")
    jobs = (Job(key_of("solve", *work.content(level)), level) for level in levels)
    rows: list[dict[str, Any]] = []
    with workers(args, work.threads) as pool:
        for done in work_on(work, jobs, pool, args, "levels", len(levels)):
            name, level = levels.name_of(len(rows)), levels[len(rows)]
            if done.result is None:
                rows.append({"level": name, "status": "failed", "error": done.error})
                complain(f"npp-env solve: {name}: {done.error}")
                continue
            result = decoded(done.result, level)
            rows.append(_data(name, result))
            if not args.json:
                say(_text(name, result).partition("\n")[0])
            if result.recording is not None and args.output is not None:
                path = args.output / f"{file_stem(level)}-{level.hash[:6]}{RECORDING_SUFFIX}"
                save_recording(result.recording, path, overwrite=True)
    solved = sum(row["status"] == "solved" for row in rows)
    if args.json:
        say_data(rows)
    else:
        seconds = sorted(row["statistics"]["cpu_seconds"] for row in rows if "statistics" in row) or [0.0]
        spent = f"median {seconds[len(seconds) // 2]:.1f}, longest {seconds[-1]:.1f}, all {sum(seconds):.0f}"
        say(f"{solved} of {len(rows)} solved; seconds of processor time: {spent}")
    return 0 if solved == len(rows) else UNSOLVED


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
