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
        frame_skip: Ticks that every input lasts, but for the last one; that of the inputs as well.
        start: Where they begin, uint8 (state_bytes,); the start of the level if None.

    Attributes:
        ticks: Ticks simulated so far.
    """

    def __init__(
        self,
        geometry: Geometry,
        inputs: NDArray[np.uint8],
        rng: np.random.Generator,
        frame_skip: int = 1,
        start: NDArray[np.uint8] | None = None,
    ) -> None:
        self.ticks = 0
        self._steps: NDArray[np.uint8] = inputs[::frame_skip]
        self._length = len(inputs)
        self._frame_skip = frame_skip
        self._rng = rng
        self._start = geometry["initial"] if start is None else start
        self._first_frame = int(ninja_view(self._start)["frame"])
        handle = LevelHandle(geometry)
        self._batch = Batch(CANDIDATES, handle.state_bytes)
        self._batch.set_levels(handle)
        self._walker = Batch(1, handle.state_bytes)
        self._walker.set_level(0, handle)
        self._snapshots = self._play()

    @staticmethod
    def bytes_for(stride: int, steps: int) -> int:
        """Size of the snapshots and the batch."""
        return stride * (steps + CANDIDATES)

    @property
    def inputs(self) -> NDArray[np.uint8]:
        """The shortest winning inputs so far, one a tick; a fresh array."""
        return np.repeat(self._steps, self._frame_skip)[: self._length]

    def run(self, ticks: int, deadline: float | None = None) -> NDArray[np.uint8]:
        """Search for about this many ticks; returns the shortest winning inputs."""
        half_window = max(1, _WINDOW_FRAMES // 2 // self._frame_skip)
        window = len(self._steps)
        while self.ticks < ticks and len(self._steps) > 1:
            if deadline is not None and time.monotonic() > deadline:
                break
            # From the end to the start and over again: late changes are cheap to try.
            window -= half_window
            if window <= -half_window:
                window = len(self._steps)
            self._try_window(max(0, min(window, len(self._steps) - 2)), 2 * half_window)
        return self.inputs

    def _play(self) -> NDArray[np.uint8]:
        """States before each step of the present inputs (steps, stride)."""
        self._walker.states[0] = self._start
        states = np.empty((len(self._steps), self._walker.states.shape[1]), np.uint8)
        for step, byte in enumerate(self._steps.tolist()):
            states[step] = self._walker.states[0]
            self._walker.advance_one(0, byte, self._frame_skip)
        self.ticks += self._length
        return states

    def _try_window(self, first: int, length: int) -> None:
        steps, rng = len(self._steps), self._rng
        last = min(first + length, steps - 1)
        starts = rng.integers(first, last, CANDIDATES) if last > first else np.full(CANDIDATES, first)
        sequences = np.empty((CANDIDATES, steps), np.uint8)
        for i, start in enumerate(starts.tolist()):
            sequences[i] = self._changed(start)
        batch = self._batch
        batch.states[:] = self._snapshots[starts]
        rows = np.arange(CANDIDATES)
        check_every = max(1, _CHECK_EVERY_TICKS // self._frame_skip)
        # Every candidate plays to the end of its sequence; whoever starts later waits at its last step.
        for step in range(steps - first):
            places = starts + step
            batch.advance(sequences[rows, np.minimum(places, steps - 1)], self._frame_skip, True)
            if step % check_every == 0:
                state = ninja_view(batch.states)["state"]
                if ((state == NinjaState.CELEBRATING) | (state == NinjaState.DEAD)).all():
                    break
        self.ticks += CANDIDATES * (steps - first) * self._frame_skip
        ninja = ninja_view(batch.states)
        lengths = ninja["frame"] - self._first_frame
        won_at = np.where(ninja["state"] == NinjaState.CELEBRATING, lengths, self._length + 1)
        best = int(np.argmin(won_at))
        # A change that costs nothing is taken too: it may open the way for one that gains.
        if won_at[best] < self._length or (won_at[best] == self._length and rng.random() < 0.5):
            self._length = int(won_at[best])
            self._steps = sequences[best, : -(-self._length // self._frame_skip)].copy()
            self._snapshots = self._play()

    def _changed(self, start: int) -> NDArray[np.uint8]:
        """The present steps with one random change from `start` on, padded with the last one."""
        rng, old = self._rng, self._steps
        kind = int(rng.integers(4))
        length = int(rng.integers(1, max(2, _LONGEST_CHANGE // self._frame_skip)))
        end = min(start + length, len(old))
        if kind == 0:  # leave some out
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
