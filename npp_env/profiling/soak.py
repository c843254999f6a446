"""Long runs that must not grow: one preset, all levels, with deaths, wins, truncations and level changes.

The same play is repeated. The first round loads levels, builds their graphs and meets the door configurations that the
play leads to; the rounds after it meet nothing new, so whatever they add is a leak.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from npp_env.profiling.growth import GrowthFit, Verdict, fit_growth
from npp_env.profiling.guard import MemoryGuard
from npp_env.profiling.process_memory import read_page_memory
from npp_env.profiling.thinning import ThinningTable

ROUNDS = 5
SAMPLES_PER_ROUND = 50
HOLD_STEPS = 6
MEASURABLE_BYTES = 4 * 4096
"""Memory is measured in pages, and the allocator takes one at times that it had not touched before."""
ACTION_SHARES = (0.05, 0.15, 0.25, 0.1, 0.15, 0.3)
"""Idle, left, right, jump, jump+left, jump+right: a player that gets somewhere wins now and then."""


@dataclass(frozen=True, slots=True)
class SoakResult:
    """What a soak run met and how its memory went.

    Memory is what the process has written to and holds alone: a page of a file that another process maps as well, or
    that the kernel takes back, is no growth and no gain.
    """

    preset: str
    steps: int
    episodes: int
    wins: int
    deaths: int
    truncations: int
    levels_seen: int
    first_bytes: int
    last_bytes: int
    threshold_per_million: float
    fit: GrowthFit

    @property
    def verdict(self) -> Verdict:
        """Flat if the whole interval of the slope lies below the threshold, or no more than four pages were gained."""
        if self.fit.verdict is Verdict.UNDECIDED and self.last_bytes - self.first_bytes <= MEASURABLE_BYTES:
            return Verdict.FLAT
        return self.fit.verdict

    @property
    def reason(self) -> str:
        """Why the verdict is what it is, in a sentence."""
        if self.verdict is self.fit.verdict:
            return self.fit.reason
        return f"The gain is at most {MEASURABLE_BYTES // 1024} KB in all, the least that can be measured."

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
    """Step a vector environment under random play, the same in five rounds, and judge the growth of the last four.

    The environments take the levels in turn, so that a round of two episodes each meets all of them.

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

    def next_level(environment: int, episode: int, bits: int, count: int) -> int:
        return (episode * num_envs + environment) % count

    env = npp_env.NppVectorEnv(num_envs, preset=preset, levels=levels, sampling=next_level)
    length = max(1, steps // num_envs // ROUNDS)
    every = max(1, length // SAMPLES_PER_ROUND)
    samples = ThinningTable(2, ROUNDS * (SAMPLES_PER_ROUND + 2) * 2)
    counts = np.zeros(4, np.int64)
    seen: set[int] = set()
    for number in range(ROUNDS):
        env.reset(seed=seed)
        random = np.random.default_rng(seed)
        for done in range(length):
            if done % HOLD_STEPS == 0:
                actions = random.choice(6, num_envs, p=ACTION_SHARES)
            info = env.step(actions)[4]
            counts += np.bincount(info["outcome"], minlength=4)
            if done % every == 0:
                seen.update(info["level"].tolist())
                if number > 0:
                    samples.append([(number * length + done) * num_envs, read_page_memory().dirty_bytes])
                if guard is not None:
                    guard.require()
                if on_progress is not None:
                    on_progress(min(every, length - done) * num_envs)
    env.close()
    fit = fit_growth(samples.row(0), samples.row(1), threshold_per_1k=threshold_per_million / 1000)
    return SoakResult(
        preset=preset,
        steps=ROUNDS * length * num_envs,
        episodes=int(counts[1:].sum()),
        wins=int(counts[1]),
        deaths=int(counts[2]),
        truncations=int(counts[3]),
        levels_seen=len(seen),
        first_bytes=int(samples.row(1)[0]),
        last_bytes=int(samples.row(1)[-1]),
        threshold_per_million=threshold_per_million,
        fit=fit,
    )
