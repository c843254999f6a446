"""Which lines of Python allocated what is still alive, and grew between two moments."""

from __future__ import annotations

import os
import sys
import tracemalloc
from dataclasses import dataclass
from pathlib import Path

PACKAGE_FOLDER = Path(__file__).resolve().parent


def short_path(filename: str) -> str:
    """A file of Python code relative to the folder that it was imported from.

    Example:
        >>> import json
        >>> short_path(json.__file__).replace(os.sep, "/")
        'json/__init__.py'
    """
    folders = [os.path.join(folder, "") for folder in (*sys.path, str(PACKAGE_FOLDER.parents[1])) if folder]
    known = max((folder for folder in folders if filename.startswith(folder)), key=len, default="")
    return filename[len(known) :]


@dataclass(frozen=True, slots=True)
class AllocationSite:
    """Growth at one line of code between two moments."""

    site: str
    growth_bytes: int
    growth_count: int
    bytes: int


class SiteLedger:
    """Live bytes by line of code at one moment; keeps two numbers a line, not the snapshot itself."""

    def __init__(self) -> None:
        snapshot = tracemalloc.take_snapshot().filter_traces(
            (
                tracemalloc.Filter(False, tracemalloc.__file__),
                tracemalloc.Filter(False, str(PACKAGE_FOLDER / "*")),
                tracemalloc.Filter(False, "<frozen importlib*"),
                tracemalloc.Filter(False, "*/cProfile.py"),
                tracemalloc.Filter(False, "*/tqdm/*"),
            )
        )
        self._lines = {
            (statistic.traceback[0].filename, statistic.traceback[0].lineno): (statistic.size, statistic.count)
            for statistic in snapshot.statistics("lineno")
        }

    def growth_since(self, earlier: SiteLedger, limit: int = 20) -> list[AllocationSite]:
        """Lines whose live bytes grew since `earlier`, the largest growth first."""
        sites = []
        for (filename, line), (size, count) in self._lines.items():
            size_before, count_before = earlier._lines.get((filename, line), (0, 0))
            if size > size_before:
                name = f"{short_path(filename)}:{line}"
                sites.append(AllocationSite(name, size - size_before, count - count_before, size))
        sites.sort(key=lambda site: (-site.growth_bytes, site.site))
        return sites[:limit]
