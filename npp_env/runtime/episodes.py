"""Episodes of one or many environments: which level comes next, what it needs, and the engine that runs it."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.config import EnvironmentConfig
from npp_env.errors import ConfigError, LevelError
from npp_env.level.cache import LevelCache, cache_in
from npp_env.level.level_set import SHIPPED, LevelSet
from npp_env.level.model import Level
from npp_env.observe.buffers import DoubleBuffer, Observation, ObservationLayout
from npp_env.runtime.engine import Engine
from npp_env.runtime.level_resources import FOREIGN_LEVEL, LevelLoader, LevelResources, largest_state_bytes
from npp_env.runtime.sampling import LevelSampling, UniformSampling
from npp_env.sim.doors import door_configuration
from npp_env.sim.views import ninja_view

INFO_KEYS = ("frame", "outcome", "gold", "level", "phase", "episode_return", "episode_steps")
"""What `info` says of an episode."""

_SPARE_LEVELS = 256

_shared_sets: weakref.WeakValueDictionary[str | tuple[str, ...], LevelSet] = weakref.WeakValueDictionary()


def level_set_of(levels: str | tuple[str, ...]) -> LevelSet:
    """The levels that a configuration names; environments share a set of shipped levels, whose files do not change."""
    names = (levels,) if isinstance(levels, str) else levels
    if not all(name == SHIPPED or name.startswith(f"{SHIPPED}:") for name in names):
        return LevelSet.parse(levels)
    found = _shared_sets.get(levels)
    return _shared_sets.setdefault(levels, LevelSet.parse(levels)) if found is None else found


def limit_frames_of(level: Level, configured: int | str | None) -> int:
    """Ticks after which an episode on this level is truncated, 0 for never.

    `auto` gives ten seconds, and four ticks more for each tile that is not solid.
    """
    if configured is None:
        return 0
    if configured == "auto":
        return 600 + 4 * int(np.count_nonzero(level.tiles != 1))
    return int(configured)


def split_levels(overrides: dict[str, Any]) -> tuple[LevelSet | None, dict[str, Any]]:
    """Take levels that are objects, which no configuration can hold, out of the keyword arguments."""
    levels = overrides.get("levels")
    if levels is None or isinstance(levels, str):
        return None, overrides
    if isinstance(levels, (list, tuple)) and all(isinstance(item, str) for item in levels):
        return None, overrides
    return LevelSet.parse(levels), {key: value for key, value in overrides.items() if key != "levels"}


class Episodes:
    """Runs the episodes of `num_envs` environments; the single and the vector environment stand on it.

    Args:
        config: The configuration.
        num_envs: Number of environments.
        levels: Replaces the levels that the configuration names.
        sampling: How the level of an episode is chosen; uniformly by default.
        max_frames: Truncates episodes in addition to the limit of the configuration.
        cache: Where compiled levels are kept; the process's own by default.
    """

    def __init__(
        self,
        config: EnvironmentConfig,
        num_envs: int,
        levels: LevelSet | None = None,
        sampling: LevelSampling | None = None,
        *,
        max_frames: int | None = None,
        cache: LevelCache | None = None,
    ) -> None:
        self.config = config
        self.cache = cache_in(config.cache_directory) if cache is None else cache
        self.levels = level_set_of(config.levels) if levels is None else levels
        self.sampling = UniformSampling() if sampling is None else sampling
        self._max_frames = max_frames
        self._resources: OrderedDict[int, LevelResources] = OrderedDict()
        self._in_use: list[LevelResources | None] = [None] * num_envs
        self._capacity = max(2 * num_envs, _SPARE_LEVELS)
        self._loader = LevelLoader(self.cache, config.needs_graph, config.needs_background)
        self.layout = ObservationLayout(
            config.observation.keys,
            config.observation.layout,
            config.capacity,
            largest_state_bytes(self.levels, self.cache) if config.observation.layout == "state" else 0,
        )
        self.keys = np.zeros(num_envs, np.uint64)
        self.episodes = np.zeros(num_envs, np.int64)
        stride = self.layout.state_bytes or self.resources(0).handle.state_bytes
        self.engine = Engine(num_envs, stride, config.frame_skip, config.reward, config.capacity)
        self._doors_changed = self.engine.slots["doors_changed"]
        self._viewed: NDArray[np.uint8] | None = None
        self._ninjas: NDArray[Any] = np.empty(0)

    def buffers(self, given: Observation | None, *, single: bool = False) -> DoubleBuffer:
        """Make the arrays that the engine writes observations to; see `DoubleBuffer`."""
        buffers = DoubleBuffer(self.layout, self.engine.num_envs, self.config.copy, given, single)
        for number, arrays in enumerate(buffers.arrays):
            self.engine.set_outputs(number, self.layout.outputs(arrays))
        return buffers

    @property
    def num_levels(self) -> int:
        """Number of levels to choose from; an endless set offers as many as an int32 can number."""
        return len(self.levels) if self.levels.is_finite else 2**31 - 1

    def resources(self, index: int) -> LevelResources:
        """What level number `index` of the set needs; loaded on first use, and dropped when long unused."""
        found = self._resources.get(index)
        if found is None:
            found = self._load(self.levels[index], index)
            self._resources[index] = found
            while len(self._resources) > self._capacity:
                self._resources.popitem(last=False)
        else:
            self._resources.move_to_end(index)
        return found

    def _load(self, level: Level, index: int) -> LevelResources:
        limit = limit_frames_of(level, self.config.max_episode_frames)
        if self._max_frames is not None:
            limit = min(limit, self._max_frames) if limit else self._max_frames
        found = self._loader.load(level, index, limit)
        if self.layout.layout == "state" and found.handle.state_bytes > self.layout.state_bytes:
            raise LevelError(
                f"a state of level {level.name!r} takes {found.handle.state_bytes} bytes; rows of observation.layout "
                f"'state' hold {self.layout.state_bytes}, the most of any level in the set: put the level into the set"
            )
        return found

    def foreign(self, level: Level | str) -> LevelResources:
        """What a level outside the set needs, given as an object or as a specification of exactly one level."""
        if isinstance(level, Level):
            return self._load(level, FOREIGN_LEVEL)
        found = LevelSet.parse(level)
        if not found.is_finite or len(found) != 1:
            raise LevelError(f"{level!r} names {len(found) if found.is_finite else 'endless'} levels; give one")
        return self._load(found[0], FOREIGN_LEVEL)

    def kept(self) -> list[LevelResources]:
        """Everything loaded: for the levels in use, and for some that were."""
        found = {id(item): item for item in (*self._resources.values(), *self._in_use) if item is not None}
        return list(found.values())

    def present(self, i: int) -> LevelResources | None:
        """What the level of environment i needs, or None before its first episode."""
        return self._in_use[i]

    def resources_of(self, i: int) -> LevelResources:
        """What the level of environment i needs."""
        found = self._in_use[i]
        assert found is not None, f"environment {i} was not reset"
        return found

    def reset(
        self,
        indices: NDArray[np.int64],
        randoms: Iterable[np.random.Generator | None],
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Begin episodes at the wish of the caller.

        Args:
            indices: The environments.
            randoms: For each of them what its next levels are drawn from, or None to go on as before.
            options: `level` chooses the level: its number in the level set, a specification of one level, or a `Level`.
        """
        level = self._level_option((options or {}).get("level"))
        for i, random in zip(indices.tolist(), randoms, strict=True):
            if random is not None:
                self.keys[i] = random.integers(2**63)
                self.episodes[i] = -1
        self.begin(indices, level, fresh=False)

    def _level_option(self, level: Any) -> LevelResources | None:
        if level is None:
            return None
        if isinstance(level, (int, np.integer)) and not isinstance(level, bool):
            if not 0 <= level < self.num_levels:
                raise ConfigError(f"options['level'] is {level}; the level set has numbers 0 to {self.num_levels - 1}")
            return self.resources(int(level))
        if isinstance(level, (str, Level)):
            return self.foreign(level)
        raise ConfigError(f"options['level'] is {level!r}; it must be a number, a level specification or a Level")

    def begin(self, indices: NDArray[np.int64], level: LevelResources | None = None, *, fresh: bool = True) -> None:
        """Begin the next episode of some environments, each on the level that its key gives, or all on one level.

        Args:
            indices: The environments.
            level: The level of all of them.
            fresh: Whether their next step is their beginning, and plays nothing.
        """
        chosen: list[LevelResources] = []
        for i in indices.tolist():
            self.episodes[i] += 1
            if level is None:
                episode = int(self.episodes[i])
                number = self.sampling.choose(i, int(self.keys[i]), episode, self.num_levels)
                chosen.append(self.resources(number))
            else:
                chosen.append(level)
        self._grow(max((item.handle.state_bytes for item in chosen), default=0))
        for i, item in zip(indices.tolist(), chosen, strict=True):
            self._assign(i, item)
        self.engine.restart(indices, fresh)

    def _grow(self, state_bytes: int) -> None:
        if state_bytes > self.engine.stride:
            self.engine.grow(state_bytes)

    def _assign(self, i: int, item: LevelResources) -> None:
        if self._in_use[i] is item:
            # The level stays; only its doors may differ from the start.
            self.engine.set_paths(i, item.paths_of(0))
            return
        self._in_use[i] = item
        self.engine.assign(i, item.handle, item.paths_of(0), item.background, item.limit_frames, item.gold, item.index)

    def follow_doors(self) -> None:
        """Give the environments whose doors changed in this step the distances of their new configuration."""
        if not np.count_nonzero(self._doors_changed):
            return
        for i in np.flatnonzero(self._doors_changed).tolist():
            self.engine.set_paths(i, self.resources_of(i).paths_of(self.doors_taken(i)))

    def doors_taken(self, i: int) -> int:
        """The door configuration of environment i."""
        return door_configuration(self.engine.states[i], self.resources_of(i).handle.geometry)

    def restore(self, i: int, item: LevelResources, state: NDArray[np.uint8]) -> None:
        """Put environment i into a saved state of a level."""
        self._grow(item.handle.state_bytes)
        self._assign(i, item)
        row = self.engine.states[i]
        row[: state.size] = state
        row[state.size :] = 0
        self.engine.set_paths(i, item.paths_of(self.doors_taken(i)))
        self.engine.reread(i)

    @property
    def ninjas(self) -> NDArray[Any]:
        """The ninjas (num_envs,) as a structured view of the states."""
        if self._viewed is not self.engine.states:
            self._viewed = self.engine.states
            self._ninjas = ninja_view(self._viewed)
        return self._ninjas
