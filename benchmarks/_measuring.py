"""What the benchmarks of the environments share: observation sets, play, and the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.observe.spec import OBSERVATION_GROUPS
from npp_env.profiling.soak import ACTION_SHARES

ENVIRONMENT_ID = "npp_env:Npp-v0"
OBSERVATION_SETS: dict[str, tuple[str, ...]] = {
    **OBSERVATION_GROUPS,
    "entities": ("game_state", "entity_states", "switch_states", "action_mask"),
    "spatial": ("game_state", "spatial_context", "action_mask"),
}
"""What is measured separately; `graph` has the default capacity of 4500 nodes and 18500 edges."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Units of work per second of CPU time (of this process and its children) and of the clock on the wall."""

    per_cpu_second: float
    per_wall_second: float

    @property
    def cpu_us(self) -> float:
        """CPU microseconds of one unit."""
        return 1e6 / self.per_cpu_second


def held_actions(steps: int, num_envs: int, seed: int = 0, hold: int = 8) -> NDArray[np.int64]:
    """Random play that gets somewhere: (steps, num_envs) actions, each held for 1 to `hold` steps.

    Idle, left, right, jump, jump+left and jump+right are drawn with unequal probabilities: right and jumping more.
    """
    rng = np.random.default_rng(seed)
    actions = np.empty((steps, num_envs), np.int64)
    present = np.zeros(num_envs, np.int64)
    left = np.zeros(num_envs, np.int64)
    for row in actions:
        change = left == 0
        present[change] = rng.choice(6, int(change.sum()), p=ACTION_SHARES)
        left[change] = rng.integers(1, hold + 1, int(change.sum()))
        left -= 1
        row[:] = present
    return actions


def measure_speed(
    work: Callable[[], object],
    units: float,
    at_least: float,
    cpu_clock: Callable[[], float] = time.process_time,
    repeats: int = 3,
) -> Speed:
    """Speed of a piece of work, the best of several rounds that each take some time.

    Args:
        work: Called again and again.
        units: Units of work (steps, resets) that one call does.
        at_least: Seconds of wall time that all rounds together take, about.
        cpu_clock: CPU seconds so far; by default those of this process.
        repeats: Number of rounds.
    """
    begin = time.perf_counter()
    work()
    once = time.perf_counter() - begin
    calls = max(1, round(at_least / repeats / max(once, 1e-7)))
    best_cpu = best_wall = float("inf")
    for _ in range(repeats):
        cpu, wall = cpu_clock(), time.perf_counter()
        for _ in range(calls):
            work()
        best_wall = min(best_wall, time.perf_counter() - wall)
        best_cpu = min(best_cpu, cpu_clock() - cpu)
    # A clock of children ticks a hundred times a second only.
    return Speed(calls * units / max(best_cpu, 1e-3), calls * units / best_wall)


def configuration(keys: tuple[str, ...], **fields: Any) -> dict[str, Any]:
    """A configuration, as the environments take it, with these observations."""
    return {"observation": {"keys": list(keys)}, **fields}


def rounded(value: float, digits: int = 3) -> int | float:
    """A number with so many significant digits, whole if it is large."""
    if value == 0:
        return 0
    places = digits - 1 - int(np.floor(np.log10(abs(value))))
    result = round(value, places)
    return int(result) if places <= 0 else result
