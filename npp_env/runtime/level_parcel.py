"""A level and all that was computed from it as one file in memory, which a process makes and another maps.

The file begins with the size of its directory, then comes the directory, a pickle, then the arrays. Only processes that
trust each other exchange such files.
"""

from __future__ import annotations

import os
import pickle
import struct
import tempfile

from npp_env.level.cache import LevelCache
from npp_env.level.cache_file import ArtifactKey
from npp_env.level.cache_mapping import OpenFile
from npp_env.level.model import Level

BUDGET_BYTES = 4 * 2**20
"""What is kept of a level that is played once beyond what is in use: the distances of some door configurations."""

_ALIGNMENT = 64
_SIZE = struct.Struct("<Q")


def cache_of_one() -> LevelCache:
    """A cache for what is computed from one level that hardly comes again; it goes with the level."""
    return LevelCache(BUDGET_BYTES, persist=False)


def write_parcel(level: Level, cache: LevelCache) -> int:
    """Write a level and all that a cache holds to a file without a name; returns its descriptor, the caller's own."""
    arrays = cache.arrays()
    places, position = [], 0
    for key, array in arrays.items():
        places.append((tuple(key), array.dtype.str, array.shape, position))
        position += array.nbytes + -array.nbytes % _ALIGNMENT
    directory = pickle.dumps((level.checked_parts(), places), pickle.HIGHEST_PROTOCOL)
    head = _SIZE.pack(len(directory)) + directory
    parts = [head, bytes(-len(head) % _ALIGNMENT)]
    for array in arrays.values():
        parts += [array.tobytes(), bytes(-array.nbytes % _ALIGNMENT)]
    descriptor = _nameless_file()
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(b"".join(parts))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_parcel(file: OpenFile) -> tuple[Level, LevelCache]:
    """The level in a mapped file, and a cache of its own that holds what was computed from it, without copies."""
    size = int(file.array("<u8", (1,), 0)[0])
    parts, places = pickle.loads(file.span(_SIZE.size, _SIZE.size + size).data)
    start = _SIZE.size + size
    start += -start % _ALIGNMENT
    cache = cache_of_one()
    cache.hold({ArtifactKey(*key): file.array(dtype, shape, start + offset) for key, dtype, shape, offset in places})
    return Level.from_checked_parts(parts), cache


def _nameless_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("npp_env level")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
