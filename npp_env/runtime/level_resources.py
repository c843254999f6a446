"""All that runs and observes episodes on a level, loaded once and shared: by environments and by decoders."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from npp_env.config import EnvironmentConfig
from npp_env.level.cache import LevelCache
from npp_env.level.doubts import type_bits
from npp_env.level.level_set import LevelSet
from npp_env.level.model import Level
from npp_env.observe.path_features import PathHandle
from npp_env.observe.spec import ROWS
from npp_env.runtime.assignment import Assignment
from npp_env.sim.geometry import geometry_of
from npp_env.sim.handles import handle_of
from npp_env.sim.kernel import LevelHandle
from npp_env.sim.state_size import state_bytes_of

FOREIGN_LEVEL = -1
_GOLD = 2
_DOOR_CONFIGURATIONS = 16
_UNBOUNDED_STATE_BYTES = 4096
_BUDGET_BYTES = 4 << 20
"""What is kept of a level that is played once beyond what is in use: the distances of some door configurations."""


class LevelOrigin(Protocol):
    """A level and the cache that keeps what is computed from it, one of which may be made when it is asked for."""

    @property
    def level(self) -> Level:
        """The level."""

    @property
    def cache(self) -> LevelCache:
        """The cache."""


class CachedLevel(NamedTuple):
    """A level at hand, as a `LevelOrigin`."""

    level: Level
    cache: LevelCache


@dataclass(eq=False)
class LevelResources:
    """All that an episode on one level needs; shared by all of the process that use the level alike."""

    index: int
    origin: LevelOrigin
    handle: LevelHandle
    gold: int
    limit_frames: int
    background: NDArray[np.uint8] | None
    types: int  # of its entities, as `type_bits` gives them
    needs_graph: bool
    paths: OrderedDict[int, PathHandle] = field(default_factory=OrderedDict)  # by door configuration
    assignment: Assignment | None = None  # the same for the engine; `prepared` makes it

    @property
    def level(self) -> Level:
        """The level."""
        return self.origin.level

    def prepared(self) -> LevelResources:
        """This, with all that an episode begins with."""
        if self.assignment is None:
            self.assignment = Assignment(
                self.handle, self.paths_of(0), self.background, self.limit_frames, self.gold, self.index
            )
        return self

    def paths_of(self, doors: int) -> PathHandle | None:
        """The path distances of a door configuration; None if nothing needs them."""
        if not self.needs_graph:
            return None
        found = self.paths.get(doors)
        if found is None:
            from npp_env.observe.path_handles import path_handle

            found = self.paths[doors] = path_handle(self.level, doors, self.origin.cache)
            while len(self.paths) > _DOOR_CONFIGURATIONS:
                self.paths.popitem(last=False)
        return found


_shared: weakref.WeakValueDictionary[tuple[Any, ...], LevelResources] = weakref.WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class LevelLoader:
    """Loads what some observations, and perhaps the reward, need of levels.

    Attributes:
        cache: Where the artifacts of levels are kept.
        needs_graph: Whether path distances are needed.
        needs_background: Whether the background of frames is needed.
    """

    cache: LevelCache
    needs_graph: bool
    needs_background: bool

    @classmethod
    def for_keys(cls, keys: tuple[str, ...], cache: LevelCache) -> LevelLoader:
        """A loader of what these observations need."""
        rows = [ROWS[key] for key in keys]
        return cls(cache, any(row.needs_graph for row in rows), any(row.needs_background for row in rows))

    def load(self, level: Level, index: int = FOREIGN_LEVEL, limit_frames: int = 0) -> LevelResources:
        """What a level needs.

        Args:
            level: The level.
            index: Its number in a level set.
            limit_frames: Ticks after which an episode is truncated, 0 for never.
        """
        self.cache.prepare(level, partial(self.build, level))
        background = self._background(level, self.cache)
        handle = handle_of(level, self.cache)
        gold = int(np.count_nonzero(level.records[:, 0] == _GOLD))
        key = (level.hash, level.name, index, limit_frames, self.needs_graph, background is None, id(handle))
        origin, types = CachedLevel(level, self.cache), type_bits(level.records[:, 0])
        fresh = LevelResources(index, origin, handle, gold, limit_frames, background, types, self.needs_graph)
        return _shared.setdefault(key, fresh)

    def build(self, level: Level, cache: LevelCache) -> None:
        """Build in a cache all that is needed of a level from the start."""
        geometry_of(level, cache)
        self._background(level, cache)
        if self.needs_graph:
            from npp_env.graph.distances import fields_of

            fields_of(level, 0, cache)

    def _background(self, level: Level, cache: LevelCache) -> NDArray[np.uint8] | None:
        if not self.needs_background:
            return None
        from npp_env.render.background import FRAME_BACKGROUND

        return cache.get(level, FRAME_BACKGROUND)


def largest_state_bytes(levels: LevelSet) -> int:
    """Bytes that hold a state of any level of a set, as the `state` layout reserves them; no level is compiled."""
    if levels.is_made:
        return _UNBOUNDED_STATE_BYTES
    return int(state_bytes_of(levels.record_counts()).max())


def cache_of_one() -> LevelCache:
    """A cache for what is computed from one level that hardly comes again; it goes with the level."""
    return LevelCache(_BUDGET_BYTES, persist=False)


def limit_frames_of(level: Level, configured: int | str | None) -> int:
    """Ticks after which an episode on this level is truncated, 0 for never.

    `auto` gives ten seconds, and four ticks more for each tile that is not solid.
    """
    if configured is None:
        return 0
    if configured == "auto":
        return 600 + 4 * int(np.count_nonzero(level.tiles != 1))
    return int(configured)


def load_resources(
    config: EnvironmentConfig, max_frames: int | None, level: Level, index: int, cache: LevelCache
) -> LevelResources:
    """What level number `index` of a set needs under a configuration, kept in a cache; `max_frames` limits further."""
    limit = limit_frames_of(level, config.max_episode_frames)
    if max_frames is not None:
        limit = min(limit, max_frames) if limit else max_frames
    return LevelLoader(cache, config.needs_graph, config.needs_background).load(level, index, limit)
