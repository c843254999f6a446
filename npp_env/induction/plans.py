"""What all plans have: arrays over the states of every time step, and the row of a state."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError
from npp_env.induction.array_folder import ArrayFolder
from npp_env.induction.builder import BuildOptions, build_transitions
from npp_env.induction.errors import InductionError
from npp_env.induction.level_arrays import LevelReader
from npp_env.induction.model import KeyedModel, Model
from npp_env.induction.state_index import hash_rows
from npp_env.induction.transitions import HASHES, KEYS, STATES, Transitions
from npp_env.induction.workspace import TRANSITIONS, Resources, Workspace
from npp_env.runtime.thread_pool import ThreadPool

_SCANNED = 1 << 20
"""Hashes that are looked at before their pages are let go of."""


class Plan:
    """What was computed, on disk.

    Args:
        model: The model.
        workspace: Where everything is; a temporary one goes with the last plan that holds it.
        transitions: Of the model.
        folder: Of the arrays that were computed.
        horizon: Steps.
    """

    def __init__(
        self, model: Model, workspace: Workspace, transitions: Transitions, folder: ArrayFolder, horizon: int
    ) -> None:
        self.model, self.workspace, self.transitions = model, workspace, transitions
        self.folder, self.horizon = folder, horizon

    def state_numbers(self, level: int) -> NDArray[np.int64]:
        """Numbers of the states of a level, in the order of the arrays; a fresh array."""
        runs = self.transitions.runs(level).astype(np.int64)
        return np.concatenate([np.arange(first, last) for first, last in runs.tolist()] or [np.zeros(0, np.int64)])

    def states(self, level: int) -> NDArray[np.uint8]:
        """The bytes of the states of a level, in the order of the arrays; a fresh array."""
        pieces = self.transitions.pieces(level, self.transitions.state_count)
        parts = [self.transitions.states(first, last) for _, first, last in pieces]
        return np.concatenate(parts or [np.zeros((0, self.model.state_bytes), np.uint8)])

    def level_array(self, what: str, level: int) -> NDArray[Any]:
        """One of the arrays of a level, only the rows that it has; a fresh array."""
        self._check_level(level)
        first = self.transitions.span(level)[0]
        rows = LevelReader(self.folder, what, level, first).rows(first, self.transitions.span(level)[1])
        found: NDArray[Any] = rows[self.state_numbers(level) - first]
        return found

    def row(self, what: str, state: Any, time: int | None) -> NDArray[Any]:
        """The row of a state in one of the arrays; a fresh array.

        Raises:
            InductionError: The state is not among those of this time.
        """
        number, level = self.find(state, time)
        self._check_level(level)
        first = self.transitions.span(level)[0]
        found: NDArray[Any] = LevelReader(self.folder, what, level, first).rows(number, number + 1)[0].copy()
        return found

    def _check_level(self, level: int) -> None:
        if not 0 <= level < self.horizon:
            raise ConfigError(f"time {level}: something is decided at the times 0 to {self.horizon - 1}")

    def find(self, state: Any, time: int | None = None) -> tuple[int, int]:
        """Number of a state, and its time.

        Args:
            state: Its bytes, or an environment that the model knows to read.
            time: Steps since the start; may be left out of a model whose states tell it.

        Raises:
            InductionError: The state is not among those of this time.
        """
        if time is None and not self.model.layered:
            raise ConfigError("say at which time: a state of this model can be met at several")
        row = self._bytes_of(state)
        keys = self.model.keys(row) if isinstance(self.model, KeyedModel) else row
        hashes = np.empty(1, np.uint64)
        hash_rows(np.ascontiguousarray(keys), hashes, ThreadPool(1))
        name = KEYS if isinstance(self.model, KeyedModel) else STATES
        for part in self.transitions.slices:
            if self.model.layered and time is not None and part.layer != time:
                continue
            for place in self._scan(part.name_of(HASHES), hashes[0]):
                number = part.first + place
                if (self.transitions.folder.array(part.name_of(name)).array[place] == keys[0]).all():
                    return number, self._time_of(number, part.layer, time)
        raise InductionError("the plan does not know this state; it cannot be met from where the plan begins")

    def _time_of(self, number: int, layer: int, time: int | None) -> int:
        if time is None:
            return layer
        if not 0 <= time <= self.horizon:
            raise ConfigError(f"time is {time}; 0 to {self.horizon}")
        runs = self.transitions.runs(time)
        if not ((runs[:, 0] <= number) & (number < runs[:, 1])).any():
            raise InductionError(f"the state cannot be met at time {time} from where the plan begins")
        return time

    def _scan(self, name: str, wanted: np.uint64) -> list[int]:
        mapped = self.transitions.folder.array(name)
        found: list[int] = []
        for first in range(0, len(mapped.array), _SCANNED):
            places = np.flatnonzero(mapped.array[first : first + _SCANNED] == wanted)
            found += (first + places).tolist()
            mapped.release()
        return found

    def _bytes_of(self, state: Any) -> NDArray[np.uint8]:
        if isinstance(state, (bytes, bytearray, memoryview)):
            state = np.frombuffer(bytes(state), np.uint8)
        elif not isinstance(state, np.ndarray):
            if not hasattr(self.model, "state_of"):
                raise ConfigError(f"a state is bytes or uint8; this model cannot read {type(state).__name__}")
            state = self.model.state_of(state)
        if state.dtype != np.uint8 or state.shape != (self.model.state_bytes,):
            raise ConfigError(f"a state is uint8 ({self.model.state_bytes},), got {state.dtype} {state.shape}")
        row: NDArray[np.uint8] = np.ascontiguousarray(state)[None]
        return row


def begin_plan(
    model: Model,
    horizon: int | None,
    directory: str | os.PathLike[str] | None,
    resources: Resources,
    name: str,
    identity: Mapping[str, Any],
) -> Plan:
    """The transitions of a model, built where they are not there yet, and a folder for what is computed from them.

    Args:
        model: The model.
        horizon: Steps; None for as many as a model has that never leads back to a state.
        directory: Where everything is kept; a temporary folder if None.
        resources: What may be used.
        name: What to call the folder.
        identity: What makes its arrays those of this computation, beside the model and the number of steps.

    Raises:
        ForeignStoreError: The folder holds something else.
    """
    workspace = Workspace(directory, resources.keep)
    options = BuildOptions(resources.budget, resources.threads, resources.slice_states, resources.watch)
    transitions = build_transitions(model, horizon, workspace.path / TRANSITIONS, options)
    steps = transitions.level_count - 1 if horizon is None else horizon
    folder = ArrayFolder(workspace.path / name, {"model": model.name, "horizon": steps, **identity})
    return Plan(model, workspace, transitions, folder, steps)
