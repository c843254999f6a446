"""Writes what the expansion of a slice gives: the transitions of its states, and the states that were met first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.induction.array_files import ArrayRecord, ArrayWriter, MappedArray
from npp_env.induction.array_folder import ArrayFolder
from npp_env.induction.errors import InductionError
from npp_env.induction.model import Expansion, KeyedModel, Model
from npp_env.induction.transitions import (
    ACTIONS,
    HASHES,
    KEYS,
    NOT_EXPANDED,
    OFFSETS,
    PROBABILITIES,
    REWARDS,
    STATES,
    SUCCESSORS,
    Slice,
)

_MOST_TRANSITIONS = 2**32 - 1


class FoundStates:
    """New states of a layer, in slices; nothing of them counts before it is committed.

    Args:
        folder: Where to.
        model: Whose states they are.
        layer: Their layer.
        first: Number of the first.
        slice_states: States of a slice.

    Attributes:
        number: Of the first slice.
        count: States so far.
    """

    def __init__(self, folder: ArrayFolder, model: Model, layer: int, first: int, slice_states: int) -> None:
        self.number, self.count, self.first = 0, 0, first
        self._folder, self._layer, self._slice_states = folder, layer, slice_states
        self._widths = {STATES: model.state_bytes}
        if isinstance(model, KeyedModel):
            self._widths[KEYS] = model.key_bytes
        self._slices: list[tuple[Slice, dict[str, ArrayWriter]]] = []

    def add(self, states: NDArray[np.uint8], keys: NDArray[np.uint8], hashes: NDArray[np.uint64]) -> None:
        """Write states behind the others."""
        parts: dict[str, NDArray[Any]] = {STATES: states, KEYS: keys, HASHES: hashes}
        done = 0
        while done < len(states):
            part, writers = self._open_slice()
            more = min(len(states) - done, self._slice_states - part.size)
            for name, writer in writers.items():
                writer.append(parts[name][done : done + more])
            self._slices[-1] = (part._replace(size=part.size + more), writers)
            done += more
            self.count += more

    def _open_slice(self) -> tuple[Slice, dict[str, ArrayWriter]]:
        if not self._slices or self._slices[-1][0].size == self._slice_states:
            number = self.number + len(self._slices)
            part = Slice(number, self.first + self.count, 0, self._layer, NOT_EXPANDED)
            writers: dict[str, ArrayWriter] = {}
            self._slices.append((part, writers))
            for name, width in self._widths.items():
                writers[name] = self._folder.writer(part.name_of(name), np.uint8, (width,))
            writers[HASHES] = self._folder.writer(part.name_of(HASHES), np.uint64)
        return self._slices[-1]

    def written(self, name: str) -> Iterator[tuple[Slice, Callable[[], MappedArray]]]:
        """The slices so far, with how to map one of their arrays."""
        for part, writers in self._slices:
            writer = writers[name]
            record = ArrayRecord("", "|u1", (part.size, self._widths[name]), "")
            yield part, partial(_mapped, writer, record)

    def finished(self) -> tuple[list[ArrayWriter], list[Slice]]:
        """What is to be committed."""
        return [writer for _, writers in self._slices for writer in writers.values()], [p for p, _ in self._slices]

    def discard(self) -> None:
        """Leave nothing behind."""
        for _, writers in self._slices:
            for writer in writers.values():
                writer.discard()


def _mapped(writer: ArrayWriter, record: ArrayRecord) -> MappedArray:
    writer.flush()
    return MappedArray(writer.path, record, verify=False)


class SliceWriter:
    """The transitions of one slice.

    Args:
        folder: Where to.
        part: The slice.
        action_count: Actions of the model.
    """

    def __init__(self, folder: ArrayFolder, part: Slice, action_count: int) -> None:
        self.transitions = 0
        self._folder, self._part, self._action_count = folder, part, action_count
        self._offsets = np.zeros(part.size + 1, np.uint32)
        self._states = 0
        self._writers = {SUCCESSORS: folder.writer(part.name_of(SUCCESSORS), np.uint32)}

    def add(self, expansion: Expansion, numbers: NDArray[np.uint32]) -> None:
        """Write the transitions of the next states."""
        counts, actions, _, probabilities, rewards = expansion
        if self.transitions + len(numbers) > _MOST_TRANSITIONS:
            raise InductionError("a slice has more than 4 billion transitions; choose a smaller slice_states")
        self._optional(ACTIONS, actions, np.uint16, self._every_action)
        self._optional(PROBABILITIES, probabilities, np.float64, np.ones)
        self._optional(REWARDS, rewards, np.float64, np.zeros)
        ends = self.transitions + np.cumsum(counts)
        self._offsets[self._states + 1 : self._states + 1 + len(counts)] = ends
        self._states += len(counts)
        self._writers[SUCCESSORS].append(numbers)
        self.transitions += len(numbers)
        for name, array in ((ACTIONS, actions), (PROBABILITIES, probabilities), (REWARDS, rewards)):
            if name in self._writers:
                writer = self._writers[name]
                writer.append(self._default(name, len(numbers)) if array is None else array)

    def _optional(self, name: str, array: Any, dtype: Any, default: Any) -> None:
        """Begin an array that was not needed so far."""
        if array is not None and name not in self._writers:
            self._writers[name] = self._folder.writer(self._part.name_of(name), dtype)
            self._writers[name].append(default(self.transitions))

    def _default(self, name: str, count: int) -> NDArray[Any]:
        if name == ACTIONS:
            return self._every_action(count)
        return np.ones(count) if name == PROBABILITIES else np.zeros(count)

    def _every_action(self, count: int) -> NDArray[np.uint16]:
        return np.tile(np.arange(self._action_count, dtype=np.uint16), count // self._action_count)

    def finished(self) -> list[ArrayWriter]:
        """What is to be committed."""
        self._writers[OFFSETS] = self._folder.writer(self._part.name_of(OFFSETS), np.uint32)
        self._writers[OFFSETS].append(self._offsets)
        return list(self._writers.values())

    def discard(self) -> None:
        """Leave nothing behind."""
        for writer in self._writers.values():
            writer.discard()
