"""Saving and restoring: what a state costs to check, to save and to put back, and what its checksum adds to a step."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._measuring import held_actions, measure_speed, rounded
from npp_env import NppEnv, NppVectorEnv
from npp_env.level import Level
from npp_env.level.level_set import LevelSet
from npp_env.sim import Simulation
from npp_env.sim.checksum import seal
from npp_env.sim.validity import check_state

CALLS = 200
NUM_ENVS = 64


def sample_levels() -> dict[str, Level]:
    """The shipped levels with the smallest, the median and the largest state."""
    levels = sorted(LevelSet.parse("shipped"), key=lambda level: Simulation(level).state.size)
    return {"smallest": levels[0], "typical": levels[len(levels) // 2], "largest": levels[-1]}


def microseconds(work: Any, quick: bool) -> float:
    """CPU microseconds of a call."""

    def repeat() -> None:
        for _ in range(CALLS):
            work()

    return measure_speed(repeat, CALLS, 0.05 if quick else 0.5).cpu_us


def measure_level(name: str, level: Level, quick: bool) -> list[Any]:
    """One row of the table."""
    simulation = Simulation(level)
    simulation.advance(2, 30)
    env = NppEnv(levels=[level])
    rows = NppEnv(levels=[level], observation={"layout": "state"})
    many = NppVectorEnv(NUM_ENVS, levels=[level])
    for one in (env, rows, many):
        one.reset(seed=0)
    row = rows.step(2)[0]
    block, saved, several = simulation.get_state(), env.get_state(), many.get_state()
    header, content = bytes(32), simulation.state.tobytes()
    works = (
        lambda: seal(header, content),
        lambda: check_state(simulation.handle, simulation.state),
        lambda: simulation.set_state(block),
        lambda: env.get_state(),
        lambda: env.set_state(saved),
        lambda: rows.set_state(row),
    )
    each = [rounded(microseconds(work, quick)) for work in works]
    all_of_them = rounded(microseconds(lambda: many.set_state(several), quick) / NUM_ENVS)
    return [name, len(content), len(simulation.geometry["entities"]), *each, all_of_them]


def measure_restores(quick: bool) -> dict[str, Any]:
    """Calls that save, check and restore."""
    return {
        "title": "Saving and restoring, CPU us of a call",
        "header": [
            "state", "bytes", "entities", "seal", "check", "Simulation.set_state", "NppEnv.get_state",
            "NppEnv.set_state", "with a row", f"vector of {NUM_ENVS}, each",
        ],
        "rows": [measure_level(name, level, quick) for name, level in sample_levels().items()],
        "notes": [
            "Shipped levels by the size of their states. `seal` is a checksum with the bytes put together, `check` the "
            "check of all numbers; every restore does both. Target: they add less than 1 us to a restore."
        ],
    }  # fmt: skip


def measure_steps(quick: bool) -> dict[str, Any]:
    """Steps that return state rows, which carry a checksum, beside steps that return short vectors."""
    rows = []
    for layout in ("state", "dict"):
        env = NppVectorEnv(
            NUM_ENVS, levels="shipped", observation={"keys": ["game_state"], "layout": layout}, copy=False,
            reward={"shaping_weight": 0},
        )  # fmt: skip
        env.reset(seed=0)
        actions = held_actions(100, NUM_ENVS)

        def play(env: NppVectorEnv = env, actions: Any = actions) -> None:
            for row in actions:
                env.step(row)

        speed = measure_speed(play, len(actions) * NUM_ENVS, 0.15 if quick else 1.5)
        observation = env.reset(seed=0)[0]
        size = observation.nbytes if isinstance(observation, np.ndarray) else observation["game_state"].nbytes
        rows.append([layout, size // NUM_ENVS, rounded(1e3 * speed.cpu_us)])
    return {
        "title": f"Steps of {NUM_ENVS} environments with state rows, frame_skip 4",
        "header": ["layout", "bytes per observation", "ns per environment step"],
        "rows": rows,
        "notes": ["All shipped levels, random play, views, no shaping. `dict` holds `game_state` alone."],
    }


def run(quick: bool) -> dict[str, Any]:
    """Measure saving and restoring."""
    return {"tables": [measure_restores(quick), measure_steps(quick)]}
