"""Make an environment from a configuration, without going through the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from npp_env.config import EnvironmentConfig
from npp_env.env import NppEnv


def create_environment(
    config: EnvironmentConfig | Mapping[str, Any] | None = None, *, render_mode: str | None = None
) -> NppEnv:
    """The environment of a configuration, without wrappers.

    Example:
        >>> env = create_environment(EnvironmentConfig.for_evaluation(levels="shipped:first_steps"))
        >>> observation, info = env.reset(seed=0)
        >>> info["frame"]
        0
    """
    return NppEnv(config, render_mode=render_mode)
