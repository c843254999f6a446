"""Who acts: humans, and robots whose actions count as one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Agents:
    """How a joint action is made of those of the agents: that of agent 0 changes fastest.

    Attributes:
        humans: Which agents are humans.
        joint_actions: Number of joint actions.
        robot_actions: Number of joint actions of all who are no humans.
        human_action_counts: Actions of each human.
        order: Of each human all joint actions, by its own action, those of the other humans, and the robots'.
        acts: Of each joint action the action of each human, then the robots'.
    """

    humans: tuple[int, ...]
    joint_actions: int
    robot_actions: int
    human_action_counts: NDArray[np.int32]  # (humans,)
    order: NDArray[np.int32]  # (humans * joint_actions,)
    acts: NDArray[np.int32]  # (joint_actions, humans + 1)

    @property
    def most_actions(self) -> int:
        """Actions of the human that has most."""
        return int(self.human_action_counts.max())

    @classmethod
    def of(cls, action_counts: Sequence[int], humans: Sequence[int]) -> Agents:
        """Agents with so many actions each, some of whom are humans.

        Raises:
            ConfigError: A human is not among them or named twice, or there are none.

        Example:
            >>> agents = Agents.of([2, 3], humans=[1])
            >>> agents.order.tolist(), agents.acts[5].tolist()
            ([0, 1, 2, 3, 4, 5], [2, 1])
        """
        counts, chosen = [int(count) for count in action_counts], [int(human) for human in humans]
        if not chosen or len(set(chosen)) < len(chosen) or not all(0 <= human < len(counts) for human in chosen):
            raise ConfigError(
                f"human_agent_indices is {list(humans)}; it names some of the agents 0 to {len(counts) - 1}, each once"
            )
        if min(counts) < 1:
            raise ConfigError(f"action counts are {counts}; every agent has at least one action")
        robots = [agent for agent in range(len(counts)) if agent not in chosen]
        joint = np.arange(math.prod(counts), dtype=np.int32).reshape(counts, order="F")
        orders = []
        for human in chosen:
            others = [agent for agent in chosen if agent != human]
            orders.append(joint.transpose([human, *others, *robots]).ravel())
        acts = np.zeros((joint.size, len(chosen) + 1), np.int32)
        for place, human in enumerate(chosen):
            acts[:, place] = _digit(counts, human)
        stride = 1
        for robot in robots:
            acts[:, -1] += stride * _digit(counts, robot)
            stride *= counts[robot]
        own = np.array([counts[human] for human in chosen], np.int32)
        return cls(tuple(chosen), joint.size, stride, own, np.concatenate(orders), acts)


def _digit(counts: list[int], agent: int) -> NDArray[np.int32]:
    """The action of an agent in every joint action."""
    joint = np.arange(math.prod(counts), dtype=np.int32)
    return joint // math.prod(counts[:agent]) % counts[agent]
