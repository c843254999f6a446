"""What the rollouts or replays of a training run take, for each way to store observations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from npp_env.config import EnvironmentConfig, resolve_config
from npp_env.errors import ConfigError
from npp_env.level.cache import LevelCache, cache_in
from npp_env.level.level_set import LevelSet, LevelSource
from npp_env.observe.spec import GRAPH_KEYS, ROWS, Capacity, ObservationSpec, Varies, observation_spec
from npp_env.observe.state_row import STATE_ROW
from npp_env.rollouts.packing import repeated_columns
from npp_env.rollouts.state_store import INDEX_BYTES, stored_bytes
from npp_env.runtime.level_resources import largest_state_bytes
from npp_env.sim.handles import handle_of

ON_POLICY = ("ppo", "a2c", "trpo", "maskable_ppo")
OFF_POLICY = ("dqn", "qrdqn", "sac", "td3", "ddpg", "tqc")
DEFAULT_STEPS = {"ppo": 2048, "a2c": 5, "trpo": 2048, "maskable_ppo": 2048}
SAMPLED_LEVELS = 64
"""Levels whose graphs are looked at, at most, for the size of packed observations."""

# Per transition in SB3's buffers: action (int64), and float32 numbers.
_ROLLOUT_EXTRA_BYTES = 8 + 6 * 4  # reward, return, episode start, value, log probability, advantage
_MASK_BYTES = 6 * 4
_REPLAY_EXTRA_BYTES = 8 + 3 * 4  # reward, done, timeout

_INDEX_BYTES = 4
_CHANGING_INDEX_BYTES = 4 + 8 + 4 + 4  # chunk, start, size, number of nodes


@dataclass(frozen=True, slots=True)
class StorageChoice:
    """One way to store observations.

    Attributes:
        name: What it is.
        observation_bytes: Bytes of one observation.
        fixed_bytes: Bytes that are kept once, whatever the number of observations.
        flattened_bytes: Bytes per observation of the largest array that SB3 copies as a whole before it trains on a
            rollout.
        how: What to do to get it.
        shares_next: Whether a replay keeps the next observation only where an episode ended.
    """

    name: str
    observation_bytes: float
    fixed_bytes: float
    flattened_bytes: float
    how: str
    shares_next: bool = False


@dataclass(frozen=True, slots=True)
class Demand:
    """What an algorithm stores.

    Attributes:
        algorithm: One of `ON_POLICY` or `OFF_POLICY`.
        num_envs: Environments; only of rollouts.
        n_steps: Steps of a rollout.
        buffer_size: Transitions of a replay.
    """

    algorithm: str
    num_envs: int = 1
    n_steps: int | None = None
    buffer_size: int = 1_000_000

    def __post_init__(self) -> None:
        if self.algorithm not in ON_POLICY + OFF_POLICY:
            raise ConfigError(
                f"the algorithm is {self.algorithm!r}; it must be one of {', '.join(ON_POLICY + OFF_POLICY)}"
            )
        for name in ("num_envs", "n_steps", "buffer_size"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} is {value}; it must be at least 1")

    @property
    def is_rollout(self) -> bool:
        """Whether the algorithm learns from rollouts, not from a replay."""
        return self.algorithm in ON_POLICY

    @property
    def transitions(self) -> int:
        """Transitions that are stored."""
        if not self.is_rollout:
            return self.buffer_size
        return self.num_envs * (self.n_steps or DEFAULT_STEPS[self.algorithm])

    @property
    def observations(self) -> int:
        """Observations that are stored: a replay keeps the next one with each."""
        return self.transitions if self.is_rollout else 2 * self.transitions

    @property
    def other_bytes(self) -> int:
        """Bytes of everything that is not an observation."""
        if not self.is_rollout:
            return self.transitions * _REPLAY_EXTRA_BYTES
        extra = _ROLLOUT_EXTRA_BYTES + (_MASK_BYTES if self.algorithm == "maskable_ppo" else 0)
        return self.transitions * extra

    def total_bytes(self, choice: StorageChoice) -> int:
        """Bytes of the buffer."""
        count = self.transitions if choice.shares_next else self.observations
        return int(count * choice.observation_bytes + choice.fixed_bytes) + self.other_bytes

    def peak_bytes(self, choice: StorageChoice) -> int:
        """Bytes while a rollout is put in the order of training."""
        flattened = self.transitions * choice.flattened_bytes if self.is_rollout else 0
        return self.total_bytes(choice) + int(flattened)


@dataclass(frozen=True, slots=True)
class GraphSizes:
    """Mean sizes of the graphs of a level set, as far as they fit the capacity."""

    nodes: float
    levels: int


def internal_numbers(capacity: Capacity) -> int:
    """Numbers that graph observations are computed from, per level, padded like the observations.

    Per node: position, kind, three distances, three next hops, reachability. Per edge: target and kind. And the first
    edge of every node and the nearest node of every half tile.
    """
    return 10 * capacity.max_nodes + 2 * capacity.max_edges + (capacity.max_nodes + 1) + 88 * 50


def graph_sizes(levels: LevelSet, capacity: Capacity, cache: LevelCache | None = None) -> GraphSizes:
    """Look at the graphs of (at most 64 of) the levels."""
    from npp_env.graph.navigation import graph_of

    chosen = _sampled(levels)
    nodes = [min(len(graph_of(levels[i], cache).node_x), capacity.max_nodes) for i in chosen]
    return GraphSizes(float(np.mean(nodes)), len(levels) if levels.is_finite else len(chosen))


def storage_choices(
    config: EnvironmentConfig | Mapping[str, Any] | None = None,
    levels: LevelSource = None,
    cache: LevelCache | None = None,
) -> list[StorageChoice]:
    """All ways to store the observations of a configuration, the largest first.

    Args:
        config: Keys and capacities are taken from it.
        levels: The levels; those of the configuration by default.
        cache: Where the artifacts of levels are kept; that of the configuration by default.
    """
    config = resolve_config(config)
    cache = cache_in(config.cache_directory) if cache is None else cache
    found = LevelSet.parse(config.levels if levels is None else levels)
    capacity = config.capacity
    specs = [observation_spec(key, capacity) for key in config.observation.keys]
    numbers = sum(spec.size for spec in specs)
    largest = max(spec.size for spec in specs)
    declared = sum(spec.nbytes for spec in specs)
    row_bytes = STATE_ROW.itemsize + largest_state_bytes(found)
    choices = [
        StorageChoice("dense float32", 4.0 * numbers, 0, 4.0 * largest, "an older SB3, or observations made float32"),
        StorageChoice(
            "dense as declared", declared, 0, max(spec.nbytes for spec in specs), "layout='dict', SB3 >= 2.7.1"
        ),
    ]
    if any(spec.key in GRAPH_KEYS for spec in specs):
        with_internals = 4.0 * (numbers + internal_numbers(capacity))
        choices.insert(
            0,
            StorageChoice(
                "dense float32, with internals",
                with_internals,
                0,
                4.0 * largest,
                "computed: the arrays behind the graph stored too",
            ),
        )
        choices.append(_packed_choice(specs, graph_sizes(found, capacity, cache)))
    how = "layout='state', decoded by StateFeatures or ObservationDecoder"
    choices.append(StorageChoice("compact state", row_bytes, 0, row_bytes, how))
    own = mean_row_bytes(found, cache)
    once = f"{how}; StateRolloutBuffer, StateReplayBuffer or StateStore"
    choices.append(StorageChoice("compact state, own length", own, 0, 0, once, shares_next=True))
    return choices


def mean_row_bytes(levels: LevelSet, cache: LevelCache | None = None) -> float:
    """Bytes of a row in a `StateStore`, over (at most 64 of) the levels."""
    sizes = [STATE_ROW.itemsize + handle_of(levels[i], cache).state_bytes for i in _sampled(levels)]
    return float(np.mean([stored_bytes(size) for size in sizes])) + INDEX_BYTES


def _sampled(levels: LevelSet) -> list[int]:
    """Numbers of levels that stand for all."""
    if not levels.is_finite:
        return list(range(SAMPLED_LEVELS // 4))
    count = min(len(levels), SAMPLED_LEVELS)
    return [int(i) for i in np.linspace(0, len(levels) - 1, count).round()]


def _packed_choice(specs: list[ObservationSpec], sizes: GraphSizes) -> StorageChoice:
    """Packed storage: what `PackedObservations` takes per observation, and per level."""
    observation = fixed = 0.0
    for spec in specs:
        row = ROWS[spec.key]
        if row.varies is Varies.LEVEL:
            observation += _INDEX_BYTES
            fixed += spec.nbytes
        elif row.steadier:
            groups, itemsize = repeated_columns(row), spec.dtype.itemsize
            observation += sizes.nodes * len(row.columns(Varies.STATE)) * itemsize
            observation += _CHANGING_INDEX_BYTES + _INDEX_BYTES * len(groups)
            fixed += sizes.nodes * itemsize * sum(map(len, groups))
        else:
            observation += spec.nbytes
    how = "sparse: only what there is; rollout_buffer_class=PackedDictRolloutBuffer, or PackedObservations"
    return StorageChoice("packed", observation, fixed * sizes.levels, 0, how)
