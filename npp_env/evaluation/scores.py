"""What an evaluation measured: every episode, and summaries by level, by group and of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import NppError
from npp_env.evaluation.intervals import Estimate, mean_estimate, share_estimate
from npp_env.level.validation import shorten
from npp_env.sim.outcome import Outcome

FORMAT = "npp-env evaluation"
VERSION = 1

EPISODE = np.dtype(
    [
        ("level", "<i4"),  # number among the levels of the evaluation
        ("number", "<i4"),  # of the episode on this level
        ("outcome", "<i4"),  # see `Outcome`
        ("frames", "<i4"),
        ("gold", "<i4"),
        ("episode_return", "<f8"),
    ]
)
"""One episode."""
_MEASURES = EPISODE.names[2:] if EPISODE.names else ()


class EvaluationError(NppError, ValueError):
    """An evaluation that cannot be made, or a file that holds none."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Episodes taken together; frames are those of the wins alone."""

    episodes: int
    won: int
    died: int
    out_of_time: int
    success: Estimate
    frames: Estimate
    gold: Estimate
    episode_return: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        counts = {name: getattr(self, name) for name in ("episodes", "won", "died", "out_of_time")}
        names = ("success", "frames", "gold", "episode_return")
        return {**counts, **{name: getattr(self, name)._asdict() for name in names}}


@dataclass(frozen=True, slots=True)
class LevelInfo:
    """A level of an evaluation.

    Attributes:
        name: Its name in the level set.
        group: The group that it is counted with, "" for none.
        hash: `Level.hash`.
        gold: Pieces of gold that it has.
        recordings: Files of its best and worst episode, by these words.
    """

    name: str
    group: str
    hash: str
    gold: int
    recordings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How a policy played.

    Attributes:
        policy: What it is called.
        levels: The levels, in order.
        episodes: `EPISODE` (n,), by level and number.
        settings: With what it was made: seed, episodes per level, idle starts, configuration.
    """

    policy: str
    levels: tuple[LevelInfo, ...]
    episodes: NDArray[Any]
    settings: Mapping[str, Any]

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups, in the order of their first level; levels without one form none."""
        return tuple(dict.fromkeys(level.group for level in self.levels if level.group))

    def of_level(self, number: int) -> Summary:
        """Summary of one level."""
        return self._summary([number])

    def of_group(self, group: str) -> Summary:
        """Summary of the levels of a group."""
        return self._summary([k for k, level in enumerate(self.levels) if level.group == group])

    @property
    def total(self) -> Summary:
        """Summary of everything."""
        return self._summary(list(range(len(self.levels))))

    def _summary(self, numbers: list[int]) -> Summary:
        by_level = [self.episodes[self.episodes["level"] == number] for number in numbers]
        together = np.concatenate([*by_level, np.zeros(0, EPISODE)])
        count = {outcome: int((together["outcome"] == outcome).sum()) for outcome in Outcome}
        wins = [part["frames"][part["outcome"] == Outcome.WON] for part in by_level]
        return Summary(
            len(together),
            count[Outcome.WON],
            count[Outcome.DIED],
            count[Outcome.OUT_OF_TIME],
            share_estimate(count[Outcome.WON], len(together)),
            mean_estimate(wins),
            mean_estimate([part["gold"] for part in by_level]),
            mean_estimate([part["episode_return"] for part in by_level]),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; `from_dict` reads it."""
        levels = []
        for number, level in enumerate(self.levels):
            part = self.episodes[self.episodes["level"] == number]
            facts = {"name": level.name, "group": level.group, "hash": level.hash, "gold_total": level.gold}
            measured = {name: part[name].tolist() for name in _MEASURES}
            recordings = {"recordings": dict(level.recordings)} if level.recordings else {}
            levels.append({**facts, **self.of_level(number).to_dict(), **recordings, "measured": measured})
        return {
            "format": FORMAT,
            "version": VERSION,
            "policy": self.policy,
            "settings": dict(self.settings),
            "total": self.total.to_dict(),
            "groups": {group: self.of_group(group).to_dict() for group in self.groups},
            "levels": levels,
        }

    @classmethod
    def from_dict(cls, data: Any) -> Evaluation:
        """Read what `to_dict` gave.

        Raises:
            EvaluationError: It is something else.
        """
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            raise EvaluationError(f"{shorten(data)} is no evaluation; `npp-env evaluate ... --json` prints one")
        if data.get("version") != VERSION:
            raise EvaluationError(f"the evaluation has version {data.get('version')}; this npp_env reads {VERSION}")
        try:
            levels, parts = [], []
            for number, entry in enumerate(data["levels"]):
                recordings = {str(word): str(path) for word, path in dict(entry.get("recordings", {})).items()}
                facts = (str(entry["name"]), str(entry["group"]), str(entry["hash"]), int(entry["gold_total"]))
                levels.append(LevelInfo(*facts, recordings))
                measured = entry["measured"]
                part = np.zeros(len(measured["outcome"]), EPISODE)
                part["level"], part["number"] = number, np.arange(len(part))
                for name in _MEASURES:
                    part[name] = measured[name]
                parts.append(part)
            episodes = np.concatenate([*parts, np.zeros(0, EPISODE)])
            return cls(str(data["policy"]), tuple(levels), episodes, dict(data["settings"]))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise EvaluationError(f"the evaluation is damaged: {type(error).__name__} {error}") from error
