"""What an environment holds in memory, array by array: the data of `memory_report()`, and how it is gathered."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import gymnasium as gym
import numpy as np

from npp_env.config import EnvironmentConfig
from npp_env.level.cache import LevelCache
from npp_env.level.level_set import LevelSet
from npp_env.level.model import Level
from npp_env.observe.buffers import Observation
from npp_env.observe.path_features import PathHandle
from npp_env.observe.spec import ObservationSpec
from npp_env.runtime.assignment import Assignment
from npp_env.runtime.episodes import Episodes
from npp_env.runtime.level_resources import LevelResources
from npp_env.runtime.step_results import ResultMemory
from npp_env.sim.kernel import LevelHandle

_ARRAY_HEADER_BYTES = 112
# The allocators hand out multiples of 16 bytes, and larger blocks have a header of their own.
_GRAIN_BYTES = 16
_LARGE_BYTES = 512
# Shared by all environments of a process, or counted by name.
_NOT_PRIVATE = (
    type, ModuleType, FunctionType, MethodType, BuiltinFunctionType,
    EnvironmentConfig, Level, LevelCache, LevelSet, LevelResources, LevelHandle, PathHandle, Assignment,
    ObservationSpec, np.dtype,
    gym.envs.registration.EnvSpec,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Holding:
    """One array or cache.

    Attributes:
        owner: Part of npp_env that holds it, such as "states" or "level cache".
        name: The array, such as "ninja" or "background".
        bytes: Size of its data.
        shared: Whether other environments or processes hold the same memory.
    """

    owner: str
    name: str
    bytes: int
    shared: bool = False


@dataclass(frozen=True, slots=True)
class OwnerTotal:
    """Sum over the holdings of one owner."""

    owner: str
    private_bytes: int
    shared_bytes: int

    @property
    def total_bytes(self) -> int:
        """Private and shared bytes."""
        return self.private_bytes + self.shared_bytes


class MemoryReport:
    """Every array and cache that something holds.

    Args:
        holdings: The arrays and caches; memory that is shared stands once.

    Example:
        >>> tiles = Holding("levels", "tiles", 1024, shared=True)
        >>> report = MemoryReport([Holding("states", "ninja", 2048), tiles])
        >>> report.total_bytes, report.private_bytes, report.shared_bytes
        (3072, 2048, 1024)
    """

    __slots__ = ("holdings",)

    def __init__(self, holdings: Iterable[Holding]) -> None:
        self.holdings: tuple[Holding, ...] = tuple(holdings)

    @property
    def private_bytes(self) -> int:
        """Bytes that nobody else holds."""
        return sum(holding.bytes for holding in self.holdings if not holding.shared)

    @property
    def shared_bytes(self) -> int:
        """Bytes that others hold too."""
        return sum(holding.bytes for holding in self.holdings if holding.shared)

    @property
    def total_bytes(self) -> int:
        """Private and shared bytes."""
        return sum(holding.bytes for holding in self.holdings)

    def by_owner(self) -> dict[str, OwnerTotal]:
        """Sums by owner, the largest first."""
        private: dict[str, int] = {}
        shared: dict[str, int] = {}
        for holding in self.holdings:
            side = shared if holding.shared else private
            side[holding.owner] = side.get(holding.owner, 0) + holding.bytes
        totals = [OwnerTotal(owner, private.get(owner, 0), shared.get(owner, 0)) for owner in {**private, **shared}]
        totals.sort(key=lambda total: (-total.total_bytes, total.owner))
        return {total.owner: total for total in totals}

    def __add__(self, other: MemoryReport) -> MemoryReport:
        """Holdings of both."""
        return MemoryReport((*self.holdings, *other.holdings))

    def to_text(self) -> str:
        """Table of all holdings, grouped by owner."""
        lines = [f"{'owner':<24} {'holding':<28} {'bytes':>14}  kind"]
        for owner, total in self.by_owner().items():
            own = sorted((h for h in self.holdings if h.owner == owner), key=lambda h: (-h.bytes, h.name))
            lines.append(f"{owner:<24} {'':<28} {total.total_bytes:>14,}")
            lines += [f"{'':<24} {h.name:<28} {h.bytes:>14,}  {'shared' if h.shared else 'private'}" for h in own]
        lines.append(f"{'total':<24} {'':<28} {self.total_bytes:>14,}")
        lines.append(f"{'':<24} {'private':<28} {self.private_bytes:>14,}")
        lines.append(f"{'':<24} {'shared':<28} {self.shared_bytes:>14,}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "total_bytes": self.total_bytes,
            "private_bytes": self.private_bytes,
            "shared_bytes": self.shared_bytes,
            "owners": {
                owner: {"private_bytes": total.private_bytes, "shared_bytes": total.shared_bytes}
                for owner, total in self.by_owner().items()
            },
            "holdings": [asdict(holding) for holding in self.holdings],
        }


def memory_report(
    environment: Any, episodes: Episodes, buffers: Iterable[Observation], results: ResultMemory | None = None
) -> MemoryReport:
    """Every array and cache that an environment holds; memory shared with other environments stands once, marked so.

    Args:
        environment: The environment.
        episodes: Its episodes.
        buffers: The arrays that its observations are written to.
        results: The memory of its rewards, flags and infos, if it keeps any.
    """
    engine = episodes.engine
    holdings = [Holding("states", "exact states", engine.states.nbytes)]
    for name in ("slots", "actions", "ended"):
        holdings.append(Holding("states", name, getattr(engine, name).nbytes))
    if results is not None:
        holdings.append(Holding("states", "rewards, flags and infos", results.nbytes))
    if hasattr(episodes.sampling, "nbytes"):
        holdings.append(Holding("states", "statistics of the sampling", episodes.sampling.nbytes))
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
    found = [Holding("levels", name, size, shared=True) for name, size in sizes.items() if size]
    if episodes.ahead is not None and episodes.ahead.nbytes:
        found.append(Holding("levels", "made ahead", episodes.ahead.nbytes))
    return found


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
