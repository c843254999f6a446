"""Plays the package and a second reading side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

NOTHING, RIGHT, LEFT = 0, 2, 4
FALLING, CELEBRATING = 4, 8
Place = tuple[float, float]


def anywhere(rng: np.random.Generator) -> Place:
    return float(rng.uniform(26, 1030)), float(rng.uniform(26, 574))


def play_pair(
    pair: Any,
    rng: np.random.Generator,
    ticks: int,
    longest: int,
    place: Callable[[Any, np.random.Generator], Place],
    seen: Counter[object],
) -> None:
    """A ninja that runs and falls, is put elsewhere at times, dies, wins and begins anew.

    Args:
        pair: Has `put(x, y, vx, vy, state)`, `tick(byte)`, and `seen`, a count of what was met.
        rng: Chance.
        ticks: How many.
        longest: It stays at most so long before it is put elsewhere.
        place: Where to.
        seen: Gets what was met.
    """
    pause = 0
    byte = NOTHING
    for _ in range(ticks):
        if pause == 0:
            pause = int(rng.integers(1, longest))
            byte = int(rng.choice([NOTHING, RIGHT, LEFT]))
            x, y = place(pair, rng)
            velocity = rng.normal(0, 2, 2) if rng.random() < 0.8 else np.zeros(2)
            pair.put(x, y, *velocity.tolist(), CELEBRATING if rng.random() < 0.06 else FALLING)
        pause -= 1
        pair.tick(byte)
    seen.update(pair.seen)


def met_often(seen: Counter[object]) -> set[object]:
    """What was met fifty times or more."""
    if not seen:
        pytest.skip("none of the random levels was played")
    return {what for what, count in seen.items() if count >= 50}
