"""Progress bars on stderr, for people: none where nobody looks."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

_T = TypeVar("_T")


@contextmanager
def progress_bar(unit: str, total: float | None = None, *, wanted: bool = True, **options: Any) -> Iterator[Any]:
    """A bar (of tqdm) that is shown while stderr is a terminal, and gone when the work is done.

    Args:
        unit: What is counted.
        total: How much there is; None where nobody knows, and then nothing is promised.
        wanted: Whether the user wants one.
        **options: Of tqdm.
    """
    from tqdm import tqdm

    shown = wanted and sys.stderr is not None and sys.stderr.isatty()
    with tqdm(total=total, unit=f" {unit}", disable=not shown, leave=False, file=sys.stderr, **options) as bar:
        yield bar


def with_progress(items: Iterable[_T], unit: str, total: int, *, wanted: bool = True) -> Iterator[_T]:
    """The items, with a bar that shows how many of them are done."""
    with progress_bar(unit, total, wanted=wanted) as bar:
        for item in items:
            yield item
            bar.update()
