"""One kernel handle per level, shared by every environment on it."""

from __future__ import annotations

import weakref

from npp_env.level.cache import LevelCache, default_cache
from npp_env.level.model import Level
from npp_env.sim.geometry import geometry_of
from npp_env.sim.kernel import LevelHandle

_handles: weakref.WeakKeyDictionary[LevelCache, weakref.WeakValueDictionary[str, LevelHandle]]
_handles = weakref.WeakKeyDictionary()


def handle_of(level: Level, cache: LevelCache | None = None) -> LevelHandle:
    """The handle of a level over its compiled form in a cache (the process's own if None).

    As long as anyone holds the handle, everyone who asks gets the same one.
    """
    cache = default_cache() if cache is None else cache
    shared = _handles.setdefault(cache, weakref.WeakValueDictionary())
    handle = shared.get(level.hash)
    if handle is None:
        # Threads that come here together agree on the first; another one is only garbage, here and above.
        handle = shared.setdefault(level.hash, LevelHandle(geometry_of(level, cache)))
    return handle
