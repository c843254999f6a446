"""What a training run is made of, as plain data that its folder keeps as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from npp_env.config import EnvironmentConfig
from npp_env.errors import ConfigError
from npp_env.level.validation import shorten

_Options = TypeVar("_Options")


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """One training run.

    Attributes:
        task: Levels, as the configuration of an environment takes them, such as `shipped:first_steps`.
        algo: A row of `npp_env.learning.algorithms.ALGORITHMS`.
        policy: A row of `npp_env.learning.networks.NETWORKS`.
        seed: Everything that is left to chance comes from it.
        total_steps: Environment steps that learning rate and entropy bonus are scheduled over.
        num_envs: Environments.
        threads: Threads of torch, environments and decoder; the curve is the same only for the same number.
        shards: Parts that the environments are divided into, each with chance of its own, so that it does not matter
            who plays which; 0 for one whole.
        sampling: How levels are chosen, as `NppVectorEnv` takes it; None for uniformly.
        environment: Fields of `EnvironmentConfig` that differ from what the policy asks for.
        algo_options: Fields of the algorithm's options that differ from their defaults.
        policy_options: Arguments of the network that differ from their defaults.

    Raises:
        ConfigError: A value is out of range.
    """

    task: str | tuple[str, ...] = "shipped:first_steps"
    algo: str = "ppo"
    policy: str = "mlp"
    seed: int = 0
    total_steps: int = 6_000_000
    num_envs: int = 128
    threads: int = 1
    shards: int = 0
    sampling: str | None = None
    environment: Mapping[str, Any] = field(default_factory=dict)
    algo_options: Mapping[str, Any] = field(default_factory=dict)
    policy_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.task, list):
            object.__setattr__(self, "task", tuple(self.task))
        bounds = {"seed": (0, 2**31 - 1), "total_steps": (1, 10**12), "num_envs": (1, 1 << 20), "threads": (1, 256)}
        bounds["shards"] = (0, 1 << 16)
        for name, (least, most) in bounds.items():
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise ConfigError(f"{name} is {shorten(value)}; it must be a whole number from {least} to {most}")
        if self.shards and self.num_envs % self.shards:
            raise ConfigError(f"{self.num_envs} environments cannot be divided into {self.shards} equal shards")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        values = {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self)}
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TrainSettings:
        """What `to_dict` gave."""
        return options_of(cls, values, "the settings of a run")


def options_of(kind: type[_Options], values: Mapping[str, Any], what: str) -> _Options:
    """A dataclass of options from some of its fields.

    Raises:
        ConfigError: A name that is no field, or a value of another type than the default.
    """
    known = {entry.name: entry for entry in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for name, value in values.items():
        if name not in known:
            raise ConfigError(f"{what} have no {shorten(name)}; there are {', '.join(known)}")
        default = known[name].default
        if type(default) is float and type(value) is int:
            continue
        if type(default) in (int, float, bool) and type(value) is not type(default):
            raise ConfigError(f"{name} of {what} is {shorten(value)}; it must be of the kind of {default!r}")
    return kind(**values)


def environment_config(settings: TrainSettings, network: Any, discount: float) -> EnvironmentConfig:
    """The environment that a run trains in: states, from which the observations of the policy are rebuilt.

    Args:
        settings: The run.
        network: Class of the network, which says what it wants.
        discount: That of the learner, which the shaping of the reward must agree with.
    """
    base = EnvironmentConfig.for_parallel_training(levels=settings.task).with_overrides(network.environment)
    base = base.with_overrides({"reward": {"discount": discount}})
    return base.with_overrides(settings.environment).with_overrides({"observation": {"layout": "state"}})
