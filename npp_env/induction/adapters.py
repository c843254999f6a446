"""Models of what is there already: explicit probabilities, tables, and environments whose state can be set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError
from npp_env.induction.errors import InductionError
from npp_env.induction.model import Expansion, Model
from npp_env.level.cache_file import checksum

TransitionProbabilities = Callable[[bytes, int], Iterable[tuple[float, bytes]]]
Transition = tuple[int, bytes, float, float]
"""Action, successor, probability, reward."""


class ExplicitModel:
    """A model whose probabilities a function tells.

    Args:
        name: Says which model it is.
        start: Its first states, all of the same length.
        action_count: Actions, or joint actions.
        transition_probabilities: Called with a state and an action; gives probabilities and successors, none of an
            action that is not possible. A state without possible actions is terminal.
        action_counts: Actions of each agent, if there are several.
        layered: Whether the bytes of a state tell the time.

    Example:
        >>> sides = {b"?": [(0.5, b"H"), (0.5, b"T")]}
        >>> coin = ExplicitModel("coin", [b"?"], 1, lambda state, action: sides.get(state, []))
        >>> coin.expand(coin.start()).probabilities.tolist()
        [0.5, 0.5]
    """

    def __init__(
        self,
        name: str,
        start: Sequence[bytes],
        action_count: int,
        transition_probabilities: TransitionProbabilities,
        *,
        action_counts: Sequence[int] | None = None,
        layered: bool = False,
    ) -> None:
        if not start or len({len(state) for state in start}) != 1:
            raise ConfigError(f"the start of {name} has {len(start)} states; it has some, all of the same length")
        self.name, self.action_count, self.layered = name, action_count, layered
        self.action_counts = tuple(action_counts or (action_count,))
        self.state_bytes = len(start[0])
        self._start, self._probabilities = list(start), transition_probabilities

    def start(self) -> NDArray[np.uint8]:
        """See `Model`."""
        return _rows(self._start, self.state_bytes, self.name)

    def expand(self, states: NDArray[np.uint8]) -> Expansion:
        """See `Model`."""
        return _expansion(self, states, self._follow, rewarded=False)

    def _follow(self, state: bytes) -> Iterator[Transition]:
        for action in range(self.action_count):
            for probability, successor in self._probabilities(state, action):
                yield action, successor, probability, 0.0


class TableModel:
    """A model in arrays.

    Args:
        probabilities: P(state, action, successor), (states, actions, states); all zeros where an action is impossible.
        start: Numbers of the first states.
        rewards: Of each transition (states, actions, states), or of each action (states, actions); none if None.
        action_counts: Actions of each agent, if there are several.
        name: Says which model it is; by what the arrays hold if None.
    """

    layered = False
    state_bytes = 4

    def __init__(
        self,
        probabilities: NDArray[np.float64],
        start: Sequence[int] = (0,),
        rewards: NDArray[np.float64] | None = None,
        action_counts: Sequence[int] | None = None,
        name: str | None = None,
    ) -> None:
        table = np.ascontiguousarray(probabilities, np.float64)
        if table.ndim != 3 or table.shape[0] != table.shape[2]:
            raise ConfigError(f"probabilities have the shape {table.shape}; it is (states, actions, states)")
        if rewards is not None and np.shape(rewards) not in (table.shape, table.shape[:2]):
            raise ConfigError(f"rewards have the shape {np.shape(rewards)}; it is {table.shape} or {table.shape[:2]}")
        self._table, self._start = table, list(start)
        self._rewards = None
        if rewards is not None:
            given = np.asarray(rewards, np.float64)
            self._rewards = np.broadcast_to(given if given.ndim == 3 else given[:, :, None], table.shape)
        self.action_count = table.shape[1]
        self.action_counts = tuple(action_counts or (self.action_count,))
        told = b"" if self._rewards is None else self._rewards.tobytes()
        self.name = name or f"table {checksum(table.tobytes() + told).hex()}"

    def start(self) -> NDArray[np.uint8]:
        """See `Model`."""
        return np.array(self._start, "<u4").view(np.uint8).reshape(-1, 4)

    def expand(self, states: NDArray[np.uint8]) -> Expansion:
        """See `Model`."""
        numbers = np.ascontiguousarray(states).view("<u4")[:, 0]
        rows = self._table[numbers]
        place, actions, successors = np.nonzero(rows)
        counts = np.bincount(place, minlength=len(states))
        found = successors.astype("<u4").view(np.uint8).reshape(-1, 4)
        rewards = None if self._rewards is None else self._rewards[numbers][place, actions, successors]
        return Expansion(counts, actions, found, rows[place, actions, successors], rewards)


class RestorableEnvironment(Protocol):
    """An environment that can be put into a state."""

    action_space: Any

    def reset(self, *, seed: int | None = None) -> Any:
        """As in Gymnasium."""

    def step(self, action: Any) -> Any:
        """As in Gymnasium."""

    def get_state(self) -> bytes:
        """All that decides what follows."""

    def set_state(self, state: bytes) -> None:
        """Be in that state."""


_RUNNING, _ENDED = 0, 1


class EnvironmentModel:
    """A model of an environment with discrete actions, `get_state` and `set_state`.

    A state is a byte that tells whether the episode has ended, and the bytes of `get_state`. Where the environment
    draws random numbers from `np_random`, transitions are sampled: the shares of what was drawn stand for
    probabilities.

    Args:
        env: The environment; it is stepped here, and by nobody else meanwhile.
        name: Says which environment it is.
        samples: How often each action is tried; 1 where the environment is deterministic.
        seed: Of the reset, and of what is drawn.
        layered: Whether the state tells the time, such as a count of steps.
    """

    def __init__(
        self, env: RestorableEnvironment, name: str, *, samples: int = 1, seed: int = 0, layered: bool = False
    ) -> None:
        if samples < 1:
            raise ConfigError(f"samples is {samples}; at least 1")
        self._env, self._samples, self._seed = env, samples, seed
        self.name = name if samples == 1 else f"{name}, {samples} samples, seed {seed}"
        self.layered = layered
        self.action_count = int(env.action_space.n)
        self.action_counts = (self.action_count,)
        env.reset(seed=seed)
        self._first: NDArray[np.uint8] = self.state_of(env)
        self.state_bytes = len(self._first)

    def state_of(self, env: RestorableEnvironment) -> NDArray[np.uint8]:
        """The present state of such an environment, whose episode goes on; a fresh array."""
        present: NDArray[np.uint8] = np.frombuffer(bytes([_RUNNING]) + bytes(env.get_state()), np.uint8)
        copied: NDArray[np.uint8] = present.copy()
        return copied

    def start(self) -> NDArray[np.uint8]:
        """See `Model`."""
        first: NDArray[np.uint8] = self._first[None].copy()
        return first

    def expand(self, states: NDArray[np.uint8]) -> Expansion:
        """See `Model`."""
        return _expansion(self, states, self._follow, rewarded=True)

    def _follow(self, state: bytes) -> Iterator[Transition]:
        for action in range(self.action_count) if state[0] == _RUNNING else ():
            for successor, (drawn, reward) in self._tried(state, action).items():
                yield action, successor, drawn / self._samples, reward / drawn

    def _tried(self, state: bytes, action: int) -> dict[bytes, tuple[int, float]]:
        """What came of an action: how often, and all rewards together."""
        found: dict[bytes, tuple[int, float]] = {}
        for sample in range(self._samples):
            self._env.set_state(state[1:])
            if self._samples > 1:
                # By state, action and sample alone: the order of states changes nothing.
                key = checksum(state + action.to_bytes(4, "little") + sample.to_bytes(4, "little"))
                seed = [self._seed, int.from_bytes(key, "little")]
                plain_env: Any = getattr(self._env, "unwrapped", self._env)
                plain_env.np_random = np.random.default_rng(seed)
            _, reward, terminated, truncated, _ = self._env.step(action)
            successor = bytes([_ENDED if terminated or truncated else _RUNNING]) + bytes(self._env.get_state())
            times, total = found.get(successor, (0, 0.0))
            found[successor] = (times + 1, total + float(reward))
        return found


def _expansion(
    model: Model, states: NDArray[np.uint8], follow: Callable[[bytes], Iterable[Transition]], rewarded: bool
) -> Expansion:
    """The transitions that `follow` tells of each state, with or without their rewards."""
    counts: list[int] = []
    found: list[Transition] = []
    for state in states:
        before = len(found)
        found += follow(state.tobytes())
        counts.append(len(found) - before)
    rows = _rows([successor for _, successor, _, _ in found], model.state_bytes, model.name)
    actions = np.array([action for action, _, _, _ in found], np.int64)
    chances = np.array([chance for _, _, chance, _ in found], np.float64)
    rewards = np.array([reward for _, _, _, reward in found], np.float64) if rewarded else None
    return Expansion(np.array(counts), actions, rows, chances, rewards)


def _rows(states: Sequence[bytes], width: int, name: str) -> NDArray[np.uint8]:
    wrong = next((state for state in states if len(state) != width), None)
    if wrong is not None:
        raise InductionError(f"{name}: a state has {len(wrong)} bytes, the first one {width}; fill them up")
    return np.frombuffer(b"".join(states), np.uint8).reshape(-1, width)
