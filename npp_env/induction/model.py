"""Models: where one can get from a state, for blocks of states that are rows of bytes."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from npp_env.induction.errors import InductionError

_SUM_TOLERANCE = 1e-9


class Expansion(NamedTuple):
    """All transitions of a block of states, those of one state after the other, each state's by action.

    Attributes:
        counts: How many transitions each state has; none where it is terminal.
        actions: The action of each transition; None if every state that is not terminal has every action once.
        successors: Where each leads.
        probabilities: How likely, given its action; None if that is certain.
        rewards: What each brings; None if nothing.
    """

    counts: NDArray[np.integer[Any]]  # (states,)
    actions: NDArray[np.integer[Any]] | None  # (transitions,)
    successors: NDArray[np.uint8]  # (transitions, state_bytes)
    probabilities: NDArray[np.float64] | None = None  # (transitions,)
    rewards: NDArray[np.float64] | None = None  # (transitions,)


@runtime_checkable
class Model(Protocol):
    """What can be planned for: finitely many actions, and states that are rows of bytes.

    The dynamics do not depend on the time. Where they do, the time belongs into the bytes of a state.

    Attributes:
        name: Says which model it is, with all that it depends on: a folder is used again only for the same name.
        state_bytes: Bytes of a state.
        action_count: Number of actions; of several agents, of their joint actions.
        layered: Whether a state can be met at one time step only, because its bytes tell the time.
    """

    name: str
    state_bytes: int
    action_count: int
    layered: bool

    def start(self) -> NDArray[np.uint8]:
        """The states that a plan begins with, uint8 (n, state_bytes)."""

    def expand(self, states: NDArray[np.uint8]) -> Expansion:
        """All transitions of states (n, state_bytes). The same states always give the same."""


@runtime_checkable
class KeyedModel(Protocol):
    """A model that lets states count as one which differ in bytes that do not matter."""

    key_bytes: int

    def keys(self, states: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """What tells states apart, uint8 (n, key_bytes): of those with the same key the first one stands for all."""


def start_states(model: Model) -> NDArray[np.uint8]:
    """The states that a model begins with, checked.

    Raises:
        InductionError: They are not what the protocol says.
    """
    states = np.ascontiguousarray(model.start())
    if states.dtype != np.uint8 or states.ndim != 2 or states.shape[1] != model.state_bytes or not len(states):
        raise InductionError(
            f"{model.name}: start() gave {states.dtype} {states.shape}; it must be uint8 (n, {model.state_bytes}), "
            f"n at least 1"
        )
    return states


def checked_expansion(model: Model, states: NDArray[np.uint8]) -> Expansion:
    """What a model says of some states, in the types that are stored.

    Raises:
        InductionError: It is not what the protocol says; the message names the first state concerned.
    """
    counts, actions, successors, probabilities, rewards = model.expand(states)
    counts = np.asarray(counts, np.int64)
    successors = np.ascontiguousarray(successors)
    total = int(counts.sum())
    if counts.shape != (len(states),) or (counts < 0).any():
        raise InductionError(f"{model.name}: counts of {len(states)} states have the shape {counts.shape}")
    if successors.dtype != np.uint8 or successors.shape != (total, model.state_bytes):
        raise InductionError(
            f"{model.name}: successors are {successors.dtype} {successors.shape}; they must be uint8 "
            f"({total}, {model.state_bytes})"
        )
    if actions is None:
        if probabilities is not None or not np.isin(counts, (0, model.action_count)).all():
            raise InductionError(f"{model.name}: without `actions` every state has each of {model.action_count} once")
    else:
        actions = np.asarray(actions).astype(np.uint16)
    if probabilities is not None:
        probabilities = np.ascontiguousarray(probabilities, np.float64)
    if rewards is not None:
        rewards = np.ascontiguousarray(rewards, np.float64)
    for name, array in (("actions", actions), ("probabilities", probabilities), ("rewards", rewards)):
        if array is not None and array.shape != (total,):
            raise InductionError(f"{model.name}: {name} have the shape {array.shape}; it must be ({total},)")
    found = Expansion(counts, actions, successors, probabilities, rewards)
    if actions is not None:
        _check_actions(model, found)
    return found


def _check_actions(model: Model, found: Expansion) -> None:
    """Actions ascend within a state, and the probabilities of each add up to 1."""
    counts, actions, _, probabilities, rewards = found
    assert actions is not None
    if not len(actions):
        return
    owner = np.repeat(np.arange(len(counts)), counts)
    groups = owner * model.action_count + actions
    steps = np.diff(groups)
    wrong = np.flatnonzero(actions >= model.action_count)
    if len(wrong):
        raise InductionError(
            f"{model.name}: action {actions[wrong[0]]} of state {owner[wrong[0]]} of a block; there are "
            f"{model.action_count}"
        )
    if (steps < 0).any():
        raise InductionError(f"{model.name}: the actions of state {owner[np.argmin(steps)]} of a block do not ascend")
    first = np.flatnonzero(np.concatenate([[True], steps > 0]))
    if probabilities is None:
        if len(first) != len(actions):
            raise InductionError(f"{model.name}: an action has several successors, but there are no probabilities")
        return
    if not (probabilities > 0).all():
        raise InductionError(f"{model.name}: a probability is {probabilities.min()}; leave out what never happens")
    off = np.abs(np.add.reduceat(probabilities, first) - 1)
    if off.max() > _SUM_TOLERANCE:
        worst = first[np.argmax(off)]
        raise InductionError(
            f"{model.name}: the probabilities of action {actions[worst]} of state {owner[worst]} of a block add up to "
            f"1 {np.add.reduceat(probabilities, first)[np.argmax(off)] - 1:+.3g}"
        )
    if rewards is not None and not np.isfinite(rewards).all():
        raise InductionError(f"{model.name}: a reward is not finite")
