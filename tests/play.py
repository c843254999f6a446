"""Play that meets much of a level: random actions, each held for a while."""

from __future__ import annotations

import numpy as np


def held_actions(rng: np.random.Generator, steps: int, num_envs: int = 1, hold: int = 8) -> np.ndarray:
    """Actions (steps, num_envs), each held for up to `hold` steps; right and jumping are preferred."""
    actions = np.zeros((steps, num_envs), np.int64)
    left = np.zeros(num_envs, np.int64)
    present = np.zeros(num_envs, np.int64)
    for step in range(steps):
        change = left == 0
        present[change] = rng.choice(6, change.sum(), p=[0.05, 0.15, 0.25, 0.1, 0.15, 0.3])
        left[change] = rng.integers(1, hold + 1, change.sum())
        left -= 1
        actions[step] = present
    return actions
