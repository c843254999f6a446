"""A blocking pool of threads for GIL-free work over ranges of environments."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

MIN_ENVS_PER_THREAD = 16


class RangePool:
    """Splits a range over threads that sleep while there is nothing to do.

    With one thread it is a plain call. The threads are started at the first use, and anew in a forked child, which
    does not inherit its parent's.

    Args:
        num_threads: How many ranges run at once, the caller's thread included.
    """

    def __init__(self, num_threads: int) -> None:
        self.num_threads = num_threads
        self._executor: ThreadPoolExecutor | None = None
        self._process = -1

    def run(self, work: Callable[[int, int], None], count: int) -> None:
        """Call `work(first, last)` on parts of 0..count that cover it; returns when all are done."""
        parts = min(self.num_threads, max(1, count // MIN_ENVS_PER_THREAD))
        if parts == 1:
            work(0, count)
            return
        bounds = [count * part // parts for part in range(parts + 1)]
        executor = self._threads()
        futures = [executor.submit(work, first, last) for first, last in pairwise(bounds[1:])]
        try:
            work(bounds[0], bounds[1])
        finally:
            # The others write into shared memory: nobody goes on before they are done.
            errors = [future.exception() for future in futures]
        for error in errors:
            if error is not None:
                raise error

    def _threads(self) -> ThreadPoolExecutor:
        if self._executor is None or self._process != os.getpid():
            self._executor = ThreadPoolExecutor(self.num_threads - 1, thread_name_prefix="npp_env")
            self._process = os.getpid()
        return self._executor

    def close(self) -> None:
        """End the threads; the pool starts them again when it is used again."""
        if self._executor is not None and self._process == os.getpid():
            self._executor.shutdown()
        self._executor = None
