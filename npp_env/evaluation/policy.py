"""`Policy`: whatever chooses actions for many environments at once, with the configuration that it was made for."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from npp_env.config import EnvironmentConfig, resolve_config
from npp_env.errors import NppError
from npp_env.level.validation import shorten


class PolicyError(NppError, ValueError):
    """A policy that cannot be loaded, or that gives something else than actions; the message says what to do."""


@runtime_checkable
class Policy(Protocol):
    """Plays many environments in step.

    A run is `begin` once, then `act` once a step. Before the `act` in which a row shows the first observation of a
    further episode, `restart` names that row. The same seed gives the same run.

    A policy of states (`layout="state"`) may have a method `use_levels(levels, space)`: it is called before `begin`
    with the `LevelSet` that rows name their levels by, and with the observation space of one environment.

    Attributes:
        config: Observation, reward, frame_skip and limits that it was trained with; its levels do not matter.
        deterministic: Whether equal observations always get equal actions, whatever the seed: a second episode on the
            same level would tell nothing new.
    """

    config: EnvironmentConfig
    deterministic: bool

    def begin(self, num_envs: int, seed: int) -> None:
        """Begin a run with so many rows; all that is left to chance comes from the seed."""

    def act(self, observations: Any, masks: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Actions for all rows.

        Args:
            observations: What a vector environment of `config` gives: a dictionary of arrays or one array, with a row
                for each environment. Valid until the next call; not to be written to.
            masks: uint8 (num_envs, 6), 1 where an action can make a difference (see `NppEnv.action_masks`).

        Returns:
            int64 (num_envs,), each one of 0..5; the policy's own until the next call.
        """

    def restart(self, rows: NDArray[np.bool_]) -> None:
        """Forget what was remembered of these rows, bool (num_envs,): they begin another episode."""


class FunctionPolicy:
    """A function as a policy.

    Args:
        function: Gives actions (n,) for observations and masks, as `Policy.act`; it may take a third argument, a
            `numpy.random.Generator` of the run's seed.
        config: What it wants to see; by default its attribute `config` (an `EnvironmentConfig` or a dictionary), or the
            preset `evaluation`.
        deterministic: Whether nothing is left to chance; by default its attribute `deterministic`, or whether it takes
            no generator.

    Example:
        >>> def run_right(observations, masks):
        ...     return np.full(len(masks), 2)
        >>> policy = FunctionPolicy(run_right)
        >>> policy.begin(num_envs=3, seed=0)
        >>> policy.act({}, np.ones((3, 6), np.uint8))
        array([2, 2, 2])
    """

    def __init__(
        self,
        function: Callable[..., Any],
        config: EnvironmentConfig | Mapping[str, Any] | None = None,
        deterministic: bool | None = None,
    ) -> None:
        wanted = getattr(function, "config", None) if config is None else config
        preset = None if isinstance(wanted, EnvironmentConfig) else "evaluation"
        self.config = resolve_config(wanted, preset)
        self._function = function
        self._takes_random = _takes_three(function)
        told = getattr(function, "deterministic", None) if deterministic is None else deterministic
        self.deterministic = not self._takes_random if told is None else bool(told)
        self._random = np.random.default_rng(0)

    def begin(self, num_envs: int, seed: int) -> None:
        """See `Policy`."""
        self._random = np.random.default_rng(seed)

    def act(self, observations: Any, masks: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Policy`."""
        extra = (self._random,) if self._takes_random else ()
        return checked_actions(self._function(observations, masks, *extra), len(masks))

    def restart(self, rows: NDArray[np.bool_]) -> None:
        """Nothing is remembered."""


def _takes_three(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return len([item for item in parameters if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)]) >= 3


def checked_actions(actions: Any, count: int) -> NDArray[np.int64]:
    """Actions of a policy as int64 (count,).

    Raises:
        PolicyError: They are not so many whole numbers from 0 to 5.
    """
    try:
        found = np.asarray(actions)
        with np.errstate(invalid="ignore"):
            whole = found.astype(np.int64)
    except (TypeError, ValueError, OverflowError) as error:
        raise PolicyError(f"the policy gave {shorten(actions)}; it must give an array of actions") from error
    if whole.shape != (count,) or not np.issubdtype(found.dtype, np.number) or (whole != found).any():
        raise PolicyError(
            f"the policy gave {found.dtype} of shape {found.shape}; it must give whole numbers ({count},)"
        )
    wrong = (whole < 0) | (whole > 5)
    if wrong.any():
        row = int(wrong.argmax())
        raise PolicyError(f"the policy gave action {whole[row]} in row {row}; actions are 0..5")
    return whole


def policy_of(found: Any, name: str) -> Policy:
    """The policy that an object stands for: itself, what a class without arguments makes, or a function to call.

    Args:
        found: The object.
        name: What to call it in a message.

    Raises:
        PolicyError: It is none of these.
    """
    if inspect.isclass(found):
        try:
            found = found()
        except TypeError as error:
            raise PolicyError(f"{name} is a class that cannot be made without arguments: {error}") from error
    if isinstance(found, Policy):
        return found
    if hasattr(found, "act"):
        missing = [word for word in ("config", "deterministic", "begin", "restart") if not hasattr(found, word)]
        raise PolicyError(f"{name} has `act` but lacks {', '.join(missing)} of npp_env.evaluation.policy.Policy")
    if callable(found):
        return FunctionPolicy(found)
    raise PolicyError(f"{name} is {shorten(found)}; it must be a function, a Policy, or a class of policies")


def import_policy(text: str) -> Policy:
    """The policy behind `module:name`; modules of the present folder are found too.

    Raises:
        PolicyError: There is no such module or name, or it is no policy.
    """
    module_name, colon, name = text.partition(":")
    if not (colon and module_name and name):
        raise PolicyError(f"{shorten(text)} names no policy; write module:function")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise PolicyError(f"{text}: the module {module_name} cannot be imported: {error}") from error
    except Exception as error:
        raise PolicyError(f"{text}: importing {module_name} fails with {type(error).__name__}: {error}") from error
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise PolicyError(f"{text}: {module_name} has no {name}")
        found = getattr(found, part)
    return policy_of(found, text)
