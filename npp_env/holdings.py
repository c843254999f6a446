"""What an environment holds in memory, array by array."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import gymnasium as gym
import numpy as np

from npp_env.config import EnvironmentConfig
from npp_env.episodes import Episodes, LevelResources
from npp_env.level.cache import LevelCache
from npp_env.level.level_set import LevelSet
from npp_env.level.model import Level
from npp_env.memory import Holding, MemoryReport
from npp_env.observe.buffers import Observation
from npp_env.observe.path_features import PathHandle
from npp_env.observe.spec import ObservationSpec
from npp_env.sim.kernel import LevelHandle

_ARRAY_HEADER_BYTES = 112
# The allocators hand out multiples of 16 bytes, and larger blocks have a header of their own.
_GRAIN_BYTES = 16
_LARGE_BYTES = 512
# Shared by all environments of a process, or counted by name.
_NOT_PRIVATE = (
    type, ModuleType, FunctionType, MethodType, BuiltinFunctionType,
    EnvironmentConfig, Level, LevelCache, LevelSet, LevelResources, LevelHandle, PathHandle, ObservationSpec, np.dtype,
    gym.envs.registration.EnvSpec,
)  # fmt: skip


def memory_report(environment: Any, episodes: Episodes, buffers: Iterable[Observation]) -> MemoryReport:
    """Every array and cache that an environment holds; memory shared with other environments stands once, marked so."""
    engine = episodes.engine
    holdings = [Holding("states", "exact states", engine.states.nbytes)]
    for name in ("slots", "rewards", "terminated", "truncated"):
        holdings.append(Holding("states", name, getattr(engine, name).nbytes))
    holdings.append(Holding("states", "keys and episode numbers", episodes.keys.nbytes + episodes.episodes.nbytes))
    seen: set[int] = set()
    for number, arrays in enumerate(buffers):
        named = arrays if isinstance(arrays, dict) else {"observation": arrays}
        for key, array in named.items():
            if id(array) not in seen:
                seen.add(id(array))
                holdings.append(Holding("observation buffers", f"{key} [{number}]", array.nbytes))
    holdings += level_holdings(episodes)
    holdings.append(Holding("python objects", "spaces, views, counters", object_bytes(environment)))
    return MemoryReport(holdings)


def level_holdings(episodes: Episodes) -> list[Holding]:
    """The artifacts of the levels that the episodes keep ready; all of them shared."""
    sizes = {"geometry": 0, "frame background": 0, "graph and distances": 0}
    seen: set[int] = set()

    def count(name: str, array: Any) -> None:
        while isinstance(array.base, np.ndarray):
            array = array.base
        if id(array) not in seen:
            seen.add(id(array))
            sizes[name] += array.nbytes

    for item in episodes.kept():
        count("geometry", item.handle.geometry.block)
        if item.background is not None:
            count("frame background", item.background)
        for handle in item.paths.values():
            for array in handle.arrays.values():
                count("graph and distances", array)
    return [Holding("levels", name, size, shared=True) for name, size in sizes.items() if size]


def object_bytes(root: Any) -> int:
    """Bytes of the Python objects that only `root` leads to, the data of numpy arrays left aside."""
    seen = {id(root)}
    waiting = [root]
    total = 0
    while waiting:
        item = waiting.pop()
        if isinstance(item, np.ndarray):
            total += _ARRAY_HEADER_BYTES + 2 * _GRAIN_BYTES
            continue
        size = sys.getsizeof(item)
        total += size + -size % _GRAIN_BYTES + (_GRAIN_BYTES if size > _LARGE_BYTES else 0)
        if isinstance(item, gym.spaces.Box):
            # Environments share the bounds of their spaces.
            seen.update(id(bound) for bound in (item.low, item.high, item.bounded_below, item.bounded_above))
        for part in gc.get_referents(item):
            if id(part) not in seen and not isinstance(part, _NOT_PRIVATE) and not _is_immortal(part):
                seen.add(id(part))
                waiting.append(part)
    return total


def _is_immortal(item: Any) -> bool:
    """Whether an object is a constant of the interpreter or of a module rather than an environment's own."""
    return item is None or isinstance(item, (bool, str, bytes)) or (isinstance(item, int) and -6 < item < 257)
