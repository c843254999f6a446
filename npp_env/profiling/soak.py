"""Long runs that must not grow: one preset, all levels, with deaths, wins, truncations and level changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from npp_env.profiling.growth import GrowthFit, Verdict
from npp_env.profiling.guard import MemoryGuard
from npp_env.profiling.tracker import MemoryTracker

SAMPLES = 200
HOLD_STEPS = 6
_WARM_UP_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class SoakResult:
    """What a soak run met and how its memory went."""

    preset: str
    steps: int
    episodes: int
    wins: int
    deaths: int
    truncations: int
    levels_seen: int
    first_uss_bytes: int
    last_uss_bytes: int
    threshold_per_million: float
    fit: GrowthFit

    @property
    def verdict(self) -> Verdict:
        """Whether memory is flat: the whole interval of the slope below the threshold, or no byte gained at all."""
        if self.fit.verdict is Verdict.UNDECIDED and self.last_uss_bytes <= self.first_uss_bytes:
            return Verdict.FLAT
        return self.fit.verdict

    @property
    def grows(self) -> bool:
        """Whether memory grows."""
        return self.verdict is Verdict.GROWING

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {**asdict(self), "fit": self.fit.to_dict(), "verdict": self.verdict.value}


def soak(
    preset: str,
    *,
    steps: int,
    num_envs: int = 256,
    levels: str = "shipped",
    seed: int = 0,
    threshold_per_million: float = 1024.0,
    guard: MemoryGuard | None = None,
    on_progress: Callable[[int], object] | None = None,
) -> SoakResult:
    """Step a vector environment under random play and judge the growth of the process.

    Args:
        preset: Name of the preset.
        steps: Environment steps in all.
        num_envs: Environments that share them.
        levels: Level specification.
        seed: Of environments and play.
        threshold_per_million: Bytes of growth per million steps that count.
        guard: Asked at every sample; may stop the run.
        on_progress: Called with the number of steps done since the last call.
    """
    import npp_env

    env = npp_env.NppVectorEnv(num_envs, preset=preset, levels=levels)
    env.reset(seed=seed)
    random = np.random.default_rng(seed)
    rounds = max(1, steps // num_envs)
    every = max(1, rounds // SAMPLES)
    tracker = MemoryTracker(interval=1, budget_fraction=None)
    counts = np.zeros(4, np.int64)
    seen: set[int] = set()
    actions = random.integers(0, 6, num_envs)
    for done in range(rounds):
        if done % HOLD_STEPS == 0:
            actions = random.integers(0, 6, num_envs)
        info = env.step(actions)[4]
        counts += np.bincount(info["outcome"], minlength=4)
        if done % every == 0 or done == rounds - 1:
            seen.update(info["level"].tolist())
            if done >= rounds * _WARM_UP_SHARE:
                tracker.sample(done * num_envs)
            if guard is not None:
                guard.require()
            if on_progress is not None:
                on_progress(min(every, rounds - done) * num_envs)
    env.close()
    uss = tracker.samples.column("uss_bytes")
    fit = tracker.growth("uss_bytes", threshold_per_1k=threshold_per_million / 1000)
    return SoakResult(
        preset=preset,
        steps=rounds * num_envs,
        episodes=int(counts[1:].sum()),
        wins=int(counts[1]),
        deaths=int(counts[2]),
        truncations=int(counts[3]),
        levels_seen=len(seen),
        first_uss_bytes=int(uss[0]),
        last_uss_bytes=int(uss[-1]),
        threshold_per_million=threshold_per_million,
        fit=fit,
    )
