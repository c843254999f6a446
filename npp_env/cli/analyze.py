"""`npp-env analyze DIR`: growth of a series of saved memory snapshots."""

from __future__ import annotations

import argparse
from pathlib import Path

from npp_env.cli.arguments import add_json, check_output
from npp_env.cli.measuring import LEAK, add_threshold
from npp_env.cli.printing import as_json, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env analyze`."""
    parser.add_argument(
        "folder",
        type=Path,
        metavar="DIR",
        help="folder with snapshot_step_N.json or .pickle (nothing in them is executed), or the one that "
        "`npp-env profile` wrote",
    )
    parser.add_argument("--events", type=Path, metavar="TENSORBOARD_DIR", help="correlate with these scalars")
    add_threshold(parser)
    add_json(parser, "tables")
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help="write to this file, not to stdout")
    parser.add_argument("-f", "--force", action="store_true", help="overwrite the output")


def run(args: argparse.Namespace) -> int:
    """Run the command; 3 where a series grows, 1 where no snapshot could be read."""
    from npp_env.level.whole_file import write_whole
    from npp_env.profiling.analysis import analyse_series, format_series
    from npp_env.profiling.growth import Verdict
    from npp_env.profiling.profile_series import read_series
    from npp_env.profiling.tensorboard_scalars import read_scalars

    if args.output is not None:
        args.output.parent.mkdir(parents=True, exist_ok=True)
        check_output(args.output, args.force)
    threshold = args.threshold_kb * 1024
    found = read_series(args.folder)
    scalars = read_scalars(args.events) if args.events is not None else []
    if args.json:
        data = [analyse_series(series, scalars, threshold) for series in found]
        text = as_json({"series": data})
    else:
        text = "\n\n".join(format_series(series, scalars, threshold) for series in found)
    if args.output is None:
        say(text)
    else:
        write_whole(args.output, (text + "\n").encode("utf-8"))
        say(f"written: {args.output}")
    if not any(series.rows for series in found):
        return 1
    return LEAK if any(series.growth(threshold).verdict is Verdict.GROWING for series in found) else 0
