"""Packed storage of dense observations: no padding, and what is static per level is kept once.

For rollouts of hand-written training loops; `npp_env.integrations.sb3_buffers` puts it under Stable-Baselines3. It is
lossless whatever the arrays hold: what is left out is compared byte by byte with what is kept, never assumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from npp_env.errors import NppError
from npp_env.observe.spec import ROWS, ObservationRow, Varies

CHUNK_BYTES = 1 << 20
ALIGNMENT = 8


class RepeatedRows:
    """Rows of bytes of which few are different: each distinct one is kept once, without the zeros at its end.

    Args:
        positions: How many rows.
        lanes: How many environments; a row is first compared with the previous one of its lane.
    """

    def __init__(self, positions: int, lanes: int) -> None:
        self.ids = np.full(positions, -1, np.int32)
        self._lanes = lanes
        self.clear()

    def clear(self) -> None:
        """Forget all rows."""
        self.ids.fill(-1)
        self._number_of: dict[bytes, int] = {}
        self.blocks: list[NDArray[np.uint8]] = []
        self._last = [-1] * self._lanes

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.ids.nbytes) + sum(block.nbytes for block in self.blocks)

    def put(self, position: int, lane: int, row: NDArray[np.uint8]) -> None:
        """Keep a contiguous row of bytes."""
        number = self._last[lane]
        if number < 0 or not self._holds(number, row):
            content = row.tobytes()
            # Whole numbers are kept, so that a block can be read as an array.
            content = content[: -(-len(content.rstrip(b"\0")) // ALIGNMENT) * ALIGNMENT]
            number = self._number_of.setdefault(content, len(self.blocks))
            if number == len(self.blocks):
                self.blocks.append(np.frombuffer(content, np.uint8))
            self._last[lane] = number
        self.ids[position] = number

    def _holds(self, number: int, row: NDArray[np.uint8]) -> bool:
        block = self.blocks[number]
        if block.size > row.size or not (row[: block.size] == block).all():
            return False
        return not row[block.size :].view(np.bool_).any()


class ChangingRows:
    """Rows of bytes of different lengths, in chunks of memory that are kept for the next rollout.

    Args:
        positions: How many rows.
    """

    def __init__(self, positions: int) -> None:
        self._chunk_of = np.zeros(positions, np.int32)
        self._start = np.zeros(positions, np.int64)
        self._size = np.zeros(positions, np.int32)
        self._chunks: list[NDArray[np.uint8]] = []
        self.clear()

    def clear(self) -> None:
        """Forget all rows; the memory stays."""
        self._size.fill(0)
        self._chunk, self._used = 0, 0

    @property
    def nbytes(self) -> int:
        """Bytes held, with what is spare in the last chunk."""
        index = self._chunk_of.nbytes + self._start.nbytes + self._size.nbytes
        return int(index) + sum(chunk.nbytes for chunk in self._chunks)

    def put(self, position: int, row: NDArray[np.uint8]) -> None:
        """Keep a row of bytes."""
        while self._chunk < len(self._chunks) and self._used + row.size > self._chunks[self._chunk].size:
            self._chunk, self._used = self._chunk + 1, 0
        if self._chunk == len(self._chunks):
            self._chunks.append(np.empty(max(CHUNK_BYTES, row.size), np.uint8))
        self._chunks[self._chunk][self._used : self._used + row.size] = row
        self._chunk_of[position], self._start[position] = self._chunk, self._used
        self._size[position] = row.size
        self._used += row.size

    def get(self, position: int) -> NDArray[np.uint8]:
        """A view of a row."""
        start = int(self._start[position])
        chunk: NDArray[np.uint8] = self._chunks[int(self._chunk_of[position])]
        return chunk[start : start + int(self._size[position])]


class Column(Protocol):
    """The stored observations of one key.

    `take` returns the column's own memory, which the next `take` overwrites.
    """

    @property
    def nbytes(self) -> int:
        """Bytes held for observations, without the memory of `take`."""
        ...

    def put(self, first: int, rows: NDArray[Any]) -> None:
        """Keep one observation of each environment at `first` and the positions after it."""
        ...

    def take(self, positions: NDArray[np.int64]) -> NDArray[Any]:
        """The observations at some positions."""
        ...

    def clear(self) -> None:
        """Forget all observations."""
        ...


class _Memory:
    """Rows that `take` writes to; grown when a larger batch is asked for."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype = shape, dtype
        self.array = np.zeros((0, *shape), dtype)

    def reserve(self, count: int) -> bool:
        """Make room; true if the memory is new, and zero."""
        if len(self.array) >= count:
            return False
        self.array = np.zeros((count, *self.shape), self.dtype)
        return True


