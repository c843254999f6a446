"""Ways that win: branches of a level that were played to the end, and searches that lead to the exit or back to one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.graph.navigation import NavigationGraph
from npp_env.level.sorted_sets import sorted_unique
from npp_env.planning.guide import Guide
from npp_env.planning.hunt import Hunter
from npp_env.planning.keys import Resolution
from npp_env.planning.state_keys import StateKeys
from npp_env.runtime.thread_pool import ThreadPool
from npp_env.sim.geometry import Geometry
from npp_env.sim.kernel import Batch, LevelHandle
from npp_env.sim.outcome import NinjaState
from npp_env.sim.views import ninja_view

_CELL_PX = 24
_MOST_HALVED, _MOST_FAILURES = 6, 4096
_REPEATS = 3
"""How often a search is done again because it met doors whose distances it did not know."""


class Branches:
    """Winning branches of one level, as steps of `frame_skip` ticks, each an input byte.

    Args:
        geometry: The compiled level.
        graph: Its graph.
        frame_skip: Ticks of a step.
        capacity: Branches that are kept; of more, the oldest but the first goes.

    Attributes:
        handle: The level.
        ticks: Ticks simulated so far.
    """

    def __init__(self, geometry: Geometry, graph: NavigationGraph, frame_skip: int, capacity: int = 64) -> None:
        self.handle = LevelHandle(geometry)
        self.ticks = 0
        self._guide = Guide(graph, geometry)
        self._frame_skip, self._capacity = frame_skip, capacity
        self._keys = StateKeys(geometry, Resolution())
        columns, initial = self._guide.switch_flags
        self._hunter = Hunter(self.handle, self._keys, graph, columns, initial, frame_skip)
        self._hunter.add_table(0, self._guide.table(0))
        self._branches: list[tuple[NDArray[np.uint8], NDArray[np.uint64]]] = []
        self._failures: dict[int, int] = {}

    @property
    def nbytes(self) -> int:
        """Size of the branches."""
        return sum(steps.nbytes + keys.nbytes for steps, keys in self._branches)

    @property
    def first(self) -> NDArray[np.uint8]:
        """Steps of the first branch, which is never given up; empty without any."""
        return self._branches[0][0] if self._branches else np.zeros(0, np.uint8)

    def follow(
        self, start: NDArray[np.uint8], steps: NDArray[np.uint8], *, keep: bool = False
    ) -> NDArray[np.uint8] | None:
        """Play steps from a state; with `keep` they become a branch if they win.

        Returns:
            The states (n, state_bytes) in which the steps that were needed are taken, fresh; None if they do not win.
        """
        walker = Batch(1, self.handle.state_bytes)
        walker.set_level(0, self.handle)
        walker.states[0] = start
        ninja = ninja_view(walker.states[0])
        states = np.empty((len(steps), len(start)), np.uint8)
        for number, byte in enumerate(steps.tolist()):
            states[number] = walker.states[0]
            self.ticks += walker.advance_one(0, byte, self._frame_skip)
            if ninja["state"] == NinjaState.CELEBRATING:
                if keep:
                    self._keep(steps[: number + 1], states[: number + 1])
                return states[: number + 1]
            if ninja["state"] == NinjaState.DEAD:
                return None
        return None

    def _keep(self, steps: NDArray[np.uint8], states: NDArray[np.uint8]) -> None:
        if len(self._branches) == self._capacity:
            del self._branches[min(1, self._capacity - 1)]
        configurations = self._guide.configurations(states)
        for configuration in sorted_unique(configurations).tolist():
            self._hunter.add_table(configuration, self._guide.table(configuration))
        self._branches.append((steps.copy(), self._keys.of(states, configurations)))
        self._tell_hunter()

    def _tell_hunter(self) -> None:
        lengths = [len(steps) for steps, _ in self._branches]
        left = np.concatenate([np.arange(length, 0, -1) for length in lengths])
        # Of places with the same key the one that is nearest to its end comes first.
        order = np.argsort(left, kind="stable")
        self._hunter.set_branches(
            np.concatenate([keys for _, keys in self._branches])[order],
            np.arange(len(left))[order],
            left[order],
            np.concatenate([steps for steps, _ in self._branches]),
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that later searches depend on, by name; fresh arrays."""
        empty = [(np.zeros(0, np.uint8), np.zeros(0, np.uint64))]
        return {
            "lengths": np.array([len(steps) for steps, _ in self._branches], np.int64),
            "steps": np.concatenate([steps for steps, _ in self._branches or empty]),
            "keys": np.concatenate([keys for _, keys in self._branches or empty]),
            "failures": np.array([*self._failures.items()], np.int64).reshape(-1, 2),
            "configurations": self._hunter.configurations(),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go back to what `arrays` gave, in branches that were made anew."""
        ends = np.cumsum(arrays["lengths"])[:-1]
        parts = zip(np.split(arrays["steps"], ends), np.split(arrays["keys"], ends), strict=True)
        self._branches = [(steps.copy(), keys.copy()) for steps, keys in parts if len(steps)]
        self._failures = {int(place): int(count) for place, count in arrays["failures"]}
        for configuration in arrays["configurations"].tolist():
            self._hunter.add_table(configuration, self._guide.table(configuration))
        if self._branches:
            self._tell_hunter()

    def search(
        self, states: NDArray[np.uint8], ticks: int, pool: ThreadPool, first_look: bool = False
    ) -> list[NDArray[np.uint8] | None]:
        """Look for steps that win from states, to the exit or back to a branch.

        Args:
            states: (n, state_bytes), valid states that have not ended.
            ticks: What may be spent on each; less where states nearby had no way.
            pool: Threads; the result does not depend on their number.
            first_look: Not to find a way says nothing about the place.

        Returns:
            For each state its steps, fresh, or None.
        """
        places = self._places_of(states)
        allowed = np.array([ticks >> self._failures.get(place, 0) for place in places], np.int64)
        found: list[NDArray[np.uint8] | None] = [None] * len(states)
        left = np.arange(len(states))
        for _ in range(_REPEATS):
            ways, spent, wanted = self._hunter.run(states[left], allowed[left], pool)
            self.ticks += spent
            for row, way in zip(left.tolist(), ways, strict=True):
                found[row] = way
            left = left[[way is None for way in ways]]
            for configuration in wanted:
                self._hunter.add_table(configuration, self._guide.table(configuration))
            if not wanted or not len(left):
                break
        for place, way in zip(places, found, strict=True):
            if way is not None:
                self._failures.pop(place, None)
            elif not first_look and len(self._failures) < _MOST_FAILURES:
                self._failures[place] = min(self._failures.get(place, 0) + 1, _MOST_HALVED)
        return found

    def _places_of(self, states: NDArray[np.uint8]) -> list[int]:
        """Cell and switches of each state, as one number."""
        ninja = ninja_view(states)
        columns, rows = (np.floor(ninja[name] / _CELL_PX).astype(np.int64) & 63 for name in ("x", "y"))
        configurations = self._guide.configurations(states)
        return [int(number) for number in (configurations << 12) | (columns << 6) | rows]
