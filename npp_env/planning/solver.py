"""`solve`: find inputs that win a level, and prove it with a recording."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError
from npp_env.graph.navigation import graph_of
from npp_env.level.cache import LevelCache
from npp_env.level.model import Level
from npp_env.planning.budget import MAX_FRAME_SKIP, SolveBudget
from npp_env.planning.guide import Guide
from npp_env.planning.keys import Resolution
from npp_env.planning.search import Limits, Search, SearchOptions, SearchOutcome
from npp_env.planning.shorten import Shortener
from npp_env.planning.start_state import AnyState, plain_state
from npp_env.recording import Recording
from npp_env.sim.geometry import Geometry, geometry_of
from npp_env.sim.kernel import LevelHandle
from npp_env.sim.outcome import Outcome, outcome_of
from npp_env.sim.simulation import Simulation
from npp_env.sim.views import ninja_view

SOLVED, NOT_FOUND, UNREACHABLE = "solved", "not found", "unreachable"

_LEAST_ATTEMPT_TICKS = 3_000_000
"""A small budget is better spent on one attempt than divided between all."""

_ORDINARY_TICK_NS = 300
_ORDINARY_LEVEL_NS = 15_000
"""Half of what the ticks of an ordinary level are thought to take at most; they take far less."""

# Each attempt tells states apart in its own way and decides in its own rhythm: what one misses, another finds.
_ATTEMPTS = (
    (0.03, SearchOptions(width=128)),
    (0.07, SearchOptions(width=512)),
    (0.15, SearchOptions(width=1024, resolution=Resolution(3.0, 0.3, 8, 8.0, 120.0), ticks=(5, 4, 7, 3))),
    (0.30, SearchOptions(width=1024, crowd_weight_px=8.0, ticks=(8, 3, 6, 12), frame_weight_px=0.25)),
    (
        0.45,
        SearchOptions(
            width=2048, crowd_weight_px=5.0, resolution=Resolution(2.0, 0.25, 6, 6.0, 200.0), ticks=(4, 3, 5, 2)
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class SolveStatistics:
    """What a solver used.

    Attributes:
        attempts: Searches begun.
        ticks: Ticks simulated by the searches.
        shorten_ticks: Ticks simulated to make the solution shorter.
        states_kept: States that were new, over all searches.
        peak_memory_bytes: Size of the arrays of the largest search.
        nearest_px: The shortest way left to an exit of any state that was met.
        frames_found: Frames of the solution before it was made shorter; 0 without one.
        cpu_seconds: Processor time.
    """

    attempts: int
    ticks: int
    shorten_ticks: int
    states_kept: int
    peak_memory_bytes: int
    nearest_px: float
    frames_found: int
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class SolveResult:
    """What came out of `solve`.

    Attributes:
        status: "solved"; "not found" within the budget, which says nothing about whether there is a solution; or
            "unreachable": the graph of the level knows no way to an exit.
        inputs: Winning inputs from where the search began, one byte a tick; or None.
        recording: A recording that wins; None without a solution, or where the search did not begin with the level.
        statistics: What it took.
    """

    status: str
    inputs: NDArray[np.uint8] | None
    recording: Recording | None
    statistics: SolveStatistics

    @property
    def solved(self) -> bool:
        """Whether there are winning inputs."""
        return self.inputs is not None


Progress = Callable[[int, float], None]
"""Called now and then with the ticks simulated so far and the shortest way left, in pixels."""


def solve(
    level: Level,
    *,
    budget: SolveBudget | None = None,
    seed: int = 0,
    threads: int = 1,
    frame_skip: int = 1,
    start: AnyState | None = None,
    on_progress: Progress | None = None,
) -> SolveResult:
    """Search for inputs that win a level, with the simulator itself.

    Args:
        level: The level.
        budget: What may be used; the default takes a minute of processor time at most on an ordinary machine.
        seed: Another seed searches in another order.
        threads: Threads that simulate; the result does not depend on their number.
        frame_skip: Decide as a policy does: every input is held for so many ticks, from the start on, up to the tick of
            victory.
        start: The state to begin with, as `get_state` of an environment or a simulation gave it, as a row of the
            `state` layout, or as plain bytes; the start of the level if None.
        on_progress: Called after each round of the search.

    Returns:
        The result; its inputs have been played and win on their last tick.

    Raises:
        ConfigError: A number is out of range.
        StateError: `start` is no valid state of this level.

    Example:
        >>> from npp_env.level.shipped import load_shipped
        >>> result = solve(load_shipped("first_steps/walk"), budget=SolveBudget(shorten_ticks=0))
        >>> result.status, result.recording.outcome
        ('solved', 'won')
    """
    if threads < 1:
        raise ConfigError(f"threads is {threads}; at least 1")
    if not 1 <= frame_skip <= MAX_FRAME_SKIP:
        raise ConfigError(f"frame_skip is {frame_skip}; 1 to {MAX_FRAME_SKIP}")
    budget = budget or SolveBudget()
    return _Solver(level, budget, seed, threads, frame_skip, start, on_progress).run()


class _Solver:
    def __init__(
        self,
        level: Level,
        budget: SolveBudget,
        seed: int,
        threads: int,
        frame_skip: int,
        start: AnyState | None,
        on_progress: Progress | None,
    ) -> None:
        self._cpu_start = time.process_time()
        self._deadline = None if budget.seconds is None else time.monotonic() + budget.seconds
        weight = _tick_weight(level)
        budget = replace(budget, ticks=max(1, budget.ticks // weight), shorten_ticks=budget.shorten_ticks // weight)
        self._level, self._budget, self._threads, self._on_progress = level, budget, threads, on_progress
        self._frame_skip, self._from_the_start = frame_skip, start is None
        self._rng = np.random.default_rng(seed)
        # A solver looks at many levels once; none of them is worth a place in the cache of the process.
        cache = LevelCache(persist=False)
        self._geometry: Geometry = geometry_of(level, cache)
        self._guide = Guide(graph_of(level, cache), self._geometry)
        initial: NDArray[np.uint8] = self._geometry["initial"]
        self._start = initial if start is None else plain_state(level, LevelHandle(self._geometry), start)
        self._outcomes: list[SearchOutcome] = []
        self._spent_before = 0

    def run(self) -> SolveResult:
        if outcome_of(int(ninja_view(self._start)["state"])) is not Outcome.RUNNING:
            return SolveResult(NOT_FOUND, None, None, self._statistics(0, 0))
        if self._guide.is_cut_off(self._start):
            return SolveResult(UNREACHABLE, None, None, self._statistics(0, 0))
        inputs = self._search()
        if inputs is None:
            return SolveResult(NOT_FOUND, None, None, self._statistics(0, 0))
        frames_found, shorten_ticks = len(inputs), 0
        fits = Shortener.bytes_for(len(self._start), len(inputs)) <= self._budget.memory_mb << 20
        if self._budget.shorten_ticks and fits:
            shortener = Shortener(self._geometry, inputs, self._rng, self._frame_skip, self._start)
            inputs = shortener.run(self._budget.shorten_ticks, self._deadline)
            shorten_ticks = shortener.ticks
        recording = winning_recording(self._level, inputs, self._geometry) if self._from_the_start else None
        return SolveResult(SOLVED, inputs, recording, self._statistics(frames_found, shorten_ticks))

    def _search(self) -> NDArray[np.uint8] | None:
        spent, allowed = 0, 0.0
        for share, options in _ATTEMPTS:
            if spent >= self._budget.ticks:
                break
            # An attempt that gives up early leaves its share to the next one.
            allowed = max(allowed + share * self._budget.ticks, min(_LEAST_ATTEMPT_TICKS, self._budget.ticks))
            self._spent_before = spent
            limits = Limits(max(round(allowed) - spent, 1), self._budget.memory_mb << 20, self._deadline)
            ticks = tuple(self._rng.permutation(options.ticks).tolist())
            options = replace(options, ticks=ticks).in_steps_of(self._frame_skip)
            search = Search(self._geometry, self._guide, options, limits, self._threads, self._start)
            outcome = search.run(self._progress if self._on_progress else None)
            del search
            self._outcomes.append(outcome)
            spent += outcome.ticks
            if outcome.inputs is not None or outcome.ended == "time":
                return outcome.inputs
        return None

    def _progress(self, ticks: int, nearest_px: float) -> None:
        assert self._on_progress is not None
        self._on_progress(self._spent_before + ticks, nearest_px)

    def _statistics(self, frames_found: int, shorten_ticks: int) -> SolveStatistics:
        outcomes = self._outcomes
        return SolveStatistics(
            attempts=len(outcomes),
            ticks=sum(outcome.ticks for outcome in outcomes),
            shorten_ticks=shorten_ticks,
            states_kept=sum(outcome.states_kept for outcome in outcomes),
            peak_memory_bytes=max((outcome.memory_bytes for outcome in outcomes), default=0),
            nearest_px=min((outcome.nearest_px for outcome in outcomes), default=float("inf")),
            frames_found=frames_found,
            cpu_seconds=time.process_time() - self._cpu_start,
        )


def _tick_weight(level: Level) -> int:
    """How many ordinary ticks a tick of a level counts for."""
    return 1 + max(0, level.tick_ns // 2 - _ORDINARY_LEVEL_NS) // _ORDINARY_TICK_NS


def winning_recording(level: Level, inputs: NDArray[np.uint8], geometry: Geometry | None = None) -> Recording:
    """Play inputs and make a recording that ends on the frame of victory.

    Raises:
        ConfigError: The inputs do not win.
    """
    simulation = Simulation(level, geometry)
    for byte in inputs.tolist():
        simulation.advance(byte)
        if simulation.outcome != "alive":
            break
    frames = int(simulation.ninja["frame"])
    if simulation.outcome != "won":
        raise ConfigError(f"the {len(inputs)} inputs do not win level {level.name!r}: {simulation.outcome}")
    gold = int(simulation.ninja["gold"])
    return Recording.of_level(level, inputs[:frames], "won", frames, gold)
