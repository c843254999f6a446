"""What was done in the present episode of every environment, so that it can be kept as a recording."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import RecordingError
from npp_env.recording.model import MAX_FRAMES, Recording
from npp_env.runtime.episode_rows import INPUT_OF_ACTION
from npp_env.runtime.episodes import Episodes
from npp_env.sim.outcome import outcome_of

_FIRST_STEPS = 64
_INPUTS = np.array(INPUT_OF_ACTION, np.uint8)


def recording_of(episodes: Episodes, i: int, actions: Sequence[int] | NDArray[np.uint8]) -> Recording:
    """The episode of environment i as a recording that replays to the very state it is in.

    Args:
        episodes: The environments.
        i: Which of them.
        actions: Those of the episode so far.

    Raises:
        RecordingError: There were others: the episode did not begin at its reset.
    """
    if episodes.present(i) is None:
        raise RecordingError("there is no episode to record; call reset() first")
    item, engine = episodes.resources_of(i), episodes.engine
    frames, state, gold, _, _, _, steps = engine.status(i)
    if steps != len(actions):
        raise RecordingError(
            f"of {steps} steps of this episode {len(actions)} are known: it was restored with set_state, began "
            f"before start_recording(), or is longer than a recording can be; record an episode from its reset on"
        )
    inputs = np.repeat(_INPUTS[np.asarray(actions, np.int64)], episodes.config.frame_skip)[:frames]
    return Recording.of_level(item.level, inputs, outcome_of(state).label, frames, gold)


class InputLog:
    """The actions of many environments, kept for as long as their episodes last.

    A row of a ring for each step of all environments; it grows to the steps of the longest episode.

    Args:
        episodes: The environments.
        contents: What another log of such environments held.

    Attributes:
        finals: The last episode of each environment that ended, None before the first.
    """

    def __init__(self, episodes: Episodes, contents: dict[str, Any] | None = None) -> None:
        count = episodes.engine.num_envs
        self._episodes = episodes
        self._most = MAX_FRAMES // episodes.config.frame_skip
        self._rows = np.zeros((_FIRST_STEPS, count), np.uint8)
        self._step = 0
        self._starts = np.zeros(count, np.int64)
        self._floor = 0
        self.finals: list[Recording | None] = [None] * count
        self.__dict__.update(contents or {})

    def contents(self) -> dict[str, Any]:
        """All that the log holds, for a copy of the environments."""
        return {name: value for name, value in self.__dict__.items() if name != "_episodes"}

    def begin(self, indices: NDArray[np.int64] | Sequence[int]) -> None:
        """Their episodes begin here."""
        self._starts[indices] = self._step

    def note(self, restarted: NDArray[np.int64] | None) -> None:
        """A step was made; of those that began an episode in it the action counts for nothing."""
        if self._step - self._floor >= len(self._rows):
            self._make_room()
        engine = self._episodes.engine
        self._rows[self._step % len(self._rows)] = engine.actions
        self._step += 1
        if restarted is not None:
            self.begin(restarted)
        ended = engine.to_restart()
        for i in () if ended is None else ended.tolist():
            known = len(self.actions(i)) == engine.status(i)[-1]
            self.finals[i] = self.recording(i) if known else None

    def actions(self, i: int) -> NDArray[np.uint8]:
        """Actions of the present episode of environment i; a fresh array."""
        places = np.arange(self._starts[i], self._step) % len(self._rows)
        found: NDArray[np.uint8] = self._rows[places, i]
        return found

    def recording(self, i: int) -> Recording:
        """See `recording_of`."""
        return recording_of(self._episodes, i, self.actions(i))

    def final(self, i: int) -> Recording:
        """The last episode of environment i that ended.

        Raises:
            RecordingError: There is none, or it did not begin at its reset.
        """
        found = self.finals[i]
        if found is None:
            raise RecordingError(f"no episode of environment {i} has ended that was played from a reset on")
        return found

    def _make_room(self) -> None:
        # What is longer than a recording can be is forgotten, as its beginning.
        np.maximum(self._starts, self._step - self._most, out=self._starts)
        self._floor = int(self._starts.min())
        kept = self._step - self._floor
        if kept < len(self._rows):
            return
        rows = np.zeros((2 * len(self._rows), self._rows.shape[1]), np.uint8)
        places = np.arange(self._floor, self._step)
        rows[places % len(rows)] = self._rows[places % len(self._rows)]
        self._rows = rows
