"""Find ways that win from many states of a level at once: to the exit, or back to a branch that is known to win."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from npp_env.graph.nodes import half_cells
from npp_env.planning.branches import NOWHERE, Branches
from npp_env.planning.frontier import ROOT, DecisionTree
from npp_env.planning.guide import Guide
from npp_env.planning.keys import SeenKeys
from npp_env.planning.search import CELLS, INPUTS, NO_WAY_PX, cell_of_half_cell
from npp_env.runtime.batch_work import advance_batch
from npp_env.runtime.thread_pool import ThreadPool
from npp_env.sim.kernel import Batch
from npp_env.sim.outcome import NinjaState
from npp_env.sim.views import ninja_view

_FRAME_WEIGHT_PX, _CROWD_WEIGHT_PX = 0.2, 5.0
_WAITING = 384
"""States that may wait for each one that is asked for."""
_STEPS = (2, 1, 3, 1)
"""Lengths of a decision, in steps, used in turn."""
_TRIES = 2
"""Rests of branches that are played for each owner after an expansion."""
_MOST_HALVED, _MOST_FAILURES = 6, 4096
_OWNER_MIX = np.uint64(0xD6E8FEB86659FD93)


@dataclass(frozen=True, slots=True)
class RescueOptions:
    """How a search goes about.

    Attributes:
        ticks: Ticks that may be spent on each state; fewer where states nearby had no way.
        width: States expanded at once for each.
        together: States that are searched from at once.
    """

    ticks: int = 300_000
    width: int = 12
    together: int = 32


class Patience:
    """Remembers where states had no way, so that the next ones there are given less and less time.

    Args:
        guide: Distances of the level.
    """

    def __init__(self, guide: Guide) -> None:
        self._guide = guide
        self._failures: dict[int, int] = {}

    def places_of(self, states: NDArray[np.uint8]) -> list[int]:
        """Cell and configuration of each state."""
        ninja = ninja_view(states)
        cells = cell_of_half_cell(half_cells(ninja["x"].copy(), ninja["y"].copy()))
        return [int(place) for place in self._guide.configurations(states) * CELLS + cells]

    def shares(self, places: list[int]) -> NDArray[np.float64]:
        """What share of the time is given to each; a fresh array."""
        return np.array([0.5 ** self._failures.get(place, 0) for place in places])

    def learn(self, places: list[int], found: list[bool]) -> None:
        """Take note of what came out."""
        for place, good in zip(places, found, strict=True):
            if good:
                self._failures.pop(place, None)
            elif len(self._failures) < _MOST_FAILURES:
                self._failures[place] = min(self._failures.get(place, 0) + 1, _MOST_HALVED)


class Rescue:
    """Searches from many states of one level at once, each on its own; whoever has a way drops out.

    Args:
        branches: The branches of the level.
        options: How to go about.
        pool: Threads; the result does not depend on their number.
        patience: What is known of places without a way.
    """

    def __init__(self, branches: Branches, options: RescueOptions, pool: ThreadPool, patience: Patience) -> None:
        self._branches, self._options, self._pool, self._patience = branches, options, pool, patience
        children = options.together * options.width * len(INPUTS)
        self._batch = Batch(children, branches.handle.state_bytes)
        self._batch.set_levels(branches.handle)

    def run(self, states: NDArray[np.uint8]) -> list[NDArray[np.uint8] | None]:
        """Steps that win from each state (n, state_bytes), in the order of the states; None where none was found."""
        found: list[NDArray[np.uint8] | None] = []
        for first in range(0, len(states), self._options.together):
            some = states[first : first + self._options.together]
            places = self._patience.places_of(some)
            ways = _Round(self, some, self._patience.shares(places) * self._options.ticks).run()
            self._patience.learn(places, [way is not None for way in ways])
            found += ways
        return found


class _Round:
    """The search from some states, each an owner of what grows from it."""

    def __init__(self, rescue: Rescue, states: NDArray[np.uint8], ticks: NDArray[np.float64]) -> None:
        self._branches, self._options = rescue._branches, rescue._options
        self._batch, self._pool = rescue._batch, rescue._pool
        self._found: list[NDArray[np.uint8] | None] = [None] * len(states)
        self._allowed, self._spent = ticks, np.zeros(len(states), np.int64)
        per_round = self._options.width * len(INPUTS)
        rounds = self._options.ticks // (per_round * self._branches.frame_skip) + 1
        self._tree = DecisionTree(len(states) * per_round * rounds)
        self._seen = SeenKeys(18)
        self._visits: dict[int, int] = {}
        self._counts = np.zeros(0, np.float32)
        self._waiting = states[:0]
        self._nodes = np.zeros(0, np.int32)
        self._owners = np.zeros(0, np.int64)
        self._costs = np.zeros(0, np.float32)
        self._cells = np.zeros(0, np.int64)
        self._starts = states

    def run(self) -> list[NDArray[np.uint8] | None]:
        owners = np.arange(len(self._starts))
        roots = np.full(len(owners), ROOT, np.int32)
        self._try_branches(self._starts, self._branches.keys_of(self._starts), roots, owners)
        self._admit(self._starts, roots, owners)
        number = 0
        while True:
            chosen = self._choose()
            if not len(chosen):
                return self._found
            self._expand(chosen, _STEPS[number % len(_STEPS)])
            number += 1

    def _choose(self) -> NDArray[np.int64]:
        """Rows to expand: of every owner that still looks the most promising."""
        looking = np.array([way is None for way in self._found]) & (self._spent < self._allowed)
        ranks = self._costs + np.sqrt(self._counts[self._cells]) * np.float32(_CROWD_WEIGHT_PX)
        order = np.lexsort((ranks, self._owners))
        order = order[looking[self._owners[order]]]
        place = rank_within(self._owners[order])
        # What waits too far behind is let go.
        order, place = order[place < _WAITING], place[place < _WAITING]
        self._keep(order)
        return np.flatnonzero(place < self._options.width)

    def _keep(self, rows: NDArray[np.int64]) -> None:
        self._waiting, self._nodes, self._owners = self._waiting[rows], self._nodes[rows], self._owners[rows]
        self._costs, self._cells = self._costs[rows], self._cells[rows]

    def _expand(self, rows: NDArray[np.int64], steps: int) -> None:
        batch, count, ticks = self._batch, len(rows) * len(INPUTS), steps * self._branches.frame_skip
        batch.states[:count] = np.repeat(self._waiting[rows], len(INPUTS), axis=0)
        inputs = np.zeros(batch.num_envs, np.uint8)
        inputs[:count] = np.tile(INPUTS, len(rows))
        np.add.at(self._counts, self._cells[rows], 1.0)
        parents, owners = np.repeat(self._nodes[rows], len(INPUTS)), np.repeat(self._owners[rows], len(INPUTS))
        rest = np.ones(len(self._owners), np.bool_)
        rest[rows] = False
        self._keep(np.flatnonzero(rest))
        advance_batch(batch, self._pool, inputs, count, ticks, True)
        np.add.at(self._spent, owners, ticks)
        self._branches.ticks += count * ticks
        states = batch.states[:count]
        ninja = ninja_view(states)["state"]
        for row in np.flatnonzero(ninja == NinjaState.CELEBRATING).tolist():
            if self._found[owners[row]] is None:
                way = self._steps_to(int(parents[row]))
                self._found[owners[row]] = np.append(way, np.full(steps, inputs[row], np.uint8))
        alive = np.flatnonzero((ninja != NinjaState.DEAD) & (ninja != NinjaState.CELEBRATING))
        keys = self._branches.keys_of(states[alive])
        new = self._seen.add(keys ^ (owners[alive].astype(np.uint64) * _OWNER_MIX))
        fresh = alive[new]
        nodes = self._tree.add(parents[fresh], inputs[fresh], ticks)
        states, owners = states[fresh].copy(), owners[fresh]
        self._try_branches(states, keys[new], nodes, owners)
        self._admit(states, nodes, owners)

    def _steps_to(self, node: int) -> NDArray[np.uint8]:
        return self._tree.inputs_to(node)[:: self._branches.frame_skip]

    def _try_branches(
        self,
        states: NDArray[np.uint8],
        keys: NDArray[np.uint64],
        nodes: NDArray[np.int32],
        owners: NDArray[np.int64],
    ) -> None:
        """Where a state has the key of a place on a branch, play what is left of it; of each owner's the shortest."""
        branches = self._branches
        places = branches.find(keys)
        rows = np.flatnonzero(places != NOWHERE)
        rows = rows[[self._found[owner] is None for owner in owners[rows].tolist()]]
        rows = rows[np.lexsort((branches.left[places[rows]], owners[rows]))]
        rows = rows[rank_within(owners[rows]) < _TRIES]
        if not len(rows):
            return
        steps = branches.replay(states[rows], places[rows], self._batch, self._pool)
        np.add.at(self._spent, owners[rows], branches.left[places[rows]] * branches.frame_skip)
        for row, count in zip(rows.tolist(), steps.tolist(), strict=True):
            if count and self._found[owners[row]] is None:
                rest = branches.rest_of(int(places[row]), count)
                self._found[owners[row]] = np.concatenate([self._steps_to(int(nodes[row])), rest])

    def _admit(self, states: NDArray[np.uint8], nodes: NDArray[np.int32], owners: NDArray[np.int64]) -> None:
        """Rank states by the way that is left, and let them wait."""
        guide = self._branches.guide
        ninja = ninja_view(states)
        configurations = guide.judged(guide.configurations(states))
        x, y = ninja["x"].copy(), ninja["y"].copy()
        nodes_at = guide.nodes_at(x, y)
        distances = np.empty(len(states), np.float32)
        stretches = np.empty(len(states), np.int64)
        for configuration in np.unique(configurations).tolist():
            mine = configurations == configuration
            distances[mine] = guide.table(configuration)[nodes_at[mine]]
            stretches[mine] = self._stretch(configuration)
        distances[~np.isfinite(distances)] = NO_WAY_PX
        cells = stretches + owners * CELLS + cell_of_half_cell(half_cells(x, y))
        costs = distances + np.float32(_FRAME_WEIGHT_PX) * ninja["frame"].astype(np.float32)
        self._waiting = np.concatenate([self._waiting, states])
        self._nodes = np.concatenate([self._nodes, nodes])
        self._owners = np.concatenate([self._owners, owners])
        self._costs = np.concatenate([self._costs, costs])
        self._cells = np.concatenate([self._cells, cells])

    def _stretch(self, configuration: int) -> int:
        """Where the visit counts of a configuration begin; they are told apart by owner and cell."""
        if configuration not in self._visits:
            self._visits[configuration] = len(self._counts)
            self._counts = np.append(self._counts, np.zeros(len(self._starts) * CELLS, np.float32))
        return self._visits[configuration]


def rank_within(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of sorted groups the number of each element within its own; fresh (n,).

    Example:
        >>> rank_within(np.array([3, 3, 5, 5, 5])).tolist()
        [0, 1, 0, 1, 2]
    """
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    return np.arange(len(groups)) - np.repeat(starts, np.diff(starts, append=len(groups)))
