"""Memory tracking inside a training loop: scalars, growth, steps per second, and a guard."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from npp_env.errors import MissingDependencyError
from npp_env.profiling.guard import MemoryGuard
from npp_env.profiling.process_memory import MEBIBYTE
from npp_env.profiling.tracker import DEFAULT_INTERVAL_STEPS, MemoryTracker

ScalarWriter = Callable[[str, float, int], None]


def memory_scalars(tracker: MemoryTracker) -> dict[str, float]:
    """The scalars of the last sample: `memory/uss_mb`, `memory/growth_kb_per_1k` and `train/sps`.

    Where the last sample has no USS (its budget was used up), `memory/rss_mb` stands in for it.
    """
    if len(tracker.samples) == 0:
        return {}
    last = tracker.samples[-1]
    scalars: dict[str, float] = {}
    if last.uss_bytes is not None:
        scalars["memory/uss_mb"] = last.uss_bytes / MEBIBYTE
    else:
        scalars["memory/rss_mb"] = last.rss_bytes / MEBIBYTE
    if last.steps_per_second is not None:
        scalars["train/sps"] = last.steps_per_second
    growth = tracker.growth()
    if growth.samples_total >= 2:
        scalars["memory/growth_kb_per_1k"] = growth.slope_per_1k / 1024
    return scalars


def tensorboard_writer(folder: Path) -> ScalarWriter:
    """A function that writes scalars to event files in `folder`.

    Raises:
        MissingDependencyError: Neither tensorboard with torch nor tensorboardX is installed.
    """
    for module_name in ("torch.utils.tensorboard", "tensorboardX"):
        try:
            module = importlib.import_module(module_name)
        except ImportError:
            continue
        writer: Any = module.SummaryWriter(str(folder))
        return lambda name, value, step: writer.add_scalar(name, value, step)
    raise MissingDependencyError("writing scalars needs tensorboard: pip install torch tensorboard")


class LoopCallback:
    """Tracks the memory of a plain training loop.

    Args:
        interval: Steps between samples.
        write_scalar: Called with name, value and step after each sample; see `tensorboard_writer`.
        guard: Checked with every step; `on_step` answers False when it stops.
        tracker: A tracker of your own, in place of one with this interval.

    Example:
        >>> seen = []
        >>> callback = LoopCallback(interval=10, write_scalar=lambda name, value, step: seen.append(name))
        >>> for step in range(50):
        ...     with callback.phase("collect"):
        ...         pass
        ...     if not callback.on_step(step):
        ...         break
        >>> "train/sps" in seen
        True
    """

    def __init__(
        self,
        interval: int = DEFAULT_INTERVAL_STEPS,
        *,
        write_scalar: ScalarWriter | None = None,
        guard: MemoryGuard | None = None,
        tracker: MemoryTracker | None = None,
    ) -> None:
        self.tracker = MemoryTracker(interval) if tracker is None else tracker
        self.guard = guard
        self._write_scalar = write_scalar
        self._samples_taken = 0

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Charge the growth inside the block to the phase `name`."""
        return self.tracker.phase(name)

    def on_step(self, step: int) -> bool:
        """Sample where one is due; whether the loop may go on."""
        self.tracker.on_step(step)
        if self.tracker.samples_taken != self._samples_taken:
            self._samples_taken = self.tracker.samples_taken
            if self._write_scalar is not None:
                for name, value in memory_scalars(self.tracker).items():
                    self._write_scalar(name, value, step)
        return self.guard is None or self.guard.check()
