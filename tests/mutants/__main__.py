"""`python -m tests.mutants`: plant faults one at a time and say which tests notice."""

from __future__ import annotations

import argparse
import fnmatch
import random
import shutil
import sys
import tempfile
from pathlib import Path

from .build import BuildError
from .campaign import Campaign, CampaignError, Journal
from .catalogue import Listed, load
from .groups import GROUPS
from .plant import line_of
from .run import RunError
from .table import format_summary, format_table, is_good, to_json

ROOT = Path(__file__).resolve().parent.parent.parent


def parse(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", metavar="PATTERN", help="faults whose name fits a pattern like 'exit*'")
    parser.add_argument("--area", help="faults of one file of the catalogue")
    parser.add_argument("--sample", type=int, metavar="N", help="so many of them, drawn at random")
    parser.add_argument("--seed", type=int, help="of the sample; a random one by default")
    parser.add_argument("--jobs", type=int, default=1, help="scratch trees at work at the same time")
    parser.add_argument("--list", action="store_true", help="print the faults and plant none")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there as well")
    parser.add_argument("--journal", type=Path, metavar="FILE", help="note each result there, and skip those noted")
    parser.add_argument("--keep", action="store_true", help="leave the scratch trees")
    return parser.parse_args(argv)


def choose(args: argparse.Namespace, seed: int) -> list[Listed]:
    """The faults that the command line asks for, in the order of the catalogue."""
    faults = [
        (area, fault)
        for area, fault in load()
        if (args.area is None or area == args.area) and (args.only is None or fnmatch.fnmatch(fault.name, args.only))
    ]
    if args.sample is not None and args.sample < len(faults):
        drawn = random.Random(seed).sample(range(len(faults)), args.sample)
        faults = [faults[number] for number in sorted(drawn)]
    return faults


def main(argv: list[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    args = parse(argv)
    seed = random.SystemRandom().randrange(10**6) if args.seed is None else args.seed
    faults = choose(args, seed)
    if not faults:
        print("no such fault", file=sys.stderr)
        return 2
    if args.list:
        for area, fault in faults:
            print(f"{area:10} {fault.name:40} {fault.source}:{line_of(fault, ROOT)}  {fault.kind}")
        return 0
    print(f"{len(faults)} faults, seed {seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="mutants_"))
    try:
        campaign = Campaign(ROOT, folder, GROUPS, args.jobs, lambda line: print(line, flush=True))
        results = campaign.run(faults, Journal(args.journal))
    except (BuildError, CampaignError, RunError) as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 2
    finally:
        if args.keep:
            print(f"the scratch trees stay in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{format_table(results)}\n\n{format_summary(results)}\nseed {seed}")
    if args.json is not None:
        args.json.write_text(to_json(results, seed), encoding="utf-8")
    return 0 if is_good(results, whole=len(faults) == len(load())) else 1


if __name__ == "__main__":
    sys.exit(main())
