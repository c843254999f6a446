"""Solving a level as a piece of work: the result as bytes, which another process or a file can hold."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from npp_env.level.model import Level
from npp_env.planning.budget import SolveBudget
from npp_env.planning.solver import SolveResult, SolveStatistics, solve
from npp_env.recording import read_recording, write_recording


@dataclass(frozen=True, slots=True)
class SolveWork:
    """Solves levels from their start.

    Args:
        budget: What may be used for each.
        seed: See `solve`.
        threads: See `solve`.
        frame_skip: See `solve`.
    """

    budget: SolveBudget = field(default_factory=SolveBudget)
    seed: int = 0
    threads: int = 1
    frame_skip: int = 1

    def __call__(self, level: Level) -> bytes:
        """The result for a level; `decoded` reads it."""
        result = solve(level, budget=self.budget, seed=self.seed, threads=self.threads, frame_skip=self.frame_skip)
        recording = None if result.recording is None else write_recording(result.recording, embed_level=False)
        data = {
            "status": result.status,
            "statistics": asdict(result.statistics),
            "recording": None if recording is None else base64.b64encode(recording).decode(),
        }
        return json.dumps(data).encode()

    def content(self, level: Level) -> list[Any]:
        """What the result depends on."""
        return [level.hash, asdict(self.budget), self.seed, self.frame_skip]


def decoded(result: bytes, level: Level) -> SolveResult:
    """What `SolveWork` gave for a level."""
    data = json.loads(result)
    recording = None
    if data["recording"] is not None:
        recording = replace(read_recording(base64.b64decode(data["recording"])), level=level)
    inputs = None if recording is None else recording.inputs
    return SolveResult(data["status"], inputs, recording, SolveStatistics(**data["statistics"]))
