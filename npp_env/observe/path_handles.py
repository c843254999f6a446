"""Path distances of a level in one door configuration, as the kernel reads them, shared by all environments."""

from __future__ import annotations

import weakref

from npp_env.level.cache import LevelCache
from npp_env.level.model import Level
from npp_env.observe.path_features import PathHandle

_OF_GRAPH = (
    "node_x", "node_y", "place_x", "place_y", "place_of_x", "place_of_y", "node_kind",
    "split_half", "split_node", "edge_start", "edge_target", "edge_kind",
)  # fmt: skip
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


def _build(level: Level, doors: int, cache: LevelCache | None) -> PathHandle:
    from npp_env.graph.distances import fields_of
    from npp_env.graph.navigation import graph_of

    graph = graph_of(level, cache)
    fields = fields_of(level, doors, cache)
    arrays = {name: getattr(graph, name) for name in _OF_GRAPH}
    arrays["nearest"], arrays["ways"] = graph.nearest_node, fields.ways
    number = int(level.hash[:16], 16) | 1
    return PathHandle(arrays, number, float(fields.spawn_plan_distance), float(fields.reachable_share))
