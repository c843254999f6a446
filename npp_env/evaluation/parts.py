"""An evaluation in parts, some levels each, that others can play; put together they are one evaluation again."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from npp_env.evaluation.evaluate import EvaluationOptions, KeptEpisodes, evaluate
from npp_env.evaluation.policy import Policy
from npp_env.evaluation.scores import EPISODE, Evaluation
from npp_env.level.level_set import LevelSet
from npp_env.level.model import Level
from npp_env.recording import Recording, read_recording, write_recording


@dataclass(frozen=True, slots=True)
class Part:
    """Levels that are played together.

    Attributes:
        levels: The levels themselves: nobody else needs their files.
        names: What their set calls them.
        seed: What all chance of this part comes from.
    """

    levels: tuple[Level, ...]
    names: tuple[str, ...]
    seed: int


def part_of(levels: LevelSet, first: int, size: int, seed: int) -> Part:
    """The part of a finite set that begins with level number `first`.

    Args:
        levels: All levels.
        first: The first level of the part.
        size: How many levels it has, at most.
        seed: That of the whole evaluation; the first part has the same, all others have their own.
    """
    numbers = range(first, min(first + size, len(levels)))
    if first:
        seed = int(np.random.SeedSequence([seed, first]).generate_state(1, np.uint64)[0] >> 1)
    return Part(tuple(levels[n] for n in numbers), tuple(levels.name_of(n) for n in numbers), seed)


def evaluate_part(policy: Policy, part: Part, options: EvaluationOptions, name: str) -> bytes:
    """Play a part; `decode_part` reads what comes out. See `evaluate`."""
    levels = LevelSet(part.levels, part.names)
    evaluation, kept = evaluate(policy, levels, replace(options, seed=part.seed), name=name)
    recordings = [[_encoded(episodes.best), _encoded(episodes.worst)] for episodes in kept]
    return json.dumps({"evaluation": evaluation.to_dict(), "recordings": recordings}).encode()


def _encoded(recording: Recording | None) -> str | None:
    return None if recording is None else base64.b64encode(write_recording(recording, embed_level=False)).decode()


def _decoded(text: str | None, level: Level) -> Recording | None:
    return None if text is None else replace(read_recording(base64.b64decode(text)), level=level)


def decode_part(result: bytes, levels: Sequence[Level]) -> tuple[Evaluation, list[KeptEpisodes]]:
    """What `evaluate_part` gave for these levels."""
    data = json.loads(result)
    kept = []
    for level, texts in zip(levels, data["recordings"], strict=False):
        best, worst = (_decoded(text, level) for text in texts)
        kept.append(KeptEpisodes(best, worst))
    return Evaluation.from_dict(data["evaluation"]), kept


def join_parts(parts: Sequence[Evaluation], size: int) -> Evaluation:
    """One evaluation of all levels.

    Args:
        parts: In order; the first has the seed of the whole.
        size: Levels of a part; the settings tell it where there are several.
    """
    first = parts[0]
    rows, before = [np.zeros(0, EPISODE)], 0
    for part in parts:
        moved = part.episodes.copy()
        moved["level"] += before
        rows.append(moved)
        before += len(part.levels)
    settings = {**first.settings, "levels_per_part": size} if len(parts) > 1 else first.settings
    infos = tuple(info for part in parts for info in part.levels)
    return Evaluation(first.policy, infos, np.concatenate(rows), settings)
