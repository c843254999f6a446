"""What goes on beside a long computation: a memory guard that is asked, and someone who is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from npp_env.profiling.guard import MemoryGuard

OnProgress = Callable[[str, int, int, str], None]
"""Called now and then with what is done, how much of it is done, how much there is, and a remark."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Whom to ask and to tell between blocks.

    Attributes:
        guard: Pauses or stops where memory is low, as it was told; None to go on regardless.
        on_progress: Called after each block; None for nobody.
    """

    guard: MemoryGuard | None = None
    on_progress: OnProgress | None = None

    def ask(self) -> None:
        """Go on only if there is memory.

        Raises:
            LowMemoryError: The guard has stopped; what was complete is kept.
        """
        if self.guard is not None:
            self.guard.require()

    def tell(self, what: str, done: int, total: int, remark: str = "") -> None:
        """Say how far it is."""
        if self.on_progress is not None:
            self.on_progress(what, done, total, remark)
