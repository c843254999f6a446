"""The best that one can do alone: `compute_optimal_policy`.

    Q(s, a) = -cost(a) + sum_s' P(s') (reward(s, a, s') + arrival(s') + discount V(s'))

V is the highest Q, or that of softmax(beta Q), with or without the entropy of the choice. V is 0 in terminal states and
at the horizon.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError
from npp_env.induction.errors import InductionError
from npp_env.induction.level_arrays import Targets, name_of
from npp_env.induction.level_sweep import LevelSweep
from npp_env.induction.model import Model
from npp_env.induction.optimal_sweep import optimal_block
from npp_env.induction.plans import Plan, begin_plan
from npp_env.induction.transitions import Rows
from npp_env.induction.workspace import Resources, number_type
from npp_env.runtime.thread_pool import ThreadPool

OPERATORS = ("max", "softmax", "entropy")
NO_ACTION = 0xFFFF
VALUES, BEST, POLICIES = "values", "best", "policies"

Arrival = Callable[[NDArray[np.uint8]], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Objective:
    """What is wanted.

    Attributes:
        arrival: Called with states (n, state_bytes); what it is worth to arrive in each (n,), minus infinity for what
            must not be. None for nothing.
        name: Of what `arrival` gives; a folder is used again only for the same name.
        costs: What each action costs (actions,); None for nothing.
        discount: What a step later is worth.
        operator: "max"; "softmax" for the value of softmax(beta Q); "entropy" for log(sum exp(beta Q)) / beta.
        beta: How decided the last two are.
    """

    arrival: Arrival | None = None
    name: str = ""
    costs: Any = None
    discount: float = 1.0
    operator: str = "max"
    beta: float = 10.0

    def __post_init__(self) -> None:
        if self.operator not in OPERATORS:
            raise ConfigError(f"the operator is {self.operator!r}; it is one of {', '.join(OPERATORS)}")
        if not 0 <= self.discount <= 1:
            raise ConfigError(f"the discount is {self.discount}; it is a number from 0 to 1")
        if not 0 < self.beta <= 1e6:
            raise ConfigError(f"beta is {self.beta}; it is a positive number, at most 1e6")
        if self.arrival is not None and not self.name:
            raise ConfigError("say by `name` what `arrival` gives, so that a folder is not used for something else")

    def costs_of(self, actions: int) -> NDArray[np.float64]:
        """Costs (actions,); a fresh array."""
        costs = np.zeros(actions) if self.costs is None else np.array(self.costs, np.float64)
        if costs.shape != (actions,) or not np.isfinite(costs).all():
            raise ConfigError(f"costs have the shape {costs.shape}; they are finite, ({actions},)")
        return costs


class OptimalPolicy(Plan):
    """What to do; made by `compute_optimal_policy`.

    Attributes:
        objective: What is wanted.
    """

    def __init__(self, plan: Plan, objective: Objective) -> None:
        super().__init__(plan.model, plan.workspace, plan.transitions, plan.folder, plan.horizon)
        self.objective = objective

    def values(self, level: int) -> NDArray[Any]:
        """V of every state of a level, (states,); a fresh array."""
        return self.level_array(VALUES, level)

    def best(self, level: int) -> NDArray[np.uint16]:
        """The first of the best actions in every state of a level, 65535 in terminal ones; a fresh array."""
        return self.level_array(BEST, level)

    def policies(self, level: int) -> NDArray[Any]:
        """Chances of each action, (states, actions), zeros in terminal states; a fresh array."""
        if self.objective.operator != "max":
            return self.level_array(POLICIES, level)
        best = self.best(level).astype(np.int64)
        chances = np.zeros((len(best), self.model.action_count))
        decided = np.flatnonzero(best != NO_ACTION)
        chances[decided, best[decided]] = 1
        return chances

    def value(self, state: Any, time: int | None = None) -> float:
        """V of a state; see `find`."""
        return float(self.row(VALUES, state, time))

    def action(self, state: Any, time: int | None = None) -> int | None:
        """The best action in a state, None if it is terminal; see `find`."""
        best = int(self.row(BEST, state, time))
        return None if best == NO_ACTION else best


def compute_optimal_policy(
    model: Model,
    objective: Objective | None = None,
    *,
    horizon: int | None,
    memory_budget: int | str | None = None,
    directory: str | os.PathLike[str] | None = None,
    dtype: str = "float64",
    resources: Resources | None = None,
) -> OptimalPolicy:
    """The best policy over a finite horizon, exactly, by backward induction on disk.

    Args:
        model: The model.
        objective: What is wanted; by default the rewards of the model.
        horizon: Steps; None for a model that never leads back to a state.
        memory_budget: Bytes, or text such as "64 MB"; in place of that of the resources.
        directory: Where the arrays are kept; a temporary folder if None.
        dtype: float64, or float32 for half of the space.
        resources: What may be used.

    Raises:
        ConfigError: A parameter is out of range.
        InductionError: Model or folder are not what they must be.
        LowMemoryError: The memory guard said so; what was complete is kept.

    Example:
        >>> from npp_env.induction import TableModel
        >>> chain = TableModel(np.array([[[0, 1], [1, 0]], [[0, 1], [0, 1]]]), rewards=np.array([[0, 1], [5, 0]]))
        >>> plan = compute_optimal_policy(chain, horizon=3)
        >>> plan.values(0).tolist(), plan.best(0).tolist()
        ([10.0], [0])
    """
    objective, resources = objective or Objective(), (resources or Resources()).with_budget(memory_budget)
    costs, kind = objective.costs_of(model.action_count), number_type(dtype)
    identity = {
        "kind": "optimal policy",
        "arrival": objective.name,
        "costs": costs.tolist(),
        "discount": objective.discount,
        "operator": objective.operator,
        "beta": objective.beta if objective.operator != "max" else None,
        "dtype": kind.name,
    }
    begun = begin_plan(model, horizon, directory, resources, f"optimal-{objective.operator}", identity)
    plan = OptimalPolicy(begun, objective)
    with plan.folder:
        _OptimalSweep(plan, costs, kind, resources).run()
    return plan


class _OptimalSweep:
    def __init__(
        self, plan: OptimalPolicy, costs: NDArray[np.float64], dtype: np.dtype[Any], resources: Resources
    ) -> None:
        self._plan, self._costs, self._dtype, self._resources = plan, costs, dtype, resources
        self._pool = ThreadPool(resources.threads)
        self._operator = OPERATORS.index(plan.objective.operator)
        per_state = 2 * plan.model.state_bytes + 32 * plan.model.action_count + 64
        self._levels = LevelSweep(plan, resources.budget.block_of(per_state), resources.watch)

    def run(self) -> None:
        for level in range(self._plan.horizon - 1, -1, -1):
            if name_of(BEST, level) not in self._plan.folder:
                self._sweep(level)

    def _sweep(self, level: int) -> None:
        plan, transitions, actions = self._plan, self._plan.transitions, self._plan.model.action_count
        first_target, last_target = transitions.span(level + 1)
        shape = (last_target - first_target,)
        targets = Targets(plan.folder, self._resources.budget, self._arrival(level + 1), shape, self._dtype)
        shapes: dict[str, tuple[tuple[int, ...], Any]] = {VALUES: ((), self._dtype), BEST: ((), np.uint16)}
        if self._operator:
            shapes[POLICIES] = ((actions,), self._dtype)

        def compute(rows: Rows) -> list[NDArray[Any]]:
            return self._block(rows, targets.array, first_target)

        self._levels.write(level, f"step {level}", shapes, compute, [targets])

    def _block(self, rows: Rows, targets: NDArray[Any], first_target: int) -> list[NDArray[Any]]:
        count, objective = rows.last - rows.first, self._plan.objective
        values, best = np.empty(count, self._dtype), np.empty(count, np.uint16)
        policies = np.empty((count, self._plan.model.action_count), self._dtype) if self._operator else None
        optimal_block(
            rows,
            self._operator,
            objective.beta,
            self._costs,
            targets,
            first_target,
            values,
            best,
            policies,
            self._pool,
        )
        return [values, best] if policies is None else [values, best, policies]

    def _arrival(self, level: int) -> Iterator[NDArray[Any]]:
        """What the states of a level are worth on arrival."""
        plan, objective = self._plan, self._plan.objective
        for first, last, values in self._levels.later(VALUES, level):
            worth = np.zeros(last - first)
            if objective.arrival is not None:
                worth += self._asked(plan.transitions.states(first, last))
            if values is not None:
                worth += objective.discount * values
            yield worth

    def _asked(self, states: NDArray[np.uint8]) -> NDArray[np.float64]:
        arrival = self._plan.objective.arrival
        assert arrival is not None
        worth = np.asarray(arrival(states), np.float64)
        if worth.shape != (len(states),) or np.isnan(worth).any() or (worth == np.inf).any():
            raise InductionError(f"`arrival` gave {worth.shape} for {len(states)} states, or what is not a number")
        return worth
