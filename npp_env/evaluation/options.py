"""What evaluations and pictures can be asked for; light, because the help of commands reads it."""

from __future__ import annotations

from dataclasses import dataclass

from npp_env.errors import ConfigError

COLOURINGS = ("time", "outcome", "speed")
"""What can colour tracks."""
_BOUNDS = {"episodes": (1, 1_000_000), "seed": (0, 2**63 - 1), "num_envs": (1, 1 << 16), "idle_steps": (0, 10_000)}


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """How much is played.

    Attributes:
        episodes: Episodes on each level, each with chance of its own; a policy that leaves nothing to chance plays one,
            unless `idle_steps` makes them differ.
        seed: What all chance comes from.
        num_envs: Environments that are played at once, at most.
        idle_steps: Every episode begins with 0 to so many steps of doing nothing.
        threads: Threads that simulate; the results do not depend on their number.
        record: Keep the best and the worst episode of every level.

    Raises:
        ConfigError: A value is out of range.
    """

    episodes: int = 20
    seed: int = 0
    num_envs: int = 256
    idle_steps: int = 0
    threads: int = 1
    record: bool = True

    def __post_init__(self) -> None:
        for name, (low, high) in _BOUNDS.items():
            value = getattr(self, name)
            if type(value) is not int or not low <= value <= high:
                raise ConfigError(f"{name} of the evaluation is {value!r}; it must be a whole number {low} to {high}")
