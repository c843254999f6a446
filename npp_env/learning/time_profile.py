"""Where the time of a training run goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class TimeProfile:
    """Seconds and processor seconds by activity; activities do not nest."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.cpu_seconds: dict[str, float] = {}

    @contextmanager
    def measure(self, activity: str) -> Iterator[None]:
        """Charge the time of the block to an activity."""
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.seconds[activity] = self.seconds.get(activity, 0.0) + time.perf_counter() - wall
            self.cpu_seconds[activity] = self.cpu_seconds.get(activity, 0.0) + time.process_time() - cpu

    def shares(self) -> dict[str, float]:
        """Share of each activity in the time of all, the largest first."""
        total = sum(self.seconds.values()) or 1.0
        ordered = sorted(self.seconds.items(), key=lambda item: -item[1])
        return {activity: seconds / total for activity, seconds in ordered}

    def to_text(self, steps: int) -> str:
        """A line for people: shares, and microseconds of processor time per environment step."""
        parts = [
            f"{activity} {share:.0%} ({1e6 * self.cpu_seconds[activity] / max(steps, 1):.1f} us)"
            for activity, share in self.shares().items()
        ]
        return ", ".join(parts)
