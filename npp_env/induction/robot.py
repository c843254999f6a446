"""What a robot should do for humans whose goals nobody knows: `compute_robot_policy`.

    Q_r(s, a_r) = expectation over the humans' goal-averaged policies of sum_s' P(s') discount V_r(s')
    policy proportional to (-Q_r) ** -beta
    V_e(s, h, g) = what Q of human h becomes under this policy, h's own policy for g and the others' averaged ones
    X_h = sum_g w_g V_e ** zeta,  U = -(mean_h X_h ** -xi) ** eta
    V_r = c U + sum policy Q_r,  c = (1 - discount) / -ln discount, 1 if discount is 1

In terminal states and at the horizon V_r is -1e-10. Where X_h is 0, U and V_r are minus infinity; an action that may
lead there is taken only if all do, and then all alike. `least_power` puts something below X_h instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError
from npp_env.induction.array_folder import ArrayFolder
from npp_env.induction.human import POLICIES, HumanPolicyPrior, refuse_missing_actions
from npp_env.induction.level_arrays import LevelReader, Targets, name_of
from npp_env.induction.level_sweep import LevelSweep
from npp_env.induction.plans import Plan
from npp_env.induction.robot_sweep import robot_block
from npp_env.induction.transitions import Rows
from npp_env.induction.workspace import Resources, per_human
from npp_env.runtime.thread_pool import ThreadPool

TERMINAL_VALUE = -1e-10
_FOLDER = "robot"
ROBOT_POLICY, ROBOT_VALUE, HUMAN_VALUES, POWERS = "robot_policy", "robot_value", "human_values", "powers"


@dataclass(frozen=True, slots=True)
class RobotParameters:
    """What a robot is like.

    Attributes:
        beta: How decided it is.
        discount: What a step later is worth to it.
        zeta: Above 1, it prefers a goal within sure reach to two that are uncertain.
        xi: How much it cares for the human that has least.
        eta: The same between times.
        least_power: X_h counts as no less than this.
    """

    beta: float = 10.0
    discount: float = 1.0
    zeta: float = 1.0
    xi: float = 1.0
    eta: float = 1.0
    least_power: float = 0.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            low, high = {"beta": (0.0, 1e6), "least_power": (0.0, 1e300)}.get(name, (1e-9, 1e3))
            high = 1.0 if name == "discount" else high
            if not low <= value <= high:
                raise ConfigError(f"{name} of the robot is {value}; it is a number from {low:g} to {high:g}")


@dataclass(frozen=True, slots=True)
class RobotNumbers:
    """The parameters as the compiled code takes them."""

    weights: NDArray[np.float64]  # (humans, goals)
    beta: float
    now_factor: float
    zeta: float
    xi: float
    eta: float
    least_power: float

    @classmethod
    def of(cls, parameters: RobotParameters, weights: NDArray[np.float64]) -> RobotNumbers:
        """From what the user said."""
        p = parameters
        now = 1.0 if p.discount == 1 else (1 - p.discount) / -math.log(p.discount)
        return cls(weights, p.beta, now, p.zeta, p.xi, p.eta, p.least_power)


class RobotPolicy(Plan):
    """What the robot does; made by `compute_robot_policy`.

    Attributes:
        prior: What the humans do.
        parameters: What the robot is like.
    """

    def __init__(self, prior: HumanPolicyPrior, folder: ArrayFolder, parameters: RobotParameters) -> None:
        super().__init__(prior.model, prior.workspace, prior.transitions, folder, prior.horizon)
        self.prior, self.parameters = prior, parameters

    def policies(self, level: int) -> NDArray[Any]:
        """Chances of the robot's actions in every state of a level, (states, actions); a fresh array."""
        return self.level_array(ROBOT_POLICY, level)

    def values(self, level: int) -> NDArray[Any]:
        """V_r of every state of a level, (states,); a fresh array."""
        return self.level_array(ROBOT_VALUE, level)

    def human_values(self, level: int) -> NDArray[Any]:
        """V_e of every state of a level, (states, humans, goals); a fresh array."""
        return self.level_array(HUMAN_VALUES, level)

    def powers(self, level: int) -> NDArray[Any]:
        """X_h of every state of a level, (states, humans); a fresh array."""
        return self.level_array(POWERS, level)

    def probabilities(self, state: Any, time: int | None = None) -> NDArray[np.float64]:
        """What the robot does in a state.

        Args:
            state: Its bytes, or an environment that the model knows to read.
            time: Steps since the start; may be left out of a model whose states tell it.

        Returns:
            The chance of each action (actions,), a fresh array; of several robots, of their joint actions.

        Raises:
            InductionError: The state is not among those of this time.
        """
        return self.row(ROBOT_POLICY, state, time).astype(np.float64)


