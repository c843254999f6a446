"""Configuration of an environment: frozen dataclasses, presets, and plain dictionaries in and out.

Every field is checked when an object is made; a wrong key, type or range raises `ConfigError` with the field's full
name, the value, and what is allowed.
"""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from npp_env.errors import ArgumentNameError, ConfigError, printable
from npp_env.level.validation import shorten
from npp_env.observe.spec import DEFAULT_KEYS, FRAME_KEYS, LAYOUTS, OBSERVATION_KEYS, ROWS, Capacity

TICKS_PER_SECOND = 60
"""Of the game."""

_Config = TypeVar("_Config", bound="_Checked")


def _require(ok: bool, name: str, value: object, allowed: str) -> None:
    if not ok:
        raise ConfigError(f"{name} is {shorten(value)}; it must be {allowed}")


def _allowed_instead(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name[:60], known, 1)
    return (f" (did you mean {close[0]!r}?)" if close else "") + f"; allowed are {', '.join(known)}"


class _Checked:
    """Conversion from and to plain dictionaries, for all configuration classes."""

    __slots__ = ()

    @classmethod
    def from_dict(cls: type[_Config], values: Mapping[str, Any], _prefix: str = "") -> _Config:
        """Build from a (nested) plain dictionary; missing keys keep their defaults.

        Raises:
            ConfigError: An unknown key, or a value that the field does not take.
        """
        if not isinstance(values, Mapping):
            what = _prefix.rstrip(".") or cls.__name__
            raise ConfigError(f"{what} is {shorten(values)}; it must be a dictionary or a {cls.__name__}")
        hints = typing.get_type_hints(cls)
        known = [entry.name for entry in dataclasses.fields(cls)]  # type: ignore[arg-type]
        arguments = {}
        for key, value in values.items():
            if key not in known:
                raise ConfigError(f"unknown key {_prefix}{printable(str(key), 60)}{_allowed_instead(str(key), known)}")
            section = hints[key]
            if isinstance(section, type) and issubclass(section, _Checked) and not isinstance(value, section):
                value = section.from_dict(value, f"{_prefix}{key}.")
            arguments[key] = value
        return cls(**arguments)

    def to_dict(self) -> dict[str, Any]:
        """A nested dictionary of plain values, as `from_dict` takes it and JSON can hold it."""
        result: dict[str, Any] = {}
        for entry in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, entry.name)
            if isinstance(value, _Checked):
                value = value.to_dict()
            elif isinstance(value, tuple):
                value = list(value)
            result[entry.name] = value
        return result

    def with_overrides(self: _Config, overrides: Mapping[str, Any]) -> _Config:
        """A copy with some fields changed; a section may be given as a dictionary of its changed fields only."""
        merged = self.to_dict()
        for key, value in overrides.items():
            if isinstance(value, Mapping) and isinstance(merged.get(key), dict):
                value = {**merged[key], **value}
            merged[key] = value
        return type(self).from_dict(merged)


@dataclass(frozen=True, slots=True)
class ObservationConfig(_Checked):
    """What the policy sees.

    Attributes:
        keys: Which observations, in this order; see `npp_env.NppEnv` for all of them.
        layout: `dict` gives a dictionary of arrays; `flat` one float16 row of all keys; `packed` one uint8 row of
            their bytes; `state` one uint8 row with the exact state, from which any observation can be rebuilt.
        max_entities: Rows of `entity_states`.
    """

    keys: tuple[str, ...] = DEFAULT_KEYS
    layout: str = "dict"
    max_entities: int = 16

    def __post_init__(self) -> None:
        keys = self.keys
        _require(
            isinstance(keys, (list, tuple)) and len(keys) > 0 and all(isinstance(key, str) for key in keys),
            "observation.keys",
            keys,
            f"a non-empty list out of {', '.join(OBSERVATION_KEYS)}",
        )
        for key in keys:
            _require(key in OBSERVATION_KEYS, "observation.keys", key, f"out of {', '.join(OBSERVATION_KEYS)}")
        _require(len(set(keys)) == len(keys), "observation.keys", keys, "without repetitions")
        object.__setattr__(self, "keys", tuple(keys))
        _require(_is_one_of(self.layout, LAYOUTS), "observation.layout", self.layout, f"one of {', '.join(LAYOUTS)}")
        _require_int("observation.max_entities", self.max_entities, 1, 64)


