"""Observations of states that lie in rows of bytes, as a rollout keeps them: checked and written without the GIL.

A row is a header (version, level number, time limit, steps, hash of the level) and the bytes of a state. What an
observation needs beside it hangs on the level and on its door configuration: a `SOURCE`, looked up by the hash and the
doors of the row. Graph features that are the same for all states of a source are kept ready and copied.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.string import memcmp, memcpy, memset
    from cython.cimports.npp_env.observe.graph_features import write_node_offsets
    from cython.cimports.npp_env.observe.path_features import node_here
    from cython.cimports.npp_env.observe.view import Paths, View
    from cython.cimports.npp_env.observe.writer import write_observation
    from cython.cimports.npp_env.sim.kernel import bind
    from cython.cimports.npp_env.sim.layout import Level, Mover, Ninja
else:
    from npp_env.observe.plain import plain_view
    from npp_env.observe.writer import write_observation
    from npp_env.sim.uncompiled import unpack_world

from npp_env.errors import NppError
from npp_env.sim.uncompiled import address_of

KNOWN = np.dtype([("level", "u8"), ("first", "i4"), ("next", "i4")])
"""A loaded level: its first source, and the next level of the same bucket (-1 for none)."""

SOURCE = np.dtype(
    [
        ("level", "u8"),
        ("paths", "u8"),
        ("background", "u8"),
        ("taken", "u8"),  # uint8 per switched door or exit: whether its switch is taken
        ("nodes", "u8"),  # float16 (2, n_nodes, 8): features before and after the exit switch is taken
        ("edge_index", "u8"),  # uint16 (2, n_edges)
        ("edge_feats", "u8"),  # float16 (n_edges, 4)
        ("place_x", "u8"),  # float32 (n_places,): the different x of the nodes; few, as nodes lie on a grid
        ("place_y", "u8"),  # float32 (n_places,): the different y
        ("x_of", "u8"),  # uint16 (n_nodes,): which of them a node has
        ("y_of", "u8"),
        ("serial", "u8"),  # of the level, never used twice
        ("used", "u8"),  # number of the last batch that had it
        ("gold_total", "i4"),
        ("n_nodes", "i4"),
        ("n_edges", "i4"),
        ("n_places", "i4"),  # 0 if there are too many to be worth it
        ("next", "i4"),  # next source of the same level, -1 for none
        ("reserved", "i4"),
    ]
)
"""A level in one door configuration."""

TAG = np.dtype([("serial", "u8"), ("n_nodes", "i4"), ("n_edges", "i4")])
"""What the graph arrays of an output row hold already: of which level, and how much of it."""

HEADER_BYTES = cython.declare(cython.int, 32)
BUCKETS = cython.declare(cython.int, 1024)
NODE_BYTES = cython.declare(cython.int, 16)
EDGE_BYTES = cython.declare(cython.int, 8)
ONE = cython.declare(cython.ushort, 0x3C00)

MAX_PLACES = 256
"""Different coordinates of nodes, in either axis, that offsets are computed for instead of for every node."""

OTHER_VERSION, UNKNOWN_LEVEL, UNKNOWN_DOORS, NO_STATE, BLANK = -1, -2, -3, -4, -5
"""What `found` says of a row that has no source."""


@cython.cclass
class RowDecoder:
    """Finds the sources of rows and writes their observations.

    Args:
        version: The version that rows must have.
        capacity: max_entities, max_nodes, max_edges.
        doors_matter: Whether an output depends on path distances, so that door configurations have to be told apart.
        blank_allowed: Whether a row of zeros is no problem, but gives observations of zeros.

    Attributes:
        found: int32, for every row of the last `resolve` the index of its source, or why there is none.
    """

    def __init__(
        self, version: cython.int, capacity: Any, doors_matter: cython.bint, blank_allowed: cython.bint
    ) -> None:
        self.version = version
        self.k_entities, self.max_nodes, self.max_edges = capacity
        self.doors_matter = doors_matter
        self.blank_allowed = blank_allowed
        self.count = 0
        self.n_targets = 0
        self.found = np.zeros(0, np.int32)
        self.tags = None
        self.indices = None
        self.set_tables(np.zeros(1, KNOWN), 0, np.zeros(1, SOURCE), [])

    def set_tables(self, known: Any, n_known: cython.int, sources: Any, handles: Any) -> None:
        """Replace the loaded levels and sources.

        Args:
            known: `KNOWN` array; `next` is filled in here.
            n_known: How many of them there are; the rest is spare.
            sources: `SOURCE` array, with spare entries at its end.
            handles: Per source: level handle, path handle, background, taken doors; kept alive here, as everything else
                that the tables point to must be by the caller.
        """
        if n_known > len(known) or len(handles) > len(sources):
            raise NppError(f"{n_known} levels and {len(handles)} sources in tables of {len(known)} and {len(sources)}")
        self.known = known
        self.sources = sources
        self.handles = list(handles)
        k: cython.int
        bucket: cython.int
        if cython.compiled:
            if cython.sizeof(Source) != SOURCE.itemsize or cython.sizeof(Known) != KNOWN.itemsize:
                raise NppError("compiled structs do not fit their dtypes")
            self.known_base = cython.cast(cython.pointer(Known), cython.cast(cython.size_t, address_of(known)))
            self.source_base = cython.cast(cython.pointer(Source), cython.cast(cython.size_t, address_of(sources)))
            for k in range(BUCKETS):
                self.buckets[k] = -1
            for k in range(n_known):
                bucket = bucket_of(self.known_base[k].level.digest)
                self.known_base[k].next = self.buckets[bucket]
                self.buckets[bucket] = k

    def set_rows(self, rows: Any, indices: Any) -> None:
        """Say which rows are decoded: all of uint8 (n, row bytes), or those that int64 indices name; kept alive.

        The caller checks the row length and alignment.
        """
        n: cython.Py_ssize_t = len(rows) if indices is None else len(indices)
        self.rows = rows
        self.indices = indices
        self.count = n
        if len(self.found) < n:
            self.found = np.zeros(n, np.int32)
        if cython.compiled:
            self.row_base = cython.cast(
                cython.pointer(cython.uchar),
                cython.cast(cython.size_t, int(rows.__array_interface__["data"][0])),
            )
            self.row_stride = rows.strides[0]
            self.row_bytes = rows.shape[1]
            self.index_base = cython.NULL
            if indices is not None:
                if indices.dtype != np.int64:
                    raise NppError(f"indices are {indices.dtype}, want int64")
                self.index_base = cython.cast(
                    cython.pointer(cython.longlong), cython.cast(cython.size_t, address_of(indices))
                )
            self.found_base = cython.cast(cython.p_int, cython.cast(cython.size_t, address_of(self.found)))

    def set_targets(self, targets: Any, tags: Any) -> None:
        """Say where observations go.

        Args:
            targets: Pairs of a key's number and a contiguous uint8 array (at least the number of rows, bytes of an
                observation); kept alive.
            tags: `TAG` per output row if nobody else writes to the graph arrays, else None.
        """
        if len(targets) > 16:
            raise NppError(f"{len(targets)} outputs, at most 16")
        self.targets_python = list(targets)
        self.tags = tags
        self.n_targets = len(targets)
        k: cython.int
        if cython.compiled:
            for k in range(self.n_targets):
                key, array = targets[k]
                if array.dtype != np.uint8 or array.ndim != 2 or len(array) < self.count or array.strides[1] != 1:
                    raise NppError(f"an output must be uint8 with at least {self.count} contiguous rows")
                if not array.flags.writeable:
                    raise NppError("an output must be writable")
                self.targets[k].key = key
                self.targets[k].row_bytes = array.shape[1]
                if array.strides[0] != array.shape[1]:
                    raise NppError("the rows of an output must lie one behind the other")
                self.targets[k].base = cython.cast(
                    cython.pointer(cython.uchar),
                    cython.cast(cython.size_t, int(array.__array_interface__["data"][0])),
                )
            self.tag_base = cython.NULL
            if tags is not None:
                if tags.dtype != TAG or len(tags) < self.count or cython.sizeof(Tag) != TAG.itemsize:
                    raise NppError(f"tags must be TAG ({self.count},)")
                self.tag_base = cython.cast(cython.pointer(Tag), cython.cast(cython.size_t, address_of(tags)))

    def write_fully(self, handle: Any, paths: Any, state: Any, key: cython.int, out: Any) -> None:
        """Write one observation of a state (uint8) as the environment does, into a uint8 array of its exact size."""
        if cython.compiled:
            view: View
            bind(
                cython.address(view.world),
                cython.cast(cython.pointer(Level), cython.cast(cython.size_t, handle.address)),
                cython.cast(cython.pointer(cython.uchar), cython.cast(cython.size_t, address_of(state))),
                cython.NULL,
            )
            view.paths = cython.cast(cython.pointer(Paths), cython.cast(cython.size_t, paths.address))
            view.background = cython.NULL
            view.limit_frames = 0
            view.gold_total = 0
            view.k_entities = self.k_entities
            view.max_nodes = self.max_nodes
            view.max_edges = self.max_edges
            write_observation(
                cython.address(view),
                key,
                cython.cast(cython.pointer(cython.uchar), cython.cast(cython.size_t, address_of(out))),
            )
        else:
            view = plain_view(
                unpack_world(handle.level, state),
                paths=paths.paths,
                max_nodes=self.max_nodes,
                max_edges=self.max_edges,
            )
            write_observation(view, key, out)

    def resolve(self, first: cython.Py_ssize_t, batch: cython.ulonglong) -> int:
        """Find the sources of the rows from `first` on; stops at the first problem and returns the row's number."""
        i: cython.Py_ssize_t = first
        last: cython.Py_ssize_t = self.count
        code: cython.int = 0
        if cython.compiled:
            with cython.nogil:
                while i < last:
                    code = self.resolve_one(i, batch)
                    self.found_base[i] = code
                    if code < 0 and not (code == -5 and self.blank_allowed):
                        break
                    i += 1
        else:
            while i < last:
                code = self.resolve_one(i, batch)
                self.found[i] = code
                if code < 0 and not (code == BLANK and self.blank_allowed):
                    break
                i += 1
        return i

    def write(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> None:
        """Write the observations of rows first..last-1, which `resolve` has gone over."""
        i: cython.Py_ssize_t
        if first < 0 or last > self.count:
            raise NppError(f"rows {first}..{last} of {self.count}")
        if cython.compiled:
            with cython.nogil:
                for i in range(first, last):
                    self.write_one(i)
        else:
            for i in range(first, last):
                self.write_one(i)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def row_at(self, i: cython.Py_ssize_t) -> cython.pointer(cython.uchar):
        """The bytes of row i."""
        if cython.compiled:
            if self.index_base != cython.NULL:
                return self.row_base + self.index_base[i] * self.row_stride
            return self.row_base + i * self.row_stride
        else:
            return self.rows[i if self.indices is None else int(self.indices[i])]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def resolve_one(self, i: cython.Py_ssize_t, batch: cython.ulonglong) -> cython.int:
        """The source of row i, or why there is none."""
        if cython.compiled:
            k: cython.int
            source: cython.int
            row: cython.pointer(cython.uchar) = self.row_at(i)
            if cython.cast(cython.pointer(cython.int), row)[0] != self.version:
                return -5 if is_blank(row, self.row_bytes) else -1
            k = self.buckets[bucket_of(row + 16)]
            while k >= 0 and memcmp(self.known_base[k].level.digest, row + 16, 16) != 0:
                k = self.known_base[k].next
            if k < 0:
                return -2
            if not is_state(cython.cast(cython.pointer(Ninja), row + HEADER_BYTES)):
                return -4
            source = self.known_base[k].first
            if self.doors_matter and self.known_base[k].level.n_doors > 0:
                flags: cython.pointer(cython.uchar) = (
                    row + HEADER_BYTES + cython.sizeof(Ninja) + self.known_base[k].level.n_movers * cython.sizeof(Mover)
                )
                while source >= 0 and not same_doors(self.known_base[k].level, flags, self.source_base[source].taken):
                    source = self.source_base[source].next
                if source < 0:
                    return -3
            self.source_base[source].used = batch
            return source
        else:
            row = self.row_at(i)
            if int(row[:4].view("<i4")[0]) != self.version:
                return OTHER_VERSION if row.any() else BLANK
            known_doors = False
            for source, (handle, _, _, taken) in enumerate(self.handles):
                if list(handle.level.digest) != row[16:32].tolist():
                    continue
                world = unpack_world(handle.level, row[HEADER_BYTES:])
                if not (0 <= world.ninja.state <= 9 and abs(world.ninja.x) < 1e6 and abs(world.ninja.y) < 1e6):
                    return NO_STATE
                switched = [
                    world.flags[door.flag] >> (2 - door.switched) & 1 for door in handle.level.doors if door.switched
                ]
                if not self.doors_matter or switched == taken.tolist():
                    self.sources["used"][source] = batch
                    return source
                known_doors = True
            return UNKNOWN_DOORS if known_doors else UNKNOWN_LEVEL

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def write_one(self, i: cython.Py_ssize_t) -> cython.void:
        """Write all outputs of row i."""
        k: cython.int
        key: cython.int
        if cython.compiled:
            view: View
            out: cython.pointer(cython.uchar)
            tag: cython.pointer(Tag) = cython.NULL
            source: cython.pointer(Source)
            row: cython.pointer(cython.uchar) = self.row_at(i)
            if self.tag_base != cython.NULL:
                tag = cython.address(self.tag_base[i])
            if self.found_base[i] < 0:
                for k in range(self.n_targets):
                    memset(self.targets[k].base + i * self.targets[k].row_bytes, 0, self.targets[k].row_bytes)
                if tag != cython.NULL:
                    memset(tag, 0, cython.sizeof(Tag))
                return
            source = cython.address(self.source_base[self.found_base[i]])
            bind(cython.address(view.world), source.level, row + HEADER_BYTES, cython.NULL)
            view.paths = source.paths
            view.background = source.background
            view.limit_frames = cython.cast(cython.pointer(cython.int), row)[2]
            view.gold_total = source.gold_total
            view.k_entities = self.k_entities
            view.max_nodes = self.max_nodes
            view.max_edges = self.max_edges
            for k in range(self.n_targets):
                key = self.targets[k].key
                out = self.targets[k].base + i * self.targets[k].row_bytes
                if key >= 7 and key <= 11:
                    self.write_graph(cython.address(view), source, tag, key, out)
                else:
                    write_observation(cython.address(view), key, out)
            if tag != cython.NULL:
                tag.serial = source.serial
                tag.n_nodes = source.n_nodes
                tag.n_edges = source.n_edges
        else:
            for key, array in self.targets_python:
                if self.found[i] < 0:
                    array[i] = 0
                    continue
                handle, paths, background, _ = self.handles[self.found[i]]
                row = self.row_at(i)
                view = plain_view(
                    unpack_world(handle.level, row[HEADER_BYTES:]),
                    state=row[HEADER_BYTES:],
                    paths=None if paths is None else paths.paths,
                    background=background,
                    limit_frames=int(row[8:12].view("<i4")[0]),
                    gold_total=int(self.sources["gold_total"][self.found[i]]),
                    k_entities=self.k_entities,
                    max_nodes=self.max_nodes,
                    max_edges=self.max_edges,
                )
                write_observation(view, key, array[i])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def write_nodes(
        self, view: cython.pointer(View), source: cython.pointer(Source), out: cython.pointer(cython.ushort)
    ) -> cython.void:
        """Write the features of the nodes that there are."""
        if cython.compiled:
            i: cython.int
            n: cython.int = source.n_nodes
            nodes: cython.pointer(cython.ushort) = source.nodes
            if view.world.ninja.switches > 0:
                nodes += n * 8
            memcpy(out, nodes, n * NODE_BYTES)
            if source.n_places > 0:
                places: Paths
                seen: View
                offsets: cython.ushort[2048]
                places.node_x = source.place_x
                places.node_y = source.place_y
                seen.world.ninja = view.world.ninja
                seen.paths = cython.address(places)
                write_node_offsets(cython.address(seen), source.n_places, offsets)
                for i in range(n):
                    out[8 * i + 2] = offsets[8 * source.x_of[i] + 2]
                    out[8 * i + 3] = offsets[8 * source.y_of[i] + 3]
            else:
                write_node_offsets(view, n, out)
            i = node_here(view)
            if i < n:
                out[i * 8 + 7] = ONE

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def write_graph(
        self,
        view: cython.pointer(View),
        source: cython.pointer(Source),
        tag: cython.pointer(Tag),
        key: cython.int,
        out: cython.pointer(cython.uchar),
    ) -> cython.void:
        """Write a graph key from what is kept ready; with a tag, only what differs from what the row holds."""
        if cython.compiled:
            n: cython.int = source.n_nodes
            m: cython.int = source.n_edges
            # How far the row may hold something else than zeros.
            old_n: cython.int = self.max_nodes if tag == cython.NULL else tag.n_nodes
            old_m: cython.int = self.max_edges if tag == cython.NULL else tag.n_edges
            if key == 7:
                self.write_nodes(view, source, cython.cast(cython.pointer(cython.ushort), out))
                clear(out, n * NODE_BYTES, old_n * NODE_BYTES)
                return
            if tag != cython.NULL and tag.serial == source.serial:
                return
            if key == 8:
                memcpy(out, source.edge_index, 2 * m)
                clear(out, 2 * m, 2 * old_m)
                memcpy(out + 2 * self.max_edges, source.edge_index + m, 2 * m)
                clear(out + 2 * self.max_edges, 2 * m, 2 * old_m)
            elif key == 9:
                memcpy(out, source.edge_feats, m * EDGE_BYTES)
                clear(out, m * EDGE_BYTES, old_m * EDGE_BYTES)
            elif key == 10:
                memset(out, 1, n)
                clear(out, n, old_n)
            else:
                memset(out, 1, m)
                clear(out, m, old_m)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def clear(out: cython.pointer(cython.uchar), start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.void:
    """Zeros from start to end, if there is anything between them."""
    if end > start:
        memset(out + start, 0, end - start)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def bucket_of(digest: cython.pointer(cython.uchar)) -> cython.int:
    """Bucket of a level's hash."""
    return (digest[0] | (digest[1] << 8)) & (BUCKETS - 1)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_blank(row: cython.pointer(cython.uchar), size: cython.Py_ssize_t) -> cython.bint:
    """Whether a row holds zeros only."""
    i: cython.Py_ssize_t
    for i in range(size):  # noqa: SIM110 (a generator cannot be compiled to C)
        if row[i]:
            return False
    return True


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_state(ninja: cython.pointer(Ninja)) -> cython.bint:
    """Whether the numbers that observers use as an index can be trusted; written so that a NaN is refused."""
    return (
        ninja.state >= 0 and ninja.state <= 9 and ninja.x > -1e6 and ninja.x < 1e6 and ninja.y > -1e6 and ninja.y < 1e6
    )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def same_doors(
    level: cython.pointer(Level), flags: cython.pointer(cython.uchar), taken: cython.pointer(cython.uchar)
) -> cython.bint:
    """Whether the switches of a state's doors and exits are taken as given."""
    d: cython.int
    k: cython.int = 0
    for d in range(level.n_doors):
        if level.doors[d].switched:
            if ((flags[level.doors[d].flag] >> (2 - level.doors[d].switched)) & 1) != taken[k]:
                return False
            k += 1
    return True
