"""What a solver may use; light, because the help of commands reads it."""

from __future__ import annotations

from dataclasses import dataclass

from npp_env.errors import ConfigError

MIN_MEMORY_MB = 16
MAX_FRAME_SKIP = 60


@dataclass(frozen=True, slots=True)
class SolveBudget:
    """What a solver may use.

    Attributes:
        ticks: Simulated ticks of the search, over all attempts. Where so much moves that a tick takes long, it counts
            for several.
        shorten_ticks: Simulated ticks spent on making the solution shorter; 0 leaves it as found.
        memory_mb: Upper bound of the search's own arrays.
        seconds: Wall-clock bound; with None the result depends on nothing but the level, the budget and the seed.

    Raises:
        ConfigError: A value is out of range.
    """

    ticks: int = 200_000_000
    shorten_ticks: int = 10_000_000
    memory_mb: int = 512
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name, least in (("ticks", 1), ("shorten_ticks", 0), ("memory_mb", MIN_MEMORY_MB)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} of the solver's budget is {getattr(self, name)}; at least {least}")
        if self.seconds is not None and not self.seconds > 0:
            raise ConfigError(f"seconds of the solver's budget is {self.seconds}; it must be positive, or None")
