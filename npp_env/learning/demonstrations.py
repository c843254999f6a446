"""Demonstrations: episodes that win, led by the teacher, from the start of levels and from states beside its ways."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.config import EnvironmentConfig
from npp_env.env import NppEnv
from npp_env.errors import ConfigError, NppError
from npp_env.learning.teacher import NO_ANSWER, Teacher, TeacherConfig
from npp_env.level.level_set import LevelSet
from npp_env.level.mirrored_sets import MIRRORED
from npp_env.observe.state_row import STATE_ROW
from npp_env.sim.outcome import Outcome

FROM_START, PERTURBED = "start", "perturbed"
_MOST_STEPS = 20_000
_TRIES = 8
"""How often chance is let loose for one perturbed start, until it leaves a state that can be won."""


class DemonstrationError(NppError, ValueError):
    """Demonstrations that cannot be read, or that do not replay; the message says which and why."""


@dataclass(frozen=True, slots=True, eq=False)
class Demonstration:
    """One episode, as states; any observation can be decoded from them.

    Attributes:
        rows: Rows of the `state` layout, one more than actions.
        actions: What was done in all states but the last.
        rewards: What it gave.
        outcome: How it ended.
        kind: Whether it began with the level ("start") or beside a winning way ("perturbed").
    """

    rows: NDArray[np.uint8]  # (n + 1, row_bytes)
    actions: NDArray[np.int64]  # (n,)
    rewards: NDArray[np.float64]  # (n,)
    outcome: Outcome
    kind: str

    @property
    def level_index(self) -> int:
        """Number of the level in its set."""
        return int(self._header["level_index"])

    @property
    def level_hash(self) -> str:
        """`Level.hash` of the level."""
        return bytes(self._header["level"]).hex()

    @property
    def _header(self) -> Any:
        return self.rows[0, : STATE_ROW.itemsize].copy().view(STATE_ROW)[0]


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """What is demonstrated.

    Attributes:
        perturbed: Episodes from perturbed states for each level, beside the one from its start.
        longest_burst: Up to so many actions of chance lead off the way to such a state.
        mirrored: Whether the levels flipped left to right are demonstrated too.
        seed: Another seed perturbs otherwise.
        frame_skip: Ticks that an action is held.

    Raises:
        ConfigError: A value is out of range.
    """

    perturbed: int = 4
    longest_burst: int = 8
    mirrored: bool = True
    seed: int = 0
    frame_skip: int = 4

    def __post_init__(self) -> None:
        for name, least, most in (("perturbed", 0, 10_000), ("longest_burst", 1, 1000), ("seed", 0, 2**63 - 1)):
            if not least <= getattr(self, name) <= most:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be {least} to {most}")


class DemoMaker:
    """Lets the teacher play levels.

    Args:
        levels: A name of levels, or several, as the configuration of an environment takes them.
        options: What is demonstrated.
        teacher: How much the teacher may do; its `frame_skip` is that of the options.

    Attributes:
        config: The environment that the episodes are of.
        levels: All levels, mirrored ones last.
        teacher_config: How much the teacher may do.
        missing: Names of levels that the teacher found no way through, once `episodes` has come to them.
    """

    def __init__(
        self, levels: str | list[str], options: DemoOptions | None = None, teacher: TeacherConfig | None = None
    ) -> None:
        self.options = options = options or DemoOptions()
        names = [levels] if isinstance(levels, str) else list(levels)
        if not names or not all(isinstance(name, str) for name in names):
            raise ConfigError(f"levels are {levels!r}; name at least one set, such as shipped:doors")
        if options.mirrored:
            names += [f"{MIRRORED}:{name}" for name in names]
        self.levels = LevelSet.parse(names)
        if not self.levels.is_finite:
            raise ConfigError(f"{', '.join(names)}: demonstrate a set that has an end, such as seeds=0-99")
        self.config = EnvironmentConfig(levels=tuple(names), frame_skip=options.frame_skip).with_overrides(
            {"observation": {"layout": "state"}}
        )
        base = teacher or TeacherConfig()
        self.teacher_config = replace(base, frame_skip=options.frame_skip)
        self.missing: list[str] = []

    def carrying_levels(self) -> DemoMaker:
        """The same maker for another process, which may not have the files of the levels."""
        other = copy.copy(self)
        other.levels = LevelSet(list(self.levels), self.levels.names())
        return other

    @cached_property
    def row_bytes(self) -> int:
        """Length of a row; that of the level with the largest state."""
        env = self._environment()
        (length,) = env.observation_space.shape or ()
        env.close()
        return int(length)

    def _environment(self) -> NppEnv:
        return NppEnv(self.config, levels=self.levels)

    def episodes(self, chosen: Iterable[int] | None = None) -> Iterator[Demonstration]:
        """Play all levels, or those of some numbers; every episode wins."""
        for index in range(len(self.levels)) if chosen is None else chosen:
            found = self.of_level(index)
            if not found:
                self.missing.append(self.levels.name_of(index))
            yield from found

    def of_level(self, index: int) -> list[Demonstration]:
        """All episodes of one level, whatever was played before; none if the teacher finds no way through it."""
        env, teacher = self._environment(), Teacher(self.levels, self.teacher_config)
        rng = np.random.default_rng([self.options.seed, index])
        try:
            row, _ = env.reset(seed=self.options.seed, options={"level": index})
            first = self._follow(env, teacher, row, FROM_START)
            if first is None:
                return []
            others = [self._perturbed(env, teacher, first, rng) for _ in range(self.options.perturbed)]
            return [first, *(found for found in others if found is not None)]
        finally:
            env.close()

    def _perturbed(
        self, env: NppEnv, teacher: Teacher, first: Demonstration, rng: np.random.Generator
    ) -> Demonstration | None:
        for _ in range(_TRIES):
            row = first.rows[rng.integers(0, len(first.actions))]
            env.set_state(row)
            over = False
            for action in rng.integers(0, 6, rng.integers(1, self.options.longest_burst + 1)).tolist():
                row, _, terminated, truncated, _ = env.step(action)
                over = terminated or truncated
                if over:
                    break
            if not over:
                found = self._follow(env, teacher, row, PERTURBED)
                if found is not None:
                    return found
        return None

    def _follow(self, env: NppEnv, teacher: Teacher, row: NDArray[np.uint8], kind: str) -> Demonstration | None:
        """Do what the teacher says to the end; None if it does not know, or time runs out."""
        rows, actions, rewards = [row.copy()], [], []
        for _ in range(_MOST_STEPS):
            action = teacher.act(row)
            if action == NO_ANSWER:
                return None
            row, reward, terminated, truncated, info = env.step(action)
            rows.append(row.copy())
            actions.append(action)
            rewards.append(float(reward))
            if terminated or truncated:
                outcome = Outcome(info["outcome"])
                if outcome is not Outcome.WON:
                    return None
                return Demonstration(np.stack(rows), np.array(actions), np.array(rewards), outcome, kind)
        return None


def replay_complaint(env: NppEnv, demonstration: Demonstration) -> str | None:
    """Play an episode once more in an environment of its configuration.

    Returns:
        None if every state, reward and the outcome come out as they are written; else what does not.
    """
    d = demonstration
    info: dict[str, Any] = {"outcome": Outcome.RUNNING}
    try:
        env.reset(seed=0, options={"level": d.level_index})
        env.set_state(d.rows[0])
        for step, action in enumerate(d.actions.tolist()):
            row, reward, terminated, truncated, info = env.step(action)
            if (row != d.rows[step + 1]).any():
                return f"step {step} leads to another state"
            if float(reward) != d.rewards[step]:
                return f"step {step} gives {float(reward)!r}, not {float(d.rewards[step])!r}"
            if (terminated or truncated) != (step == len(d.actions) - 1):
                return f"the episode {'ends' if terminated or truncated else 'does not end'} with step {step}"
    except NppError as error:
        return str(error)
    if Outcome(info["outcome"]) is not d.outcome:
        return f"it ends with {Outcome(info['outcome']).name.lower()}, not {d.outcome.name.lower()}"
    return None
