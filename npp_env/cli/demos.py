"""`npp-env demos make|info|verify`: demonstrations of levels as datasets."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npp_env.cli.arguments import add_force, whole_number
from npp_env.cli.printing import complain, say, say_data, say_table
from npp_env.cli.progress import progress_bar
from npp_env.printable import printable

if TYPE_CHECKING:
    from npp_env.learning.demonstrations import Demonstration

SOME_FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env demos`."""
    from npp_env.planning import MAX_FRAME_SKIP

    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    make = actions.add_parser("make", help="let the teacher play levels, and write a Minari dataset")
    add = make.add_argument
    add("levels", nargs="*", default=[], metavar="LEVELS", help="sets of levels (default: all shipped)")
    add("-o", "--output", type=Path, required=True, metavar="FOLDER", help="folder of the dataset")
    add(
        "--perturbed",
        type=whole_number(0, 10_000),
        default=4,
        metavar="N",
        help="episodes from states beside the way, for each level (default %(default)s)",
    )
    add("--no-mirror", action="store_true", help="leave out the levels flipped left to right")
    add("--frame-skip", type=whole_number(1, MAX_FRAME_SKIP), default=4, metavar="K")
    add("--seed", type=whole_number(0), default=0, help="another seed perturbs otherwise")
    add("--ticks", type=whole_number(0), default=100_000, metavar="N", help="look-ahead per state")
    add("--threads", type=whole_number(1, 1024), default=1, metavar="N", help="threads (default %(default)s)")
    add("--no-progress", action="store_true", help="no progress bar")
    add_force(make)
    make.set_defaults(act=make_demos)
    info = actions.add_parser("info", help="what is in a dataset")
    info.set_defaults(act=show_info)
    verify = actions.add_parser("verify", help="replay every episode; exit code 1 if one comes out otherwise")
    verify.set_defaults(act=verify_demos)
    for action in (info, verify):
        action.add_argument("folder", type=Path, metavar="FOLDER", help="a dataset that `make` wrote")
    for action in (make, info, verify):
        action.add_argument("--json", action="store_true", help="print data instead of text")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    return int(args.act(args))


def make_demos(args: argparse.Namespace) -> int:
    """`demos make`; 1 if there is a level without a way."""
    from npp_env.learning.demo_files import write_demonstrations
    from npp_env.learning.demonstrations import DemoMaker, DemoOptions
    from npp_env.learning.teacher import TeacherConfig

    options = DemoOptions(
        perturbed=args.perturbed, mirrored=not args.no_mirror, seed=args.seed, frame_skip=args.frame_skip
    )
    config = TeacherConfig(ticks_per_state=args.ticks, threads=args.threads)
    maker = DemoMaker(args.levels or ["shipped"], options, config)
    episodes = _shown(maker.episodes(), len(maker.levels), args.no_progress or args.json)
    written = write_demonstrations(args.output, maker.config, episodes, overwrite=args.force)
    report = {
        "folder": str(args.output),
        "levels": len(maker.levels) - len(maker.missing),
        "episodes": written.episodes,
        "steps": written.steps,
        "bytes": written.nbytes,
        "levels_without_a_way": maker.missing,
    }
    if args.json:
        say_data(report)
    else:
        say(
            f"{args.output}: {written.episodes:,} episodes of {report['levels']} levels, {written.steps:,} steps, "
            f"{written.nbytes:,} bytes ({written.nbytes / written.steps:.0f} a step)"
        )
    for name in maker.missing:
        complain(f"npp-env demos: no way through {printable(name)} was found; it is left out")
    return SOME_FAILED if maker.missing else 0


def _shown(episodes: Iterator[Demonstration], levels: int, silent: bool) -> Iterator[Demonstration]:
    with progress_bar("levels", levels, wanted=not silent) as bar:
        for episode in episodes:
            bar.update(episode.level_index - bar.n)
            yield episode


def show_info(args: argparse.Namespace) -> int:
    """`demos info`."""
    from npp_env.learning.demo_files import DemonstrationFiles

    files = DemonstrationFiles(args.folder)
    by_level: dict[str, Counter[str]] = {}
    for entry in files.episodes:
        row = by_level.setdefault(entry["level"], Counter())
        row.update({entry["kind"]: 1, entry["outcome"]: 1, "steps": entry["steps"]})
    report: dict[str, Any] = {
        "folder": str(args.folder),
        "environment": {"levels": files.config.levels, "frame_skip": files.config.frame_skip},
        "episodes": len(files),
        "steps": files.steps,
        "bytes": files.nbytes,
        "levels": {name: dict(row) for name, row in by_level.items()},
    }
    if args.json:
        say_data(report)
        return 0
    say(f"{args.folder}: {len(files):,} episodes, {files.steps:,} steps, {files.nbytes:,} bytes")
    levels = files.config.levels
    say_table([("levels", levels if isinstance(levels, str) else ", ".join(levels))])
    say(f"frame_skip {files.config.frame_skip}")
    say(f"{'level':<40} {'start':>6} {'perturbed':>10} {'won':>6} {'steps':>8}")
    for name, row in by_level.items():
        say(f"{name:<40} {row['start']:>6} {row['perturbed']:>10} {row['won']:>6} {row['steps']:>8,}")
    return 0


def verify_demos(args: argparse.Namespace) -> int:
    """`demos verify`; 1 if an episode does not come out as it is written."""
    from npp_env.learning.demo_files import DemonstrationFiles

    files = DemonstrationFiles(args.folder)
    wrong = {number: complaint for number, complaint in files.complaints() if complaint is not None}
    if args.json:
        say_data({"folder": str(args.folder), "episodes": len(files), "wrong": wrong})
    else:
        say(f"{args.folder}: {len(files) - len(wrong):,} of {len(files):,} episodes replay to their outcome")
    for number, complaint in wrong.items():
        complain(f"npp-env demos: episode {number}: {complaint}")
    return SOME_FAILED if wrong else 0
