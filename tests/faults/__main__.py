"""`make faults`: bring faults about, count them, and check every outcome.

A short round takes some tens of seconds; `--full` brings about 5,000 kills, 100,000 interrupts with each of 1, 2
and 8 threads, and every single flipped bit of a cache file.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable

# Nothing here may touch the user's own cache.
os.environ["NPP_ENV_CACHE"] = tempfile.mkdtemp(prefix="npp_faults_cache_")

from tests.faults import bits, kills, moments, storage
from tests.faults.scenes import kill_scenes
from tests.faults.tally import Tally

GROUPS = ("kills", "storage", "bits", "clocks", "interrupts", "forks")


def run(args: argparse.Namespace, tally: Tally) -> None:
    """Bring about what was asked for, each kind its share."""
    wanted = set(args.only.split(",")) if args.only else set(GROUPS)

    def group(name: str, work: Callable[[], None]) -> None:
        if name in wanted:
            began = time.monotonic()
            work()
            print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)

    def all_kills() -> None:
        for scene, share in kill_scenes():
            kills.kill(scene, max(1, round(share * args.kills)), tally, args.seed)

    def all_storage() -> None:
        for work in (
            storage.full_disk,
            storage.no_inodes,
            storage.no_descriptors,
            storage.read_only,
            storage.foreign_owner,
            storage.strange_files,
            storage.changed_while_mapped,
        ):
            work(tally, args.rounds)

    def all_interrupts() -> None:
        for threads in (1, 2, 8):
            moments.interrupts(tally, args.interrupts, threads)

    group("kills", all_kills)
    group("storage", all_storage)
    group("bits", lambda: bits.flipped_bits(tally, args.every_bit))
    group("clocks", lambda: moments.clock_jumps(tally, max(1, args.rounds // 4), args.seed))
    group("interrupts", all_interrupts)
    group("forks", lambda: moments.forks(tally, args.forks))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description="Bring faults about.")
    add = parser.add_argument
    add("--full", action="store_true", help="the whole campaign")
    add("--kills", type=int, help="how many processes are killed")
    add("--rounds", type=int, help="rounds of each fault of storage")
    add("--interrupts", type=int, help="for each number of threads")
    add("--forks", type=int)
    add("--every-bit", type=int, metavar="N", help="every so-manieth bit of a cache file")
    add("--only", metavar="GROUPS", help=f"out of {', '.join(GROUPS)}, separated by commas")
    add("--seed", type=int, default=int(time.time()))
    args = parser.parse_args(argv)
    # Short, and full.
    for name, amounts in {
        "kills": (60, 5000),
        "rounds": (8, 240),
        "interrupts": (150, 100_000),
        "forks": (20, 2000),
        "every_bit": (499, 1),
    }.items():
        if getattr(args, name) is None:
            setattr(args, name, amounts[args.full])
    tally = Tally()
    run(args, tally)
    print(tally.table())
    for row in tally.rows.values():
        for text in row.wrong[:3]:
            print(f"--- {row.name} (seed {args.seed})\n{text}", file=sys.stderr)
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
