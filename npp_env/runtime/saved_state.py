"""A saved episode: the exact state, the level it belongs to, and the episode's context, in a checked block of bytes."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import StateError
from npp_env.observe.state_row import STATE_ROW, STATE_ROW_VERSION

if TYPE_CHECKING:
    from npp_env.runtime.episodes import Episodes
    from npp_env.runtime.level_resources import LevelResources

_MAGIC = b"NPPE"
_VERSION = 1
# magic, version, reserved, state bytes, level hash, level index, limit, steps, return, key, episode, ended, CRC-32
_HEADER = struct.Struct("<4sHHI16siiidQqB3xI")


@dataclass(frozen=True, slots=True)
class SavedState:
    """One environment's episode; the fields between hash and state stand in this order in the bytes."""

    level_hash: str
    level_index: int
    limit_frames: int
    episode_steps: int
    episode_return: float
    key: int
    episode: int
    ended: bool
    state: NDArray[np.uint8]

    @classmethod
    def of(cls, episodes: Episodes, i: int) -> SavedState:
        """Save environment i."""
        item = episodes.resources_of(i)
        slot = episodes.engine.slots[i]
        return cls(
            item.level.hash,
            item.index,
            int(slot["limit_frames"]),
            int(slot["episode_steps"]),
            float(slot["episode_return"]),
            int(episodes.keys[i]),
            int(episodes.episodes[i]),
            bool(slot["ended"]),
            episodes.engine.states[i, : item.handle.state_bytes].copy(),
        )

    def restore(self, episodes: Episodes, i: int, item: LevelResources | None = None) -> None:
        """Put environment i into this state; nothing changes if the level does not fit.

        Raises:
            StateError: The level is neither that of the environment nor in its set at the saved number.
        """
        item = self.resources(episodes, i) if item is None else item
        size = item.handle.state_bytes
        if self.state.size < size or self.state[size:].any():
            raise StateError(f"the state has {self.state.size} bytes, its level needs {size}")
        episodes.restore(i, item, self.state[:size])
        slots = episodes.engine.slots
        slots["limit_frames"][i] = self.limit_frames
        slots["episode_steps"][i] = self.episode_steps
        slots["episode_return"][i] = self.episode_return
        slots["ended"][i] = self.ended
        slots["fresh"][i] = 0
        if self.episode >= 0:
            episodes.keys[i] = self.key
            episodes.episodes[i] = self.episode

    def resources(self, episodes: Episodes, i: int) -> LevelResources:
        """The level of this state, as environment i has it.

        Raises:
            StateError: The level is neither that of the environment nor in its set at the saved number.
        """
        present = episodes.present(i)
        if present is not None and present.level.hash == self.level_hash:
            return present
        if 0 <= self.level_index < episodes.num_levels:
            item = episodes.resources(self.level_index)
            if item.level.hash == self.level_hash:
                return item
        raise StateError(
            f"the state belongs to level {self.level_hash}, which is neither the present one nor number "
            f"{self.level_index} of the level set; reset to that level first"
        )


def write_saved_state(saved: SavedState) -> bytes:
    """The bytes of a saved state."""
    state = saved.state.tobytes()
    level, *context = (getattr(saved, entry.name) for entry in fields(saved)[:-1])
    return _HEADER.pack(_MAGIC, _VERSION, 0, len(state), bytes.fromhex(level), *context, zlib.crc32(state)) + state


def read_saved_state(data: bytes | NDArray[np.uint8]) -> SavedState:
    """Read what `write_saved_state` wrote, or a row of the `state` layout.

    Raises:
        StateError: It is foreign, truncated or of another version.
    """
    if isinstance(data, np.ndarray):
        return _read_row(data)
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise StateError(f"a saved state is bytes or a uint8 row, got {type(data).__name__}")
    data = bytes(data)
    if len(data) < _HEADER.size or data[:4] != _MAGIC:
        raise StateError(f"not a saved state of an environment ({len(data)} bytes, beginning {data[:4]!r})")
    _, version, _, size, digest, index, limit, steps, total, key, episode, ended, checksum = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise StateError(f"the state has version {version}, this npp_env reads version {_VERSION}")
    if len(data) != _HEADER.size + size:
        raise StateError(f"the state is truncated or padded: {len(data)} bytes, want {_HEADER.size + size}")
    if zlib.crc32(data[_HEADER.size :]) != checksum:
        raise StateError("the state is damaged: its checksum does not fit its bytes")
    state = np.frombuffer(data, np.uint8, size, _HEADER.size)
    return SavedState(digest.hex(), index, limit, steps, total, key, episode, bool(ended), state)


def _read_row(row: NDArray[Any]) -> SavedState:
    if row.dtype != np.uint8 or row.ndim != 1 or row.size <= STATE_ROW.itemsize:
        raise StateError(
            f"a state row is uint8 with more than {STATE_ROW.itemsize} elements, got {row.dtype} {row.shape}"
        )
    header = np.ascontiguousarray(row[: STATE_ROW.itemsize]).view(STATE_ROW)[0]
    if header["version"] != STATE_ROW_VERSION:
        raise StateError(f"the state row has version {header['version']}, this npp_env reads {STATE_ROW_VERSION}")
    index, limit, steps = header[["level_index", "limit_frames", "episode_steps"]].item()
    state = np.ascontiguousarray(row[STATE_ROW.itemsize :])
    return SavedState(header["level"].tobytes().hex(), index, limit, steps, 0.0, 0, -1, False, state)
