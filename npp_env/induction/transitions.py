"""The transitions of a model on disk: slices of states with their transitions, and which states each time step has.

States are numbered as they are met. Those met first after k steps make layer k; a layer is stored in slices. A slice
has its states, their hashes and, once they were expanded, their transitions in compressed rows: `offsets` into
`successors`, `actions` where not every state has each action once, `probabilities` where not all is certain, `rewards`
where there are any. Level t is what can be met after exactly t steps: runs of numbers, since a state may be met at many
time steps but is stored and expanded once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from npp_env.induction.array_files import MappedArray
from npp_env.induction.array_folder import ArrayFolder

NOT_EXPANDED = -1
STATES, KEYS, HASHES = "states", "keys", "hashes"
OFFSETS, SUCCESSORS, ACTIONS, PROBABILITIES, REWARDS = "offsets", "successors", "actions", "probabilities", "rewards"
TRANSITION_PARTS = (OFFSETS, SUCCESSORS, ACTIONS, PROBABILITIES, REWARDS)


class Slice(NamedTuple):
    """Some states that follow each other.

    Attributes:
        number: Of the slice.
        first: Number of its first state.
        size: Its states.
        layer: After how many steps they were met first.
        transitions: Their transitions; -1 before they were expanded.
    """

    number: int
    first: int
    size: int
    layer: int
    transitions: int

    @property
    def last(self) -> int:
        """One behind its last state."""
        return self.first + self.size

    def name_of(self, part: str) -> str:
        """Name of one of its arrays."""
        return f"slice{self.number:06d}.{part}"


def level_name(level: int) -> str:
    """Name of the array with the runs of a level."""
    return f"level{level:05d}.runs"


@dataclass(frozen=True, slots=True)
class Rows:
    """The transitions of the states first..last-1, all of one slice; arrays are views of files.

    Attributes:
        first: Number of the first state.
        last: One behind the last.
        offsets: uint32 (states + 1,), into the arrays below.
        successors: uint32, numbers of states.
        actions: uint16, or None.
        probabilities: float64, or None.
        rewards: float64, or None.
    """

    first: int
    last: int
    offsets: NDArray[np.uint32]
    successors: NDArray[np.uint32]
    actions: NDArray[np.uint16] | None
    probabilities: NDArray[np.float64] | None
    rewards: NDArray[np.float64] | None


class OpenSlice:
    """A slice whose arrays are mapped.

    Args:
        folder: Where they are.
        part: The slice.
    """

    def __init__(self, folder: ArrayFolder, part: Slice) -> None:
        self.slice = part
        self._arrays: dict[str, MappedArray] = {}
        for name in TRANSITION_PARTS:
            if part.name_of(name) in folder:
                self._arrays[name] = folder.array(part.name_of(name))

    def rows(self, first: int, last: int) -> Rows:
        """The transitions of some states; with none of a slice that was not expanded."""
        if self.slice.transitions == NOT_EXPANDED:
            return Rows(first, last, np.zeros(last - first + 1, np.uint32), np.zeros(0, np.uint32), None, None, None)
        start = first - self.slice.first
        found: dict[str, Any] = {name: mapped.array for name, mapped in self._arrays.items()}
        return Rows(
            first,
            last,
            found[OFFSETS][start : start + last - first + 1],
            found[SUCCESSORS],
            found.get(ACTIONS),
            found.get(PROBABILITIES),
            found.get(REWARDS),
        )

    def release(self) -> None:
        """Let go of the pages that were looked at."""
        for mapped in self._arrays.values():
            mapped.release()


class Transitions:
    """All that was stored of a model.

    Args:
        folder: Where it is.

    Attributes:
        folder: Where it is.
        slices: In the order of their states.
    """

    def __init__(self, folder: ArrayFolder) -> None:
        self.folder = folder
        self.slices: list[Slice] = []
        self._runs: dict[int, NDArray[np.uint32]] = {}
        for number, (first, count, layer, transitions) in enumerate(folder.progress.get("slices", [])):
            self.slices.append(Slice(number, first, count, layer, transitions))

    @property
    def state_count(self) -> int:
        """Distinct states."""
        return self.slices[-1].last if self.slices else 0

    @property
    def transition_count(self) -> int:
        """Transitions of all states that were expanded."""
        return sum(part.transitions for part in self.slices if part.transitions != NOT_EXPANDED)

    @property
    def level_count(self) -> int:
        """Levels that are known: one more than the steps that were taken."""
        return int(self.folder.progress.get("levels", 0))

    @property
    def is_closed(self) -> bool:
        """Whether there are no further states at any later time."""
        return bool(self.folder.progress.get("closed", False))

    def runs(self, level: int) -> NDArray[np.uint32]:
        """The states of a level as runs (n, 2): the first, and one behind the last; an array that is kept."""
        if level not in self._runs:
            self._runs[level] = self.folder.array(level_name(level)).array.copy()
        return self._runs[level]

    def level_size(self, level: int) -> int:
        """States of a level."""
        runs = self.runs(level).astype(np.int64)
        return int((runs[:, 1] - runs[:, 0]).sum())

    def level_sizes(self, horizon: int) -> list[int]:
        """States of each level up to a horizon."""
        return [self.level_size(level) for level in range(horizon + 1)]

    def span(self, level: int) -> tuple[int, int]:
        """The first state of a level and one behind its last; (0, 0) of one without states."""
        runs = self.runs(level)
        return (int(runs[0, 0]), int(runs[-1, 1])) if len(runs) else (0, 0)

    def slice_of(self, state: int) -> Slice:
        """The slice that a state lies in."""
        low, high = 0, len(self.slices) - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.slices[middle].last <= state else (low, middle)
        return self.slices[low]

    def pieces(self, level: int, block_states: int) -> Iterator[tuple[Slice, int, int]]:
        """The states of a level in blocks, each within one slice."""
        for run_first, run_last in self.runs(level).tolist():
            first = run_first
            while first < run_last:
                part = self.slice_of(first)
                last = min(run_last, part.last, first + block_states)
                yield part, first, last
                first = last

    def blocks(self, level: int, block_states: int) -> Iterator[Rows]:
        """The transitions of a level in blocks; pages are let go of after each."""
        opened: OpenSlice | None = None
        for part, first, last in self.pieces(level, block_states):
            if opened is None or opened.slice.number != part.number:
                opened = OpenSlice(self.folder, part)
            yield opened.rows(first, last)
            opened.release()

    def states(self, first: int, last: int) -> NDArray[np.uint8]:
        """The bytes of states that lie in one slice; a fresh array (n, state_bytes)."""
        part = self.slice_of(first)
        mapped = self.folder.array(part.name_of(STATES))
        rows: NDArray[np.uint8] = mapped.array[first - part.first : last - part.first].copy()
        mapped.release()
        return rows
