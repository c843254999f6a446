"""Path distances of a level in one door configuration, as the kernel reads them, shared by all environments."""

from __future__ import annotations

import weakref

import numpy as np
from numpy.typing import NDArray

from npp_env.graph.layout import DISTANCES_FORMAT, GRAPH_FORMAT, spawn_numbers
from npp_env.level.cache import LevelCache, default_cache
from npp_env.level.model import Level
from npp_env.level.sections import JoinedSections
from npp_env.observe.path_features import PathHandle

_handles: weakref.WeakValueDictionary[tuple[str, int], PathHandle] = weakref.WeakValueDictionary()


def path_handle(level: Level, doors: int, cache: LevelCache | None = None) -> PathHandle:
    """The distances while the switches of the doors in a bit mask are taken.

    Args:
        level: The level.
        doors: Bit d is set if the switch of the d-th locked or trap door, in map order, is taken.
        cache: Where the graph is kept; the process's own by default.
    """
    key = (level.hash, doors)
    handle = _handles.get(key)
    if handle is None:
        handle = _build(level, doors, cache)
        _handles[key] = handle
    return handle


def path_handle_in(graph_block: NDArray[np.uint8], fields_block: NDArray[np.uint8], number: int) -> PathHandle:
    """The distances in a block of distance fields, with the graph that they belong to and the number of its level."""
    numbers, fields = DISTANCES_FORMAT.open(fields_block)
    to_end, reachable_share = spawn_numbers(numbers)[2::2]
    sections = JoinedSections(GRAPH_FORMAT.open(graph_block)[1], fields)
    return PathHandle(sections, number | 1, to_end, reachable_share)


def _build(level: Level, doors: int, cache: LevelCache | None) -> PathHandle:
    from npp_env.graph.distances import fields_in
    from npp_env.graph.navigation import graph_of

    cache = default_cache() if cache is None else cache
    graph = graph_of(level, cache)
    return path_handle_in(graph.block, fields_in(graph, level, doors, cache).block, int(level.hash[:16], 16))