@dataclass(frozen=True, slots=True)
class RewardConfig(_Checked):
    """Weights of the reward; each may be any finite number. The terms of a step are added up.

    The defaults set no trap: whatever the discount, standing around never pays more than dying at once, dying never
    more than coming further first, that never more than taking the switch, and that never more than winning
    (`docs/rewards.md`, with what else was tried).

    Attributes:
        switch_weight: Once an episode, in the step that takes the first exit switch.
        exit_weight: Once, in the step that wins.
        death_weight: Once, in the step that dies.
        time_weight: Per physics tick carried out: a step that wins or dies is cut short.
        gold_weight: Per piece of gold.
        shaping_weight: Of the progress on the way to the exit, over the switch, as a share of the whole way; 0 turns it
            off.
        discount: The discount per environment step that lent progress assumes (that of the learner).
        keeps_progress: Whether progress is paid for as it is made, and kept. Otherwise it is lent, and paid back when
            the episode ends or little by little: potential-based shaping, under which the best policy stays the best,
            but a learner that values states right sees nothing in it.
    """

    switch_weight: float = 0.5
    exit_weight: float = 1.0
    death_weight: float = 0.0
    time_weight: float = 0.0
    gold_weight: float = 0.0
    shaping_weight: float = 1.0
    discount: float = 0.99
    keeps_progress: bool = True

    def __post_init__(self) -> None:
        keeps = self.keeps_progress
        _require(isinstance(keeps, bool), "reward.keeps_progress", keeps, "true or false")
        for entry in dataclasses.fields(self):
            value = getattr(self, entry.name)
            if entry.name == "keeps_progress":
                continue
            _require(
                isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e6,
                f"reward.{entry.name}",
                value,
                "a number between -1e6 and 1e6",
            )
            object.__setattr__(self, entry.name, float(value))
        _require(0.0 <= self.discount <= 1.0, "reward.discount", self.discount, "between 0 and 1")


@dataclass(frozen=True, slots=True)
class GraphConfig(_Checked):
    """Capacity of the padded graph observation.

    Attributes:
        max_nodes: Rows of `graph_node_feats`; the largest graph of any level has 4500.
        max_edges: Columns of `graph_edge_index`.
    """

    max_nodes: int = 4500
    max_edges: int = 18500

    def __post_init__(self) -> None:
        _require_int("graph.max_nodes", self.max_nodes, 1, 65535)
        _require_int("graph.max_edges", self.max_edges, 1, 65535)


@dataclass(frozen=True, slots=True)
class RenderConfig(_Checked):
    """Pictures for people; nothing here costs memory before the first `render()`.

    Attributes:
        show_status: Draw frame counter, gold and outcome into the picture.
    """

    show_status: bool = True

    def __post_init__(self) -> None:
        _require(isinstance(self.show_status, bool), "render.show_status", self.show_status, "true or false")


@dataclass(frozen=True, slots=True)
class EnvironmentConfig(_Checked):
    """All that makes an environment.

    Attributes:
        levels: Which levels, as `npp_env.level.LevelSet.parse` takes it: `shipped`, `shipped:verified` (those whose
            entities behave as recordings of the real game show), `shipped:GROUP`, `shipped:GROUP/NAME`, a file,
            a folder, a glob, `pack:FILE`, `pack:FILE#12`, or a list of these.
        frame_skip: Physics ticks per step.
        max_episode_frames: Ticks after which an episode is truncated, at the end of the step that reaches them; `auto`
            gives 600 and 4 more for each tile of the map that is not full; None never truncates.
        cache_directory: Where compiled levels are kept on disk, shared by all processes of the host; None takes the
            environment variable `NPP_ENV_CACHE` or the platform's cache folder. Levels of an endless generated set,
            which are played once, have files only if a folder is named here; then no worker makes them ahead.
        levels_ahead: How many levels of an endless generated set a worker process keeps ready at most, with all that
            the next episodes need of them; 0 makes each level when it is needed. Episodes are the same either way.
        copy: Whether every observation is a fresh array (true), or a view of a double buffer that stays valid through
            the next step (false).
        observation: What the policy sees.
        reward: What it is rewarded for.
        graph: Capacity of the graph observation.
        render: Pictures for people.
    """

    levels: str | tuple[str, ...] = "shipped:verified"
    frame_skip: int = 4
    max_episode_frames: int | str | None = "auto"
    cache_directory: str | None = None
    levels_ahead: int = 128
    copy: bool = True
    observation: ObservationConfig = field(default_factory=ObservationConfig)
    reward: RewardConfig = field(default_factory=RewardConfig)
    graph: GraphConfig = field(default_factory=GraphConfig)
    render: RenderConfig = field(default_factory=RenderConfig)

    def __post_init__(self) -> None:
        if isinstance(self.levels, list):
            object.__setattr__(self, "levels", tuple(self.levels))
        _require(
            _is_name(self.levels)
            or (isinstance(self.levels, tuple) and len(self.levels) > 0 and all(map(_is_name, self.levels))),
            "levels",
            self.levels,
            "a level specification such as 'shipped:mines', a path, or a non-empty list of these",
        )
        _require_int("frame_skip", self.frame_skip, 1, 3600)
        if self.max_episode_frames is not None and not _is_one_of(self.max_episode_frames, ("auto",)):
            _require(
                type(self.max_episode_frames) is int and 1 <= self.max_episode_frames <= 10_000_000,
                "max_episode_frames",
                self.max_episode_frames,
                "a whole number from 1 to 10000000, 'auto' or None",
            )
        _require(
            self.cache_directory is None or _is_name(self.cache_directory),
            "cache_directory",
            self.cache_directory,
            "None or the path of a folder",
        )
        _require_int("levels_ahead", self.levels_ahead, 0, 512)
        _require(isinstance(self.copy, bool), "copy", self.copy, "true or false")
        for name, kind in (
            ("observation", ObservationConfig),
            ("reward", RewardConfig),
            ("graph", GraphConfig),
            ("render", RenderConfig),
        ):
            value = getattr(self, name)
            if isinstance(value, Mapping):
                object.__setattr__(self, name, kind.from_dict(value, f"{name}."))
            else:
                _require(isinstance(value, kind), name, value, f"a {kind.__name__} or a dictionary")

    @property
    def needs_graph(self) -> bool:
        """Whether a selected observation or the reward needs the navigation graph."""
        return self.reward.shaping_weight != 0 or any(ROWS[key].needs_graph for key in self.observation.keys)

    @property
    def capacity(self) -> Capacity:
        """Sizes of the padded observations."""
        return Capacity(self.observation.max_entities, self.graph.max_nodes, self.graph.max_edges)

    @property
    def needs_background(self) -> bool:
        """Whether a selected observation is a frame."""
        return any(ROWS[key].needs_background for key in self.observation.keys)

    @classmethod
    def for_training(cls, **overrides: Any) -> EnvironmentConfig:
        """One environment for a training loop: numbers that say where things are, shaped reward, fresh arrays."""
        keys = ("game_state", "reachability_features", "switch_states", "spatial_context", "action_mask")
        return cls(observation=ObservationConfig(keys=keys)).with_overrides(overrides)

    @classmethod
    def for_parallel_training(cls, **overrides: Any) -> EnvironmentConfig:
        """Many environments beside a learner, at the least memory.

        What each choice saves, per environment (measured by `python -m benchmarks memory`):

        - no frames unless asked for: 24,656 bytes per observation (7,056 + 17,600), double-buffered 49,312;
        - `copy=False`: no array is allocated per step; two buffers of 94 bytes hold all observations;
        - no animation and no render surface: a 1056 x 600 picture of 1,900,800 bytes exists only inside `render()`;
        - the graph is built only if a selected observation or the reward needs it, once per level and host: a few
          hundred kilobytes per level, nothing per environment.
        """
        return cls(copy=False, observation=ObservationConfig(keys=DEFAULT_KEYS)).with_overrides(overrides)

    @classmethod
    def for_evaluation(cls, **overrides: Any) -> EnvironmentConfig:
        """What the score of a policy is measured with: the observations of training, no shaping in the reward."""
        return cls.for_training(reward=RewardConfig(shaping_weight=0.0)).with_overrides(overrides)

    @classmethod
    def for_visual_testing(cls, **overrides: Any) -> EnvironmentConfig:
        """Frames as well as numbers, one tick per step: for looking at what an agent does and sees."""
        keys = (*DEFAULT_KEYS, *FRAME_KEYS)
        return cls(frame_skip=1, observation=ObservationConfig(keys=keys)).with_overrides(overrides)


