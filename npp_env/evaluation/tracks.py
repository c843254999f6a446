"""Where ninjas were: the tracks of episodes, from recordings, from rollouts of states, or from running environments."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import RecordingError, StateError
from npp_env.level.level_set import LevelSet
from npp_env.level.model import Level
from npp_env.observe.state_row import STATE_ROW, STATE_ROW_VERSION, check_row
from npp_env.recording import Recording
from npp_env.recording.replay import replay
from npp_env.sim.geometry import geometry_of
from npp_env.sim.kernel import LevelHandle
from npp_env.sim.outcome import outcome_of
from npp_env.sim.structs import NINJA
from npp_env.sim.views import ninja_view
from npp_env.vector import NppVectorEnv

_LEAST_BYTES = STATE_ROW.itemsize + NINJA.itemsize


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """Where the ninja was in one episode.

    Attributes:
        level: The level.
        places: float32 (n, 2), x and y in pixels, in order.
        frames: int32 (n,), the tick of each place; every tick in recordings, every step in rollouts.
        outcome: `won`, `died` or `alive`.
    """

    level: Level
    places: NDArray[np.float32]
    frames: NDArray[np.int32]
    outcome: str

    @property
    def speeds(self) -> NDArray[np.float32]:
        """Pixels per tick from each place to the next; a fresh array (n - 1,)."""
        moves = np.hypot(*np.diff(self.places, axis=0).T)
        speeds: NDArray[np.float32] = (moves / np.maximum(np.diff(self.frames), 1)).astype(np.float32)
        return speeds


def track_of(recording: Recording) -> Track:
    """The track of a recording, tick by tick.

    Raises:
        RecordingError: It holds no level.
    """
    if recording.level is None:
        raise RecordingError(f"level {recording.level_hash} is not in the recording; give one that holds it")
    result = replay(recording, trace=True)
    assert result.trace is not None
    places = np.concatenate([[recording.level.spawn], result.trace.ninja[:, :2]]).astype(np.float32)
    return Track(recording.level, places, np.arange(len(places), dtype=np.int32), result.outcome)


def tracks_of_environment(env: NppVectorEnv) -> list[Track]:
    """The tracks of the last episodes that ended and of those under way; needs `env.start_recording()` before.

    Raises:
        RecordingError: Inputs are not kept.
    """
    found: list[Recording] = []
    for i in range(env.num_envs):
        try:
            found.append(env.final_recording(i))
        except RecordingError:
            if i == 0:
                env.recording(i)  # says if nothing is kept at all
        recording = env.recording(i)
        if recording.frames and recording not in found[-1:]:
            found.append(recording)
    return [track_of(recording) for recording in found]


def tracks_of_states(rows: NDArray[np.uint8], levels: Any) -> list[Track]:
    """The tracks in a rollout of state rows (`layout="state"`).

    Args:
        rows: uint8 (steps, num_envs, row_bytes), or (steps, row_bytes) of one environment.
        levels: The levels that the rows number.

    Raises:
        StateError: They are no such rows, damaged, or of other levels.
    """
    rows = np.asarray(rows)
    if rows.ndim == 2:
        rows = rows[:, None]
    if rows.ndim != 3 or rows.dtype != np.uint8 or rows.shape[2] < _LEAST_BYTES or not rows.size:
        raise StateError(f"rows are {rows.dtype} {rows.shape}; they must be uint8 (steps, num_envs, row_bytes)")
    finder = _Levels(LevelSet.parse(levels))
    tracks = []
    for i in range(rows.shape[1]):
        own = np.ascontiguousarray(rows[:, i])
        header = own[:, : STATE_ROW.itemsize].view(STATE_ROW)[:, 0]
        ninja = ninja_view(own[:, STATE_ROW.itemsize :])
        for part in _episodes(header, ninja):
            level = finder.checked(own[part])
            places = np.stack([ninja["x"][part], ninja["y"][part]], axis=1).astype(np.float32)
            outcome = outcome_of(int(ninja["state"][part][-1])).label
            tracks.append(Track(level, places, ninja["frame"][part].astype(np.int32), outcome))
    return tracks


def _episodes(header: NDArray[Any], ninja: NDArray[Any]) -> Iterable[slice]:
    """The parts of one environment's rows that belong together."""
    if (header["version"] != STATE_ROW_VERSION).any():
        raise StateError(f"a row has not version {STATE_ROW_VERSION} of the state layout")
    same_level = (np.diff(header["level_index"]) == 0) & (header["level"][1:] == header["level"][:-1]).all(axis=1)
    goes_on = same_level & (np.diff(ninja["frame"]) >= 0) & (np.diff(header["episode_steps"]) > 0)
    starts = [0, *(np.flatnonzero(~goes_on) + 1).tolist(), len(header)]
    return [slice(first, last) for first, last in itertools.pairwise(starts)]


class _Levels:
    """The levels of a rollout, with what checks their states."""

    def __init__(self, levels: LevelSet) -> None:
        self._levels = levels
        self._handles: dict[int, LevelHandle] = {}

    def checked(self, rows: NDArray[np.uint8]) -> Level:
        """The level of rows that belong together, after a check of each."""
        header = rows[0, : STATE_ROW.itemsize].view(STATE_ROW)[0]
        number = int(header["level_index"])
        if number < 0 or (self._levels.is_finite and number >= len(self._levels)):
            raise StateError(f"a row is of level number {number}, which the set does not have")
        level: Level = self._levels[number]
        if header["level"].tobytes().hex() != level.hash:
            raise StateError(f"a row is of another level than number {number} of the set, {level.name!r}")
        if number not in self._handles:
            self._handles[number] = LevelHandle(geometry_of(level))
        for row in rows:
            check_row(self._handles[number], np.ascontiguousarray(row))
        return level
