"""A saved episode: the exact state, the level it belongs to, and the episode's context, in a checked block of bytes.

A restore has two halves. `SavedState.prepare` checks everything, loads what the level needs, and may refuse;
`carry_out` writes. So a call that restores many environments restores all of them or none.
"""

from __future__ import annotations

import struct
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import StateError
from npp_env.observe.state_row import STATE_ROW, STATE_ROW_VERSION, check_row
from npp_env.sim.checksum import CHECKSUM_BYTES, is_sealed, seal
from npp_env.sim.doors import door_configuration
from npp_env.sim.validity import check_state

if TYPE_CHECKING:
    from npp_env.observe.path_features import PathHandle
    from npp_env.runtime.episodes import Episodes
    from npp_env.runtime.level_resources import LevelResources

SAVED_STATE_MAGIC = b"NPPE"
_VERSION = 2
# magic, version, ended, state bytes, level hash, level index, limit, steps, return, key, episode
_HEADER = struct.Struct("<4sHHI16siiidQq")
_STATE_START = _HEADER.size + CHECKSUM_BYTES
_NO_EPISODE = -1
# What the fields of an episode's context may be, from its level's number to whether it has ended.
_LEAST = (-1, 0, 0, -sys.float_info.max, 0, _NO_EPISODE, 0)
_MOST = (2**31 - 1, 2**31 - 1, 2**30, sys.float_info.max, 2**63 - 1, 2**62, 1)


class SavedState(NamedTuple):
    """One environment's episode.

    Attributes:
        level_hash: Hash of its level.
        level_index: Number of the level in its set, -1 for a level from elsewhere.
        limit_frames: Ticks after which the episode is truncated, 0 for never.
        episode_steps: Steps so far.
        episode_return: Sum of rewards so far.
        key: What the environment draws its levels from.
        episode: Number of the episode since the key was drawn; -1 if both are unknown and stay as they are.
        ended: Whether it waits for a restart.
        state: uint8, the exact state; of a row of the `state` layout the whole row.
        is_row: Whether it is such a row.
    """

    level_hash: str
    level_index: int
    limit_frames: int
    episode_steps: int
    episode_return: float
    key: int
    episode: int
    ended: int
    state: NDArray[np.uint8]
    is_row: bool = False

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
            int(slot["key"]),
            int(slot["episode"]),
            int(episodes.engine.ended[i]),
            episodes.engine.states[i, : item.handle.state_bytes].copy(),
        )

    def prepare(self, episodes: Episodes, i: int, item: LevelResources | None = None) -> Restoration:
        """Check everything and load what is needed to put environment i into this state; nothing changes yet.

        Args:
            episodes: The environments.
            i: Which of them.
            item: The level, if it is not to be looked for.

        Raises:
            StateError: It is damaged, no valid state of its level, or of a level that is neither that of the
                environment nor in its set at the saved number.
        """
        for value, low, high, name in zip(self[1:8], _LEAST, _MOST, self._fields[1:8], strict=True):
            if not low <= value <= high:
                raise StateError(f"{name} of the saved state is {value}; it must be {low} to {high}")
        item = self._resources(episodes, i) if item is None else item
        handle, state = item.handle, self.state
        if self.is_row:
            check_row(handle, state)
            state = state[STATE_ROW.itemsize : STATE_ROW.itemsize + handle.state_bytes]
        else:
            check_state(handle, state)
        paths = item.paths_of(door_configuration(state, handle.geometry))
        return Restoration(self, episodes, i, item.prepared(), np.ascontiguousarray(state), paths)

    def _resources(self, episodes: Episodes, i: int) -> LevelResources:
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


class Restoration(NamedTuple):
    """A restore that was checked, and waits to be carried out."""

    saved: SavedState
    episodes: Episodes
    i: int
    item: LevelResources
    state: NDArray[np.uint8]
    paths: PathHandle | None


def carry_out(restorations: list[Restoration]) -> None:
    """Restore all of them, in one call that nothing interrupts."""
    for restoration in restorations[:1]:
        restoration.episodes.engine.restore(restorations)


def write_saved_state(saved: SavedState) -> bytes:
    """The bytes of a saved state, all of them under one checksum."""
    state = saved.state
    header = _HEADER.pack(
        SAVED_STATE_MAGIC,
        _VERSION,
        saved.ended,
        state.size,
        bytes.fromhex(saved.level_hash),
        saved.level_index,
        saved.limit_frames,
        saved.episode_steps,
        saved.episode_return,
        saved.key,
        saved.episode,
    )
    return seal(header, state.tobytes())


def read_saved_state(data: bytes | NDArray[np.uint8]) -> SavedState:
    """Read what `write_saved_state` wrote, or a row of the `state` layout; `SavedState.prepare` checks the numbers.

    Raises:
        StateError: It is foreign, truncated, damaged or of another version.
    """
    if isinstance(data, np.ndarray):
        return _read_row(data)
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise StateError(f"a saved state is bytes or a uint8 row, got {type(data).__name__}")
    data = bytes(data)
    if len(data) < _STATE_START or data[:4] != SAVED_STATE_MAGIC:
        raise StateError(f"not a saved state of an environment ({len(data)} bytes, beginning {data[:4]!r})")
    _, version, ended, size, digest, index, limit, steps, total, key, episode = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise StateError(f"the state has version {version}, this npp_env reads version {_VERSION}")
    if len(data) != _STATE_START + size:
        raise StateError(f"the state is truncated or padded: {len(data)} bytes, want {_STATE_START + size}")
    if not is_sealed(data, _HEADER.size):
        raise StateError("the state is damaged: its checksum does not fit its bytes")
    state = np.frombuffer(data, np.uint8, size, _STATE_START)
    return SavedState(digest.hex(), index, limit, steps, total, key, episode, ended, state)


def _read_row(row: NDArray[Any]) -> SavedState:
    if row.dtype != np.uint8 or row.ndim != 1 or row.size <= STATE_ROW.itemsize:
        raise StateError(
            f"a state row is uint8 with more than {STATE_ROW.itemsize} elements, got {row.dtype} {row.shape}"
        )
    # A copy, so that nobody can change it between the check and the restore.
    row = row.copy()
    header = row[: STATE_ROW.itemsize].view(STATE_ROW)[0]
    if header["version"] != STATE_ROW_VERSION:
        raise StateError(f"the state row has version {header['version']}, this npp_env reads {STATE_ROW_VERSION}")
    index, limit, steps = header[["level_index", "limit_frames", "episode_steps"]].item()
    return SavedState(header["level"].tobytes().hex(), index, limit, steps, 0.0, 0, _NO_EPISODE, 0, row, is_row=True)