PRESETS: Mapping[str, Any] = types.MappingProxyType(
    {
        "training": EnvironmentConfig.for_training,
        "parallel_training": EnvironmentConfig.for_parallel_training,
        "evaluation": EnvironmentConfig.for_evaluation,
        "visual_testing": EnvironmentConfig.for_visual_testing,
    }
)


def _require_int(name: str, value: object, low: int, high: int) -> None:
    _require(type(value) is int and low <= value <= high, name, value, f"a whole number from {low} to {high}")


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != "" and "\0" not in value


def _is_one_of(value: object, allowed: Collection[str]) -> bool:
    # Anything else than text might answer a comparison with an array.
    return isinstance(value, str) and value in allowed


def resolve_config(
    config: EnvironmentConfig | Mapping[str, Any] | None = None,
    preset: str | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> EnvironmentConfig:
    """The configuration that `config=`, `preset=` and keyword overrides stand for, in this order of precedence.

    Raises:
        ConfigError: A wrong preset, key or value, or both a configuration object and a preset.
        ArgumentNameError: An override that is no field.
    """
    known = [entry.name for entry in dataclasses.fields(EnvironmentConfig)]
    for name in overrides or {}:
        if name not in known:
            # Libraries that try several arguments (TorchRL tries `frameskip`) look for Python's own wording.
            raise ArgumentNameError(f"unexpected keyword argument {name!r}{_allowed_instead(name, known)}")
    if preset is not None and not _is_one_of(preset, PRESETS):
        raise ConfigError(f"preset is {shorten(preset)}; it must be one of {', '.join(PRESETS)}")
    if isinstance(config, EnvironmentConfig):
        if preset is not None:
            raise ConfigError(f"give either a configuration object or preset={preset!r}, not both")
        resolved = config
    else:
        resolved = PRESETS[preset]() if preset is not None else EnvironmentConfig()
        if config is not None:
            if not isinstance(config, Mapping):
                raise ConfigError(f"config is {shorten(config)}; it must be an EnvironmentConfig or a dictionary")
            resolved = resolved.with_overrides(config)
    return _shared(resolved.with_overrides(overrides) if overrides else resolved)


@lru_cache(maxsize=64)
def _shared(config: EnvironmentConfig) -> EnvironmentConfig:
    """The first of equal configurations: environments that are made alike need not hold 2 KB each."""
    return config
