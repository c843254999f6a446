"""`ObservationDecoder`: full observations out of the state rows of `layout="state"`, without an environment."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from npp_env.config import EnvironmentConfig, resolve_config
from npp_env.errors import ConfigError, NppError, StateError
from npp_env.level.cache import LevelCache, cache_in
from npp_env.level.level_set import LevelSet, LevelSource
from npp_env.observe.buffers import ObservationLayout, as_rows
from npp_env.observe.spec import ROWS
from npp_env.observe.state_row import STATE_ROW
from npp_env.rollouts.arrange import level_numbers, places_for
from npp_env.rollouts.decode_rows import TAG, RowDecoder
from npp_env.rollouts.decode_sources import SourceTable
from npp_env.runtime.level_resources import LevelLoader, largest_state_bytes
from npp_env.runtime.thread_pool import ThreadPool
from npp_env.sim.turn import Turn

_KEPT_PER_LEVEL, _MOST_KEPT, _KEPT_OF_ENDLESS, _KEPT_GRAPHS = 8, 4096, 512, 128


class DecodedBatch(Mapping[str, NDArray[Any]]):
    """Reusable memory for decoded observations, made by `ObservationDecoder.allocate`.

    Its arrays are read-only views: only the decoder writes to them, so it knows what they hold and rewrites the parts
    of a graph that do not change with the state only where the level of a row changes. Every decode overwrites them.

    Args:
        layout: Keys, shapes and types.
        count: Rows.
    """

    def __init__(self, layout: ObservationLayout, count: int) -> None:
        arrays = layout.allocate(count)
        assert isinstance(arrays, dict)
        self.count = count
        self.layout = layout
        self._writable = arrays
        self._views: dict[str, NDArray[Any]] = {key: array.view() for key, array in arrays.items()}
        for view in self._views.values():
            view.setflags(write=False)
        self._targets = _targets(layout, arrays)
        self._tags = np.zeros(count, TAG)

    def __getitem__(self, key: str) -> NDArray[Any]:
        """All rows of one key."""
        return self._views[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self._writable.values())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays themselves, for libraries that cannot take read-only memory; they must not be written to."""
        return dict(self._writable)

    def rows(self, lead: tuple[int, ...]) -> dict[str, NDArray[Any]]:
        """Read-only views of the first rows, with a leading shape."""
        count = math.prod(lead)
        return {key: array[:count].reshape(*lead, *array.shape[1:]) for key, array in self._views.items()}