class DenseColumn:
    """A key that is kept as it is."""

    def __init__(self, positions: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._array = np.zeros((positions, *shape), dtype)
        self._memory = _Memory(shape, dtype)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self._array.nbytes)

    def put(self, first: int, rows: NDArray[Any]) -> None:
        """Keep rows."""
        self._array[first : first + len(rows)] = rows

    def take(self, positions: NDArray[np.int64]) -> NDArray[Any]:
        """Rows at some positions; the column's own memory."""
        self._memory.reserve(len(positions))
        out = self._memory.array[: len(positions)]
        # Without a mode other than "raise", numpy takes into a copy first.
        np.take(self._array, positions, axis=0, out=out, mode="clip")
        return out

    def clear(self) -> None:
        """The rows are overwritten by the next rollout."""


class RepeatedColumn:
    """A key whose arrays are the same for all states of a level."""

    def __init__(self, positions: int, lanes: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._rows = RepeatedRows(positions, lanes)
        self._memory = _Memory(shape, dtype)
        self._held: list[NDArray[np.uint8] | None] = []

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._rows.nbytes

    def put(self, first: int, rows: NDArray[Any]) -> None:
        """Keep rows."""
        flat = _bytes_of(rows)
        for lane in range(len(flat)):
            self._rows.put(first + lane, lane, flat[lane])

    def take(self, positions: NDArray[np.int64]) -> NDArray[Any]:
        """Rows at some positions; the column's own memory."""
        count = len(positions)
        if self._memory.reserve(count):
            self._held = [None] * count
        out = self._memory.array[:count]
        flat = _bytes_of(out)
        for i, number in enumerate(self._rows.ids[positions].tolist()):
            block, held = self._rows.blocks[number], self._held[i]
            if block is held:
                continue
            flat[i, : block.size] = block
            if held is not None and held.size > block.size:
                flat[i, block.size : held.size] = 0
            self._held[i] = block
        return out

    def clear(self) -> None:
        """Forget all rows."""
        self._rows.clear()


class MixedColumn:
    """A padded key of which some fields change less often: valid items only, and of their fields what changed."""

    def __init__(self, row: ObservationRow, positions: int, lanes: int, shape: tuple[int, ...]) -> None:
        self._groups, self._state_columns = repeated_columns(row), row.columns(Varies.STATE)
        self._repeated = [RepeatedRows(positions, lanes) for _ in self._groups]
        self._changing = ChangingRows(positions)
        self._counts = np.zeros(positions, np.int32)
        self._last = [0] * lanes
        self._memory = _Memory(shape, row.dtype)
        self._held = np.zeros(0, np.int32)
        self._held_blocks: list[list[NDArray[np.uint8] | None]] = []

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self._counts.nbytes) + self._changing.nbytes + sum(rows.nbytes for rows in self._repeated)

    def put(self, first: int, rows: NDArray[Any]) -> None:
        """Keep rows."""
        for lane, row in enumerate(rows):
            count = self._last[lane] = self._count(row, self._last[lane])
            position = first + lane
            self._counts[position] = count
            self._changing.put(position, _plane(row, count, self._state_columns))
            for repeated, columns in zip(self._repeated, self._groups, strict=True):
                repeated.put(position, lane, _plane(row, count, columns))

    def _count(self, row: NDArray[Any], guess: int) -> int:
        """Nodes up to the last one with anything but zero bytes."""
        flat = row.reshape(-1).view(np.bool_).reshape(len(row), -1)
        if 0 < guess <= len(row) and flat[guess - 1].any() and not flat[guess:].any():
            return guess
        used = np.flatnonzero(flat.any(axis=1))
        return int(used[-1]) + 1 if len(used) else 0

    def take(self, positions: NDArray[np.int64]) -> NDArray[Any]:
        """Rows at some positions; the column's own memory."""
        count = len(positions)
        if self._memory.reserve(count):
            self._held = np.zeros(count, np.int32)
            self._held_blocks = [[None] * len(self._groups) for _ in range(count)]
        out = self._memory.array[:count]
        for i, position in enumerate(positions.tolist()):
            nodes, held = int(self._counts[position]), int(self._held[i])
            row, held_blocks = out[i], self._held_blocks[i]
            _write_plane(row, nodes, self._state_columns, self._changing.get(position))
            for k, repeated in enumerate(self._repeated):
                block = repeated.blocks[repeated.ids[position]]
                if nodes != held or block is not held_blocks[k]:
                    _write_plane(row, nodes, self._groups[k], block)
                    held_blocks[k] = block
            if held > nodes:
                row[nodes:held] = 0
            self._held[i] = nodes
        return out

    def clear(self) -> None:
        """Forget all rows."""
        self._changing.clear()
        for rows in self._repeated:
            rows.clear()


def _bytes_of(rows: NDArray[Any]) -> NDArray[np.uint8]:
    """Rows as bytes; a view of contiguous ones."""
    return np.ascontiguousarray(rows).reshape(len(rows), -1).view(np.uint8)


