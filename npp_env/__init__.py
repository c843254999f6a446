"""npp_env: a fast, exact and tiny Gymnasium environment for the platformer N++.

Importing it registers `Npp-v0` and the tasks; everything else is imported when it is first used.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from npp_env.config import EnvironmentConfig, GraphConfig, ObservationConfig, RenderConfig, RewardConfig
    from npp_env.env import NppEnv, create_environment
    from npp_env.errors import LevelWarning
    from npp_env.level import Level
    from npp_env.rollouts.decoder import ObservationDecoder
    from npp_env.sim import Simulation
    from npp_env.sim.outcome import Outcome
    from npp_env.vector import NppVectorEnv

__version__ = "0.1.0"

ENVIRONMENT_ID = "Npp-v0"

_HOMES = {
    "EnvironmentConfig": "npp_env.config",
    "GraphConfig": "npp_env.config",
    "Level": "npp_env.level",
    "LevelWarning": "npp_env.errors",
    "NppEnv": "npp_env.env",
    "NppVectorEnv": "npp_env.vector",
    "ObservationConfig": "npp_env.config",
    "ObservationDecoder": "npp_env.rollouts.decoder",
    "Outcome": "npp_env.sim.outcome",
    "RenderConfig": "npp_env.config",
    "RewardConfig": "npp_env.config",
    "Simulation": "npp_env.sim",
    "create_environment": "npp_env.env",
}

__all__ = [
    "EnvironmentConfig",
    "GraphConfig",
    "Level",
    "LevelWarning",
    "NppEnv",
    "NppVectorEnv",
    "ObservationConfig",
    "ObservationDecoder",
    "Outcome",
    "RenderConfig",
    "RewardConfig",
    "Simulation",
    "create_environment",
    "register_environments",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'npp_env' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])


def register_environments() -> None:
    """Register `Npp-v0` and the tasks with Gymnasium; importing the package does it.

    A task is an id with levels of its own, such as `Npp-FirstSteps-v0`: see `npp_env.level.tasks.task_levels`.
    """
    import gymnasium

    from npp_env.level.tasks import task_levels

    tasks = {name: {"levels": levels} for name, levels in task_levels().items()}
    for name, arguments in {ENVIRONMENT_ID: {}, **tasks}.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="npp_env.env:NppEnv",
                vector_entry_point="npp_env.vector:NppVectorEnv",
                kwargs=arguments,
            )


def _is_command() -> bool:
    """Whether this process is `npp-env`, whose help does not wait for Gymnasium: it registers when a command begins."""
    if sys.argv[:1] == ["-m"]:
        started = sys.orig_argv
        return started[started.index("-m") + 1 :][:1] == [__name__]
    return bool(sys.argv) and os.path.basename(sys.argv[0]).partition(".")[0] == "npp-env"


if not _is_command():
    register_environments()
