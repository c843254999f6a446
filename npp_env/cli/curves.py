"""`npp-env curves RUN ... -o FILE`: draw the curves of training runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from npp_env.cli.arguments import add_force, check_output
from npp_env.cli.printing import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env curves`."""
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folders of `npp-env train`")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write a picture (.png or .svg)")
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from npp_env.learning.curves import draw_curves, seeds_by_label

    check_output(args.output, args.force, ".png", ".svg")
    found = seeds_by_label(args.runs)
    say("| runs | seeds | steps | core minutes | won, by seed | steps to 95 % |\n|---|---|---|---|---|---|")
    for label, curves in found.items():
        last = [curve[-1] for curve in curves]
        won = ", ".join(f"{row['success']:.0%}" for row in last)
        reached = [next((row["steps"] for row in curve if row["success"] >= 0.95), None) for curve in curves]
        steps = ", ".join("-" if at is None else f"{at / 1e6:.2f} M" for at in reached)
        minutes = ", ".join(f"{row['cpu_seconds'] / 60:.1f}" for row in last)
        say(f"| {label} | {len(curves)} | {last[0]['steps'] / 1e6:.1f} M | {minutes} | {won} | {steps} |")
    if args.output is not None:
        draw_curves(args.runs, args.output)
    return 0
