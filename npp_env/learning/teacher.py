"""`Teacher`: what to do in any state, by ways that were played to the end and win."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError, KernelError, LevelError, NppError, RecordingError, StateError
from npp_env.graph.navigation import graph_of
from npp_env.learning.answer_table import NO_ANSWER, AnswerTable
from npp_env.learning.model_file import part_of
from npp_env.level.cache import LevelCache, default_cache
from npp_env.level.level_set import LevelSet
from npp_env.level.mirrored_sets import MIRRORED
from npp_env.level.model import Level
from npp_env.observe.state_row import STATE_ROW, STATE_ROW_VERSION, check_row
from npp_env.planning import MAX_FRAME_SKIP, SolveBudget, solve
from npp_env.planning.branches import Branches
from npp_env.planning.hunt import MOST_TICKS
from npp_env.planning.search import INPUTS
from npp_env.recording import load_shipped_recording
from npp_env.recording.mirror import mirror_recording
from npp_env.runtime.thread_pool import ThreadPool
from npp_env.sim.geometry import geometry_of
from npp_env.sim.outcome import NinjaState
from npp_env.sim.views import ninja_view

__all__ = ["NO_ANSWER", "AnswerTable", "LevelTeacher", "Teacher", "TeacherConfig", "TeacherStatistics"]

_NOTHING_FOUND = -2
_ACTION_OF_INPUT = np.full(8, NO_ANSWER, np.int8)
_ACTION_OF_INPUT[INPUTS] = np.arange(len(INPUTS))
_MIX, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)
_MOST_LEVELS, _MOST_WAYS = 256, 1 << 14
"""Levels that everything is remembered of, and levels whose first way is remembered."""
_LOOKS = (10, 1)
"""Parts of the ticks that are spent on each state, one after the other: what the first look finds helps the second."""
_TOGETHER = 32
"""States that are searched from at once: the ways of some help the next, and between them an interrupt is heard."""


@dataclass(frozen=True, slots=True)
class TeacherConfig:
    """How much a teacher may do.

    Attributes:
        frame_skip: Ticks that an action is held; that of the pupil.
        ticks_per_state: Ticks of look-ahead for a state from which no known way can be reached, at most ten million; 0
            looks no further.
        solve_ticks: Ticks to find a first way through a level.
        cached_states: Answers that are kept, a power of two; 16 bytes each.
        branches_per_level: Ways through a level that are kept.
        threads: Threads that simulate; the answers do not depend on their number.

    Raises:
        ConfigError: A value is out of range.
    """

    frame_skip: int = 4
    ticks_per_state: int = 100_000
    solve_ticks: int = 200_000_000
    cached_states: int = 1 << 20
    branches_per_level: int = 32
    threads: int = 1

    def __post_init__(self) -> None:
        bounds = {"frame_skip": MAX_FRAME_SKIP, "ticks_per_state": MOST_TICKS, "solve_ticks": 2**40}
        bounds |= {"cached_states": 2**30, "branches_per_level": 4096, "threads": 1024}
        for name, most in bounds.items():
            least = 0 if name == "ticks_per_state" else 1
            if not least <= getattr(self, name) <= most:
                raise ConfigError(f"{name} of the teacher is {getattr(self, name)}; it must be {least} to {most}")
        if self.cached_states & (self.cached_states - 1):
            raise ConfigError(f"cached_states of the teacher is {self.cached_states}; it must be a power of two")


@dataclass(slots=True)
class TeacherStatistics:
    """What a teacher was asked, and where its answers came from."""

    asked: int = 0
    known: int = 0
    """On a way that was played before."""
    found: int = 0
    """By look-ahead, to the exit or back to such a way."""
    unanswered: int = 0
    """States that were looked at without success; they are remembered too."""
    ticks: int = 0


class LevelTeacher:
    """What a teacher knows of one level.

    Args:
        level: The level; a first way through it is looked for at once.
        config: How much may be done.
        cache: Where compiled levels are kept.
        name: What the set calls it: a shipped level brings a first way along.
        known: What `Branches.arrays` gave; nothing is looked for then.
        way: The first way, empty if there is none, where it was looked for before.
    """

    def __init__(
        self,
        level: Level,
        config: TeacherConfig,
        cache: LevelCache,
        name: str = "",
        known: Mapping[str, NDArray[Any]] | None = None,
        way: NDArray[np.uint8] | None = None,
    ) -> None:
        self.level = level
        geometry = geometry_of(level, cache)
        self.branches = Branches(geometry, graph_of(level, cache), config.frame_skip, config.branches_per_level)
        self._salt = np.uint64(int(level.hash[:16], 16))
        # Where evil ninjas follow, what happens next depends on the time that has passed.
        self._timeless = int(geometry["scalars"][2]) == 0
        if known is not None:
            self.branches.restore(known)
            return
        if way is None:
            way = _shipped_way(level, name, config.frame_skip)
        elif not len(way):
            return
        if way is None or self.branches.follow(geometry["initial"], way, keep=True) is None:
            way = _first_way(level, config)
            if way is not None:
                self.branches.follow(geometry["initial"], way, keep=True)

    def keys_of(self, states: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """64 bits that stand for each state (n, state_bytes) of this level, whatever the time; a fresh array (n,)."""
        states = states.copy()
        if self._timeless:
            ninja_view(states)["frame"] = 0
        keys = np.full(len(states), self._salt)
        for word in states.view(np.uint64).T:
            keys = (keys ^ word) * _MIX
            keys ^= keys >> _SHIFT
        return keys


def _shipped_way(level: Level, name: str, frame_skip: int) -> NDArray[np.uint8] | None:
    """Steps of the recording that came with a level, or with the one that it is the mirror image of."""
    original = name.removeprefix(f"{MIRRORED}:")
    try:
        recording = load_shipped_recording(original, frame_skip)
    except (LevelError, RecordingError):
        return None
    if original != name:
        recording = mirror_recording(recording)
    return recording.inputs[::frame_skip] if recording.level_hash == level.hash else None


def _first_way(level: Level, config: TeacherConfig) -> NDArray[np.uint8] | None:
    """Steps that win a level from its start."""
    budget = SolveBudget(ticks=config.solve_ticks, shorten_ticks=config.solve_ticks // 100)
    inputs = solve(level, budget=budget, frame_skip=config.frame_skip, threads=config.threads).inputs
    return None if inputs is None else inputs[:: config.frame_skip]


class Teacher:
    """Says what to do in states of levels; every answer is the first step of a way that was played and wins.

    Answers come from ways that are known, from their rests if these win from a state beside them too, and else from
    look-ahead within a budget. Where nothing was found there is no answer. Whoever follows the answers from a state on
    wins; the same questions in the same order get the same answers. For one thread at a time.

    Args:
        levels: Levels, as environments take them; states name their level by its number in this set.
        config: How much it may do.
        cache: Where compiled levels are kept; the process's own by default.

    Attributes:
        statistics: What it was asked so far.

    Example:
        >>> from npp_env import NppEnv
        >>> env = NppEnv(levels="shipped:first_steps/walk", observation={"layout": "state"})
        >>> row, _ = env.reset(seed=0)
        >>> teacher = Teacher("shipped:first_steps/walk")
        >>> done = False
        >>> while not done:
        ...     row, _, done, _, info = env.step(teacher.act(row))
        >>> info["outcome"]
        1
    """

    def __init__(
        self, levels: Any = "shipped", config: TeacherConfig | None = None, cache: LevelCache | None = None
    ) -> None:
        self.levels = LevelSet.parse(levels)
        self.config = config or TeacherConfig()
        self.statistics = TeacherStatistics()
        self._cache = default_cache() if cache is None else cache
        self._table = AnswerTable(self.config.cached_states)
        self._pool = ThreadPool(self.config.threads)
        self._known: OrderedDict[int, LevelTeacher] = OrderedDict()
        # Of levels that came up long ago: what it takes to begin with them again at once.
        self._ways: OrderedDict[int, NDArray[np.uint8]] = OrderedDict()

    @property
    def nbytes(self) -> int:
        """Size of what it remembers."""
        ways = sum(way.nbytes for way in self._ways.values())
        return self._table.nbytes + ways + sum(level.branches.nbytes for level in self._known.values())

    def act(self, state: NDArray[np.uint8]) -> int:
        """The action for one row of the `state` layout, or NO_ANSWER."""
        return int(self.act_batch(state[None])[0])

    def act_batch(self, states: NDArray[np.uint8], out: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Actions for many states.

        Args:
            states: uint8 (n, row_bytes), rows of the `state` layout, of levels in the set.
            out: int64 (n,) to write to; a fresh array if None.

        Returns:
            `out`: for each state an action of the environment, or NO_ANSWER (-1); the latter also where an episode has
            ended.

        Raises:
            StateError: A row is damaged, or of a level that is not in the set.
            NppError: An array has another shape or type.
        """
        self._check_rows(states)
        if out is None:
            out = np.empty(len(states), np.int64)
        elif out.shape != (len(states),) or out.dtype != np.int64:
            raise NppError(f"out is {out.dtype} of shape {out.shape}; it must be int64 of shape {(len(states),)}")
        for level, rows in self._by_level(states):
            out[rows] = self._answers(level, states, rows)
        return out

    def way_steps(self, states: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Steps of the first way that it knew through the level of each state, 0 where it knew none; fresh (n,).

        Args:
            states: As `act_batch` takes them.
        """
        self._check_rows(states)
        steps = np.zeros(len(states), np.int64)
        for level, rows in self._by_level(states):
            steps[rows] = len(level.branches.first)
        return steps

    @staticmethod
    def _check_rows(states: NDArray[np.uint8]) -> None:
        if states.ndim != 2 or states.dtype != np.uint8 or states.shape[1] <= STATE_ROW.itemsize:
            raise NppError(f"states are {states.dtype} of shape {states.shape}; they must be uint8 rows (n, row_bytes)")

    def _by_level(self, states: NDArray[np.uint8]) -> Iterator[tuple[LevelTeacher, NDArray[np.int64]]]:
        """The levels of states, each with the numbers of the states that are of it."""
        header = np.ascontiguousarray(states[:, : STATE_ROW.itemsize]).view(STATE_ROW)[:, 0]
        if (header["version"] != STATE_ROW_VERSION).any():
            raise StateError(f"a row has not version {STATE_ROW_VERSION} of the state layout")
        numbers = header["level_index"]
        order = np.argsort(numbers, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1) if len(order) else ():
            yield self._level(int(numbers[rows[0]]), header["level"][rows]), rows

    def _level(self, number: int, hashes: NDArray[np.uint8]) -> LevelTeacher:
        found = self._known.get(number)
        if found is None:
            if number < 0 or (self.levels.is_finite and number >= len(self.levels)):
                raise StateError(f"a state is of level number {number}, which is not in the teacher's set")
            name = self.levels.name_of(number)
            way = self._ways.get(number)
            found = LevelTeacher(self.levels[number], self.config, self._cache, name, way=way)
            self._known[number], self._ways[number] = found, found.branches.first
            for remembered, most in ((self._known, _MOST_LEVELS), (self._ways, _MOST_WAYS)):
                while len(remembered) > most:
                    remembered.popitem(last=False)
        self._known.move_to_end(number)
        if (hashes != np.frombuffer(bytes.fromhex(found.level.hash), np.uint8)).any():
            raise StateError(
                f"a state is of another level than number {number} of the teacher's set, {found.level.hash}"
            )
        return found

    def _answers(self, level: LevelTeacher, states: NDArray[np.uint8], rows: NDArray[np.int64]) -> NDArray[np.int8]:
        size = level.branches.handle.state_bytes
        if states.shape[1] < STATE_ROW.itemsize + size:
            raise StateError(f"rows of {states.shape[1]} bytes hold no state of level {level.level.name!r}")
        plain = states[rows, STATE_ROW.itemsize : STATE_ROW.itemsize + size]
        keys = level.keys_of(plain)
        answers = self._table.get(keys)
        self.statistics.asked += len(rows)
        missing = np.flatnonzero(answers == NO_ANSWER)
        self.statistics.known += len(rows) - len(missing)
        if len(missing):
            for row in rows[missing].tolist():
                check_row(level.branches.handle, np.ascontiguousarray(states[row]))
            _, first, which = np.unique(keys[missing], return_index=True, return_inverse=True)
            found = self._find(level, plain[missing[first]])
            nothing = found == NO_ANSWER
            self._table.put(keys[missing[first[nothing]]], np.full(int(nothing.sum()), _NOTHING_FOUND, np.int8))
            answers[missing] = found[which]
            self.statistics.unanswered += int(nothing.sum())
        shown: NDArray[np.int8] = np.maximum(answers, np.int8(NO_ANSWER))
        return shown

    def _find(self, level: LevelTeacher, states: NDArray[np.uint8]) -> NDArray[np.int8]:
        """Answers for states (n, state_bytes) that are on no known way; fresh (n,)."""
        found = np.full(len(states), NO_ANSWER, np.int8)
        ninja = ninja_view(states)["state"]
        alive = np.flatnonzero((ninja != NinjaState.DEAD) & (ninja != NinjaState.CELEBRATING))
        before = level.branches.ticks
        for part in _LOOKS if self.config.ticks_per_state else ():
            self._look(level, states, alive[found[alive] == NO_ANSWER], part, found)
        self.statistics.ticks += level.branches.ticks - before
        return found

    def _look(
        self,
        level: LevelTeacher,
        states: NDArray[np.uint8],
        wanted: NDArray[np.int64],
        part: int,
        out: NDArray[np.int8],
    ) -> None:
        """Look for ways from some of the states with a part of the ticks, and write the answers."""
        for first in range(0, len(wanted), _TOGETHER):
            rows = wanted[first : first + _TOGETHER]
            ticks = self.config.ticks_per_state // part
            ways = level.branches.search(states[rows], ticks, self._pool, first_look=part > 1)
            for row, way in zip(rows.tolist(), ways, strict=True):
                if way is not None:
                    out[row] = self._learn(level, states[row], way)

    def _learn(self, level: LevelTeacher, state: NDArray[np.uint8], way: NDArray[np.uint8]) -> int:
        """Play a way once more, remember all that lies on it, and give its first action."""
        visited = level.branches.follow(state, way, keep=True)
        if visited is None:
            raise KernelError("a way that has won does not win again")
        actions = _ACTION_OF_INPUT[way[: len(visited)]]
        # Of a state that is met twice, the last time counts: whoever stood still goes on in the end.
        self._table.put(level.keys_of(visited), actions)
        self.statistics.found += 1
        return int(actions[0])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that later answers depend on, by name, for a checkpoint."""
        found: dict[str, NDArray[Any]] = {"table/keys": self._table.keys, "table/actions": self._table.actions}
        found["levels"] = np.array(list(self._known), np.int64)
        for number, level in self._known.items():
            found |= {f"level/{number}/{name}": array for name, array in level.branches.arrays().items()}
        found["ways/levels"] = np.array(list(self._ways), np.int64)
        found["ways/lengths"] = np.array([len(way) for way in self._ways.values()], np.int64)
        found["ways/steps"] = np.concatenate([np.zeros(0, np.uint8), *self._ways.values()])
        return found

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go back to what `arrays` gave, in a teacher with the same levels and configuration.

        Raises:
            StateError: They belong to another teacher.
        """
        try:
            self._table.keys[...], self._table.actions[...] = arrays["table/keys"], arrays["table/actions"]
            self._known.clear()
            for number in arrays["levels"].tolist():
                known = part_of(arrays, f"level/{number}/")
                self._known[number] = LevelTeacher(self.levels[number], self.config, self._cache, known=known)
            ways = np.split(arrays["ways/steps"], np.cumsum(arrays["ways/lengths"]))[:-1]
            self._ways = OrderedDict(zip(arrays["ways/levels"].tolist(), ways, strict=True))
        except (KeyError, IndexError, ValueError) as error:
            raise StateError(f"this is not what a teacher of these levels knows: {error}") from error

    def report(self) -> dict[str, int]:
        """The statistics, and what is remembered."""
        return {**asdict(self.statistics), "bytes": self.nbytes}
