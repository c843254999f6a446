"""A run of very many ticks over very many levels, in pieces: what a kill loses is the piece under way.

Every piece begins with a reset by its own seed, so that it depends on nothing that was before. After each the progress
is written to a file, whole; whoever starts the run again with this file goes on with the next piece, and comes to the
same digest to the last bit.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from npp_env.errors import NppError
from npp_env.level.generate import ANY, generate
from npp_env.level.heap import return_free_memory
from npp_env.level.model import Level
from npp_env.level.shipped import load_shipped, shipped_level_names
from npp_env.level.whole_file import write_whole
from npp_env.profiling.errors import ProfilingError
from npp_env.profiling.growth import GrowthFit, fit_growth
from npp_env.profiling.guard import MemoryGuard
from npp_env.profiling.mixed_levels import mixed_level
from npp_env.profiling.process_memory import read_page_memory
from npp_env.profiling.soak import ACTION_SHARES
from npp_env.profiling.thinning import ThinningTable

FORMAT = "npp_env long run 2"
PASSES = 8
"""How often the levels are gone through; the first pass loads them, the others meet nothing new. Memory rises and falls
with the levels of a pass, and is judged by its low points: so few passes that these decide nothing are no use.
"""
FRAME_SKIP, HOLD_STEPS = 10, 2
"""Most of the time goes into ticks, not into observations."""
KEYS = ("game_state", "entity_states", "switch_states", "spatial_context", "action_mask")
SAMPLES_PER_PIECE, MAX_SAMPLES = 4, 1024
STEPS_BETWEEN_OBSERVATION_CHECKS = 8
STATE_CHECKS_PER_PIECE = 10
LEAST_STEPS = 40


@functools.cache
def _shipped_names() -> tuple[str, ...]:
    return tuple(shipped_level_names())


def _memory_held() -> int:
    """Bytes that this process has written to and holds alone, once all that is free was given back.

    What allocators keep of levels that came and went would else wander by megabytes.
    """
    gc.collect()
    return_free_memory()
    return read_page_memory().dirty_bytes


class LostNumberError(ProfilingError):
    """The simulation or an observation came to something that is no number, or that no state can be."""


@dataclass(frozen=True, slots=True)
class LongRunPlan:
    """What is run; the same plan always comes to the same digest.

    Attributes:
        ticks: Ticks of physics, at least.
        num_envs: Environments.
        generated: Generated levels, of all families and difficulties, beside the shipped ones.
        mixed: Levels with every kind of entity.
        seed: Of the player.
    """

    ticks: int
    num_envs: int = 256
    generated: int = 10_000
    mixed: int = 165
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("ticks", 1), ("num_envs", 1), ("generated", 0), ("mixed", 0), ("seed", 0)):
            if getattr(self, name) < least:
                raise ProfilingError(f"{name} is {getattr(self, name)}; it must be at least {least}")

    @property
    def num_levels(self) -> int:
        """All levels."""
        return len(_shipped_names()) + self.generated + self.mixed

    @property
    def pieces_per_pass(self) -> int:
        """Pieces in which every level is met once."""
        return -(-self.num_levels // self.num_envs)

    @property
    def steps_per_piece(self) -> int:
        """Steps of each environment in a piece."""
        return max(LEAST_STEPS, self.ticks // (PASSES * self.pieces_per_pass * self.num_envs * FRAME_SKIP))

    def level(self, number: int) -> Level:
        """Level number `number`: mixed ones, then shipped ones, then generated ones that become harder."""
        names = _shipped_names()
        if number < self.mixed:
            return mixed_level(number)
        number -= self.mixed
        if number < len(names):
            return load_shipped(names[number])
        number -= len(names)
        return generate(ANY, number / max(1, self.generated - 1), number)


@dataclass(frozen=True, slots=True)
class Leg:
    """How memory went in one process, from the second pass over the levels that it made.

    Attributes:
        ticks: Ticks of the run at its end.
        first_bytes: Private memory that was written to, at the first sample that counts.
        last_bytes: The same at the end.
        fit: Growth, in bytes per 1,000 ticks.
    """

    ticks: int
    first_bytes: int
    last_bytes: int
    fit: GrowthFit

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {**asdict(self), "fit": self.fit.to_dict()}


@dataclass(slots=True)
class Progress:
    """What was done so far."""

    pieces: int = 0
    ticks: int = 0
    episodes: int = 0
    wins: int = 0
    deaths: int = 0
    truncations: int = 0
    states_checked: int = 0
    digest: str = ""
    legs: list[dict[str, Any]] = field(default_factory=list)


class LongRun:
    """The run itself.

    Args:
        plan: What to run.
        state: Where progress is kept; one that exists is gone on with.
        threshold_per_million: Bytes of growth per million ticks that count.

    Raises:
        ProfilingError: The file is of another plan, or no progress of a long run.
    """

    def __init__(self, plan: LongRunPlan, state: Path | None = None, threshold_per_million: float = 1024.0) -> None:
        self.plan = plan
        self.progress = Progress()
        self._state = state
        self._threshold_per_1k = threshold_per_million / 1000
        self._finished_legs: list[dict[str, Any]] = []
        self._samples = ThinningTable(2, MAX_SAMPLES)
        self._first_piece = 0
        if state is not None and state.exists():
            self._resume(state)

    def _resume(self, state: Path) -> None:
        try:
            saved = json.loads(state.read_text(encoding="utf-8"))
            if saved["format"] != FORMAT:
                raise ProfilingError(f"{state}: the format is {saved['format']!r}, not {FORMAT!r}")
            plan, progress = LongRunPlan(**saved["plan"]), Progress(**saved["progress"])
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            if isinstance(error, NppError):
                raise
            raise ProfilingError(f"{state}: no progress of a long run ({error})") from None
        # More ticks of the same pieces may be asked for later only if the pieces stay what they were.
        if replace(plan, ticks=self.plan.ticks) != self.plan or plan.steps_per_piece != self.plan.steps_per_piece:
            raise ProfilingError(f"{state}: belongs to another run, {plan}; use another file, or the same arguments")
        self.progress = progress
        self._finished_legs = list(progress.legs)
        self._first_piece = progress.pieces

    def run(
        self, *, guard: MemoryGuard | None = None, on_progress: Callable[[int], object] | None = None
    ) -> tuple[Progress, Leg]:
        """Run to the end.

        Args:
            guard: Asked after every piece; may stop the run.
            on_progress: Called with the number of ticks done since the last call.

        Returns:
            All that was done, and how memory went in this process.

        Raises:
            LostNumberError: A value was lost; the message names level and step.
        """
        from npp_env.vector import NppVectorEnv

        plan, count_levels = self.plan, self.plan.num_levels

        def level_of_piece(environment: int, episode: int, bits: int, count: int) -> int:
            return (self.progress.pieces * plan.num_envs + environment) % count_levels

        env = NppVectorEnv(
            plan.num_envs,
            levels=plan.level,
            sampling=level_of_piece,
            frame_skip=FRAME_SKIP,
            copy=False,
            observation={"keys": KEYS, "layout": "flat"},
            reward={"shaping_weight": 0.0},
        )
        while self.progress.ticks < plan.ticks:
            before = self.progress.ticks
            self._run_piece(env)
            self._save()
            if on_progress is not None:
                on_progress(self.progress.ticks - before)
            if guard is not None:
                guard.require()
        env.close()
        return self.progress, self._leg()

    def _run_piece(self, env: Any) -> None:
        plan, progress = self.plan, self.progress
        steps = plan.steps_per_piece
        random = np.random.default_rng((plan.seed, progress.pieces))
        env.reset(seed=plan.seed + progress.pieces * plan.num_envs)
        counts = np.zeros(4, np.int64)
        frames, ticks = np.zeros(plan.num_envs, np.int64), 0
        for step in range(steps):
            if step % HOLD_STEPS == 0:
                actions = random.choice(6, plan.num_envs, p=ACTION_SHARES)
            observation, rewards, _, _, info = env.step(actions)
            counts += np.bincount(info["outcome"], minlength=4)
            # An environment that begins anew is back at frame 0.
            ticks += int(np.maximum(info["frame"] - frames, 0).sum())
            frames = info["frame"]
            if not np.isfinite(rewards).all():
                self._lost("a reward", ~np.isfinite(rewards), info, step)
            if step % STEPS_BETWEEN_OBSERVATION_CHECKS == 0 and not np.isfinite(observation).all():
                self._lost("an observation", ~np.isfinite(observation).all(axis=1), info, step)
            if step % max(1, steps // STATE_CHECKS_PER_PIECE) == 0:
                # Restoring checks every number of a state; what play led to must be accepted.
                env.set_state(env.get_state())
                progress.states_checked += plan.num_envs
            if self._counts_for_memory() and step % max(1, steps // SAMPLES_PER_PIECE) == 0:
                self._samples.append([progress.ticks + ticks, _memory_held()])
        digest = hashlib.blake2b(bytes.fromhex(progress.digest), digest_size=16)
        for state in env.get_state():
            digest.update(state)
        digest.update(np.array([ticks, *counts], np.int64).tobytes())
        progress.digest = digest.hexdigest()
        progress.pieces += 1
        progress.ticks += ticks
        progress.episodes += int(counts[1:].sum())
        progress.wins += int(counts[1])
        progress.deaths += int(counts[2])
        progress.truncations += int(counts[3])

    def _counts_for_memory(self) -> bool:
        return self.progress.pieces - self._first_piece >= self.plan.pieces_per_pass

    def _lost(self, what: str, wrong: Any, info: dict[str, Any], step: int) -> None:
        environment = int(np.flatnonzero(wrong)[0])
        raise LostNumberError(
            f"{what} of level {int(info['level'][environment])} is no number in step {step} of piece "
            f"{self.progress.pieces}, environment {environment}"
        )

    def _leg(self) -> Leg:
        ticks, sizes = self._samples.row(0), self._samples.row(1)
        fit = fit_growth(ticks, sizes, threshold_per_1k=self._threshold_per_1k)
        first, last = (int(sizes[0]), int(sizes[-1])) if len(sizes) else (0, 0)
        return Leg(self.progress.ticks, first, last, fit)

    def _save(self) -> None:
        if self._state is None:
            return
        self.progress.legs = [*self._finished_legs, self._leg().to_dict()]
        saved = {"format": FORMAT, "plan": asdict(self.plan), "progress": asdict(self.progress)}
        write_whole(self._state, json.dumps(saved, indent=1).encode())