class ObservationDecoder:
    """Turns state rows into the observations that an environment would have returned, to the last bit.

    A row is what an environment with `layout="state"` returns. The decoder needs no environment, can be pickled, and
    keeps what it loads of levels within a bound. It takes one call at a time, else `NppError` is raised; give each
    thread its own.

    Args:
        config: An `EnvironmentConfig`, or a (nested) dictionary of its fields: keys and capacities are taken from it.
        levels: The levels, as `LevelSet.parse` takes them; those of the configuration by default. They must be the
            levels of the environment, because the length of a row depends on all of them.
        keys: Which observations, instead of those of the configuration.
        num_threads: Threads that share the work; the results do not depend on their number.
        blank_rows: Whether a row of zeros, which frame stackers put before the first observation, is decoded to
            zeros instead of being an error.
        kept_sources: How many levels, each in one door configuration, stay loaded from batch to batch. By default as
            many as a set with an end is likely to need, so that no minibatch loads levels anew: eight for each level,
            at most 4,096; 512 of endless sets, 128 where graphs are decoded, which are large.
        cache: Where the artifacts of levels are kept; that of the configuration by default.

    Attributes:
        row_bytes: Length of a row.
        keys: The decoded keys.

    Example:
        >>> from npp_env import NppEnv
        >>> env = NppEnv(levels="shipped:first_steps", observation={"layout": "state"})
        >>> state, _ = env.reset(seed=1)
        >>> decoder = ObservationDecoder(env.config)
        >>> decoder.decode(state)["game_state"].shape
        (34,)
        >>> decoder.decode(np.stack([state, state]))["game_state"].shape
        (2, 34)
    """

    def __init__(
        self,
        config: EnvironmentConfig | Mapping[str, Any] | None = None,
        levels: LevelSource = None,
        *,
        keys: tuple[str, ...] | None = None,
        num_threads: int = 1,
        blank_rows: bool = False,
        kept_sources: int | None = None,
        cache: LevelCache | None = None,
    ) -> None:
        for name, value in (
            ("num_threads", num_threads),
            ("kept_sources", 1 if kept_sources is None else kept_sources),
        ):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise ConfigError(f"{name} is {value!r}; it must be a whole number, at least 1")
        self.config = resolve_config(config)
        if keys is not None:
            self.config = self.config.with_overrides({"observation": {"keys": tuple(keys)}})
        self.levels = LevelSet.parse(self.config.levels if levels is None else levels)
        self.keys = self.config.observation.keys
        self.num_threads = int(num_threads)
        self.blank_rows = bool(blank_rows)
        self.kept_sources = self._likely_sources() if kept_sources is None else int(kept_sources)
        self._build(cache_in(self.config.cache_directory) if cache is None else cache)

    def _likely_sources(self) -> int:
        if any(ROWS[key].padded_axis is not None for key in self.keys):
            return _KEPT_GRAPHS
        if not self.levels.is_finite:
            return _KEPT_OF_ENDLESS
        return min(_KEPT_PER_LEVEL * len(self.levels), _MOST_KEPT)

    def _build(self, cache: LevelCache) -> None:
        self.layout = ObservationLayout(self.keys, "dict", self.config.capacity)
        self._loader = LevelLoader.for_keys(self.keys, cache)
        self._state_bytes = largest_state_bytes(self.levels)
        self.row_bytes = STATE_ROW.itemsize + self._state_bytes
        self._pool = ThreadPool(self.num_threads)
        self._turn = Turn("this decoder", "it begins anew with the next call")
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Have nothing loaded."""
        capacity = self.config.capacity
        self._rows = RowDecoder(capacity, self._loader.needs_graph, self.blank_rows)
        self._sources = SourceTable(
            self._rows, self.levels, self._loader, self.keys, capacity, self._state_bytes, self.kept_sources
        )
        self._batch = 0
        self._turn.torn = False

    def space(self) -> gym.spaces.Dict:
        """The space of one decoded observation."""
        space = self.layout.space()
        assert isinstance(space, gym.spaces.Dict)
        return space

    def allocate(self, count: int) -> DecodedBatch:
        """Reusable memory for batches of up to `count` states; `decode(..., out=batch)` then allocates no arrays."""
        if count < 1:
            raise ConfigError(f"count is {count}; it must be at least 1")
        return DecodedBatch(self.layout, count)

    def decode(
        self,
        states: NDArray[np.uint8],
        out: DecodedBatch | Mapping[str, NDArray[Any]] | None = None,
        indices: NDArray[np.int64] | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Decode a batch.

        Args:
            states: uint8 (..., row_bytes), any leading shape.
            out: Where to write: memory of `allocate`, or the caller's own contiguous arrays (leading shape, shape of
                the key); fresh arrays if None.
            indices: int64, any shape: decode these rows of states (n, row_bytes), instead of gathering them first.
                The leading shape is then that of the indices.

        Returns:
            The observations by key: fresh arrays, the caller's own, or read-only views of the memory of `allocate`.

        Raises:
            StateError: Wrong length or type, a state of another version, a level that is not in the set, or bytes that
                are no state. Nothing is written then.
            NppError: Arrays in `out` that do not fit, or indices out of range.
        """
        return self._turn.renew(self._decode, states, out, indices)

    def arranged(self, states: NDArray[np.uint8], out: DecodedBatch, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same indices in the order that writes least: a row of `out` gets a state of the level that it holds.

        For minibatches of graphs over many levels, in which the order of states does not matter; use the result for
        `decode(states, out, indices)` and for all else that belongs to the states.

        Args:
            states: uint8 (n, row_bytes).
            out: The memory of `allocate` that they will be decoded into.
            indices: int64 (m,), at most as many as `out` has rows.

        Returns:
            A fresh array (m,).
        """
        return self._turn.renew(self._arranged, states, out, indices)

    def _arranged(self, states: NDArray[np.uint8], out: DecodedBatch, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        rows, flat, _ = self._checked_rows(states, indices)
        if flat is None or indices.ndim != 1 or len(flat) > out.count:
            raise NppError(f"indices have shape {np.shape(indices)}; they must be at most {out.count} in a row")
        places = places_for(level_numbers(rows, flat), out._tags["serial"][: len(flat)])
        arranged = np.empty_like(flat)
        arranged[places] = flat
        return arranged

    def _decode(
        self,
        states: NDArray[np.uint8],
        out: DecodedBatch | Mapping[str, NDArray[Any]] | None,
        indices: NDArray[np.int64] | None,
    ) -> dict[str, NDArray[Any]]:
        if self._turn.torn:
            self._begin_anew()
        rows, flat_indices, lead = self._checked_rows(states, indices)
        count = math.prod(lead)
        if isinstance(out, DecodedBatch):
            if out.layout.specs != self.layout.specs or out.count < count:
                raise NppError(
                    f"out holds {out.count} rows of {', '.join(out)}; {count} of {', '.join(self.keys)} are wanted"
                )
            targets, tags, result = out._targets, out._tags, out.rows(lead)
        else:
            result = self._fresh(lead) if out is None else self._checked_out(out, lead)
            flat = {key: array.reshape(count, *array.shape[len(lead) :]) for key, array in result.items()}
            targets, tags = _targets(self.layout, flat) if count else [], None
        if count == 0:
            return result
        self._rows.set_rows(rows, flat_indices)
        self._resolve(rows, flat_indices)
        self._rows.set_targets(targets, tags)
        self._rows.write(self._pool)
        return result

    def _checked_rows(
        self, states: NDArray[np.uint8], indices: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64] | None, tuple[int, ...]]:
        if not isinstance(states, np.ndarray) or states.dtype != np.uint8 or states.ndim < 1:
            found = f"{states.dtype} {states.shape}" if isinstance(states, np.ndarray) else type(states).__name__
            raise StateError(f"states are {found}; they must be a uint8 array (..., {self.row_bytes})")
        if states.shape[-1] != self.row_bytes:
            raise StateError(
                f"the states have {states.shape[-1]} bytes, those of this level set have {self.row_bytes}; "
                f"decode with the levels that the environment has"
            )
        rows = states.reshape(-1, self.row_bytes)
        # States hold 8-byte numbers.
        if rows.strides[1] != 1 or rows.strides[0] % 8 or rows.__array_interface__["data"][0] % 8:
            rows = rows.copy()
        if indices is None:
            return rows, None, states.shape[:-1]
        if states.ndim != 2 or indices.dtype != np.int64:
            raise NppError(
                f"indices are {indices.dtype}, states have shape {states.shape}; indices must be int64, "
                f"states (n, {self.row_bytes})"
            )
        if indices.size and (int(indices.min()) < 0 or int(indices.max()) >= len(rows)):
            raise NppError(f"indices from {indices.min()} to {indices.max()} into {len(rows)} states")
        return rows, np.ascontiguousarray(indices).reshape(-1), indices.shape

    def _fresh(self, lead: tuple[int, ...]) -> dict[str, NDArray[Any]]:
        return {spec.key: np.empty((*lead, *spec.shape), spec.dtype) for spec in self.layout.specs}

    def _checked_out(self, out: Mapping[str, NDArray[Any]], lead: tuple[int, ...]) -> dict[str, NDArray[Any]]:
        if not isinstance(out, Mapping) or set(out) != set(self.keys):
            raise NppError(f"out must hold exactly the keys {', '.join(self.keys)}")
        for spec in self.layout.specs:
            array = out[spec.key]
            if array.shape != (*lead, *spec.shape) or array.dtype != spec.dtype:
                wanted = f"{spec.dtype} {(*lead, *spec.shape)}"
                raise NppError(f"out[{spec.key!r}] is {array.dtype} {array.shape}; it must be {wanted}")
            if not array.flags.c_contiguous or not array.flags.writeable:
                raise NppError(f"out[{spec.key!r}] must be contiguous and writable")
        return {key: out[key] for key in self.keys}

    def _resolve(self, rows: NDArray[np.uint8], indices: NDArray[np.int64] | None) -> None:
        """Find the level and doors of every row, loading what is not there yet; cut off, it leaves half a table."""
        self._batch += 1
        self._turn.torn = True
        self._sources.trim()
        at = self._rows.resolve(0, self._batch)
        while at < self._rows.count:
            number = at if indices is None else int(indices[at])
            self._sources.load(rows[number], int(self._rows.found[at]), at)
            after = self._rows.resolve(at, self._batch)
            if after == at:
                # One load brings the level and the doors: a second would bring the same.
                raise StateError(f"row {at} names a level that was loaded, but not with the hash that the row gives")
            at = after
        self._turn.torn = False

    def close(self) -> None:
        """Give the threads back; they start again when the decoder is used again."""
        self._turn.renew(self._pool.close)

    def __getstate__(self) -> dict[str, Any]:
        names = ("config", "levels", "keys", "num_threads", "blank_rows", "kept_sources")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__dict__.update(saved)
        self._build(cache_in(self.config.cache_directory))


def _targets(layout: ObservationLayout, arrays: Mapping[str, NDArray[Any]]) -> list[tuple[int, NDArray[np.uint8]]]:
    return [(spec.number, as_rows(arrays[spec.key], spec.nbytes)) for spec in layout.specs]
