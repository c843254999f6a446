"""Play a recording and report how it ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import RecordingError
from npp_env.level.model import Level
from npp_env.recording.model import Recording, input_runs
from npp_env.sim.outcome import Outcome, outcome_of
from npp_env.sim.simulation import Simulation

TICKS_PER_SECOND = 60
START_FRAMES = 90 * TICKS_PER_SECOND
"""An episode of the game begins with 90 seconds on its clock."""
GOLD_FRAMES = 2 * TICKS_PER_SECOND
"""Each piece of gold adds two seconds to the clock."""


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """What happened, tick by tick; fresh arrays."""

    ninja: NDArray[np.float64]  # (T, 4): x, y, xspeed, yspeed after each tick
    state: NDArray[np.int8]  # (T,): 0 stand, 1 run, 2 skid, 3 rise, 4 fall, 5 wall slide, 6 dead, 8 celebrating


@dataclass(frozen=True, slots=True, eq=False)
class ReplayResult:
    """How a recording ends.

    Attributes:
        outcome: "won", "died" or "alive" (all inputs played, neither dead nor at the exit).
        frames: Ticks played; the outcome came with the last of them.
        gold: Gold collected.
        score: What the clock of the game shows at the exit, in seconds: 90, plus 2 for each gold, less the
            time taken. The winning tick counts only up to the moment in which the exit is met. 0 unless won.
        unused_inputs: Inputs behind the end. A recording of the game has none.
        trace: The trajectory, if it was asked for.
    """

    outcome: str
    frames: int
    gold: int
    score: float
    unused_inputs: int
    trace: Trace | None = None


def replay(recording: Recording, level: Level | None = None, *, trace: bool = False) -> ReplayResult:
    """Play a recording from the start of its level.

    Stops after the tick in which the ninja is dead or celebrating, or when the inputs are used up.

    Args:
        recording: The inputs.
        level: The level, if the recording does not hold it; otherwise it must be the same one.
        trace: Keep the trajectory too.

    Raises:
        RecordingError: The level is missing, or is not the one that the recording belongs to.

    Example:
        >>> from npp_env.level.shipped import load_shipped
        >>> level = load_shipped("first_steps/walk")
        >>> run = Recording.of_level(level, np.full(30, 2, np.uint8))
        >>> result = replay(run, trace=True)
        >>> result.outcome, result.frames, result.trace.ninja.shape
        ('alive', 30, (30, 4))
    """
    simulation = Simulation(_level_of(recording, level))
    if trace:
        tracked = _play_and_trace(simulation, recording.inputs)
    else:
        tracked = None
        for byte, ticks in input_runs(recording.inputs):
            if simulation.advance(byte, ticks) < ticks:
                break
    ninja = simulation.ninja
    frames = int(ninja["frame"])
    gold = int(ninja["gold"])
    won = simulation.outcome == "won"
    return ReplayResult(
        outcome=simulation.outcome,
        frames=frames,
        gold=gold,
        score=score_seconds(frames, gold, float(ninja["fraction"])) if won else 0.0,
        unused_inputs=len(recording.inputs) - frames,
        trace=tracked,
    )


def score_seconds(frames: int, gold: int, fraction: float) -> float:
    """Clock at the exit, in seconds.

    Args:
        frames: Ticks until the exit was met, the winning one included.
        gold: Gold collected.
        fraction: Of the winning tick, the part before the exit was met.

    Example:
        >>> score_seconds(60, 1, 1.0)
        91.0
    """
    return (START_FRAMES + GOLD_FRAMES * gold - frames + (1 - fraction)) / TICKS_PER_SECOND


def _level_of(recording: Recording, level: Level | None) -> Level:
    if level is None:
        level = recording.level
    if level is None:
        raise RecordingError(f"the recording does not hold its level; give the level with hash {recording.level_hash}")
    if level.hash != recording.level_hash:
        raise RecordingError(
            f"the recording belongs to level {recording.level_hash}, but the level given is {level.hash} "
            f"({level.name!r}); give the level that it was made on"
        )
    return level


def _play_and_trace(simulation: Simulation, inputs: NDArray[np.uint8]) -> Trace:
    positions = np.empty((len(inputs), 4), np.float64)
    states = np.empty(len(inputs), np.int8)
    ninja = simulation.ninja
    # The first four fields of a state are x, y and the velocity: one copy takes them all.
    body = simulation.state[:32].view(np.float64)
    done = 0
    for byte in inputs.tolist():
        simulation.advance(byte)
        positions[done] = body
        states[done] = ninja["state"]
        done += 1
        if outcome_of(int(states[done - 1])) is not Outcome.RUNNING:
            break
    return Trace(positions[:done].copy(), states[:done].copy())
