"""How humans act whose goals nobody knows: `compute_human_policy_prior`.

For human h and goal g, with uniform beliefs about the other humans and the worst of the robot:

    Q(s, a, g) = mean over the others' actions of min over the robot's of
                 sum_s' P(s') (1 if g holds in s' else discount V(s', g))
    policy = softmax(beta Q), V = sum policy Q

V is 0 in terminal states and at the horizon. Where g holds already V is 0 too, and the human does action 0.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError
from npp_env.induction.agents import Agents
from npp_env.induction.errors import InductionError
from npp_env.induction.goals import Attainment, Goals
from npp_env.induction.human_sweep import human_block
from npp_env.induction.level_arrays import Targets, name_of
from npp_env.induction.level_sweep import LevelSweep
from npp_env.induction.model import Model
from npp_env.induction.plans import Plan, begin_plan
from npp_env.induction.transitions import Rows
from npp_env.induction.workspace import Resources, number_type, per_human
from npp_env.runtime.thread_pool import ThreadPool

_FOLDER = "humans"
VALUES, POLICIES = "values", "policies"


@dataclass(frozen=True, slots=True)
class HumanParameters:
    """What humans are like; each a number, or one for each human.

    Attributes:
        beta: How decided they are.
        discount: What a step later is worth.
    """

    beta: Any = 10.0
    discount: Any = 1.0


class HumanPolicyPrior(Plan):
    """What humans do for each goal they may have; made by `compute_human_policy_prior`.

    Attributes:
        agents: Who acts.
        goals: What they may want.
        parameters: What they are like.
        resources: What was used.
        attainment: Which goals hold where.
    """

    def __init__(
        self, plan: Plan, agents: Agents, goals: Goals, parameters: HumanParameters, resources: Resources
    ) -> None:
        super().__init__(plan.model, plan.workspace, plan.transitions, plan.folder, plan.horizon)
        self.agents, self.goals, self.parameters, self.resources = agents, goals, parameters, resources
        self.attainment = Attainment(plan.folder, plan.transitions, goals, agents.humans)
        self.weights = goals.weights_of(len(agents.humans))

    def values(self, level: int) -> NDArray[Any]:
        """V of every state of a level that is not the last, (states, humans, goals); a fresh array."""
        return self.level_array(VALUES, level)

    def policies(self, level: int) -> NDArray[Any]:
        """Chances of each action, (states, humans, goals, actions); a fresh array."""
        return self.level_array(POLICIES, level)

    def probabilities(
        self, state: Any, human: int, goal: int | None = None, time: int | None = None
    ) -> NDArray[np.float64]:
        """What a human does in a state.

        Args:
            state: Its bytes, or an environment that the model knows to read.
            human: Index of the human among the agents.
            goal: Number of its goal; None for what it does if nobody knows its goal.
            time: Steps since the start; may be left out of a model whose states tell it.

        Returns:
            The chance of each action (actions,), a fresh array.

        Raises:
            InductionError: The state is not among those of this time.
        """
        if human not in self.agents.humans:
            raise ConfigError(f"agent {human} is no human; {list(self.agents.humans)} are")
        place = self.agents.humans.index(human)
        row = self.row(POLICIES, state, time)[place, :, : self.agents.human_action_counts[place]].astype(np.float64)
        if goal is None:
            return np.asarray(self.weights[place] @ row / self.weights[place].sum())
        if not 0 <= goal < len(self.goals.names):
            raise ConfigError(f"goal is {goal}; 0 to {len(self.goals.names) - 1}")
        chosen: NDArray[np.float64] = row[goal]
        return chosen


def compute_human_policy_prior(
    model: Model,
    *,
    human_agent_indices: Sequence[int],
    goals: Goals,
    horizon: int | None,
    parameters: HumanParameters | None = None,
    memory_budget: int | str | None = None,
    directory: str | os.PathLike[str] | None = None,
    dtype: str = "float64",
    resources: Resources | None = None,
) -> HumanPolicyPrior:
    """What humans do for each goal that they may have, exactly, by backward induction on disk.

    A call that was cut off goes on where it was, in the same folder. The result does not depend on blocks or threads.

    Args:
        model: The model, of joint actions; it has `action_counts`, the number of actions of each agent.
        human_agent_indices: Which agents are humans; all others together are the robot.
        goals: What humans may want.
        horizon: Steps; None for a model that never leads back to a state.
        parameters: What humans are like.
        memory_budget: Bytes, or text such as "64 MB"; in place of that of the resources.
        directory: Where the arrays are kept; a temporary folder if None.
        dtype: float64, or float32 for half of the space.
        resources: What may be used.

    Raises:
        ConfigError: A parameter is out of range.
        InductionError: Model, goals or folder are not what they must be.
        LowMemoryError: The memory guard said so; what was complete is kept.
    """
    resources = (resources or Resources()).with_budget(memory_budget)
    counts = getattr(model, "action_counts", None)
    agents = Agents.of(counts if counts is not None else [model.action_count], human_agent_indices)
    if agents.joint_actions != model.action_count:
        raise InductionError(
            f"{model.name}: {agents.joint_actions} joint actions of {counts}, not {model.action_count}"
        )
    parameters = parameters or HumanParameters()
    humans = len(agents.humans)
    betas = per_human("beta", parameters.beta, humans, 0, 1e6)
    discounts = per_human("discount", parameters.discount, humans, 0, 1)
    goals.weights_of(humans)
    kind = number_type(dtype)
    identity = {
        "kind": "human policies",
        "humans": list(agents.humans),
        "goals": goals.digest(),
        "beta": betas,
        "discount": discounts,
        "dtype": kind.name,
    }
    plan = begin_plan(model, horizon, directory, resources, _FOLDER, identity)
    prior = HumanPolicyPrior(plan, agents, goals, parameters, resources)
    with prior.folder:
        _HumanSweep(prior, np.array(betas), np.array(discounts), kind, resources).run()
    return prior


class _HumanSweep:
    def __init__(
        self,
        prior: HumanPolicyPrior,
        betas: NDArray[np.float64],
        discounts: NDArray[np.float64],
        dtype: np.dtype[Any],
        resources: Resources,
    ) -> None:
        self._prior, self._betas, self._discounts = prior, betas, discounts
        self._dtype, self._resources = dtype, resources
        self._pool = ThreadPool(resources.threads)
        self._humans, self._goals = len(prior.agents.humans), len(prior.goals.names)
        numbers = self._humans * self._goals * (prior.agents.most_actions + 3)
        transition_bytes = prior.agents.joint_actions * 16
        self._block_states = resources.budget.block_of(8 * numbers + transition_bytes)
        self._levels = LevelSweep(prior, self._block_states, resources.watch)

    def run(self) -> None:
        prior, watch = self._prior, self._resources.watch
        prior.attainment.store(prior.horizon, self._block_states, watch)
        for level in range(prior.horizon - 1, -1, -1):
            if name_of(POLICIES, level) not in prior.folder:
                self._sweep(level)

    def _sweep(self, level: int) -> None:
        prior, transitions = self._prior, self._prior.transitions
        first_target, last_target = transitions.span(level + 1)
        shape = (last_target - first_target, self._humans, self._goals)
        budget = self._resources.budget
        targets = Targets(prior.folder, budget, self._arrival(level + 1), shape, self._dtype)
        shapes = {
            VALUES: ((self._humans, self._goals), self._dtype),
            POLICIES: ((self._humans, self._goals, prior.agents.most_actions), self._dtype),
        }

        def compute(rows: Rows) -> list[NDArray[Any]]:
            return self._block(rows, targets.array, first_target)

        self._levels.write(level, f"humans, step {level}", shapes, compute, [targets])

    def _arrival(self, level: int) -> Iterator[NDArray[Any]]:
        """What the states of a level are worth: 1 where a goal holds, else V, a step later."""
        for first, last, values in self._levels.later(VALUES, level):
            held = self._prior.attainment.held(first, last)
            yield held if values is None else np.where(held, 1.0, values.astype(np.float64) * self._discounts[:, None])

    def _block(self, rows: Rows, targets: NDArray[Any], first_target: int) -> list[NDArray[Any]]:
        count, agents = rows.last - rows.first, self._prior.agents
        values = np.empty((count, self._humans, self._goals), self._dtype)
        policies = np.empty((*values.shape, agents.most_actions), self._dtype)
        attained = self._prior.attainment.bits(rows.first, rows.last)
        failed = human_block(rows, agents, targets, first_target, attained, self._betas, values, policies, self._pool)
        refuse_missing_actions(self._prior.model, rows, failed)
        return [values, policies]


def refuse_missing_actions(model: Model, rows: Rows, failed: int) -> None:
    """Raise if a kernel found a state that lacks a joint action."""
    if failed >= 0:
        raise InductionError(
            f"{model.name}: state {rows.first + failed} has some joint actions but not all; a state that is not "
            f"terminal needs every one"
        )
