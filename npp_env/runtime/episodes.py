"""Episodes of one or many environments: which level comes next, what it needs, and the engine that runs it."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.config import EnvironmentConfig
from npp_env.errors import LevelError
from npp_env.level.cache import LevelCache, cache_in
from npp_env.level.level_set import SHIPPED, LevelSet
from npp_env.level.model import Level
from npp_env.observe.buffers import ObservationLayout
from npp_env.observe.path_features import PathHandle
from npp_env.runtime.engine import Engine
from npp_env.runtime.sampling import LevelSampling, UniformSampling
from npp_env.sim.handles import handle_of
from npp_env.sim.kernel import LevelHandle
from npp_env.sim.views import bit_mask, ninja_view, switches_taken

GOLD = 2
FOREIGN_LEVEL = -1
_SPARE_LEVELS = 256
_DOOR_CONFIGURATIONS = 16
_UNBOUNDED_STATE_BYTES = 4096


@dataclass(eq=False)
class LevelResources:
    """All that an episode on one level needs; shared by all environments of the process that play it alike."""

    index: int
    level: Level
    handle: LevelHandle
    gold: int
    limit_frames: int
    background: NDArray[np.uint8] | None
    paths: OrderedDict[int, PathHandle] = field(default_factory=OrderedDict)  # by door configuration


_shared_resources: weakref.WeakValueDictionary[tuple[Any, ...], LevelResources] = weakref.WeakValueDictionary()
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


def largest_state_bytes(levels: LevelSet, cache: LevelCache | None = None) -> int:
    """Bytes that hold a state of any level of a set, as the `state` layout reserves them."""
    if not levels.is_finite:
        return _UNBOUNDED_STATE_BYTES
    return max(handle_of(level, cache).state_bytes for level in levels)


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
        capacity = config.capacity
        self.layout = ObservationLayout(
            config.observation.keys,
            config.observation.layout,
            capacity,
            largest_state_bytes(self.levels, self.cache) if config.observation.layout == "state" else 0,
        )
        weights = config.reward
        self._weights = (
            weights.switch_weight,
            weights.exit_weight,
            weights.death_weight,
            weights.time_weight,
            weights.gold_weight,
            weights.shaping_weight,
            weights.discount,
        )
        self.keys = np.zeros(num_envs, np.uint64)
        self.episodes = np.zeros(num_envs, np.int64)
        stride = self.layout.state_bytes or self.resources(0).handle.state_bytes
        self.engine = Engine(
            num_envs,
            stride,
            config.frame_skip,
            self._weights,
            (capacity.max_entities, capacity.max_nodes, capacity.max_edges),
        )
        self._doors_changed = self.engine.slots["doors_changed"]
        self._viewed: NDArray[np.uint8] | None = None
        self._ninjas: NDArray[Any] = np.empty(0)

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
        background = None
        if self.config.needs_background:
            from npp_env.render.background import FRAME_BACKGROUND

            background = self.cache.get(level, FRAME_BACKGROUND)
        limit = limit_frames_of(level, self.config.max_episode_frames)
        if self._max_frames is not None:
            limit = min(limit, self._max_frames) if limit else self._max_frames
        gold = int(np.count_nonzero(level.records[:, 0] == GOLD))
        handle = handle_of(level, self.cache)
        if self.layout.layout == "state" and handle.state_bytes > self.layout.state_bytes:
            raise LevelError(
                f"a state of level {level.name!r} takes {handle.state_bytes} bytes; rows of observation.layout 'state' "
                f"hold {self.layout.state_bytes}, the most of any level in the set: put the level into the set"
            )
        key = (level.hash, level.name, index, limit, background is None, id(handle))
        return _shared_resources.setdefault(key, LevelResources(index, level, handle, gold, limit, background))

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

    def begin(self, indices: NDArray[np.int64], level: LevelResources | None = None) -> None:
        """Begin the next episode of some environments, each on the level that its key gives, or all on one level."""
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
        self.engine.restart(indices)

    def _grow(self, state_bytes: int) -> None:
        if state_bytes > self.engine.stride:
            self.engine.grow(state_bytes)

    def _assign(self, i: int, item: LevelResources) -> None:
        if self._in_use[i] is item:
            # The level stays; only its doors may differ from the start.
            self.engine.set_paths(i, self._paths(item, 0))
            return
        self._in_use[i] = item
        paths = self._paths(item, 0)
        self.engine.assign(i, item.handle, paths, item.background, item.limit_frames, item.gold, item.index)

    def _paths(self, item: LevelResources, doors: int) -> PathHandle | None:
        if not self.config.needs_graph:
            return None
        found = item.paths.get(doors)
        if found is None:
            from npp_env.observe.path_handles import path_handle

            found = item.paths[doors] = path_handle(item.level, doors, self.cache)
            while len(item.paths) > _DOOR_CONFIGURATIONS:
                item.paths.popitem(last=False)
        return found

    def follow_doors(self) -> None:
        """Give the environments whose doors changed in this step the distances of their new configuration."""
        if not np.count_nonzero(self._doors_changed):
            return
        for i in np.flatnonzero(self._doors_changed).tolist():
            self.engine.set_paths(i, self._paths(self.resources_of(i), self.doors_taken(i)))

    def doors_taken(self, i: int) -> int:
        """Bit mask of the locked and trap doors whose switch was taken, then of the exits where there are several."""
        return bit_mask(switches_taken(self.engine.states[i], self.resources_of(i).handle.geometry))

    def restore(self, i: int, item: LevelResources, state: NDArray[np.uint8]) -> None:
        """Put environment i into a saved state of a level."""
        self._grow(item.handle.state_bytes)
        self._assign(i, item)
        row = self.engine.states[i]
        row[: state.size] = state
        row[state.size :] = 0
        self.engine.set_paths(i, self._paths(item, self.doors_taken(i)))
        self.engine.reread(i)

    @property
    def ninjas(self) -> NDArray[Any]:
        """The ninjas (num_envs,) as a structured view of the states."""
        if self._viewed is not self.engine.states:
            self._viewed = self.engine.states
            self._ninjas = ninja_view(self._viewed)
        return self._ninjas
