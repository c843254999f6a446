"""One search: expand the most promising waiting states under all inputs, many at once, until one wins."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError
from npp_env.graph.free_space import HALF_COLUMNS, HALF_ROWS
from npp_env.graph.nodes import half_cells
from npp_env.level.sorted_sets import sorted_unique
from npp_env.planning.frontier import ROOT, DecisionTree, Frontier
from npp_env.planning.guide import Guide
from npp_env.planning.keys import Resolution, SeenKeys
from npp_env.planning.state_keys import StateKeys
from npp_env.runtime.batch_work import advance_batch
from npp_env.runtime.thread_pool import ThreadPool
from npp_env.sim.geometry import Geometry
from npp_env.sim.kernel import Batch, LevelHandle
from npp_env.sim.outcome import NinjaState
from npp_env.sim.simulation import JUMP, LEFT, RIGHT
from npp_env.sim.views import ninja_view

INPUTS = np.array([0, LEFT, RIGHT, JUMP, JUMP | LEFT, JUMP | RIGHT], np.uint8)
NO_WAY_PX = 3000.0
"""Stands for the distance where the graph knows no way: last choice, but not given up."""

_CELLS = (HALF_COLUMNS // 2) * (HALF_ROWS // 2)

# The children themselves and the copies made of them while they are sorted; and what sorting needs for each.
_WORKING_COPIES, _SORTING_BYTES = 3, 128
_LEAST_WIDTH = 8


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How one search goes about.

    Attributes:
        width: States expanded at once.
        ticks: Lengths of a decision, used in turn from round to round.
        frame_weight_px: What a frame costs against a pixel of the way that is left; more means shorter solutions,
            found later.
        crowd_weight_px: What makes a cell less attractive with the number of states expanded in it.
        resolution: How finely states are told apart.
        max_frames: Longest solution.
    """

    width: int = 1024
    ticks: tuple[int, ...] = (6, 4, 8, 5)
    frame_weight_px: float = 0.5
    crowd_weight_px: float = 3.0
    resolution: Resolution = field(default_factory=Resolution)
    max_frames: int = 20_000

    def in_steps_of(self, frame_skip: int) -> SearchOptions:
        """The same, with decisions that last whole steps of so many ticks."""
        return replace(self, ticks=tuple(frame_skip * max(1, round(ticks / frame_skip)) for ticks in self.ticks))


@dataclass(slots=True)
class Limits:
    """What a search may use; it goes on until one of them is reached."""

    ticks: int
    memory_bytes: int
    deadline: float | None = None


@dataclass(slots=True)
class SearchOutcome:
    """What a search found and what it used.

    Attributes:
        inputs: Winning inputs (ticks,) from where the search began, or None.
        ticks: Ticks simulated.
        states_kept: States that were new.
        memory_bytes: Size of all arrays of the search.
        nearest_px: The shortest way left of any state.
        ended: won, exhausted, ticks, memory, or time.
    """

    inputs: NDArray[np.uint8] | None
    ticks: int
    states_kept: int
    memory_bytes: int
    nearest_px: float
    ended: str