def _plane(row: NDArray[Any], count: int, columns: tuple[int, ...]) -> NDArray[np.uint8]:
    """Some columns of the first nodes, column after column, as bytes."""
    return np.ascontiguousarray(row[:count].T[list(columns)]).reshape(-1).view(np.uint8)


def _write_plane(row: NDArray[Any], count: int, columns: tuple[int, ...], block: NDArray[np.uint8]) -> None:
    """Put back what `_plane` took; zeros at its end may be missing."""
    values = block.view(row.dtype)
    for k, column in enumerate(columns):
        part = values[k * count : (k + 1) * count]
        row[: len(part), column] = part
        row[len(part) : count, column] = 0


def repeated_columns(row: ObservationRow) -> list[tuple[int, ...]]:
    """Fields of a key that change together, but not with every state."""
    return [group for varies in Varies if varies < Varies.STATE and (group := row.columns(varies))]


def make_column(key: str, positions: int, lanes: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Column:
    """The column that fits a key: packed for what changes less often than the state, else dense."""
    row = ROWS.get(key)
    if row is not None and row.varies is Varies.LEVEL:
        return RepeatedColumn(positions, lanes, shape, dtype)
    if row is not None and row.steadier and dtype == row.dtype and shape[1:] == (len(row.fields),):
        return MixedColumn(row, positions, lanes, shape)
    return DenseColumn(positions, shape, dtype)


class PackedObservations:
    """Observations of a rollout, `steps` times `num_envs`, graph keys packed.

    Position p is that of environment `p % num_envs` in step `p // num_envs`.

    Args:
        space: The space of one observation, a `Dict` of boxes.
        steps: Steps of a rollout.
        num_envs: Environments.

    Example:
        >>> from npp_env import NppVectorEnv
        >>> env = NppVectorEnv(2, levels="shipped:first_steps")
        >>> rollout = PackedObservations(env.single_observation_space, steps=4, num_envs=2)
        >>> observation, _ = env.reset(seed=1)
        >>> rollout.add(observation)
        >>> rollout.take(np.array([1, 0]))["game_state"].shape
        (2, 34)
    """

    def __init__(self, space: gym.spaces.Dict, steps: int, num_envs: int) -> None:
        if steps < 1 or num_envs < 1:
            raise NppError(f"a rollout of {steps} steps of {num_envs} environments; both must be at least 1")
        self.steps = steps
        self.num_envs = num_envs
        self.columns: dict[str, Column] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        for key, box in space.spaces.items():
            if box.shape is None or box.dtype is None:
                raise NppError(f"the space of {key!r} is {box}; only boxes can be packed")
            self._shapes[key] = box.shape
            self.columns[key] = make_column(key, steps * num_envs, num_envs, box.shape, np.dtype(box.dtype))
        self._step = 0

    def __len__(self) -> int:
        """Observations held."""
        return self._step * self.num_envs

    @property
    def nbytes(self) -> int:
        """Bytes held for observations, without the memory that `take` writes to."""
        return sum(column.nbytes for column in self.columns.values())

    def add(self, observation: Mapping[str, NDArray[Any]]) -> None:
        """Keep the observations of one step, arrays (num_envs, ...); they are copied.

        Raises:
            NppError: The rollout is full, or an array has a wrong shape.
        """
        if self._step == self.steps:
            raise NppError(f"the rollout is full ({self.steps} steps); call clear() before the next one")
        for key, shape in self._shapes.items():
            if observation[key].shape != (self.num_envs, *shape):
                raise NppError(f"{key!r} has shape {observation[key].shape}; it must be {(self.num_envs, *shape)}")
        for key, column in self.columns.items():
            column.put(self._step * self.num_envs, observation[key])
        self._step += 1

    def take(self, positions: NDArray[np.int64], *, copy: bool = True) -> dict[str, NDArray[Any]]:
        """The dense observations at some positions, exactly as they were added.

        Args:
            positions: Integers (n,).
            copy: Whether to return fresh arrays (true), or memory that is reused by the next call (false) and must not
                be written to.

        Raises:
            NppError: A position that holds nothing.
        """
        positions = np.asarray(positions, np.int64)
        if positions.size and (int(positions.min()) < 0 or int(positions.max()) >= len(self)):
            raise NppError(f"positions from {positions.min()} to {positions.max()} in a rollout that holds {len(self)}")
        taken = {key: column.take(positions) for key, column in self.columns.items()}
        if copy:
            return {key: array.copy() for key, array in taken.items()}
        for array in taken.values():
            array.setflags(write=False)
        return taken

    def clear(self) -> None:
        """Begin the next rollout; the memory stays."""
        for column in self.columns.values():
            column.clear()
        self._step = 0
