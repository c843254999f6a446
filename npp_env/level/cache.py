"""One copy of everything computed from a level, shared by all that ask for it."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError
from npp_env.level.cache_file import ArtifactKey, DamagedArtifactError
from npp_env.level.cache_mapping import is_shared
from npp_env.level.cache_store import ArtifactStore, Check, default_directory
from npp_env.level.heap import return_free_memory
from npp_env.level.model import Level

DEFAULT_BUDGET_BYTES = 256 * 2**20
TILES = "tiles"
"""Name under which a report counts the levels themselves."""
SET_PREFIX = "set_"
"""Begins the names of what is computed from a set of levels."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """Something that is computed from a level and nothing else, as one array.

    Attributes:
        name: Lower-case word; the row of a report.
        version: Raise it whenever the computation or the layout changes: files of another version are not read.
        build: Computes the array; may get other artifacts of the same level from the cache.
        variant: Tells apart several arrays of one name, such as one per door configuration.
        persisted: Whether it is worth a file.
        check: Raises if an array from a file cannot be that of a level, so that nothing reads outside of it. None for
            an array of which any values do.
    """

    name: str
    version: int
    build: Callable[[Level, LevelCache], NDArray[Any]]
    variant: str = ""
    persisted: bool = True
    check: Callable[[Level, LevelCache, NDArray[Any]], None] | None = None


@dataclass(slots=True)
class ArtifactUse:
    """What a cache holds of one artifact, and what it did for it so far."""

    count: int = 0  # arrays held now
    private_bytes: int = 0  # held now in memory of this process
    mapped_bytes: int = 0  # held now as mapped files, shared by all processes
    hits: int = 0
    loads: int = 0  # opened from a file
    builds: int = 0
    evictions: int = 0

    @property
    def nbytes(self) -> int:
        """All bytes held now."""
        return self.private_bytes + self.mapped_bytes


@dataclass(slots=True)
class _Entry:
    array: NDArray[Any]
    mapped: bool
    persisted: bool


_caches: weakref.WeakSet[LevelCache] = weakref.WeakSet()


class LevelCache:
    """Artifacts of levels by content: built once, shared read-only, bounded.

    Args:
        budget_bytes: Beyond it the least recently used arrays that nobody else holds are let go.
        directory: Where artifacts are stored; None for `NPP_ENV_CACHE` or the platform's cache folder.
        persist: False keeps everything in memory.

    What `get` returns is shared and read-only; keep it as long as it is needed, but not longer. All methods may be
    called from several threads, and after a fork.

    Example:
        >>> from npp_env.level.shipped import load_shipped
        >>> cache = LevelCache(persist=False)
        >>> solid = Artifact("solid", 1, lambda level, cache: level.tiles != 0)
        >>> level = load_shipped("first_steps/walk")
        >>> cache.get(level, solid) is cache.get(level, solid)
        True
        >>> cache.report()["solid"].builds, cache.report()["solid"].hits
        (1, 1)
    """

    def __init__(
        self,
        budget_bytes: int = DEFAULT_BUDGET_BYTES,
        directory: str | os.PathLike[str] | None = None,
        persist: bool = True,
    ) -> None:
        if budget_bytes < 0:
            raise ConfigError(f"budget_bytes is {budget_bytes}; it must not be negative")
        self.budget_bytes = budget_bytes
        folder = (Path(directory) if directory is not None else default_directory()) if persist else None
        self._store = ArtifactStore(folder) if folder is not None else None
        self._writable = True
        self._warned = False
        self._entries: OrderedDict[ArtifactKey, _Entry] = OrderedDict()
        self._uses: dict[str, ArtifactUse] = {}
        self._levels: weakref.WeakValueDictionary[str, Level] = weakref.WeakValueDictionary()
        self._held_bytes = 0
        self._reset_locks()
        _caches.add(self)

    @property
    def directory(self) -> Path | None:
        """Where artifacts are stored; None if they are not."""
        return None if self._store is None else self._store.directory

    @property
    def store(self) -> ArtifactStore | None:
        """The files behind this cache."""
        return self._store

    def get(self, level: Level, artifact: Artifact) -> NDArray[Any]:
        """The artifact of a level: from memory, else from its file, else built; shared and read-only."""
        key = ArtifactKey(level.hash, artifact.name, artifact.variant, artifact.version)
        with self._lock:
            array = self._find(key)
            if array is not None:
                return array
            self._levels.setdefault(level.hash, level)
        check = None if artifact.check is None else partial(artifact.check, level, self)
        return self.get_by_key(key, lambda: artifact.build(level, self), check, persisted=artifact.persisted)

    def get_by_key(
        self, key: ArtifactKey, build: Callable[[], NDArray[Any]], check: Check | None, *, persisted: bool = True
    ) -> NDArray[Any]:
        """The same for what is computed from something else than one level, known by a key; shared and read-only."""
        with self._flight(key):
            with self._lock:
                array = self._find(key)
                if array is not None:
                    return array
            array, built = self._open_or_build(key, build, check, self._store if persisted else None)
            with self._lock:
                self._keep(key, array, persisted, built)
        return array

    def prepare(self, level: Level, build: Callable[[LevelCache], object]) -> None:
        """Let something build all that it needs of a level, if that has no file yet, and write it as one file.

        Else every artifact is written when it is first asked for, each time as a new file with those before.

        Args:
            level: The level.
            build: Gets the artifacts from the cache that it is given, and keeps none of them.
        """
        store = self._store
        if store is None or not self._writable or store.has_file(level.hash):
            return
        with self._flight(ArtifactKey(level.hash, "", "", 0)):
            if store.has_file(level.hash):
                return
            apart = LevelCache(persist=False)
            build(apart)
            entries = dict(apart._entries)
            arrays = {
                key: entry.array for key, entry in entries.items() if entry.persisted and key.level_hash == level.hash
            }
            self._write(store, arrays)
            del arrays, apart
            for key, entry in entries.items():
                stored = self._read_back(store, key, None) if entry.persisted else None
                with self._lock:
                    if key not in self._entries:
                        self._keep(key, entry.array if stored is None else stored, entry.persisted, True)
            entries.clear()
            return_free_memory()

    def arrays(self) -> dict[ArtifactKey, NDArray[Any]]:
        """Every array that is held now; a fresh dictionary of shared, read-only arrays."""
        with self._lock:
            return {key: entry.array for key, entry in self._entries.items()}

    def hold(self, arrays: Mapping[ArtifactKey, NDArray[Any]]) -> None:
        """Take in what another cache held, as if it had been opened from a file."""
        with self._lock:
            for key, array in arrays.items():
                self._keep(key, array, persisted=False, built=False)

    def report(self) -> dict[str, ArtifactUse]:
        """Exact accounting by artifact name; fresh objects. `tiles` counts the levels seen here that are alive."""
        with self._lock:
            report = {
                name: ArtifactUse(hits=u.hits, loads=u.loads, builds=u.builds, evictions=u.evictions)
                for name, u in self._uses.items()
            }
            for key, entry in self._entries.items():
                use = report[key.name]
                use.count += 1
                if entry.mapped:
                    use.mapped_bytes += entry.array.nbytes
                else:
                    use.private_bytes += entry.array.nbytes
            levels = list(self._levels.values())
        tiles = report.setdefault(TILES, ArtifactUse())
        for level in levels:
            tiles.count += 1
            tiles.private_bytes += level.tiles.nbytes + level.records.nbytes + level.counts.nbytes
            tiles.private_bytes += len(level.header)
        return report

    def clear(self) -> None:
        """Let go of every array; files stay, and so does what others hold."""
        with self._lock:
            for key in list(self._entries):
                self._drop(key)

    def _find(self, key: ArtifactKey) -> NDArray[Any] | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        self._uses[key.name].hits += 1
        return entry.array

    @contextlib.contextmanager
    def _flight(self, key: ArtifactKey) -> Iterator[None]:
        """Whoever else wants the result of a build under way waits here."""
        with self._lock:
            flight = self._flights.setdefault(key, threading.RLock())
        with flight:
            try:
                yield
            finally:
                with self._lock:
                    self._flights.pop(key, None)

    def _keep(self, key: ArtifactKey, array: NDArray[Any], persisted: bool, built: bool) -> None:
        use = self._uses.setdefault(key.name, ArtifactUse())
        use.builds += built
        use.loads += not built
        self._entries[key] = _Entry(array, is_shared(array), persisted)
        self._held_bytes += array.nbytes
        if self._held_bytes > self.budget_bytes:
            for other in list(self._entries):
                # Two references are the entry's own and the argument; a view of the array counts as a third.
                if other != key and sys.getrefcount(self._entries[other].array) <= 2:
                    self._drop(other)
                    self._uses[other.name].evictions += 1
                    if self._held_bytes <= self.budget_bytes:
                        break

    def _drop(self, key: ArtifactKey) -> None:
        self._held_bytes -= self._entries.pop(key).array.nbytes

    def _open_or_build(
        self, key: ArtifactKey, build: Callable[[], NDArray[Any]], check: Check | None, store: ArtifactStore | None
    ) -> tuple[NDArray[Any], bool]:
        """The array, and whether it had to be built."""
        if store is not None:
            stored = self._read(store, key, check)
            if stored is not None:
                return stored, False
        array = np.asarray(build()).view()
        array.setflags(write=False)
        if store is not None and self._write(store, {key: array}):
            # Mapping it back lets all processes share these pages, and frees the private copy.
            stored = self._read_back(store, key, check)
            if stored is not None:
                del array
                return_free_memory()
                return stored, True
        return _own(array), True

    def _write(self, store: ArtifactStore, arrays: Mapping[ArtifactKey, NDArray[Any]]) -> bool:
        """Whether arrays could be stored; after the first failure none are."""
        if self._writable and arrays:
            try:
                store.write_all(arrays)
                return True
            except OSError as error:
                self._give_up_writing(store, error)
        return False

    def _read_back(self, store: ArtifactStore, key: ArtifactKey, check: Check | None) -> NDArray[Any] | None:
        """What was just written; None if it was not, or cannot be read."""
        if self._writable:
            try:
                return store.read(key, check)
            except (OSError, DamagedArtifactError) as error:
                self._give_up_writing(store, error)
        return None

    def _give_up_writing(self, store: ArtifactStore, error: Exception) -> None:
        self._writable = False
        self._warn(f"artifacts cannot be stored in {store.directory} ({error}); they stay in memory")

    def _read(self, store: ArtifactStore, key: ArtifactKey, check: Check | None) -> NDArray[Any] | None:
        try:
            return store.read(key, check)
        except DamagedArtifactError as error:
            warnings.warn(f"damaged artifact, built again: {error}", RuntimeWarning, stacklevel=6)
        except OSError as error:
            self._warn(f"artifacts cannot be read from {store.directory} ({error}); they are built in memory")
        return None

    def _warn(self, message: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(message, RuntimeWarning, stacklevel=6)

    def _reset_locks(self) -> None:
        # A forked child may inherit locks that a thread of its parent held; nobody is left to release them.
        self._lock = threading.RLock()
        self._flights: dict[ArtifactKey, threading.RLock] = {}


def _own(array: NDArray[Any]) -> NDArray[Any]:
    """An array that nobody can make writable, and that every view made of it refers to.

    Counting references to it then finds its holders. A view of an array refers to the array's base instead where that
    is an array too; through a memoryview it cannot.
    """
    return np.asarray(array.data)


_by_directory: dict[str | None, LevelCache] = {}
_default_lock = threading.Lock()


def _after_fork() -> None:
    global _default_lock
    _default_lock = threading.Lock()
    for cache in list(_caches):
        cache._reset_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def default_cache() -> LevelCache:
    """The cache of this process, made on first use."""
    return cache_in(None)


def cache_in(directory: str | None) -> LevelCache:
    """The cache of this process with its files in a folder, made on first use; None for the usual folder."""
    with _default_lock:
        if directory not in _by_directory:
            _by_directory[directory] = LevelCache(directory=directory)
        return _by_directory[directory]
