"""N++ itself as a model: a decision every `frame_skip` ticks, states of the kernel merged by their exact bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError
from npp_env.induction.model import Expansion
from npp_env.level.cache import LevelCache
from npp_env.level.model import Level
from npp_env.planning import MAX_FRAME_SKIP
from npp_env.planning.search import INPUTS
from npp_env.planning.start_state import AnyState, plain_state
from npp_env.runtime.batch_work import advance_batch
from npp_env.runtime.thread_pool import ThreadPool
from npp_env.sim.handles import handle_of
from npp_env.sim.kernel import Batch
from npp_env.sim.outcome import NinjaState
from npp_env.sim.views import ninja_view

Key = Callable[[NDArray[np.uint8]], NDArray[np.uint8]]


class NppModel:
    """A level under a grid of decisions: every one of the six inputs, held for `frame_skip` ticks.

    A state in which the ninja has won or died is terminal. The tick stands in the bytes of a state, so that it can be
    met at one time step only.

    Args:
        level: The level.
        frame_skip: Ticks of a step.
        threads: That simulate; nothing depends on their number.
        start: Where a plan begins, in any form in which the package hands states out; the start of the level if None.
        cache: Where the compiled level is kept; the process's own if None.

    Example:
        >>> from npp_env.level.shipped import load_shipped
        >>> model = NppModel(load_shipped("first_steps/walk"), frame_skip=30)
        >>> model.expand(model.start()).counts.tolist()
        [6]
    """

    layered = True

    def __init__(
        self,
        level: Level,
        frame_skip: int,
        *,
        threads: int = 1,
        start: AnyState | None = None,
        cache: LevelCache | None = None,
    ) -> None:
        if not 1 <= frame_skip <= MAX_FRAME_SKIP:
            raise ConfigError(f"frame_skip is {frame_skip}; 1 to {MAX_FRAME_SKIP}")
        self.level, self.frame_skip = level, frame_skip
        self.handle = handle_of(level, cache)
        self.state_bytes = int(self.handle.state_bytes)
        self.action_count = len(INPUTS)
        self.action_counts = (self.action_count,)
        self.name = f"N++ level {level.hash}, frame_skip {frame_skip}"
        initial: NDArray[np.uint8] = self.handle.geometry["initial"]
        self.first = initial.copy() if start is None else plain_state(level, self.handle, start)
        self.first_frame = int(ninja_view(self.first)["frame"])
        self._pool = ThreadPool(threads)
        self._batch: Batch | None = None
        self._inputs = np.zeros(0, np.uint8)

    def start(self) -> NDArray[np.uint8]:
        """See `Model`."""
        return np.array(self.first[None])

    def state_of(self, env: Any) -> NDArray[np.uint8]:
        """The present state of an environment on this level; a fresh array."""
        return plain_state(self.level, self.handle, env.get_state())

    def expand(self, states: NDArray[np.uint8]) -> Expansion:
        """See `Model`; the successors are overwritten by the next call."""
        over = has_ended(states)
        count = self.action_count * int((~over).sum())
        batch = self._batch_of(count)
        batch.states[:count] = np.repeat(states[~over], self.action_count, axis=0)
        advance_batch(batch, self._pool, self._inputs, count, self.frame_skip, True)
        return Expansion(np.where(over, 0, self.action_count), None, batch.states[:count])

    def _batch_of(self, count: int) -> Batch:
        if self._batch is None or self._batch.num_envs < count:
            self._batch = None
            size = max(count, self.action_count)
            self._batch = Batch(size, self.state_bytes)
            self._batch.set_levels(self.handle)
            self._inputs = np.tile(INPUTS, size // self.action_count)
        return self._batch


class KeyedNppModel(NppModel):
    """The same, with states merged whose key is the same.

    Args:
        key: Called with states (n, state_bytes); what tells them apart, uint8 (n, m).
        key_name: Says what it is.
        layered: Whether the key tells the time.
        arguments: Those of `NppModel`.
    """

    def __init__(self, *arguments: Any, key: Key, key_name: str, layered: bool, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.keys = key
        self.key_bytes = int(key(self.start()).shape[1])
        self.layered = layered
        self.name += f", merged by {key_name}"


def has_ended(states: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether the ninja has won or died in each state; a fresh array (n,)."""
    died: NDArray[np.bool_] = ninja_view(states)["state"] == NinjaState.DEAD
    return died | has_won(states)


def has_won(states: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether the ninja has won in each state; a fresh array (n,)."""
    won: NDArray[np.bool_] = ninja_view(states)["state"] == NinjaState.CELEBRATING
    return won
