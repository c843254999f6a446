"""States in which entities are in every phase that they go through: what restores are attacked with.

Random play in a mixed level seldom gets far: most of its states show sleeping evil ninjas and idle turrets.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from npp_env.level import Level
from npp_env.sim import Simulation
from npp_env.sim.geometry import Geometry
from npp_env.sim.views import flags_view, movers_view
from sim.rooms import EVERY_TYPE, level_of_every_type, room

Phase = tuple[int, int, int, bool]
"""Kind, phase of its mover, its flag (0 for kinds without), whether the mover is listed."""

HELD_TICKS, EPISODE_TICKS, EPISODES = 12, 420, 4
_OF_ONE_KIND = (12, 13, 15, 16, 18, 19, 20, 22, 28)
_BAY_OF_EVIL_NINJAS = [(22, 22 + 3 * k, 78) for k in range(4)]


@lru_cache(maxsize=1)
def rooms_with_phases() -> tuple[Level, ...]:
    """A room for each kind that goes through phases, one of them with a row of evil ninjas, and one with all kinds."""
    alone = [room(*EVERY_TYPE[kind]) for kind in _OF_ONE_KIND]
    return (*alone, room(*_BAY_OF_EVIL_NINJAS), level_of_every_type())


def phases_of(state: np.ndarray, geometry: Geometry) -> set[Phase]:
    """What the movers of a state are at."""
    entities = geometry["entities"]
    movers, flags = movers_view(state, geometry), flags_view(state, geometry)
    found = set()
    for mover, number in zip(movers, geometry["mover_entity"].tolist(), strict=True):
        kind, slot = int(entities[number]["kind"]), int(entities[number]["slot"])
        # A rocket turret has a flag, and its rocket is the mover.
        flag = int(flags[slot]) if kind == 18 else 0
        found.add((kind, int(mover["phase"]), flag, bool(mover["cell"] >= 0)))
    return found


def states_with_phases(level: Level, seed: int = 0) -> list[np.ndarray]:
    """Random play: the first state, and each that shows a phase which none before it did (owned uint8 arrays)."""
    rng = np.random.default_rng(seed)
    simulation = Simulation(level)
    found, seen = [simulation.state.copy()], phases_of(simulation.state, simulation.geometry)
    for state in _played(simulation, rng):
        fresh = phases_of(state, simulation.geometry) - seen
        if fresh:
            found.append(state.copy())
            seen |= fresh
    return found


def _played(simulation: Simulation, rng: np.random.Generator) -> Iterator[np.ndarray]:
    for _ in range(EPISODES):
        simulation.reset()
        for tick in range(EPISODE_TICKS):
            if tick % HELD_TICKS == 0:
                byte = int(rng.choice((0, 2, 3, 4, 5), p=(0.2, 0.3, 0.15, 0.2, 0.15)))
            simulation.advance(byte, stop=False)
            yield simulation.state
