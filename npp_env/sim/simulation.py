"""One environment: a level, its state, and what happens to it."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import StateError
from npp_env.level.model import Level
from npp_env.sim.checksum import CHECKSUM_BYTES, is_sealed, seal
from npp_env.sim.geometry import Geometry, compile_level
from npp_env.sim.kernel import Batch, LevelHandle
from npp_env.sim.outcome import outcome_of
from npp_env.sim.structs import INPUT_JUMP, INPUT_LEFT, INPUT_RIGHT
from npp_env.sim.validity import check_state
from npp_env.sim.views import flags_view, movers_view, ninja_view

STATE_VERSION = 2
_STATE_HEADER = struct.Struct("<4sHHI16s4x")  # magic, version, reserved, bytes, level hash
_STATE_MAGIC = b"NPPS"

JUMP, RIGHT, LEFT = INPUT_JUMP, INPUT_RIGHT, INPUT_LEFT


def pack_state(level_hash: str, state: NDArray[np.uint8]) -> bytes:
    """A state with a header that says which level and version it belongs to."""
    header = _STATE_HEADER.pack(_STATE_MAGIC, STATE_VERSION, 0, state.size, bytes.fromhex(level_hash))
    return seal(header, state.tobytes())


def unpack_state(blob: bytes, level_hash: str, state_bytes: int) -> NDArray[np.uint8]:
    """The bytes of a state, checked; a read-only view of the blob.

    Raises:
        StateError: The blob is foreign, truncated, of another version or of another level.
    """
    if not isinstance(blob, (bytes, bytearray, memoryview)):
        raise StateError(f"a saved state is bytes, got {type(blob).__name__}")
    blob = bytes(blob)
    if len(blob) < _STATE_HEADER.size or blob[:4] != _STATE_MAGIC:
        raise StateError(f"not a saved state of npp_env ({len(blob)} bytes, beginning {blob[:4]!r})")
    _, version, _, size, digest = _STATE_HEADER.unpack_from(blob)
    if version != STATE_VERSION:
        raise StateError(f"the state has version {version}, this npp_env reads version {STATE_VERSION}")
    if digest.hex() != level_hash:
        raise StateError(f"the state belongs to level {digest.hex()}, this is level {level_hash}")
    start = _STATE_HEADER.size + CHECKSUM_BYTES
    if size != state_bytes or len(blob) != start + size:
        raise StateError(f"the state is truncated or padded: {len(blob)} bytes, want {start + state_bytes}")
    if not is_sealed(blob, _STATE_HEADER.size):
        raise StateError("the state is damaged: its checksum does not fit its bytes")
    return np.frombuffer(blob, np.uint8, size, start)


class Simulation:
    """A ninja in a level, one tick of 1/60 s at a time.

    Args:
        level: The level.
        geometry: Its compiled form, if there is one already.

    Example:
        >>> from npp_env.level.shipped import load_shipped
        >>> simulation = Simulation(load_shipped("first_steps/walk"))
        >>> simulation.advance(RIGHT, ticks=10)
        10
        >>> simulation.outcome
        'alive'
    """

    def __init__(self, level: Level, geometry: Geometry | None = None) -> None:
        self.level = level
        self.geometry = compile_level(level) if geometry is None else geometry
        self.handle = LevelHandle(self.geometry)
        self._batch = Batch(1, self.handle.state_bytes)
        self._batch.set_level(0, self.handle)
        self._state: NDArray[np.uint8] = self._batch.states[0]
        self._ninja = ninja_view(self._state)

    def advance(self, byte: int, ticks: int = 1, *, stop: bool = True) -> int:
        """Advance under one input byte (bit 0 jump, bit 1 right, bit 2 left).

        Args:
            byte: The input.
            ticks: How many ticks.
            stop: Go no further than the tick of death or victory.

        Returns:
            The number of ticks carried out.

        Raises:
            NppError: ticks is negative, or more than a million; or another thread is inside.
        """
        return int(self._batch.advance_one(0, byte, ticks, stop))

    def reset(self) -> None:
        """Back to the start."""
        self._batch.restart(0)

    @property
    def state(self) -> NDArray[np.uint8]:
        """The bytes of the state (state_bytes,); the simulation's own memory."""
        return self._state

    @property
    def ninja(self) -> Any:
        """The ninja as a structured scalar (see `npp_env.sim.structs.NINJA`); a view."""
        return self._ninja

    @property
    def movers(self) -> NDArray[Any]:
        """The moving entities (see `npp_env.sim.structs.MOVER`); a view."""
        return movers_view(self.state, self.geometry)

    @property
    def flags(self) -> NDArray[np.uint8]:
        """The flags of the entities that do not move; a view."""
        return flags_view(self.state, self.geometry)

    @property
    def outcome(self) -> str:
        """`won`, `died` or `alive`."""
        return outcome_of(int(self._ninja["state"])).label

    def get_state(self) -> bytes:
        """A snapshot: a copy of the state's bytes behind a header."""
        return self._batch.turn.run(pack_state, self.level.hash, self.state)

    def set_state(self, blob: bytes) -> None:
        """Restore a snapshot of the same level.

        Raises:
            StateError: The blob is foreign, truncated, of another version or of another level.
        """
        state = unpack_state(blob, self.level.hash, self.handle.state_bytes)
        check_state(self.handle, state)
        self._batch.turn.run(np.copyto, self.state, state)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.level, self.get_state())


def _restore(cls: type[Simulation], level: Level, blob: bytes) -> Simulation:
    """Unpickle: the level and the bytes of the state say everything; the compiled level is made anew."""
    simulation = cls(level)
    simulation.set_state(blob)
    return simulation
