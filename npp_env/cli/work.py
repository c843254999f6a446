"""Commands that do the same to many levels: here, on processes, or on a Ray cluster."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from npp_env.cli.arguments import whole_number
from npp_env.cli.progress import progress_bar

if TYPE_CHECKING:
    from npp_env.integrations.work import Done, Function, Job, Pool

MAX_JOBS = 1024


def add_work_arguments(parser: argparse.ArgumentParser) -> None:
    """Options that say who does the work, and where its results are kept."""
    who = parser.add_mutually_exclusive_group()
    who.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="work on a Ray cluster: HOST:PORT, auto for the one that this machine belongs to, or local to start one",
    )
    who.add_argument("--jobs", type=whole_number(1, MAX_JOBS), metavar="N", help="work on N processes of this machine")
    parser.add_argument(
        "--results",
        type=Path,
        metavar="FOLDER",
        help="keep the result of each item there, and take those that are there: a killed run goes on",
    )


def is_divided(args: argparse.Namespace) -> bool:
    """Whether the user wants more than this process to work, or results to be kept."""
    return args.ray is not None or args.jobs is not None or args.results is not None


@contextmanager
def workers(args: argparse.Namespace, cpus: int = 1) -> Iterator[Pool]:
    """Who does the work, as the user wants it.

    Args:
        args: With the options of `add_work_arguments`.
        cpus: Processors that an item takes.
    """
    from npp_env.integrations.work_processes import Here, Processes

    if args.ray is None:
        yield Here() if args.jobs is None else Processes(args.jobs)
        return
    from npp_env.integrations.ray_work import RayPool, connected

    with connected(args.ray):
        yield RayPool(cpus)


def work_on(
    function: Function, jobs: Iterable[Job], pool: Pool, args: argparse.Namespace, unit: str, total: int
) -> Iterator[Done]:
    """Do something to all items, with a bar that shows how many are done.

    Args:
        function: What is done to an item.
        jobs: The items.
        pool: Who does it.
        args: With the options of `add_work_arguments`, and perhaps `no_progress`.
        unit: What is counted.
        total: How many there are.

    Yields:
        What came out, in order.
    """
    from npp_env.integrations.work import work_through

    failed = 0
    with progress_bar(unit, total, wanted=not getattr(args, "no_progress", False)) as bar:

        def on_done(done: Done) -> None:
            nonlocal failed
            bar.update()
            if done.error:
                failed += 1
                bar.set_postfix_str(f"{failed} failed", refresh=False)

        yield from work_through(function, jobs, pool, args.results, on_done)
