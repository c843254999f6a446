"""Builds the transitions of a model, layer by layer, forwards, on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError
from npp_env.induction.acyclic import check_acyclic
from npp_env.induction.array_folder import ArrayFolder
from npp_env.induction.budget import Budget
from npp_env.induction.errors import InductionError
from npp_env.induction.known_states import KnownStates
from npp_env.induction.model import KeyedModel, Model, checked_expansion, start_states
from npp_env.induction.slice_writer import FoundStates, SliceWriter
from npp_env.induction.state_index import hash_rows
from npp_env.induction.transitions import HASHES, KEYS, NOT_EXPANDED, STATES, Slice, Transitions, level_name
from npp_env.induction.watching import Watch
from npp_env.level.cache_file import checksum
from npp_env.runtime.thread_pool import ThreadPool

_SLICE_BYTES = 1 << 24
_MOST_SLICE_STATES = 1 << 20
_WORKING_BYTES = 128
"""Of a transition while it is sorted in, beside three copies of its successor."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How transitions are built; nothing of it changes them, but for the size of slices.

    Attributes:
        budget: The memory.
        threads: That share the work.
        slice_states: States of a slice, after each of which what was done is safe; None for 16 MB of states.
        watch: Whom to ask and to tell.
    """

    budget: Budget = field(default_factory=Budget)
    threads: int = 1
    slice_states: int | None = None
    watch: Watch = field(default_factory=Watch)


def build_transitions(
    model: Model, horizon: int | None, directory: Path, options: BuildOptions | None = None
) -> Transitions:
    """Expand all states that can be met within a horizon; goes on where an earlier call was cut off.

    Args:
        model: The model.
        horizon: Steps; None for as many as there can be, of a model that never leads back to a state.
        directory: Where the transitions are, or are going to be.
        options: How.

    Raises:
        InductionError: The model does not do what it says, or the folder is for something else.
        CyclicModelError: Without a horizon, the model leads back to a state.
        LowMemoryError: The memory guard said so; what was complete is kept.
    """
    if horizon is not None and horizon < 0:
        raise ConfigError(f"the horizon is {horizon}; at least 0")
    builder = _Builder(model, directory, options or BuildOptions())
    with builder.folder:
        return builder.build(horizon)


class _Builder:
    def __init__(self, model: Model, directory: Path, options: BuildOptions) -> None:
        self._model, self._options = model, options
        self._keyed = model if isinstance(model, KeyedModel) else None
        self._pool = ThreadPool(options.threads)
        start = self._start = start_states(model)
        per_slice = max(1, min(_SLICE_BYTES // max(1, model.state_bytes), _MOST_SLICE_STATES))
        self._slice_states = options.slice_states or per_slice
        identity = {
            "kind": "transitions",
            "model": model.name,
            "state_bytes": model.state_bytes,
            "key_bytes": 0 if self._keyed is None else self._keyed.key_bytes,
            "actions": model.action_count,
            "layered": bool(model.layered),
            "start": checksum(start.tobytes()).hex(),
            "slice_states": self._slice_states,
        }
        self.folder = ArrayFolder(directory, identity)
        self._found = Transitions(self.folder)
        per_state = model.action_count * (3 * model.state_bytes + _WORKING_BYTES) + 2 * model.state_bytes
        self._block_states = options.budget.block_of(per_state)
        self._known = KnownStates(0, directory, options.budget)
        self._known_layer = -1

    def build(self, horizon: int | None) -> Transitions:
        if self._found.level_count == 0:
            self._begin()
        while horizon is None or self._found.level_count <= horizon:
            level = self._found.level_count - 1
            if self._found.level_size(level) == 0:
                if horizon is None:
                    break
            elif not self._found.is_closed:
                self._expand_layer(level)
            if horizon is None and self._found.is_closed and not self._model.layered:
                check_acyclic(self._found)
            self._add_level(level + 1)
        return self._found

    def _begin(self) -> None:
        """Store the states that the model begins with."""
        writer = FoundStates(self.folder, self._model, 0, 0, self._slice_states)
        try:
            self._known_layer = 0
            keys = self._keys_of(self._start)
            _, fresh = self._enter(keys, writer)
            writer.add(self._start[fresh], keys[fresh], self._hashes_of(keys[fresh]))
            writers, slices = writer.finished()
            runs = self.folder.writer(level_name(0), np.uint32, (2,))
            runs.append(np.array([[0, len(fresh)]], np.uint32))
            self.folder.progress = {"slices": [list(part[1:]) for part in slices], "levels": 1, "closed": False}
            self.folder.commit([*writers, runs])
        except BaseException:
            writer.discard()
            raise
        self._found = Transitions(self.folder)

    def _expand_layer(self, layer: int) -> None:
        waiting = [part for part in self._found.slices if part.layer == layer and part.transitions == NOT_EXPANDED]
        total = sum(part.size for part in waiting)
        done = 0
        if waiting:
            self._know(layer)
        for part in waiting:
            self._expand_slice(part, done, total)
            done += part.size

    def _know(self, layer: int) -> None:
        """Fill the table with the states that a successor of this layer can be."""
        if self._known_layer >= 0 and not self._model.layered:
            return
        first_layer = layer + 1 if self._model.layered else 0
        known = [part for part in self._found.slices if part.layer >= first_layer]
        count = sum(part.size for part in known)
        self._known = KnownStates(self._found.state_count - count, self.folder.path, self._options.budget)
        self._known.fill(self._stored_hashes(known), count)
        self._known_layer = layer

    def _stored_hashes(self, slices: list[Slice]) -> Iterator[NDArray[np.uint64]]:
        for part in slices:
            mapped = self.folder.array(part.name_of(HASHES))
            yield mapped.array
            mapped.release()

    def _expand_slice(self, part: Slice, done: int, total: int) -> None:
        """Expand a slice; all of it counts, or nothing."""
        model = self._model
        mapped = self.folder.array(part.name_of(STATES))
        found = FoundStates(self.folder, model, part.layer + 1, self._found.state_count, self._slice_states)
        found.number = len(self._found.slices)
        rows = SliceWriter(self.folder, part, model.action_count)
        try:
            for first in range(0, part.size, self._block_states):
                self._options.watch.ask()
                states = mapped.array[first : first + self._block_states].copy()
                mapped.release()
                expansion = checked_expansion(model, states)
                keys = self._keys_of(expansion.successors)
                hashes, numbers, fresh = self._number(keys, found)
                found.add(expansion.successors[fresh], keys[fresh], hashes[fresh])
                rows.add(expansion, numbers)
                self._options.watch.tell(f"layer {part.layer}", done + first + len(states), total, self._told(found))
            writers, slices = found.finished()
            self._commit(part, rows, writers, slices)
        except BaseException:
            found.discard()
            rows.discard()
            # The table has met states that were not kept.
            self._known_layer = -1
            raise

    def _told(self, found: FoundStates) -> str:
        return f"{self._found.state_count + found.count:,} states"

    def _commit(self, part: Slice, rows: SliceWriter, writers: list[Any], slices: list[Slice]) -> None:
        kept = [list(each[1:]) for each in self._found.slices]
        kept[part.number][-1] = rows.transitions
        self.folder.progress = {**self.folder.progress, "slices": [*kept, *(list(each[1:]) for each in slices)]}
        self.folder.commit([*writers, *rows.finished()])
        self._found = Transitions(self.folder)

    def _keys_of(self, states: NDArray[np.uint8]) -> NDArray[np.uint8]:
        if self._keyed is None:
            return states
        keys = np.ascontiguousarray(self._keyed.keys(states))
        if keys.dtype != np.uint8 or keys.shape != (len(states), self._keyed.key_bytes):
            raise InductionError(
                f"{self._model.name}: keys are {keys.dtype} {keys.shape}; they must be uint8 "
                f"({len(states)}, {self._keyed.key_bytes})"
            )
        return keys

    def _hashes_of(self, keys: NDArray[np.uint8]) -> NDArray[np.uint64]:
        hashes = np.empty(len(keys), np.uint64)
        hash_rows(keys, hashes, self._pool)
        return hashes

    def _enter(self, keys: NDArray[np.uint8], found: FoundStates) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        _, numbers, fresh = self._number(keys, found)
        return numbers, fresh

    def _number(
        self, keys: NDArray[np.uint8], found: FoundStates
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
        """Hashes and numbers of states, and the places of those that are new; equal hashes are compared to the byte."""
        hashes = self._hashes_of(keys)
        first_new = found.first + found.count
        numbers, fresh = self._known.find_or_enter(hashes)
        is_old = numbers < first_new
        inside = np.flatnonzero(~is_old)
        same = (keys[inside] == keys[fresh[numbers[inside] - np.uint32(first_new)]]).all()
        places = np.flatnonzero(is_old)
        if not same or not self._are_known(keys, numbers, places, found):
            raise InductionError(
                f"{self._model.name}: two states share a hash of 64 bits; put another byte into the states"
            )
        return hashes, numbers, fresh

    def _are_known(
        self, keys: NDArray[np.uint8], numbers: NDArray[np.uint32], places: NDArray[np.intp], found: FoundStates
    ) -> bool:
        """Whether states that were found by their hash are what was stored under their number."""
        if not len(places):
            return True
        order = places[np.argsort(numbers[places], kind="stable")]
        wanted = numbers[order]
        for part, mapped in self._stored(found, int(wanted[0]), int(wanted[-1])):
            low, high = np.searchsorted(wanted, [part.first, part.last])
            if low < high:
                array = mapped().array
                if not (array[wanted[low:high] - np.uint32(part.first)] == keys[order[low:high]]).all():
                    return False
        return True

    def _stored(self, found: FoundStates, first: int, last: int) -> Iterator[tuple[Slice, Any]]:
        """The slices that hold states from one number to another, with how to map their keys."""
        name = STATES if self._keyed is None else KEYS
        low = self._found.slice_of(min(first, self._found.state_count - 1)).number if self._found.slices else 0
        for part in self._found.slices[low:]:
            if part.first > last:
                return
            yield part, partial(self.folder.array, part.name_of(name))
        yield from found.written(name)

    def _add_level(self, level: int) -> None:
        """Note which states can be met after so many steps."""
        found, model = self._found, self._model
        new = [part for part in found.slices if part.layer == level]
        whole = np.array([[new[0].first, new[-1].last]] if new else [], np.int64)
        runs = whole if model.layered else self._reached(level - 1)
        writer = self.folder.writer(level_name(level), np.uint32, (2,))
        writer.append(runs.astype(np.uint32).reshape(-1, 2))
        closed = found.is_closed or not new
        self.folder.progress = {**self.folder.progress, "levels": level + 1, "closed": closed}
        self.folder.commit([writer])
        self._found = Transitions(self.folder)

    def _reached(self, level: int) -> NDArray[np.int64]:
        """Runs of all states that a level leads to."""
        reached = np.zeros(self._found.state_count + 2, np.int8)
        for rows in self._found.blocks(level, self._block_states):
            self._options.watch.ask()
            reached[1 + rows.successors[rows.offsets[0] : rows.offsets[-1]].astype(np.int64)] = 1
        edges = np.flatnonzero(np.diff(reached))
        return edges.reshape(-1, 2)
