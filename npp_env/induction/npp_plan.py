"""Exact plans for levels of N++: the fewest frames to win over all inputs of a grid of decisions."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError
from npp_env.induction.builder import BuildOptions, build_transitions
from npp_env.induction.errors import InductionError
from npp_env.induction.estimate import estimate_plan
from npp_env.induction.npp_model import NppModel, has_ended, has_won
from npp_env.induction.optimal import Objective, OptimalPolicy, compute_optimal_policy
from npp_env.induction.transitions import Transitions
from npp_env.induction.workspace import TRANSITIONS, Resources, Workspace
from npp_env.planning.search import INPUTS
from npp_env.sim.kernel import Batch
from npp_env.sim.views import ninja_view

HOPELESS = -np.inf
_BLOCK = 1 << 14


@dataclass(frozen=True, slots=True)
class NppPlan:
    """An exact plan for a level.

    Attributes:
        model: Level and grid of decisions.
        policy: Values and best inputs of every state that can be met. A value is minus the ticks from the start of the
            plan to victory; minus infinity where there is no victory within the horizon.
        frames: Ticks of the fastest victory; None if there is none.
        inputs: Inputs that win so, one byte a tick; None if there are none.
    """

    model: NppModel
    policy: OptimalPolicy
    frames: int | None
    inputs: NDArray[np.uint8] | None

    @property
    def states(self) -> int:
        """Distinct states that can be met."""
        return self.policy.transitions.state_count

    def frames_left(self, state: Any) -> float:
        """Ticks to victory from a state, or the present state of an environment; infinite if there is none."""
        number, level = self.policy.find(state)
        row = self.policy.transitions.states(number, number + 1)
        gone = int(ninja_view(row)["frame"][0]) - self.model.first_frame
        if level == self.policy.horizon:
            return 0.0 if has_won(row)[0] else np.inf
        return 0.0 if has_won(row)[0] else -self.policy.value(row[0]) - gone


def plan_level(
    model: NppModel,
    horizon: int,
    *,
    until_won: bool = False,
    most_states: int | None = None,
    directory: str | os.PathLike[str] | None = None,
    resources: Resources | None = None,
) -> NppPlan:
    """The fewest ticks to win a level, over all inputs of a grid of decisions, and the value of every state.

    Args:
        model: Level and grid of decisions.
        horizon: Decisions.
        until_won: Go no further than the first step in which a victory is possible: later ones take longer.
        most_states: Stop before a step with which there would be more states, judged by the growth so far.
        directory: Where the arrays are kept; a temporary folder if None.
        resources: What may be used.

    Raises:
        ConfigError: A number is out of range.
        InductionError: The folder is for something else, or there would be too many states; the message says for how
            many steps it is proven that nothing wins.
        LowMemoryError: The memory guard said so; what was complete is kept.

    Example:
        >>> from npp_env.level.shipped import load_shipped
        >>> plan = plan_level(NppModel(load_shipped("first_steps/walk"), frame_skip=60), horizon=4)
        >>> plan.frames is None or len(plan.inputs) == plan.frames
        True
    """
    if horizon < 1:
        raise ConfigError(f"the horizon is {horizon}; at least 1")
    resources = resources or Resources()
    workspace = Workspace(directory, resources.keep)
    if until_won:
        horizon = _first_victory(model, horizon, most_states, workspace, resources)
    elif most_states is not None:
        _refuse(estimate_plan(model, horizon, workspace.path, resources=resources).states, most_states, "")
    last_frame = model.first_frame + horizon * model.frame_skip

    def arrival(states: NDArray[np.uint8]) -> NDArray[np.float64]:
        frames = ninja_view(states)["frame"]
        hopeless = has_ended(states) | (frames >= last_frame)
        return np.where(has_won(states), model.first_frame - frames, np.where(hopeless, HOPELESS, 0.0))

    objective = Objective(arrival, f"frames to win within {horizon} steps")
    policy = compute_optimal_policy(model, objective, horizon=horizon, directory=workspace.path, resources=resources)
    # A temporary folder goes with the workspace that made it.
    policy.workspace = workspace
    best = float(policy.values(0)[0])
    if best == HOPELESS:
        return NppPlan(model, policy, None, None)
    return NppPlan(model, policy, round(-best), _follow(model, policy))


def _refuse(states: float, most_states: int | None, proven: str) -> None:
    if most_states is not None and states > most_states:
        raise InductionError(
            f"{proven}about {states:,.0f} states are more than {most_states:,}; allow more states, or choose a shorter "
            f"horizon or a larger frame_skip"
        )


def _first_victory(
    model: NppModel, horizon: int, most_states: int | None, workspace: Workspace, resources: Resources
) -> int:
    """The first step in which some state has won, the horizon if there is none."""
    options = BuildOptions(resources.budget, resources.threads, resources.slice_states, resources.watch)
    found = build_transitions(model, 0, workspace.path / TRANSITIONS, options)
    last = before = 1
    for steps in range(1, horizon + 1):
        proven = f"nothing wins within {steps - 1} steps of {model.frame_skip} frames, which is proven; with one more "
        if steps > 2 and steps >= found.level_count:
            _refuse(found.state_count + last * last / before, most_states, proven)
        found = build_transitions(model, steps, workspace.path / TRANSITIONS, options)
        if _any_won(found, steps):
            return steps
        last, before = found.level_size(steps), max(1, last)
    return horizon


def _any_won(found: Transitions, level: int) -> bool:
    pieces = found.pieces(level, _BLOCK)
    return any(bool(has_won(found.states(first, last)).any()) for _, first, last in pieces)


def _follow(model: NppModel, policy: OptimalPolicy) -> NDArray[np.uint8]:
    """Play what the policy says, from the start to victory."""
    walker = Batch(1, model.state_bytes)
    walker.set_levels(model.handle)
    walker.states[0] = model.first
    played = []
    while not has_ended(walker.states)[0]:
        action = policy.action(walker.states[0].copy())
        assert action is not None
        byte = int(INPUTS[action])
        ticks = walker.advance_one(0, byte, model.frame_skip)
        played.append(np.full(ticks, byte, np.uint8))
    return np.concatenate(played)
