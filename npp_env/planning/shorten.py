"""Make winning inputs shorter: change them a little, many ways at once, and keep what still wins, sooner."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from npp_env.planning.search import INPUTS
from npp_env.sim.geometry import Geometry
from npp_env.sim.kernel import Batch, LevelHandle
from npp_env.sim.outcome import NinjaState
from npp_env.sim.views import ninja_view

CANDIDATES = 384
_WINDOW_FRAMES = 48
_LONGEST_CHANGE = 24
_CHECK_EVERY_TICKS = 16


class Shortener:
    """Local search over the inputs of one level.

    Args:
        geometry: The compiled level.
        inputs: Inputs that win on their last frame.
        rng: Where the changes come from.

    Attributes:
        inputs: The shortest winning inputs so far.
        ticks: Ticks simulated so far.
    """

    def __init__(self, geometry: Geometry, inputs: NDArray[np.uint8], rng: np.random.Generator) -> None:
        self.inputs = inputs
        self.ticks = 0
        self._rng = rng
        handle = LevelHandle(geometry)
        self._batch = Batch(CANDIDATES, handle.state_bytes)
        for i in range(CANDIDATES):
            self._batch.set_level(i, handle)
        self._walker = Batch(1, handle.state_bytes)
        self._walker.set_level(0, handle)
        self._snapshots = self._play()

    @staticmethod
    def bytes_for(stride: int, frames: int) -> int:
        """Size of the snapshots and the batch."""
        return stride * (frames + CANDIDATES)

    def run(self, ticks: int, deadline: float | None = None) -> NDArray[np.uint8]:
        """Search for about this many ticks; returns the shortest winning inputs."""
        window = len(self.inputs)
        while self.ticks < ticks and len(self.inputs) > 1:
            if deadline is not None and time.monotonic() > deadline:
                break
            # From the end to the start and over again: late changes are cheap to try.
            window -= _WINDOW_FRAMES // 2
            if window <= -_WINDOW_FRAMES // 2:
                window = len(self.inputs)
            self._try_window(max(0, min(window, len(self.inputs) - 2)))
        return self.inputs

    def _play(self) -> NDArray[np.uint8]:
        """States before each frame of the present inputs (frames, stride)."""
        self._walker.restart(0)
        states = np.empty((len(self.inputs), self._walker.states.shape[1]), np.uint8)
        for frame, byte in enumerate(self.inputs.tolist()):
            states[frame] = self._walker.states[0]
            self._walker.advance_one(0, byte)
        self.ticks += len(self.inputs)
        return states

    def _try_window(self, first: int) -> None:
        frames, rng = len(self.inputs), self._rng
        last = min(first + _WINDOW_FRAMES, frames - 1)
        starts = rng.integers(first, last, CANDIDATES) if last > first else np.full(CANDIDATES, first)
        sequences = np.empty((CANDIDATES, frames), np.uint8)
        for i, start in enumerate(starts.tolist()):
            sequences[i] = self._changed(start)
        batch = self._batch
        batch.states[:] = self._snapshots[starts]
        rows = np.arange(CANDIDATES)
        # Every candidate plays to the end of its sequence; whoever starts later waits at its last frame.
        for step in range(frames - first):
            places = starts + step
            batch.advance(sequences[rows, np.minimum(places, frames - 1)], 1, True)
            if step % _CHECK_EVERY_TICKS == 0:
                state = ninja_view(batch.states)["state"]
                if ((state == NinjaState.CELEBRATING) | (state == NinjaState.DEAD)).all():
                    break
        self.ticks += CANDIDATES * (frames - first)
        ninja = ninja_view(batch.states)
        won_at = np.where(ninja["state"] == NinjaState.CELEBRATING, ninja["frame"], frames + 1)
        best = int(np.argmin(won_at))
        # A change that costs nothing is taken too: it may open the way for one that gains.
        if won_at[best] < frames or (won_at[best] == frames and rng.random() < 0.5):
            self.inputs = sequences[best, : won_at[best]].copy()
            self._snapshots = self._play()

    def _changed(self, start: int) -> NDArray[np.uint8]:
        """The present inputs with one random change from `start` on, padded with the last input."""
        rng, old = self._rng, self.inputs
        kind = int(rng.integers(4))
        length = int(rng.integers(1, _LONGEST_CHANGE))
        end = min(start + length, len(old))
        if kind == 0:  # leave frames out
            new = np.concatenate([old[:start], old[end:]])
        elif kind == 1:  # another input for a while
            new = old.copy()
            new[start:end] = rng.choice(INPUTS)
        elif kind == 2:  # another input, and for a shorter while
            kept = int(rng.integers(0, end - start))
            new = np.concatenate([old[:start], np.full(kept, rng.choice(INPUTS)), old[end:]])
        else:  # the input before lasts longer, or the one that follows begins sooner
            source = max(start - 1, 0) if rng.random() < 0.5 else end - 1
            new = old.copy()
            new[start:end] = old[source]
        padded = np.full(len(old), old[-1], np.uint8)
        padded[: len(new)] = new
        return padded
