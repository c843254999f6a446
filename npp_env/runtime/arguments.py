"""What callers of an environment hand in: actions, options, seeds, masks, modes; checked, with errors that help."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from npp_env.errors import ConfigError, NppError
from npp_env.level.validation import shorten

ACTIONS = ("idle", "left", "right", "jump", "jump+left", "jump+right")
MAX_ENVS = 1 << 24
MAX_THREADS = 1024


def checked_action(action: Any) -> int:
    """An action as an int.

    Raises:
        NppError: It is not one of 0..5.
    """
    try:
        value = action.__index__() if not isinstance(action, np.ndarray) else action.item().__index__()
    except (AttributeError, TypeError, ValueError):
        value = -1
    if not 0 <= value <= 5:
        raise NppError(f"action is {shorten(action)}; it must be one of 0..5 ({', '.join(ACTIONS)})")
    return int(value)


def checked_options(options: Any, *known: str) -> dict[str, Any]:
    """The options of a reset as a fresh dictionary.

    Args:
        options: What the caller gave.
        known: The options that there are.

    Raises:
        ConfigError: They are no mapping, or one of them is unknown.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ConfigError(f"options is {shorten(options)}; it must be None or a dictionary, such as {{'level': 3}}")
    for name in options:
        if name not in known:
            close = difflib.get_close_matches(str(name)[:60], known, 1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            raise ConfigError(f"unknown option {shorten(name)}{hint}; reset takes {', '.join(known)}")
    return dict(options)


def check_counts(num_envs: Any, num_threads: Any, max_episode_steps: Any) -> None:
    """Make sure that the numbers are such that environments can be made with them.

    Raises:
        ConfigError: One is no whole number, or out of range.
    """
    for name, value, most in (("num_envs", num_envs, MAX_ENVS), ("num_threads", num_threads, MAX_THREADS)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= most:
            raise ConfigError(f"{name} is {shorten(value)}; it must be a whole number from 1 to {most}")
    if max_episode_steps is not None and (type(max_episode_steps) is not int or max_episode_steps < 1):
        raise ConfigError(f"max_episode_steps is {shorten(max_episode_steps)}; it must be None or at least 1")


def checked_seeds(seed: Any, num_envs: int) -> list[int | None]:
    """One seed, or None, for each environment.

    Raises:
        ConfigError: It is neither None, a whole number, nor one for each environment.
    """
    if seed is None:
        return [None] * num_envs
    if isinstance(seed, (int, np.integer)):
        return [int(seed) + i for i in range(num_envs)]
    if not isinstance(seed, (list, tuple, np.ndarray)) or np.ndim(seed) != 1:
        raise ConfigError(f"seed is {shorten(seed)}; it must be None, a whole number, or one for each environment")
    seeds = list(seed)
    if len(seeds) != num_envs:
        raise ConfigError(f"{len(seeds)} seeds for {num_envs} environments")
    return seeds


def checked_mask(mask: Any, num_envs: int) -> NDArray[np.bool_]:
    """The environments that a reset is for.

    Raises:
        ConfigError: It is no bool array (num_envs,), or names none of them.
    """
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (num_envs,):
        found = f"{mask.dtype} {mask.shape}" if isinstance(mask, np.ndarray) else type(mask).__name__
        raise ConfigError(f"options['reset_mask'] is {found}; it must be a bool array of shape ({num_envs},)")
    if not mask.any():
        raise ConfigError("options['reset_mask'] must have at least one True value")
    return mask


def checked_indices(indices: Any, num_envs: int) -> list[int]:
    """The environments that a call is for; all if none are named.

    Raises:
        NppError: There is no such environment.
    """
    if indices is None:
        return list(range(num_envs))
    try:
        chosen = [operator.index(i) for i in indices]
    except TypeError:
        raise NppError(f"indices is {shorten(indices)}; it must be a sequence of whole numbers") from None
    for i in chosen:
        if not 0 <= i < num_envs:
            raise NppError(f"there is no environment {i}; they have numbers 0 to {num_envs - 1}")
    return chosen


def check_states(states: Any, chosen: Sequence[int]) -> None:
    """Make sure that there is one saved state for each environment.

    Raises:
        NppError: They are no sequence, or there are more or fewer.
    """
    if isinstance(states, (bytes, str)) or not isinstance(states, (Sequence, np.ndarray)):
        raise NppError(f"states is {type(states).__name__}; it must be a sequence, with one for each environment")
    if len(states) != len(chosen) or len(set(chosen)) != len(chosen):
        raise NppError(f"{len(states)} states for {len(set(chosen))} environments")


def levels_by_environment(level: Any, num_envs: int) -> Sequence[Any] | None:
    """The levels of `options["level"]` if there is one for each environment, None if it is one for all.

    Raises:
        ConfigError: There are more or fewer levels than environments.
    """
    if not isinstance(level, (list, tuple, np.ndarray)):
        return None
    if len(level) != num_envs:
        raise ConfigError(f"options['level'] has {len(level)} levels for {num_envs} environments; give one for each")
    return list(level)


def parse_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """An autoreset mode by itself, its name (`NEXT_STEP`) or its value (`NextStep`)."""
    if isinstance(mode, AutoresetMode):
        return mode
    for candidate in AutoresetMode:
        if isinstance(mode, str) and mode in (candidate.name, candidate.value):
            return candidate
    names = ", ".join(candidate.name for candidate in AutoresetMode)
    raise ConfigError(f"autoreset_mode is {shorten(mode)}; it must be one of {names}")
