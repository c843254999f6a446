"""Give memory that was freed back to the system."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache


@lru_cache(maxsize=1)
def _trim() -> Callable[[int], int] | None:
    import ctypes

    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None  # not glibc
    return trim


def return_free_memory() -> None:
    """Shrink the C heap where the C library can; building an artifact takes megabytes for a moment.

    Without it a process that compiled many levels would keep, for good, more free memory than it uses.
    """
    trim = _trim()
    if trim is not None:
        trim(0)
