"""Random small models, as tables and as dictionaries."""

from __future__ import annotations

import numpy as np

from .dictionaries import Problem


def random_table(seed, states=12, actions=8, stochastic=True, terminal=2):
    """P (states, actions, states); the last states are terminal."""
    rng = np.random.default_rng(seed)
    table = np.zeros((states, actions, states))
    for state in range(states - terminal):
        for action in range(actions):
            count = int(rng.integers(1, 4)) if stochastic else 1
            chosen = rng.choice(states, count, replace=False)
            chances = rng.random(count) + 0.1
            table[state, action, chosen] = chances / chances.sum()
    return table


def problem_of(table, counts, humans, held, horizon):
    """The same for dictionaries; `held` is (states, agents, goals)."""

    def outcomes(state, joint):
        return {int(s): float(table[state, joint, s]) for s in np.flatnonzero(table[state, joint])}

    problem = Problem(
        [0], outcomes, list(counts), list(humans), held.shape[2], lambda s, h, g: bool(held[s, h, g]), horizon
    )
    problem.levels_cache = problem.levels()
    return problem


def numbers_of(states):
    """The states that rows of bytes stand for."""
    return np.ascontiguousarray(states).view("<u4")[:, 0]
