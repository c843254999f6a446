"""The single environment: steps per observation set, copies against views, resets, and peers on the same machine."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks._measuring import (
    ENVIRONMENT_ID,
    OBSERVATION_SETS,
    Speed,
    configuration,
    held_actions,
    measure_speed,
    rounded,
)
from npp_env.cli.warm_up import meet_levels

TARGET_STEPS = {"vectors": 60_000, "frames": 10_000}
TARGET_RESET_US = 50
STEPS_PER_CALL = 50


def stepping(env: Any, actions: Iterable[Any], seed: int = 0) -> Callable[[], None]:
    """Work that plays `STEPS_PER_CALL` steps with actions, over and over, and resets where an episode ends."""
    upcoming = itertools.cycle(actions)
    env.reset(seed=seed)

    def work() -> None:
        for _ in range(STEPS_PER_CALL):
            _, _, terminated, truncated, _ = env.step(next(upcoming))
            if terminated or truncated:
                env.reset()

    return work


def measure_steps(env: Any, at_least: float) -> tuple[Speed, Speed]:
    """Speed of steps and of warm resets."""
    work = stepping(env, held_actions(4000, 1)[:, 0].tolist())
    meet_levels(env)
    for _ in range(4):
        work()
    steps = measure_speed(work, STEPS_PER_CALL, at_least)
    resets = measure_speed(lambda: env.reset(), 1, at_least / 2)
    return steps, resets


def measure_observation_sets(quick: bool) -> dict[str, Any]:
    """Every observation set with views and with copies."""
    from npp_env import NppEnv

    at_least = 0.1 if quick else 1.0
    rows = []
    for name, keys in OBSERVATION_SETS.items():
        for copies in (False, True):
            env = NppEnv(configuration(keys, frame_skip=4, copy=copies))
            steps, resets = measure_steps(env, at_least)
            rows.append(
                [
                    name,
                    "copies" if copies else "views",
                    sum(space.dtype.itemsize * int(np.prod(space.shape)) for space in env.observation_space.values()),
                    rounded(steps.per_cpu_second),
                    rounded(steps.per_wall_second),
                    rounded(resets.cpu_us),
                    f"{TARGET_STEPS[name]:,}" if name in TARGET_STEPS else "",
                ]
            )
    return {
        "title": "Single environment, frame_skip 4",
        "header": [
            "observations",
            "arrays",
            "bytes per observation",
            "steps per CPU second",
            "per second",
            "warm reset, CPU us",
            "target, steps per CPU second",
        ],
        "rows": rows,
        "notes": [
            "`NppEnv.step` unwrapped, all shipped levels, random play, the resets of ended episodes included; shaped "
            f"reward. Target of a warm reset: under {TARGET_RESET_US} us."
        ],
    }


def peers() -> dict[str, Callable[[], Any]]:
    """Environments of other packages that are installed, and how to make one."""
    found: dict[str, Callable[[], Any]] = {}
    import gymnasium

    found["Gymnasium CartPole-v1"] = lambda: gymnasium.make("CartPole-v1")
    try:
        import minigrid  # noqa: F401

        found["Minigrid Empty-8x8"] = lambda: gymnasium.make("MiniGrid-Empty-8x8-v0")
    except ImportError:
        pass
    try:
        import ale_py

        gymnasium.register_envs(ale_py)
        found["ALE Pong, frame_skip 4"] = lambda: gymnasium.make("ALE/Pong-v5")
    except ImportError:
        pass
    return found


def measure_peers(quick: bool) -> dict[str, Any]:
    """Our environment as `gym.make` gives it, beside others."""
    import gymnasium

    at_least = 0.1 if quick else 1.0
    ours: dict[str, Callable[[], Any]] = {
        f"npp_env, {name}": lambda name=name: gymnasium.make(
            ENVIRONMENT_ID, config=configuration(OBSERVATION_SETS[name])
        )
        for name in ("vectors", "frames")
    }
    rows = []
    for name, make in {**ours, **peers()}.items():
        env = make()
        env.action_space.seed(0)
        work = stepping(env, [env.action_space.sample() for _ in range(1000)])
        work()
        speed = measure_speed(work, STEPS_PER_CALL, at_least)
        rows.append([name, rounded(speed.per_cpu_second), rounded(speed.per_wall_second)])
        env.close()
    return {
        "title": "Beside other packages, one environment",
        "header": ["environment", "steps per CPU second", "per second"],
        "rows": rows,
        "notes": [
            "As `gymnasium.make` gives them, its checking wrappers included; uniformly random actions. minigrid and "
            "ale-py appear where they are installed."
        ],
    }


def run(quick: bool) -> dict[str, Any]:
    """Measure the single environment."""
    return {"tables": [measure_observation_sets(quick), measure_peers(quick)]}
