"""The arrays that observations are written into, in each layout, and the spaces that describe them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError
from npp_env.observe.spec import GRAPH_KEYS, Capacity, ObservationSpec, observation_spec
from npp_env.observe.state_row import STATE_ROW

_STATE_OUTPUT = -1
_LARGEST_IN_FLOAT16 = 2048  # up to here float16 holds every whole number

Observation = dict[str, NDArray[Any]] | NDArray[Any]
Output = tuple[int, NDArray[np.uint8], int]


class ObservationLayout:
    """How the selected observations lie in memory.

    Args:
        keys: The selected keys, in order.
        layout: `dict`, `flat`, `packed` or `state`.
        capacity: Sizes of the padded observations.
        state_bytes: Bytes of a state; only the `state` layout needs it.
    """

    def __init__(self, keys: tuple[str, ...], layout: str, capacity: Capacity, state_bytes: int = 0) -> None:
        self.keys = keys
        self.layout = layout
        self.capacity = capacity
        self.state_bytes = state_bytes
        self.specs = tuple(observation_spec(key, capacity) for key in keys)
        for spec in self.specs if layout == "flat" else ():
            if spec.high > _LARGEST_IN_FLOAT16:
                raise ConfigError(
                    f"observation.layout is 'flat', but float16 cannot hold {spec.key} exactly; "
                    f"use the layout 'dict', 'packed' or 'state' with it"
                )

    @property
    def nbytes(self) -> int:
        """Bytes of one observation."""
        if self.layout == "state":
            return STATE_ROW.itemsize + self.state_bytes
        if self.layout == "flat":
            return 2 * sum(spec.size for spec in self.specs)
        return sum(spec.nbytes for spec in self.specs)

    def packed_offsets(self) -> dict[str, int]:
        """Where each key begins in a row of the `packed` layout; two-byte numbers first, so that they are aligned."""
        offsets, position = {}, 0
        for itemsize in (2, 1):
            for spec in self.specs:
                if spec.dtype.itemsize == itemsize:
                    offsets[spec.key] = position
                    position += spec.nbytes
        return offsets

    def allocate(self, num_envs: int) -> Observation:
        """Fresh arrays for a batch."""
        if self.layout == "dict":
            return {spec.key: np.zeros((num_envs, *spec.shape), spec.dtype) for spec in self.specs}
        if self.layout == "flat":
            return np.zeros((num_envs, self.nbytes // 2), np.float16)
        return np.zeros((num_envs, self.nbytes), np.uint8)

    def outputs(self, arrays: Observation) -> list[Output]:
        """The engine's view of the arrays: for each key its number, rows of bytes, and how many bytes to widen.

        Raises:
            ConfigError: Arrays of a wrong shape or type, or without contiguous rows.
        """
        if self.layout == "dict":
            assert isinstance(arrays, Mapping)
            return [(spec.number, as_rows(arrays[spec.key], spec.nbytes), 0) for spec in self.specs]
        assert isinstance(arrays, np.ndarray)
        rows = as_rows(arrays, self.nbytes)
        if self.layout == "state":
            return [(_STATE_OUTPUT, rows, 0)]
        if self.layout == "packed":
            offsets = self.packed_offsets()
            return [(s.number, rows[:, offsets[s.key] : offsets[s.key] + s.nbytes], 0) for s in self.specs]
        outputs, position = [], 0
        for spec in self.specs:
            widened = spec.size if spec.dtype.itemsize == 1 else 0
            row = rows[:, position : position + 2 * spec.size]
            outputs.append((spec.number, row, widened))
            position += 2 * spec.size
        return outputs

    def check_buffers(self, arrays: Any, num_envs: int) -> None:
        """Make sure that a caller's own arrays fit.

        Raises:
            ConfigError: A key is missing, or an array has a wrong shape or type or cannot be written.
        """
        wanted = self.allocate(1)
        named = wanted if isinstance(wanted, dict) else {"observation": wanted}
        given = arrays if isinstance(wanted, dict) else {"observation": arrays}
        if not isinstance(given, Mapping) or set(given) != set(named):
            raise ConfigError(f"buffers must hold exactly the keys {', '.join(named)}")
        for key, array in named.items():
            shape = (num_envs, *array.shape[1:])
            got = given[key]
            if not isinstance(got, np.ndarray) or got.shape != shape or got.dtype != array.dtype:
                found = f"{got.dtype} {got.shape}" if isinstance(got, np.ndarray) else type(got).__name__
                raise ConfigError(f"buffers[{key!r}] is {found}; it must be a {array.dtype} array of shape {shape}")
            if not got.flags.writeable or not got.flags.c_contiguous:
                raise ConfigError(f"buffers[{key!r}] must be writable and contiguous")

    def unpack(self, rows: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
        """The keys inside rows (..., bytes) of the `packed` layout, as views where the memory allows it."""
        offsets = self.packed_offsets()
        size = sum(spec.nbytes for spec in self.specs)
        if rows.dtype != np.uint8 or rows.shape[-1] != size:
            raise ConfigError(f"packed observations are uint8 (..., {size}), got {rows.dtype} {rows.shape}")
        unpacked = {}
        for spec in self.specs:
            part = rows[..., offsets[spec.key] : offsets[spec.key] + spec.nbytes]
            unpacked[spec.key] = part.view(spec.dtype).reshape(*rows.shape[:-1], *spec.shape)
        return unpacked

    def space(self) -> gym.Space[Any]:
        """The space of one observation; bounds are shared between environments, random state is not."""
        if self.layout == "dict":
            return gym.spaces.Dict({spec.key: _box(spec) for spec in self.specs})
        if self.layout == "flat":
            low = np.concatenate([np.full(spec.size, spec.low, np.float16) for spec in self.specs])
            high = np.concatenate([np.full(spec.size, spec.high, np.float16) for spec in self.specs])
            return gym.spaces.Box(low, high, dtype=np.float16)
        return gym.spaces.Box(0, 255, (self.nbytes,), np.uint8)


class DoubleBuffer:
    """Two sets of arrays that observations are written to in turns, and what of them is handed out.

    Args:
        layout: What they hold.
        num_envs: Rows.
        copy: Whether copies are handed out; one set is enough then.
        given: The caller's own arrays, written in place every time and handed out as they are.
        single: Whether the observation of the one environment is handed out, not a batch.

    Views that hold graphs are read-only: only then is it known what they hold, and a step rewrites no more of a graph
    than what changed.

    Attributes:
        arrays: Both sets.
        current: Number of the one that was written last; set after it was, so that an interrupt in between spares
            what was handed out before.
        keeps_graphs: Whether there are graphs in them, and nobody else writes to them.
    """

    def __init__(
        self, layout: ObservationLayout, num_envs: int, copy: bool, given: Observation | None, single: bool
    ) -> None:
        if given is not None:
            layout.check_buffers(given, num_envs)
        first = layout.allocate(num_envs) if given is None else given
        self._copies = copy and given is None
        self.arrays = [first, first if copy or given is not None else layout.allocate(num_envs)]
        self.current = 0
        self.keeps_graphs = given is None and layout.layout != "state" and any(k in GRAPH_KEYS for k in layout.keys)
        self._views: list[Any] = [self._handed_out(arrays, single) for arrays in self.arrays]

    def _handed_out(self, arrays: Observation, single: bool) -> Observation:
        if isinstance(arrays, dict):
            return {key: self._view(array, single, key in GRAPH_KEYS) for key, array in arrays.items()}
        return self._view(arrays, single, True)

    def _view(self, array: NDArray[Any], single: bool, has_graph: bool) -> NDArray[Any]:
        view = array[0] if single else array
        if self.keeps_graphs and has_graph:
            view = view.view()
            view.setflags(write=False)
        return view

    @property
    def following(self) -> int:
        """Number of the set to write next."""
        return 1 - self.current

    def observation(self) -> Any:
        """What was written last; see the environments for who owns it."""
        view = self._views[self.current]
        if not self._copies:
            return dict(view) if isinstance(view, dict) else view
        if isinstance(view, dict):
            return {key: array.copy() for key, array in view.items()}
        return view.copy()


def as_rows(array: NDArray[Any], row_bytes: int) -> NDArray[np.uint8]:
    """An array as rows of bytes; a view."""
    rows = array.reshape(len(array), -1).view(np.uint8)
    assert rows.shape[1] == row_bytes
    assert np.shares_memory(rows, array)
    return rows


@lru_cache(maxsize=64)
def _master_box(spec: ObservationSpec) -> gym.spaces.Box:
    return gym.spaces.Box(spec.dtype.type(spec.low), spec.dtype.type(spec.high), spec.shape, spec.dtype.type)


def _box(spec: ObservationSpec) -> gym.spaces.Box:
    box = copy.copy(_master_box(spec))
    box._np_random = None  # type: ignore[assignment]
    return box


def batch_space(space: gym.Space[Any], count: int) -> gym.Space[Any]:
    """The space of a batch of observations, as `gymnasium.vector.utils.batch_space` makes it.

    Its bounds are those of one observation, repeated without taking memory for each environment.
    """
    if isinstance(space, gym.spaces.Dict):
        return gym.spaces.Dict({key: batch_space(part, count) for key, part in space.items()})
    assert isinstance(space, gym.spaces.Box)
    box = copy.copy(space)
    box._np_random = None  # type: ignore[assignment]
    box._shape = (count, *space.shape)
    for name in ("low", "high", "bounded_below", "bounded_above"):
        setattr(box, name, np.broadcast_to(getattr(space, name), box._shape))
    return box


def batch_actions(space: gym.spaces.Discrete, count: int) -> gym.spaces.MultiDiscrete:
    """The space of the actions of `count` environments, as `gymnasium.vector.utils.batch_space` makes it.

    Its numbers are repeated without taking memory for each environment.
    """
    actions = gym.spaces.MultiDiscrete(np.full(count, space.n))
    actions.nvec = np.broadcast_to(actions.nvec[:1].copy(), (count,))
    actions.start = np.broadcast_to(actions.start[:1].copy(), (count,))
    return actions
