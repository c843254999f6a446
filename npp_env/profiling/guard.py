"""`MemoryGuard`: stops a long loop in good order before the machine, or the container, runs out of memory."""

from __future__ import annotations

import enum
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, TypeVar

from npp_env.profiling.cgroups import CGROUP_ROOT, Headroom, read_headroom
from npp_env.profiling.errors import LowMemoryError, ProfilingError
from npp_env.profiling.process_memory import MEBIBYTE, PROC_ROOT

logger = logging.getLogger(__name__)

Item = TypeVar("Item")

POLL_SECONDS = 0.5


class GuardAction(str, enum.Enum):
    """What to do when memory is low."""

    CONTINUE = "continue"
    PAUSE = "pause"
    STOP = "stop"


OnLow = Callable[[Headroom], "GuardAction | str | None"]


class MemoryGuard:
    """Watches the free memory of the machine and of the cgroup.

    When less than `min_free_fraction` is free, `on_low` decides:

    - "pause" (default): wait up to `pause_seconds` for memory to come back, then stop;
    - "stop": stop at once;
    - a function: called with the `Headroom`; it may free something, and returns one of the above, "continue"
      or None (continue).

    To stop means: call `save_state` once, then answer False from `check` for good.

    Args:
        min_free_fraction: Share of the tightest limit that must stay free.
        pause_seconds: Longest wait of a pause.
        on_low: What to do when memory is low.
        save_state: Called once before the guard stops the loop.
        check_seconds: The memory is read at most this often; a check in between costs a comparison.
        proc_root: Where /proc is.
        cgroup_root: Where the cgroup file system is.
        clock: Source of time, in seconds.
        sleep: How to wait.

    Example:
        >>> guard = MemoryGuard(min_free_fraction=0.001, on_low="stop")
        >>> sum(1 for _ in guard.watch(range(10)))
        10
        >>> guard.stopped
        False
    """

    def __init__(
        self,
        min_free_fraction: float = 0.1,
        pause_seconds: float = 30.0,
        on_low: Literal["pause", "stop"] | OnLow = "pause",
        *,
        save_state: Callable[[], object] | None = None,
        check_seconds: float = 1.0,
        proc_root: Path = PROC_ROOT,
        cgroup_root: Path = CGROUP_ROOT,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not 0 < min_free_fraction < 1:
            raise ProfilingError(f"min_free_fraction must lie between 0 and 1, got {min_free_fraction}")
        if pause_seconds < 0:
            raise ProfilingError(f"pause_seconds must not be negative, got {pause_seconds}")
        if not callable(on_low) and on_low not in ("pause", "stop"):
            raise ProfilingError(f"on_low must be 'pause', 'stop' or a function, got {on_low!r}")
        self.min_free_fraction = min_free_fraction
        self.pause_seconds = pause_seconds
        self.stopped = False
        self.low_count = 0
        self.paused_seconds = 0.0
        self.last: Headroom | None = None
        self._on_low = on_low
        self._save_state = save_state
        self._check_seconds = check_seconds
        self._roots = (proc_root, cgroup_root)
        self._clock = clock
        self._sleep = sleep
        self._next_check = -float("inf")

    def check(self) -> bool:
        """Whether the loop may go on; pauses, calls back or saves the state where memory is low."""
        if self.stopped:
            return False
        now = self._clock()
        if now < self._next_check:
            return True
        self._next_check = now + self._check_seconds
        if not self._is_low():
            return True
        self.low_count += 1
        assert self.last is not None
        logger.warning("memory is low: %s", self._describe(self.last))
        action = self._decide(self.last)
        if action is GuardAction.CONTINUE:
            return True
        if action is GuardAction.PAUSE and self._wait():
            return True
        self._stop()
        return False

    def require(self) -> None:
        """Like `check`, for code that cannot leave a loop: raises instead of answering False.

        Raises:
            LowMemoryError: Memory is low and the guard has stopped; the state has been saved.
        """
        if not self.check():
            where = self._describe(self.last) if self.last else "memory was low"
            raise LowMemoryError(f"stopped by the memory guard: {where}")

    def watch(self, items: Iterable[Item]) -> Iterator[Item]:
        """Pass `items` on, and end early where memory is low; `stopped` tells the two ends apart."""
        for item in items:
            if not self.check():
                return
            yield item

    def _is_low(self) -> bool:
        self.last = read_headroom(*self._roots)
        return self.last.free_fraction < self.min_free_fraction

    def _decide(self, headroom: Headroom) -> GuardAction:
        if not callable(self._on_low):
            return GuardAction(self._on_low)
        answer = self._on_low(headroom)
        if answer is None:
            return GuardAction.CONTINUE
        try:
            return GuardAction(answer)
        except ValueError:
            raise ProfilingError(
                f"on_low returned {answer!r}; it may return 'continue', 'pause', 'stop' or None"
            ) from None

    def _wait(self) -> bool:
        """Wait for memory to come back; whether it did."""
        waited = 0.0
        while waited < self.pause_seconds:
            slice_seconds = min(POLL_SECONDS, self.pause_seconds - waited)
            self._sleep(slice_seconds)
            waited += slice_seconds
            self.paused_seconds += slice_seconds
            if not self._is_low():
                return True
        return False

    def _stop(self) -> None:
        self.stopped = True
        if self._save_state is not None:
            self._save_state()

    def _describe(self, headroom: Headroom) -> str:
        return (
            f"{headroom.free_bytes / MEBIBYTE:,.0f} MB of {headroom.limit_bytes / MEBIBYTE:,.0f} MB free "
            f"({headroom.free_fraction:.1%}, limit of {headroom.source}), {self.min_free_fraction:.0%} wanted"
        )
