"""`make hostile`: what accepted inputs of up to a megabyte cost in every command.

Prints each case that costs more than a second, and at the end the dearest; exit code 1 if one breaks a bound. With
`--done FILE` the cases that stand there are left out, and those that were run are added: a long round can be split.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

os.environ["NPP_ENV_CACHE"] = tempfile.mkdtemp(prefix="npp_hostile_cache_")

from tests.hostile.commands import MOST_BYTES, MOST_CPU_SECONDS, Case, Cost, cases, cost_of

TOLD_SECONDS = 1.0


def run_case(case: Case) -> Cost | None:
    """Run one in a folder of its own; None if no such input is accepted."""
    with tempfile.TemporaryDirectory(prefix="npp_hostile_") as name:
        words = case.prepare(Path(name))
        return cost_of(words, Path(name) / "log") if words else None


def line_of(name: str, cost: Cost) -> str:
    return f"{cost.cpu_seconds:.2f} s\t{cost.peak_bytes / 1e6:.0f} MB\tcode {cost.code}\t{name}"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description="Measure hostile inputs.")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--only", default="", metavar="WORD", help="cases with this in their name")
    parser.add_argument("--done", type=Path, help="file of finished cases")
    parser.add_argument("--seed", type=int, default=0, help="of the order")
    args = parser.parse_args(argv)
    done = args.done.read_text().splitlines() if args.done is not None and args.done.exists() else []
    finished = {line.rpartition("\t")[2] for line in done}
    left = [case for case in cases() if args.only in case.name and case.name not in finished]
    random.Random(args.seed).shuffle(left)
    end = time.monotonic() + args.seconds
    ran, wrong = [], 0
    for case in left:
        if time.monotonic() > end:
            break
        cost = run_case(case)
        line = f"none accepted\t\t\t{case.name}" if cost is None else line_of(case.name, cost)
        if args.done is not None:
            with open(args.done, "a") as file:
                file.write(line + "\n")
        if cost is None:
            continue
        ran.append((case.name, cost))
        wrong += not cost.is_right
        if not cost.is_right or cost.cpu_seconds > TOLD_SECONDS:
            print(line + ("" if cost.is_right else f"\tWRONG\n{cost.said[-1500:]}"), flush=True)
    if ran:
        print("dearest: " + line_of(*max(ran, key=lambda one: one[1].cpu_seconds)))
        print("largest: " + line_of(*max(ran, key=lambda one: one[1].peak_bytes)))
    bounds = f"{MOST_CPU_SECONDS:.0f} CPU seconds and {MOST_BYTES / 1e9:.0f} GB"
    print(f"hostile: {len(ran)} of {len(left)} cases, {wrong} beyond {bounds} or not in good order")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