class Search:
    """A search over one level.

    Args:
        geometry: The compiled level.
        guide: Its distances.
        options: How to go about.
        limits: What it may use.
        threads: Simulate with this many threads; the result does not depend on it.
        start: Where to begin, uint8 (state_bytes,); the start of the level if None.
    """

    def __init__(
        self,
        geometry: Geometry,
        guide: Guide,
        options: SearchOptions,
        limits: Limits,
        threads: int = 1,
        start: NDArray[np.uint8] | None = None,
    ) -> None:
        handle = LevelHandle(geometry)
        self._start = geometry["initial"] if start is None else start
        self._first_frame = int(ninja_view(self._start)["frame"])
        self._guide, self._options, self._limits = guide, options, limits
        self._pool = ThreadPool(threads)
        self._keys = StateKeys(geometry, options.resolution)
        self._width = min(options.width, _widest(handle.state_bytes, limits.memory_bytes))
        children = self._width * len(INPUTS)
        self._allocate(handle.state_bytes, children)
        self._batch = Batch(children, handle.state_bytes)
        self._batch.set_levels(handle)
        # Cells of each configuration get a stretch of the visit counts when it is first met.
        self._stretch_of: dict[int, int] = {}
        self._visits = np.zeros(0, np.float32)
        self._inputs = np.tile(INPUTS, self._width)
        self._nearest_px = np.inf

    def _allocate(self, stride: int, children: int) -> None:
        """Share the memory out between the keys, the tree and the frontier."""
        working = _WORKING_COPIES * children * (stride + _SORTING_BYTES)
        free = self._limits.memory_bytes - working
        size_bits = 14
        while size_bits < 24 and (8 << (size_bits + 1)) <= free // 6:
            size_bits += 1
        nodes = max(children, min(self._limits.ticks, free // 4 // DecisionTree.BYTES_PER_NODE, 1 << 24))
        stores = (8 << size_bits) + nodes * DecisionTree.BYTES_PER_NODE
        per_state = Frontier.bytes_per_state(stride)
        capacity = min(max((free - stores) // per_state, 2 * children), 1 << 18)
        self.memory_bytes = working + stores + capacity * per_state
        if self.memory_bytes > self._limits.memory_bytes:
            raise ConfigError(
                f"the search takes at least {self.memory_bytes / 2**20:.0f} MB, since a state of this level has "
                f"{stride} bytes; the budget is {self._limits.memory_bytes / 2**20:.0f} MB"
            )
        self._seen = SeenKeys(size_bits)
        self._tree = DecisionTree(nodes)
        self._frontier = Frontier(capacity, stride)

    def run(self, on_progress: Callable[[int, float], None] | None = None) -> SearchOutcome:
        """Search until something ends it.

        Args:
            on_progress: Called after each round with the ticks simulated so far and the shortest way left.
        """
        o, limits, batch = self._options, self._limits, self._batch
        ticks_done, round_number = 0, 0
        self._admit(self._start[None], np.array([ROOT], np.int32))
        while True:
            if not self._frontier.size:
                return self._outcome(None, ticks_done, "exhausted")
            if ticks_done >= limits.ticks:
                return self._outcome(None, ticks_done, "ticks")
            if self._tree.room < len(batch.states):
                return self._outcome(None, ticks_done, "memory")
            if limits.deadline is not None and time.monotonic() > limits.deadline:
                return self._outcome(None, ticks_done, "time")
            ticks = o.ticks[round_number % len(o.ticks)]
            round_number += 1
            parents = self._take()
            count = len(parents) * len(INPUTS)
            advance_batch(batch, self._pool, self._inputs, count, ticks, True)
            ticks_done += count * ticks
            winner = self._keep(parents, count, ticks)
            if winner is not None:
                return self._outcome(winner, ticks_done, "won")
            if on_progress is not None:
                on_progress(ticks_done, self._nearest_px)

    def _outcome(self, inputs: NDArray[np.uint8] | None, ticks: int, ended: str) -> SearchOutcome:
        return SearchOutcome(inputs, ticks, self._tree.size, self.memory_bytes, float(self._nearest_px), ended)

    def _penalties(self) -> NDArray[np.float32]:
        penalties: NDArray[np.float32] = np.sqrt(self._visits) * np.float32(self._options.crowd_weight_px)
        return penalties

    def _take(self) -> NDArray[np.int32]:
        """Move the best waiting states into the batch, each once for every input; returns their nodes."""
        frontier = self._frontier
        rows = frontier.best(self._width, self._penalties())
        nodes: NDArray[np.int32] = frontier.nodes[rows]
        cells = frontier.cells[rows]
        np.add.at(self._visits, cells, 1.0)
        count = len(rows) * len(INPUTS)
        self._batch.states[:count] = np.repeat(frontier.states[rows], len(INPUTS), axis=0)
        frontier.remove(rows)
        return nodes

    def _keep(self, parents: NDArray[np.int32], count: int, ticks: int) -> NDArray[np.uint8] | None:
        """Put the new states among the children into the frontier; returns winning inputs if one has won."""
        states = self._batch.states[:count]
        ninja = ninja_view(states)
        state, frames = ninja["state"], ninja["frame"] - self._first_frame
        won = np.flatnonzero(state == NinjaState.CELEBRATING)
        if len(won):
            row = int(won[np.argmin(frames[won])])
            before = self._tree.inputs_to(int(parents[row // len(INPUTS)]))
            rest = int(frames[row]) - len(before)
            return np.concatenate([before, np.full(rest, self._inputs[row], np.uint8)])
        alive = np.flatnonzero((state != NinjaState.DEAD) & (frames < self._options.max_frames))
        configurations = self._guide.configurations(states[alive])
        fresh = self._seen.add(self._keys.of(states[alive], configurations))
        rows = alive[fresh]
        nodes = self._tree.add(parents[rows // len(INPUTS)], self._inputs[rows], ticks)
        self._admit(states[rows], nodes, configurations[fresh])
        return None

    def _admit(
        self, states: NDArray[np.uint8], nodes: NDArray[np.int32], configurations: NDArray[np.int64] | None = None
    ) -> None:
        """Rank states and let them wait."""
        if configurations is None:
            configurations = self._guide.configurations(states)
        configurations = self._guide.judged(configurations)
        ninja = ninja_view(states)
        x, y = ninja["x"].copy(), ninja["y"].copy()
        nodes_at = self._guide.nodes_at(x, y)
        places = half_cells(x, y)
        distances = np.empty(len(states), np.float32)
        cells = np.empty(len(states), np.int32)
        for configuration in sorted_unique(configurations).tolist():
            mine = configurations == configuration
            distances[mine] = self._guide.table(configuration)[nodes_at[mine]]
            cells[mine] = self._stretch(configuration) + _cell_of_half_cell(places[mine])
        reachable = np.isfinite(distances)
        if reachable.any():
            self._nearest_px = min(self._nearest_px, float(distances[reachable].min()))
        distances[~reachable] = NO_WAY_PX
        costs = distances + np.float32(self._options.frame_weight_px) * ninja["frame"].astype(np.float32)
        self._frontier.make_room(len(states), self._penalties())
        self._frontier.push(states, nodes, cells, costs)

    def _stretch(self, configuration: int) -> int:
        if configuration not in self._stretch_of:
            self._stretch_of[configuration] = len(self._visits)
            self._visits = np.concatenate([self._visits, np.zeros(_CELLS, np.float32)])
        return self._stretch_of[configuration]


def _cell_of_half_cell(places: NDArray[np.int64]) -> NDArray[np.int64]:
    row, column = places // HALF_COLUMNS, places % HALF_COLUMNS
    return (row // 2) * (HALF_COLUMNS // 2) + column // 2


def _widest(stride: int, memory_bytes: int) -> int:
    """How many states can be expanded at once if that may take a third of the memory."""
    per_state = _WORKING_COPIES * len(INPUTS) * (stride + _SORTING_BYTES)
    return max(_LEAST_WIDTH, memory_bytes // 3 // per_state)
