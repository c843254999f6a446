"""Puts the ninja where shooters see it, tick by tick."""

from __future__ import annotations

from npp_env.sim import Simulation
from sim.rooms import NOTHING

CHAINGUN, LASER_DRONE, ROCKET, GAUSS = 12, 13, 18, 19
FALLING, DEAD, CELEBRATING = 4, 6, 8
IDLE, PREFIRE, HOMING = range(3)
TARGETING, GAUSS_PREFIRE, GAUSS_POSTFIRE = 1, 2, 3
FIRING, POSTFIRE = 2, 3
FAR_AWAY = (200, 10)
SAFE = (40.0, 40.0)
"""Up and to the left, where none of these drones shoots."""


def tick(simulation: Simulation, x: float, y: float, vx: float = 0.0, vy: float = 0.0, state: int = FALLING) -> None:
    """One tick with the ninja put to a place first, where everything that reacts sees it."""
    n = simulation.ninja
    n["x"], n["y"], n["vx"], n["vy"], n["state"] = x, y, vx, vy, state
    simulation.advance(NOTHING, 1, stop=False)


def ticks(simulation: Simulation, count: int, x: float, y: float, **how: float) -> None:
    for _ in range(count):
        tick(simulation, x, y, **how)


def lives(simulation: Simulation) -> bool:
    return int(simulation.ninja["state"]) != DEAD


def place(simulation: Simulation, k: int = 0) -> tuple[float, float]:
    """Where the rocket or drone is."""
    return float(simulation.movers["x"][k]), float(simulation.movers["y"][k])


def phase_of(simulation: Simulation, kind: int) -> int:
    return int(simulation.flags[0] if kind == ROCKET else simulation.movers["phase"][0])
