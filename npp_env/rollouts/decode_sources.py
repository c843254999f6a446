"""What decoding needs beside the vectors: levels and door configurations, loaded when a vector asks for them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import StateError
from npp_env.level.cache import LevelCache
from npp_env.level.level_set import LevelSet
from npp_env.level.model import Level
from npp_env.observe.buffers import STATE_HEADER_BYTES
from npp_env.observe.path_features import PathHandle
from npp_env.observe.path_handles import path_handle
from npp_env.observe.spec import OBSERVATION_KEYS, Capacity, observation_spec
from npp_env.rollouts.decode_rows import (
    KNOWN,
    MAX_PLACES,
    OTHER_VERSION,
    SOURCE,
    UNKNOWN_DOORS,
    UNKNOWN_LEVEL,
    RowDecoder,
)
from npp_env.sim.handles import handle_of
from npp_env.sim.kernel import LevelHandle
from npp_env.sim.structs import NINJA, address_of
from npp_env.sim.views import bit_mask, ninja_view, switches_taken

_GOLD = 2
_HEADER = np.dtype([("version", "<u4"), ("level_index", "<i4"), ("context", "<i4", 2), ("level", "u1", 16)])
# One for the whole process: two decoders may write to the same memory, which knows levels by these numbers.
_serials = itertools.count(1)
_CHANGING_COLUMNS = (2, 3, 7)  # of the node features: offset to the ninja, and whether it is here


@dataclass(frozen=True, slots=True)
class Needs:
    """What the decoded keys depend on."""

    paths: bool
    graph: bool
    background: bool


@dataclass(frozen=True, slots=True)
class Places:
    """The different coordinates of nodes, padded to one length, and which of them each node has."""

    x: NDArray[np.float32]
    y: NDArray[np.float32]
    x_of: NDArray[np.uint16]
    y_of: NDArray[np.uint16]

    @classmethod
    def of(cls, node_x: NDArray[np.float32], node_y: NDArray[np.float32]) -> Places:
        """Find them; none if there are too many."""
        (xs, x_of), (ys, y_of) = (np.unique(values, return_inverse=True) for values in (node_x, node_y))
        count = max(len(xs), len(ys))
        if count > MAX_PLACES:
            xs, ys, count = xs[:0], ys[:0], 0
        x, y = np.zeros(count, np.float32), np.zeros(count, np.float32)
        x[: len(xs)], y[: len(ys)] = xs, ys
        return cls(x, y, x_of.reshape(-1).astype(np.uint16), y_of.reshape(-1).astype(np.uint16))


@dataclass(slots=True)
class LoadedLevel:
    """A level, whatever its doors."""

    level: Level
    handle: LevelHandle
    number: int  # of its entry in the table
    serial: int
    background: NDArray[np.uint8] | None
    n_nodes: int = 0
    edge_index: NDArray[np.uint16] = field(default_factory=lambda: np.zeros((2, 0), np.uint16))
    edge_feats: NDArray[np.uint16] = field(default_factory=lambda: np.zeros((0, 4), np.uint16))
    places: Places = field(default_factory=lambda: Places.of(np.zeros(0, np.float32), np.zeros(0, np.float32)))


@dataclass(slots=True)
class LoadedSource:
    """A level in one door configuration."""

    level: LoadedLevel
    taken: NDArray[np.uint8]  # `switches_taken`
    paths: PathHandle | None
    nodes: NDArray[np.uint16]  # (2, n_nodes, 8): float16 before and after the exit switch is taken


class SourceTable:
    """Loads sources for a `RowDecoder`, and forgets those that were not used for long.

    Args:
        rows: The decoder that reads the tables.
        levels: The levels that vectors may belong to.
        needs: What the decoded keys depend on.
        capacity: Sizes of the padded observations.
        state_bytes: Room for a state in a vector.
        kept: Sources that stay loaded from batch to batch. A batch that needs more gets them.
        cache: Where the artifacts of levels are kept.
    """

    def __init__(
        self,
        rows: RowDecoder,
        levels: LevelSet,
        needs: Needs,
        capacity: Capacity,
        state_bytes: int,
        kept: int,
        cache: LevelCache,
    ) -> None:
        self._rows = rows
        self._levels = levels
        self._needs = needs
        self._capacity = capacity
        self._state_bytes = state_bytes
        self._kept = kept
        self._cache = cache
        self._number_of: dict[bytes, int] | None = None
        self._loaded: dict[bytes, LoadedLevel] = {}
        self._sources: list[LoadedSource] = []
        self._known = np.zeros(16, KNOWN)
        self._table = np.zeros(16, SOURCE)

    def __len__(self) -> int:
        return len(self._sources)

    def trim(self) -> None:
        """Between batches: if there are too many sources, drop those unused for the longest time."""
        if len(self._sources) <= self._kept:
            return
        used = self._table["used"][: len(self._sources)]
        order = np.sort(np.argsort(used, kind="stable")[-max(1, self._kept // 2) :])
        kept, stamps = [self._sources[i] for i in order.tolist()], used[order].copy()
        self._loaded, self._sources = {}, []
        for source, stamp in zip(kept, stamps.tolist(), strict=True):
            digest = bytes.fromhex(source.level.level.hash)
            if digest not in self._loaded:
                self._enter_level(digest, source.level)
            self._enter_source(source, stamp)
        self._publish()

    def load(self, row: NDArray[np.uint8], problem: int, at: int) -> None:
        """Load what a row lacks.

        Args:
            row: The vector.
            problem: What the row decoder said of it.
            at: Its number in the batch, for messages.

        Raises:
            StateError: Nothing that could be loaded helps.
        """
        header = row[:STATE_HEADER_BYTES].view(_HEADER)[0]
        if problem == OTHER_VERSION:
            raise StateError(
                f"vector {at} has version {header['version']}, which this npp_env does not read; "
                f"vectors are made by the same version of npp_env with layout='state'"
            )
        if problem not in (UNKNOWN_LEVEL, UNKNOWN_DOORS):
            raise StateError(f"vector {at} holds no state of the game: it is blank or damaged")
        digest = header["level"].tobytes()
        if digest not in self._loaded:
            self._enter_level(digest, self._load_level(self._find(digest, int(header["level_index"]), at)))
        self._enter_source(self._load_source(self._loaded[digest], row[STATE_HEADER_BYTES:]), 0)
        self._publish()

    def _find(self, digest: bytes, index: int, at: int) -> Level:
        """The level of a hash: at its number in the set, or anywhere else in it."""
        wanted = digest.hex()
        finite = self._levels.is_finite
        if index >= 0 and (not finite or index < len(self._levels)):
            level: Level = self._levels[index]
            if level.hash == wanted:
                return level
        if finite:
            if self._number_of is None:
                self._number_of = {bytes.fromhex(level.hash): i for i, level in enumerate(self._levels)}
            number = self._number_of.get(digest)
            if number is not None:
                found: Level = self._levels[number]
                return found
        raise StateError(
            f"vector {at} belongs to level {wanted} (number {index}), which is not in the level set; "
            f"decode with the levels that the environment has"
        )

    def _load_level(self, level: Level) -> LoadedLevel:
        handle = handle_of(level, self._cache)
        if handle.state_bytes > self._state_bytes:
            raise StateError(
                f"a state of level {level.hash} takes {handle.state_bytes} bytes, a vector has {self._state_bytes}"
            )
        background = None
        if self._needs.background:
            from npp_env.render.background import FRAME_BACKGROUND

            background = self._cache.get(level, FRAME_BACKGROUND)
        return LoadedLevel(level, handle, 0, next(_serials), background)

    def _load_source(self, item: LoadedLevel, state: NDArray[np.uint8]) -> LoadedSource:
        found = switches_taken(state[: item.handle.state_bytes], item.handle.geometry)
        taken = np.zeros(max(1, len(found)), np.uint8)[: len(found)]
        paths = None
        nodes = np.zeros((2, 0, 8), np.uint16)
        if self._needs.paths:
            taken[:] = found
            paths = path_handle(item.level, bit_mask(found), self._cache)
        if self._needs.graph and paths is not None:
            if item.n_nodes == 0:
                self._keep_edges(item, paths)
            nodes = self._nodes(item, paths)
        return LoadedSource(item, taken, paths, nodes)

    def _keep_edges(self, item: LoadedLevel, paths: PathHandle) -> None:
        """Have the environment's writers write the edges once, and keep them without the padding."""
        item.n_nodes = int(np.count_nonzero(self._written(item, paths, "graph_node_mask")))
        count = int(np.count_nonzero(self._written(item, paths, "graph_edge_mask")))
        index = self._written(item, paths, "graph_edge_index").view(np.uint16).reshape(2, -1)
        feats = self._written(item, paths, "graph_edge_feats").view(np.uint16).reshape(-1, 4)
        item.edge_index = np.ascontiguousarray(index[:, :count])
        item.edge_feats = feats[:count].copy()
        item.places = Places.of(*(paths.arrays[name][: item.n_nodes] for name in ("node_x", "node_y")))

    def _nodes(self, item: LoadedLevel, paths: PathHandle) -> NDArray[np.uint16]:
        kept = np.zeros((2, item.n_nodes, 8), np.uint16)
        for switches in (0, 1):
            written = self._written(item, paths, "graph_node_feats", switches).view(np.uint16)
            kept[switches] = written.reshape(-1, 8)[: item.n_nodes]
        kept[:, :, _CHANGING_COLUMNS] = 0
        return kept

    def _written(self, item: LoadedLevel, paths: PathHandle, key: str, switches: int = 0) -> NDArray[np.uint8]:
        state = item.handle.geometry["initial"].copy()
        ninja_view(state[: NINJA.itemsize])["switches"] = switches
        out = np.zeros(observation_spec(key, self._capacity).nbytes, np.uint8)
        self._rows.write_fully(item.handle, paths, state, OBSERVATION_KEYS.index(key), out)
        return out

    def _enter_level(self, digest: bytes, item: LoadedLevel) -> None:
        item.number = len(self._loaded)
        self._loaded[digest] = item
        if item.number == len(self._known):
            self._known = np.concatenate([self._known, np.zeros_like(self._known)])
        self._known[item.number] = (item.handle.address, -1, -1)

    def _enter_source(self, source: LoadedSource, used: int) -> None:
        number, item = len(self._sources), source.level
        self._sources.append(source)
        if number == len(self._table):
            self._table = np.concatenate([self._table, np.zeros_like(self._table)])
        self._table[number] = (
            item.handle.address,
            0 if source.paths is None else source.paths.address,
            0 if item.background is None else address_of(item.background),
            address_of(source.taken),
            address_of(source.nodes),
            address_of(item.edge_index),
            address_of(item.edge_feats),
            address_of(item.places.x),
            address_of(item.places.y),
            address_of(item.places.x_of),
            address_of(item.places.y_of),
            item.serial,
            used,
            int(np.count_nonzero(item.level.records[:, 0] == _GOLD)),
            item.n_nodes,
            item.edge_feats.shape[0],
            len(item.places.x),
            self._known["first"][item.number],
            0,
        )
        self._known["first"][item.number] = number

    def _publish(self) -> None:
        handles = [(s.level.handle, s.paths, s.level.background, s.taken) for s in self._sources]
        self._rows.set_tables(self._known, len(self._loaded), self._table, handles)