def compute_robot_policy(
    human_policy_prior: HumanPolicyPrior,
    *,
    parameters: RobotParameters | None = None,
    memory_budget: int | str | None = None,
    resources: Resources | None = None,
) -> RobotPolicy:
    """What a robot should do, given what humans do; in the folder of the humans' policies.

    Args:
        human_policy_prior: What the humans do.
        parameters: What the robot is like.
        memory_budget: Bytes, or text such as "64 MB"; in place of that of the resources.
        resources: What may be used; as for the humans' policies if None.

    Raises:
        ConfigError: A parameter is out of range.
        ForeignStoreError: The folder holds a robot's policy for other parameters.
        LowMemoryError: The memory guard said so; what was complete is kept.
    """
    prior, parameters = human_policy_prior, parameters or RobotParameters()
    resources = (resources or prior.resources).with_budget(memory_budget)
    dtype = prior.folder.record(name_of(POLICIES, 0)).dtype if prior.horizon else "<f8"
    discounts = per_human("discount", prior.parameters.discount, len(prior.agents.humans), 0, 1)
    identity = {
        "kind": "robot policy",
        "model": prior.model.name,
        "horizon": prior.horizon,
        "humans": list(prior.agents.humans),
        "goals": prior.goals.digest(),
        "human_beta": per_human("beta", prior.parameters.beta, len(prior.agents.humans), 0, 1e6),
        "human_discount": discounts,
        "weights": prior.weights.tolist(),
        "dtype": dtype,
        **asdict(parameters),
    }
    with ArrayFolder(prior.workspace.path / _FOLDER, identity) as folder:
        robot = RobotPolicy(prior, folder, parameters)
        _RobotSweep(robot, np.array(discounts), np.dtype(dtype), resources).run()
    return robot


class _RobotSweep:
    def __init__(
        self, robot: RobotPolicy, discounts: NDArray[np.float64], dtype: np.dtype[Any], resources: Resources
    ) -> None:
        self._robot, self._discounts, self._dtype, self._resources = robot, discounts, dtype, resources
        prior = robot.prior
        self._numbers = RobotNumbers.of(robot.parameters, prior.weights)
        self._pool = ThreadPool(resources.threads)
        self._shape = (len(prior.agents.humans), len(prior.goals.names))
        agents = prior.agents
        numbers = math.prod(self._shape) * (agents.most_actions + 3) + agents.robot_actions
        block_states = resources.budget.block_of(8 * numbers + agents.joint_actions * 16)
        self._levels = LevelSweep(robot, block_states, resources.watch)

    def run(self) -> None:
        for level in range(self._robot.horizon - 1, -1, -1):
            if name_of(ROBOT_VALUE, level) not in self._robot.folder:
                self._sweep(level)

    def _sweep(self, level: int) -> None:
        robot, transitions = self._robot, self._robot.transitions
        first_target, last_target = transitions.span(level + 1)
        count, budget = last_target - first_target, self._resources.budget
        later = Targets(robot.folder, budget, self._robot_arrival(level + 1), (count,), self._dtype)
        reached = Targets(robot.folder, budget, self._human_arrival(level + 1), (count, *self._shape), self._dtype)
        policies = LevelReader(robot.prior.folder, POLICIES, level, transitions.span(level)[0])
        shapes = {
            ROBOT_POLICY: ((robot.prior.agents.robot_actions,), self._dtype),
            ROBOT_VALUE: ((), self._dtype),
            HUMAN_VALUES: (self._shape, self._dtype),
            POWERS: (self._shape[:1], self._dtype),
        }

        def compute(rows: Rows) -> tuple[NDArray[Any], ...]:
            return self._block(rows, policies, (later.array, reached.array), first_target)

        self._levels.write(level, f"robot, step {level}", shapes, compute, [later, reached, policies])

    def _block(
        self, rows: Rows, policies: LevelReader, targets: tuple[NDArray[Any], NDArray[Any]], first_target: int
    ) -> tuple[NDArray[Any], ...]:
        count, agents = rows.last - rows.first, self._robot.prior.agents
        results = (
            np.empty((count, agents.robot_actions), self._dtype),
            np.empty(count, self._dtype),
            np.empty((count, *self._shape), self._dtype),
            np.empty((count, self._shape[0]), self._dtype),
        )
        chances = policies.rows(rows.first, rows.last)
        failed = robot_block(rows, agents, self._numbers, chances, *targets, first_target, results, self._pool)
        refuse_missing_actions(self._robot.model, rows, failed)
        return results

    def _robot_arrival(self, level: int) -> Iterator[NDArray[Any]]:
        discount = self._robot.parameters.discount
        for first, last, values in self._levels.later(ROBOT_VALUE, level):
            if values is None:
                yield np.full(last - first, discount * TERMINAL_VALUE)
            else:
                yield values.astype(np.float64) * discount

    def _human_arrival(self, level: int) -> Iterator[NDArray[Any]]:
        for first, last, values in self._levels.later(HUMAN_VALUES, level):
            held = self._robot.prior.attainment.held(first, last)
            yield held if values is None else np.where(held, 1.0, values.astype(np.float64) * self._discounts[:, None])
