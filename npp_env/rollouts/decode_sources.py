"""What decoding needs beside the states: levels and door configurations, loaded when a row asks for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import StateError
from npp_env.level.level_set import LevelSet
from npp_env.level.model import Level
from npp_env.observe.path_features import PathHandle
from npp_env.observe.spec import NODE_FIELDS, OBSERVATION_KEYS, ROWS, Capacity, Varies, observation_spec
from npp_env.observe.state_row import STATE_ROW, check_row
from npp_env.rollouts.arrange import level_number
from npp_env.rollouts.decode_rows import (
    BLANK,
    KNOWN,
    OTHER_VERSION,
    SOURCE,
    RowDecoder,
)
from npp_env.runtime.level_resources import LevelLoader, LevelResources
from npp_env.sim.doors import door_configuration, switches_taken
from npp_env.sim.structs import NINJA, address_of
from npp_env.sim.views import ninja_view

_NODE_KEY = "graph_node_feats"
_COUNTED = ("node_x", "edge_target")  # arrays as long as there are nodes and edges
_NUMBERED = (*OBSERVATION_KEYS, *[""] * (SOURCE["kept"].shape[0] - len(OBSERVATION_KEYS)))


@dataclass(slots=True)
class LoadedLevel:
    """A level, whatever its doors."""

    resources: LevelResources
    serial: int  # `level_number`
    number: int = 0  # of its entry in the table
    counts: tuple[int, int] = (0, 0)  # nodes and edges that fit the capacity
    kept: dict[str, NDArray[np.uint8]] = field(default_factory=dict)  # static keys without their padding


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
        levels: The levels that states may belong to.
        loader: Loads what the decoded keys depend on.
        keys: The decoded keys.
        capacity: Sizes of the padded observations.
        state_bytes: Room for a state in a row.
        kept: Sources that stay loaded from batch to batch. A batch that needs more gets them.
    """

    def __init__(
        self,
        rows: RowDecoder,
        levels: LevelSet,
        loader: LevelLoader,
        keys: tuple[str, ...],
        capacity: Capacity,
        state_bytes: int,
        kept: int,
    ) -> None:
        self._rows = rows
        self._levels = levels
        self._loader = loader
        self._static_keys = [key for key in keys if ROWS[key].varies is Varies.LEVEL]
        self._has_nodes = _NODE_KEY in keys
        self._capacity = capacity
        self._state_bytes = state_bytes
        self._kept = kept
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
            digest = bytes.fromhex(source.level.resources.level.hash)
            if digest not in self._loaded:
                self._enter_level(digest, source.level)
            self._enter_source(source, stamp)
        self._publish()

    def load(self, row: NDArray[np.uint8], problem: int, at: int) -> None:
        """Load what a row lacks.

        Args:
            row: The row.
            problem: What the row decoder said of it.
            at: Its number in the batch, for messages.

        Raises:
            StateError: Nothing that could be loaded helps.
        """
        header = row[: STATE_ROW.itemsize].view(STATE_ROW)[0]
        if problem == OTHER_VERSION:
            raise StateError(
                f"row {at} has version {header['version']}, which this npp_env does not read; "
                f"rows are made by the same version of npp_env with layout='state'"
            )
        if problem == BLANK:
            raise StateError(f"row {at} holds no state of the game: it is blank")
        digest = header["level"].tobytes()
        item = self._loaded.get(digest)
        if item is None:
            item = self._load_level(self._find(digest, int(header["level_index"]), at))
        try:
            check_row(item.resources.handle, row)
        except StateError as error:
            raise StateError(f"row {at}: {error}") from error
        source = self._load_source(item, row[STATE_ROW.itemsize :])
        # From here on nothing fails: a level in the table has a source.
        if digest not in self._loaded:
            self._enter_level(digest, item)
        self._enter_source(source, 0)
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
            f"row {at} belongs to level {wanted} (number {index}), which is not in the level set; "
            f"decode with the levels that the environment has"
        )

    def _load_level(self, level: Level) -> LoadedLevel:
        resources = self._loader.load(level)
        if resources.handle.state_bytes > self._state_bytes:
            raise StateError(
                f"a state of level {level.hash} takes {resources.handle.state_bytes} bytes, "
                f"a row has {self._state_bytes}"
            )
        return LoadedLevel(resources, level_number(level))

    def _load_source(self, item: LoadedLevel, row: NDArray[np.uint8]) -> LoadedSource:
        handle = item.resources.handle
        state = row[: handle.state_bytes]
        found = switches_taken(state, handle.geometry)
        taken = np.zeros(max(1, len(found)), np.uint8)[: len(found)]
        nodes = np.zeros((2, 0, len(NODE_FIELDS)), np.uint16)
        paths = item.resources.paths_of(door_configuration(state, handle.geometry))
        if paths is not None:
            taken[:] = found
            if item.counts == (0, 0):
                self._keep(item, paths)
            if self._has_nodes:
                nodes = self._nodes(item, paths)
        return LoadedSource(item, taken, paths, nodes)

    def _keep(self, item: LoadedLevel, paths: PathHandle) -> None:
        """Have the environment's writers write what is static once, and keep it without the padding."""
        limits = (self._capacity.max_nodes, self._capacity.max_edges)
        nodes, edges = (min(len(paths.arrays[name]), limit) for name, limit in zip(_COUNTED, limits, strict=True))
        item.counts = (nodes, edges)
        for key in self._static_keys:
            written, axis = self._written(item, paths, key), ROWS[key].padded_axis
            used = [slice(None)] * written.ndim
            if axis is not None:
                used[axis] = slice(nodes if ROWS[key].shape[axis] == "max_nodes" else edges)
            item.kept[key] = np.ascontiguousarray(written[tuple(used)]).reshape(-1).view(np.uint8)

    def _nodes(self, item: LoadedLevel, paths: PathHandle) -> NDArray[np.uint16]:
        kept = [self._written(item, paths, _NODE_KEY, switches)[: item.counts[0]] for switches in (0, 1)]
        nodes = np.stack(kept).view(np.uint16)
        nodes[:, :, ROWS[_NODE_KEY].columns(Varies.PLACE, Varies.STATE)] = 0
        return nodes

    def _written(self, item: LoadedLevel, paths: PathHandle, key: str, switches: int = 0) -> NDArray[Any]:
        handle = item.resources.handle
        state = handle.geometry["initial"].copy()
        ninja_view(state[: NINJA.itemsize])["switches"] = switches
        spec = observation_spec(key, self._capacity)
        out = np.zeros(spec.shape, spec.dtype)
        self._rows.write_fully(handle, paths, state, spec.number, out)
        return out

    def _enter_level(self, digest: bytes, item: LoadedLevel) -> None:
        item.number = len(self._loaded)
        self._loaded[digest] = item
        if item.number == len(self._known):
            self._known = np.concatenate([self._known, np.zeros_like(self._known)])
        self._known[item.number] = (item.resources.handle.address, -1, -1)

    def _enter_source(self, source: LoadedSource, used: int) -> None:
        number, item, level = len(self._sources), source.level, source.level.resources
        self._sources.append(source)
        if number == len(self._table):
            self._table = np.concatenate([self._table, np.zeros_like(self._table)])
        self._table[number] = (
            level.handle.address,
            0 if source.paths is None else source.paths.address,
            0 if level.background is None else address_of(level.background),
            address_of(source.taken),
            address_of(source.nodes),
            [address_of(item.kept[key]) if key in item.kept else 0 for key in _NUMBERED],
            item.serial,
            used,
            level.gold,
            item.counts,
            self._known["first"][item.number],
        )
        self._known["first"][item.number] = number

    def _publish(self) -> None:
        handles = [(s.level.resources, s.paths, s.taken) for s in self._sources]
        self._rows.set_tables(self._known, len(self._loaded), self._table, handles)
