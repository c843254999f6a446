"""The inputs of one attempt at a level."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import RecordingError
from npp_env.level.model import Level

MAX_FRAMES = 1 << 20
"""Nearly five hours of play."""
DEMO_HEADER_BYTES = 30
OUTCOMES = (None, "won", "died", "alive")

_HASH = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """The inputs of one attempt at a level, and how it ended.

    Attributes:
        level: The level, if it is at hand.
        level_hash: `Level.hash` of the level that the inputs belong to.
        inputs: One byte a frame: bit 0 jump, bit 1 right, bit 2 left; attract files also use bit 3, reset.
        outcome: "won", "died", "alive", or None if unknown.
        frames: Number of frames played until the outcome, if known.
        gold: Gold collected, if known.
        demo_header: The 30 bytes in front of the inputs of an attract file, verbatim.

    Raises:
        RecordingError: A part does not fit.
    """

    level: Level | None
    level_hash: str
    inputs: NDArray[np.uint8]  # (T,), read-only
    outcome: str | None = None
    frames: int | None = None
    gold: int | None = None
    demo_header: bytes | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.level_hash, str) or not _HASH.fullmatch(self.level_hash):
            raise RecordingError(f"level hash is {self.level_hash!r}; it must be 32 hex digits, as in Level.hash")
        if self.level is not None and self.level.hash != self.level_hash:
            raise RecordingError(
                f"the recording belongs to level {self.level_hash}, but the level given is {self.level.hash}"
            )
        if self.outcome not in OUTCOMES:
            raise RecordingError(f"outcome is {self.outcome!r}; it must be one of {OUTCOMES}")
        for name, value in (("frames", self.frames), ("gold", self.gold)):
            if value is not None and not 0 <= value < 1 << 32:
                raise RecordingError(f"{name} is {value}; it must lie in 0..{(1 << 32) - 1}")
        if self.demo_header is not None and len(self.demo_header) != DEMO_HEADER_BYTES:
            raise RecordingError(f"the demo header has {len(self.demo_header)} bytes; it must have {DEMO_HEADER_BYTES}")
        object.__setattr__(self, "inputs", _freeze_inputs(self.inputs))

    @classmethod
    def of_level(
        cls,
        level: Level,
        inputs: NDArray[np.uint8],
        outcome: str | None = None,
        frames: int | None = None,
        gold: int | None = None,
    ) -> Recording:
        """Make a recording of inputs played on a level."""
        return cls(level, level.hash, inputs, outcome, frames, gold)

    def _key(self) -> tuple[object, ...]:
        inputs = self.inputs.tobytes()
        return self.level_hash, inputs, self.outcome, self.frames, self.gold, self.demo_header

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Recording) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[object, ...]:
        parts = (
            self.level,
            self.level_hash,
            self.inputs,
            self.outcome,
            self.frames,
            self.gold,
            self.demo_header,
        )
        return Recording, parts


def _freeze_inputs(inputs: NDArray[np.uint8]) -> NDArray[np.uint8]:
    array = np.asarray(inputs)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise RecordingError(f"inputs have shape {array.shape} of {array.dtype}; they must be one integer a frame")
    if len(array) > MAX_FRAMES:
        raise RecordingError(f"{len(array)} inputs; at most {MAX_FRAMES} are allowed")
    bad = np.flatnonzero((array < 0) | (array > 15))
    if len(bad):
        raise RecordingError(f"input {bad[0]} is {array[bad[0]]}; it must lie in 0..15")
    return np.frombuffer(array.astype(np.uint8).tobytes(), dtype=np.uint8)


def input_runs(inputs: NDArray[np.uint8]) -> Iterator[tuple[int, int]]:
    """The inputs as (byte, how many times in a row)."""
    starts = np.flatnonzero(np.diff(inputs, prepend=np.uint8(255)))
    lengths = np.diff(starts, append=len(inputs))
    yield from zip(inputs[starts].tolist(), lengths.tolist(), strict=True)
