"""Goals that humans may have: conditions on states, stored as bits per state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError
from npp_env.induction.array_folder import ArrayFolder
from npp_env.induction.errors import InductionError
from npp_env.induction.transitions import Slice, Transitions
from npp_env.induction.watching import Watch
from npp_env.level.cache_file import checksum

Attained = Callable[[NDArray[np.uint8], int], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Goals:
    """What humans may want.

    Attributes:
        names: One for each goal; a folder is used again only for the same names.
        attained: Called with states (n, state_bytes) and the index of a human among the agents; says which goals hold
            for that human, bool (n, goals).
        weights: How much each counts, of each human (humans, goals) or of all alike (goals,); 1 each if None.
    """

    names: tuple[str, ...]
    attained: Attained
    weights: Any = None

    def weights_of(self, humans: int) -> NDArray[np.float64]:
        """Weights (humans, goals); a fresh array.

        Raises:
            ConfigError: They have the wrong shape, or are no weights.
        """
        given = np.ones(len(self.names)) if self.weights is None else np.asarray(self.weights, np.float64)
        shape = (humans, len(self.names))
        if not self.names or given.shape not in (shape, shape[1:]):
            raise ConfigError(f"weights of goals have the shape {given.shape}; it is {shape} or {shape[1:]}")
        if not (given >= 0).all() or not np.isfinite(given).all() or (given.sum(axis=-1) <= 0).any():
            raise ConfigError("weights of goals are not negative, and some are positive, of every human")
        return np.array(np.broadcast_to(given, shape), order="C")

    def digest(self) -> str:
        """What tells these goals from others in a manifest."""
        return checksum("\0".join(self.names).encode()).hex()


class Attainment:
    """Which goals hold in which state, as bits on disk.

    Args:
        folder: Where to.
        transitions: The states.
        goals: The goals.
        humans: Whose.
    """

    def __init__(self, folder: ArrayFolder, transitions: Transitions, goals: Goals, humans: tuple[int, ...]) -> None:
        self._folder, self._transitions, self._goals, self._humans = folder, transitions, goals, humans

    def store(self, last_layer: int, block_states: int, watch: Watch) -> None:
        """Ask for all states up to a layer that were not asked for yet."""
        for part in self._transitions.slices:
            if part.layer > last_layer or _name(part) in self._folder:
                continue
            writer = self._folder.writer(_name(part), np.uint8, (len(self._humans), -(-len(self._goals.names) // 8)))
            try:
                for first in range(part.first, part.last, block_states):
                    watch.ask()
                    states = self._transitions.states(first, min(first + block_states, part.last))
                    writer.append(self._bits(states))
                    watch.tell("goals", first, self._transitions.state_count)
                self._folder.commit([writer])
            except BaseException:
                writer.discard()
                raise

    def _bits(self, states: NDArray[np.uint8]) -> NDArray[np.uint8]:
        shape = (len(states), len(self._goals.names))
        columns = []
        for human in self._humans:
            held = np.asarray(self._goals.attained(states, human))
            if held.shape != shape or held.dtype != np.bool_:
                raise InductionError(f"goals of human {human} are {held.dtype} {held.shape}; they must be bool {shape}")
            columns.append(np.packbits(held, axis=1, bitorder="little"))
        return np.stack(columns, axis=1)

    def bits(self, first: int, last: int) -> NDArray[np.uint8]:
        """Bits of states within one slice; a fresh array (n, humans, bytes)."""
        part = self._transitions.slice_of(first)
        mapped = self._folder.array(_name(part))
        found: NDArray[np.uint8] = mapped.array[first - part.first : last - part.first].copy()
        mapped.release()
        return found

    def held(self, first: int, last: int) -> NDArray[np.bool_]:
        """The same as bool (n, humans, goals); a fresh array."""
        bits = np.unpackbits(self.bits(first, last), axis=2, count=len(self._goals.names), bitorder="little")
        return bits.astype(np.bool_)


def _name(part: Slice) -> str:
    return part.name_of("attained")
