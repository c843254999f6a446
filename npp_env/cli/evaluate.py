"""`npp-env evaluate`: how well a policy plays."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from npp_env.cli.arguments import (
    add_force,
    add_json,
    add_threads,
    check_new_folder,
    check_output,
    parse_finite_levels,
    whole_number,
)
from npp_env.cli.policies import add_policy_arguments, load_policy_argument
from npp_env.cli.printing import as_json, complain, say, say_data
from npp_env.cli.progress import progress_bar
from npp_env.cli.work import add_work_arguments, is_divided
from npp_env.evaluation.options import EvaluationOptions

if TYPE_CHECKING:
    from npp_env.evaluation.evaluate import KeptEpisodes
    from npp_env.evaluation.scores import Evaluation

JSON_NAME = "evaluation.json"
_DEFAULTS = EvaluationOptions()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env evaluate`."""
    add_policy_arguments(parser)
    parser.add_argument(
        "--levels",
        nargs="+",
        default=["shipped"],
        metavar="LEVELS",
        help="files, folders, level sets (default: all shipped levels)",
    )
    parser.add_argument(
        "--episodes",
        type=whole_number(1, 1_000_000),
        default=_DEFAULTS.episodes,
        metavar="N",
        help="episodes on each level, each with a seed of its own (default %(default)s)",
    )
    parser.add_argument("--seed", type=whole_number(0), default=0, help="what all chance comes from (default 0)")
    parser.add_argument(
        "--idle-steps",
        type=whole_number(0, 10_000),
        default=0,
        metavar="N",
        help="begin every episode with 0 to N idle steps, by its seed (default 0)",
    )
    parser.add_argument(
        "--num-envs",
        type=whole_number(1, 1 << 16),
        default=_DEFAULTS.num_envs,
        metavar="N",
        help="episodes that are played at once (default %(default)s)",
    )
    add_threads(parser)
    parser.add_argument(
        "--part",
        type=whole_number(1),
        metavar="N",
        help="play N levels at a time, each part with chance of its own (default: all; 16 where the work is divided)",
    )
    add_work_arguments(parser)
    add_json(parser, "a table")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help=f"keep {JSON_NAME}, best and worst recordings there")
    parser.add_argument("--html", type=Path, metavar="PAGE.html", help="write a page with the scores and these runs")
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from npp_env.evaluation.evaluate import evaluate
    from npp_env.evaluation.report import format_table

    check_outputs(args)
    levels = parse_finite_levels(args.levels)
    policy = load_policy_argument(args.policy, args.config, args.sample)
    options = EvaluationOptions(
        episodes=args.episodes,
        seed=args.seed,
        num_envs=args.num_envs,
        idle_steps=args.idle_steps,
        threads=args.threads,
        record=args.out is not None or args.html is not None,
    )
    if args.part is not None or is_divided(args):
        from npp_env.cli.evaluate_parts import evaluate_in_parts

        evaluation, kept = evaluate_in_parts(args, levels, options)
    else:
        with progress_bar("episodes") as bar:

            def show(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            evaluation, kept = evaluate(policy, levels, options, name=args.policy, progress=show)
    if args.out is not None:
        evaluation = write_folder(args.out, evaluation, kept, force=args.force)
    if args.html is not None:
        write_page(args.html, evaluation, kept)
    if args.json:
        say_data(evaluation.to_dict())
    else:
        say(format_table(evaluation))
    return 0


def check_outputs(args: argparse.Namespace) -> None:
    """Find what cannot be written before anything is played.

    Raises:
        NppError: A file exists and may not be overwritten, or cannot be written.
    """
    check_output(args.html, args.force, ".html", ".htm")
    if args.out is None:
        return
    check_new_folder(args.out)
    if args.out.is_dir():
        check_output(args.out / JSON_NAME, args.force)


def write_folder(folder: Path, evaluation: Evaluation, kept: list[KeptEpisodes], *, force: bool) -> Evaluation:
    """Write the evaluation and its recordings; returns it with their names."""
    from npp_env.evaluation.record_episodes import file_stem
    from npp_env.level.whole_file import write_whole
    from npp_env.recording import RECORDING_SUFFIX, save_recording

    folder.mkdir(exist_ok=True)
    levels = []
    for info, episodes in zip(evaluation.levels, kept, strict=True):
        files = {}
        for word, recording in episodes.by_name().items():
            assert recording.level is not None, "recordings of environments hold their level"
            name = f"{file_stem(recording.level)}-{info.hash[:6]}-{word}{RECORDING_SUFFIX}"
            save_recording(recording, folder / name, overwrite=force)
            files[word] = name
        levels.append(replace(info, recordings=files))
    result = replace(evaluation, levels=tuple(levels))
    write_whole(folder / JSON_NAME, as_json(result.to_dict()).encode(), overwrite=force)
    return result


def write_page(path: Path, evaluation: Evaluation, kept: list[KeptEpisodes]) -> None:
    """Write the page of an evaluation with its best and worst runs."""
    from npp_env.evaluation.page import Run, page
    from npp_env.level.whole_file import write_whole

    runs = [
        Run(word, recording, info.name)
        for info, episodes in zip(evaluation.levels, kept, strict=True)
        for word, recording in episodes.by_name().items()
    ]
    write_whole(path, page(runs, "Evaluation", evaluation).encode())
    complain(f"written: {path}")
