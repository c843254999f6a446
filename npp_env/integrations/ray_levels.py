"""Levels for the nodes of a Ray cluster: whatever a node lacks of them goes there once, into its cache folder.

The driver compiles the levels and puts the file of each into the object store. A worker looks which of them its node
has, fetches the others, and all workers of the node map the same files.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from npp_env.config import EnvironmentConfig
from npp_env.errors import NppError, requires
from npp_env.level.binary import write_map
from npp_env.level.cache import LevelCache, cache_in
from npp_env.level.cache_file import DamagedArtifactError
from npp_env.level.cache_store import ArtifactStore
from npp_env.level.files import BINARY_SUFFIX
from npp_env.level.level_set import SHIPPED, LevelSet
from npp_env.level.whole_file import write_whole
from npp_env.runtime.level_resources import LevelLoader

with requires("Ray", __name__, "pip install 'npp_env[ray]'"):
    import ray

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_LOCK = "arriving.lock"
_SETS = "sets"
_DONE = ".whole"


class SentFile(NamedTuple):
    """The compiled artifacts of one level in the object store.

    Attributes:
        level_hash: The level.
        sections: Checksums of what the file holds.
        data: Reference to its bytes.
        nbytes: How many.
    """

    level_hash: str
    sections: frozenset[bytes]
    data: Any
    nbytes: int


class Arrived(NamedTuple):
    """What came to a node at the start of a worker.

    Attributes:
        node: The node.
        files: Files that it lacked.
        nbytes: Their bytes, which were fetched for it.
        task: The levels, as a configuration of this node names them.
    """

    node: str
    files: int
    nbytes: int
    task: str | tuple[str, ...]


@dataclass(frozen=True)
class LevelShipment:
    """Levels that every worker of a cluster can play; made by `pack_levels`, and small itself.

    Attributes:
        task: The levels, as the driver names them.
        files: Their compiled artifacts.
        maps: Reference to the levels themselves, as bytes by name; None if every node has them or makes them.
        maps_bytes: How many bytes these have.
        name: A digest of the levels.
    """

    task: str | tuple[str, ...]
    files: tuple[SentFile, ...]
    maps: Any
    maps_bytes: int
    name: str

    def __deepcopy__(self, memo: dict[int, Any]) -> LevelShipment:
        # RLlib copies configurations; a copied reference would mean the same object.
        return self

    @property
    def nbytes(self) -> int:
        """What a node gets that has nothing."""
        return self.maps_bytes + sum(file.nbytes for file in self.files)

    def unpack(self, directory: str | None = None) -> Arrived:
        """Bring whatever this node lacks into its cache folder; for workers, which wait here for each other.

        Args:
            directory: The folder, if it is not the usual one.

        Raises:
            NppError: What arrived is not what was sent, or the levels have no folder to go to.
        """
        store = cache_in(directory).store
        if store is None:
            if self.maps is not None:
                raise NppError("levels cannot be brought to this node: NPP_ENV_CACHE switches its cache folder off")
            return Arrived(_node(), 0, 0, self.task)
        with _one_at_a_time(store.directory):
            missing = [file for file in self.files if not file.sections <= store.sections(file.level_hash)]
            for file in missing:
                self._install(store, file)
            nbytes = sum(file.nbytes for file in missing)
            if self.maps is None:
                return Arrived(_node(), len(missing), nbytes, self.task)
            folder = store.directory / _SETS / self.name
            fresh = self._write_maps(folder)
        return Arrived(_node(), len(missing) + fresh, nbytes + fresh * self.maps_bytes, str(folder))

    def _install(self, store: ArtifactStore, file: SentFile) -> None:
        try:
            store.install(file.level_hash, ray.get(file.data))
        except DamagedArtifactError as error:
            raise NppError(f"the artifacts of level {file.level_hash} were damaged on their way: {error}") from error

    def _write_maps(self, folder: Path) -> bool:
        """Whether the levels themselves were missing, and were written."""
        if (folder / _DONE).exists():
            return False
        maps: dict[str, bytes] = ray.get(self.maps)
        if _digest(maps) != self.name:
            raise NppError(f"the levels for {folder} were damaged on their way")
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in maps.items():
            write_whole(folder / name, data)
        write_whole(folder / _DONE, b"")
        return True


def pack_levels(config: EnvironmentConfig) -> LevelShipment:
    """Compile the levels of a configuration and put them into the object store, once for all nodes.

    Shipped levels are on every node, with the package: only what is compiled of them is sent. Levels that are made
    (`generated:...`) are made by every node itself, and nothing is sent.
    """
    levels = LevelSet.parse(config.levels)
    if levels.is_made:
        return LevelShipment(config.levels, (), None, 0, "")
    cache = cache_in(config.cache_directory)
    files = tuple(_sent_files(levels, cache, config))
    names = (config.levels,) if isinstance(config.levels, str) else config.levels
    if all(name.partition(":")[0] == SHIPPED for name in names):
        return LevelShipment(config.levels, files, None, 0, "")
    maps = {f"{number:06d}{BINARY_SUFFIX}": write_map(level) for number, level in enumerate(levels)}
    nbytes = sum(map(len, maps.values()))
    return LevelShipment(config.levels, files, ray.put(maps), nbytes, _digest(maps))


def _sent_files(levels: LevelSet, cache: LevelCache, config: EnvironmentConfig) -> Iterator[SentFile]:
    if cache.store is None:
        return
    loader = LevelLoader(cache, config.needs_graph, config.needs_background)
    seen: set[str] = set()
    for level in levels:
        if level.hash in seen:
            continue
        seen.add(level.hash)
        loader.load(level)
        data = cache.store.export(level.hash)
        if data is not None:
            yield SentFile(level.hash, cache.store.sections(level.hash), ray.put(data), len(data))


def _digest(maps: dict[str, bytes]) -> str:
    state = hashlib.blake2b(digest_size=16)
    for name, data in maps.items():
        state.update(b"%s %d " % (name.encode(), len(data)))
        state.update(data)
    return state.hexdigest()


@contextlib.contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Only one process of the node at a time; the system lets the next one in when a process is killed."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / _LOCK, "w") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _node() -> str:
    return str(ray.get_runtime_context().get_node_id()) or os.uname().nodename
