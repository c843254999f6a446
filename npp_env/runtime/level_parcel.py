"""A level and all that was computed from it in shared memory, where one process writes it and another plays it.

Parcels lie in the slots of a shelf: one file without a name that both map once, because mapping a file for each level
costs more than all else that a reset does. A slot is free again when nothing refers to it any more.

A parcel begins with what every reset wants to know. The level itself and the places of all arrays, for which hardly
anyone asks, are a pickle; only processes that trust each other share a shelf.
"""

from __future__ import annotations

import mmap
import os
import pickle
import struct
import tempfile
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.level.cache import LevelCache
from npp_env.level.cache_file import ArtifactKey
from npp_env.level.model import Level
from npp_env.observe.path_handles import path_handle_in
from npp_env.runtime.level_resources import LevelResources, cache_of_one
from npp_env.runtime.slot import Slot
from npp_env.sim.geometry import Geometry
from npp_env.sim.kernel import LevelHandle
from npp_env.sim.structs import address_of

SLOT_BYTES = 1 << 20
"""Five times what a level with its graph takes; pages that nobody writes take no memory."""

_BLOCKS = ("geometry", "graph", "distances", "frame_background")
"""Names of the artifacts that episodes begin with."""
_ALIGNMENT = 64
# Of the pickle, then of each block: where it begins and its bytes. Gold, limit, types, hash.
_HEAD = struct.Struct("<10IIIQ16s")


def write_parcel(found: LevelResources, shelf: mmap.mmap, slot: int) -> int:
    """Write what an episode on a level needs into a slot; returns the bytes that it takes, 0 if it does not fit."""
    parts: list[bytes] = []
    places: dict[tuple[Any, ...], tuple[str, tuple[int, ...], int]] = {}
    blocks = dict.fromkeys(_BLOCKS, (0, 0))
    position = -(-_HEAD.size // _ALIGNMENT) * _ALIGNMENT
    for key, array in found.origin.cache.arrays().items():
        places[tuple(key)] = (array.dtype.str, array.shape, position)
        if not key.variant.strip("0"):
            blocks[key.name] = (position, array.nbytes)
        parts += [array.tobytes(), bytes(-array.nbytes % _ALIGNMENT)]
        position += array.nbytes + -array.nbytes % _ALIGNMENT
    contents = pickle.dumps((found.level.checked_parts(), places), pickle.HIGHEST_PROTOCOL)
    spans = [position, len(contents)]
    for name in _BLOCKS:
        spans += blocks[name]
    identity = bytes.fromhex(found.level.hash)
    head = _HEAD.pack(*spans, found.gold, found.limit_frames, found.types, identity)
    whole = b"".join([head, bytes(-len(head) % _ALIGNMENT), *parts, contents])
    if len(whole) > SLOT_BYTES:
        return 0
    shelf[slot * SLOT_BYTES : slot * SLOT_BYTES + len(whole)] = whole
    return len(whole)


class Shelf:
    """The slots as the process sees them that plays the levels.

    Args:
        slots: How many.

    Attributes:
        descriptor: Of the file.
        free: Numbers of the slots that nobody uses.
        frozen: Whether no slot is given away any more.
    """

    def __init__(self, slots: int) -> None:
        if hasattr(os, "memfd_create"):
            self.descriptor = os.memfd_create("npp_env levels")
        else:
            with tempfile.TemporaryFile() as file:
                self.descriptor = os.dup(file.fileno())
        os.ftruncate(self.descriptor, slots * SLOT_BYTES)
        self._memory = mmap.mmap(self.descriptor, 0, access=mmap.ACCESS_READ)
        self._base = address_of(np.frombuffer(self._memory, np.uint8))
        self.free = list(range(slots))
        self.frozen = False

    def slot(self) -> Slot:
        """One of the free slots."""
        return Slot(self._memory, self.free, self._base, SLOT_BYTES)

    def freeze(self) -> None:
        """Let no slot be used again: a forked child may still play what lies in those that are in use."""
        self.free, self.frozen = [], True

    def __del__(self) -> None:
        if hasattr(self, "descriptor"):
            os.close(self.descriptor)


class Parcel:
    """What lies in a slot, as the origin of what an episode needs."""

    def __init__(self, slot: Slot) -> None:
        self._slot = slot
        self._head = _HEAD.unpack_from(slot)

    def _array(self, start: int, size: int) -> NDArray[np.uint8]:
        return np.frombuffer(memoryview(self._slot), np.uint8, size, start)

    def resources(self, index: int) -> LevelResources:
        """What an episode begins with; nothing is made that only few ask for."""
        _, _, start, size, graph, graph_size, fields, fields_size, picture, picture_size, *facts = self._head
        gold, limit_frames, types, identity = facts
        handle = LevelHandle(Geometry(self._array(start, size)))
        background = self._array(picture, picture_size) if picture else None
        found = LevelResources(index, self, handle, gold, limit_frames, background, types, bool(graph))
        if graph:
            blocks = self._array(graph, graph_size), self._array(fields, fields_size)
            found.paths[0] = path_handle_in(*blocks, int.from_bytes(identity[:8], "big"))
        return found.prepared()

    @cached_property
    def _contents(self) -> tuple[Level, LevelCache]:
        start, size = self._head[:2]
        parts, places = pickle.loads(memoryview(self._slot)[start : start + size])
        arrays = {}
        for key, (dtype, shape, position) in places.items():
            count = np.dtype(dtype).itemsize * int(np.prod(shape))
            arrays[ArtifactKey(*key)] = self._array(position, count).view(dtype).reshape(shape)
        cache = cache_of_one()
        cache.hold(arrays)
        return Level.from_checked_parts(parts), cache

    @property
    def level(self) -> Level:
        """The level."""
        return self._contents[0]

    @property
    def cache(self) -> LevelCache:
        """A cache of its own, with all that was computed from it; no array is a copy."""
        return self._contents[1]
