"""What a plan will take, before it is computed: from its first layers."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from npp_env.induction.builder import BuildOptions, build_transitions
from npp_env.induction.model import Model
from npp_env.induction.transitions import NOT_EXPANDED, Transitions
from npp_env.induction.workspace import TRANSITIONS, Resources, Workspace

SAMPLED_STATES = 20_000
_TIMED_STATES = 200
_SORTING_SHARE = 2.0
"""What it takes to sort new states in and to store them, as a multiple of the simulation; roughly."""
_RESULT_BYTES = 10
"""Of a state in an optimal policy: its value and its best action."""


@dataclass(frozen=True, slots=True)
class PlanEstimate:
    """What a plan will take.

    Attributes:
        layers: States that are new at each time step; those after the first `known` are estimated.
        known: Layers that were counted.
        growth: How many new states a state leads to, in the last layers that were counted.
        transitions: Transitions of all states.
        disk_bytes: Size of all files.
        cpu_seconds: Processor time that the rest of the expansion takes.
    """

    layers: tuple[int, ...]
    known: int
    growth: float
    transitions: int
    disk_bytes: int
    cpu_seconds: float

    @property
    def states(self) -> int:
        """States of all layers."""
        return sum(self.layers)

    @property
    def is_exact(self) -> bool:
        """Whether nothing was estimated."""
        return self.known == len(self.layers)


def estimate_plan(
    model: Model,
    horizon: int,
    directory: str | os.PathLike[str] | None = None,
    *,
    sampled_states: int = SAMPLED_STATES,
    resources: Resources | None = None,
) -> PlanEstimate:
    """Expand the first layers and go on with their growth.

    Args:
        model: The model.
        horizon: Steps.
        directory: Where the plan is going to be: what is expanded is kept for it. A temporary folder if None.
        sampled_states: Layers are counted until so many states are known.
        resources: What may be used.

    Returns:
        The estimate. Growth that slows down later makes it too high.
    """
    resources = resources or Resources()
    options = BuildOptions(resources.budget, resources.threads, resources.slice_states)
    workspace = Workspace(directory)
    path: Path = workspace.path / TRANSITIONS
    found = build_transitions(model, 0, path, options)
    before = expanded = _expanded(found)
    begun, steps = time.process_time(), 0
    while steps < horizon and found.state_count < sampled_states:
        steps += 1
        found = build_transitions(model, steps, path, options)
        expanded = _expanded(found)
        if found.is_closed:
            break
    seconds = time.process_time() - begun
    each = seconds / (expanded - before) if expanded - before >= _TIMED_STATES else _seconds_each(model, found)
    known = np.bincount([part.layer for part in found.slices], [part.size for part in found.slices])
    layers = [int(count) for count in known[: horizon + 1]]
    counted, is_closed = len(layers), found.is_closed
    transition_count, nbytes, state_count = found.transition_count, found.folder.nbytes, found.state_count
    if is_closed:
        # Levels go on, but there is nothing new in them.
        layers += [0] * (horizon + 1 - counted)
        counted = len(layers)
    growth = layers[counted - 1] / max(1, layers[counted - 2]) if counted > 1 else 1.0
    while len(layers) <= horizon:
        layers.append(round(layers[-1] * growth))
    done = max(1, expanded)
    wanted = sum(layers[:-1])
    return PlanEstimate(
        tuple(layers),
        counted,
        growth,
        round(transition_count * wanted / done),
        round(nbytes * sum(layers) / max(1, state_count)) + _RESULT_BYTES * sum(layers),
        each * max(0, wanted - expanded),
    )


def _expanded(found: Transitions) -> int:

    return sum(part.size for part in found.slices if part.transitions != NOT_EXPANDED)


def _seconds_each(model: Model, found: Transitions) -> float:
    """Processor time of a state where too few were expanded to tell: of a block that is expanded and thrown away."""
    part = found.slices[-1]
    states = found.states(part.first, min(part.last, part.first + _TIMED_STATES))
    begun = time.process_time()
    model.expand(states)
    return _SORTING_SHARE * (time.process_time() - begun) / len(states)
