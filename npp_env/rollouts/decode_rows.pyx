"""Observations of states that lie in rows of bytes, as a rollout keeps them: checked and written without the GIL.

A row is a header (`npp_env.observe.state_row`) and the bytes of a state. What an observation needs beside it hangs on
the level and on its door configuration: a `SOURCE`, looked up by the hash and the doors of the row. Of graph keys, what
is the same for all states of a source is kept ready and copied.
"""

from dataclasses import asdict

import numpy as np

from libc.string cimport memcmp, memcpy, memset
from npp_env.observe.graph_features cimport write_nodes_anew
from npp_env.observe.state_row cimport STATE_ROW_VERSION, StateRow, is_sound, state_of
from npp_env.observe.streams cimport can_stream, finish_streams, stream_copy
from npp_env.observe.view cimport Paths, View, look_anew
from npp_env.observe.writer cimport MAX_KEYS, write_observation
from npp_env.runtime.thread_pool cimport ThreadPool, Work
from npp_env.sim.doors cimport same_doors
from npp_env.sim.kernel cimport bind
from npp_env.sim.layout cimport Check, Level, Mover, Ninja

from npp_env.errors import NppError
from npp_env.observe.spec import NODE_FIELDS, TABLE, Varies, observation_spec
from npp_env.sim.structs import address_of

KNOWN = np.dtype([("level", "u8"), ("first", "i4"), ("next", "i4")])
"""A loaded level: its first source, and the next level of the same bucket (-1 for none)."""

SOURCE = np.dtype(
    [
        ("level", "u8"),
        ("paths", "u8"),
        ("background", "u8"),
        ("taken", "u8"),  # uint8 per switched door or exit: whether its switch is taken
        ("nodes", "u8"),  # float16 (2, n_nodes, 8): features before and after the exit switch is taken
        ("kept", "u8", MAX_KEYS),  # by number of a key that is static: its bytes without the padding
        ("serial", "u8"),  # of the level: `level_number`
        ("used", "u8"),  # number of the last batch that had it
        ("gold_total", "i4"),
        ("counts", "i4", 2),  # nodes and edges
        ("next", "i4"),  # next source of the same level, -1 for none
    ]
)
"""A level in one door configuration."""

TAG = np.dtype([("serial", "u8"), ("counts", "i4", 2)])
"""What the graph arrays of an output row hold already: of which level, and how much of it."""

cdef enum:
    BUCKETS = 1024
    NODE_FEATURES = 8
    NODE_BYTES = 2 * NODE_FEATURES
    CACHED_BYTES = 1 << 20

# What `found` says of a row that has no source.
cpdef enum:
    OTHER_VERSION = -1
    UNKNOWN_LEVEL = -2
    UNKNOWN_DOORS = -3
    NO_STATE = -4
    BLANK = -5


cdef class RowDecoder:
    """Finds the sources of rows and writes their observations.

    Args:
        capacity: The `Capacity` of padded observations.
        doors_matter: Whether an output depends on path distances, so that door configurations have to be told apart.
        blank_allowed: Whether a row of zeros is no problem, but gives observations of zeros.

    Attributes:
        found: int32, for every row of the last `resolve` the index of its source, or why there is none.
    """

    def __init__(self, capacity, bint doors_matter, bint blank_allowed) -> None:
        self.capacity = asdict(capacity)
        self.limits[0] = self.capacity.max_nodes
        self.limits[1] = self.capacity.max_edges
        for number, row in enumerate(TABLE):
            self.decodings[number] = decoding_of(row, capacity)
        self.doors_matter = doors_matter
        self.blank_allowed = blank_allowed
        self.count = 0
        self.n_targets = 0
        self.found = np.zeros(0, np.int32)
        self.tags = None
        self.indices = None
        self.set_tables(np.zeros(1, KNOWN), 0, np.zeros(1, SOURCE), [])

    def set_tables(self, known, int n_known, sources, handles) -> None:
        """Replace the loaded levels and sources.

        Args:
            known: `KNOWN` array; `next` is filled in here.
            n_known: How many of them there are; the rest is spare.
            sources: `SOURCE` array, with spare entries at its end.
            handles: Per source what of it the caller may let go of; kept alive here, as everything else that the tables
                point to must be by the caller.
        """
        if n_known > len(known) or len(handles) > len(sources):
            raise NppError(f"{n_known} levels and {len(handles)} sources in tables of {len(known)} and {len(sources)}")
        self.known = known
        self.sources = sources
        self.handles = list(handles)
        cdef int k, bucket
        if sizeof(Source) != SOURCE.itemsize or sizeof(Known) != KNOWN.itemsize:
            raise NppError("compiled structs do not fit their dtypes")
        self.known_base = <Known*><size_t>address_of(known)
        self.source_base = <Source*><size_t>address_of(sources)
        for k in range(BUCKETS):
            self.buckets[k] = -1
        for k in range(n_known):
            bucket = bucket_of(self.known_base[k].level.digest)
            self.known_base[k].next = self.buckets[bucket]
            self.buckets[bucket] = k

    def set_rows(self, rows, indices) -> None:
        """Say which rows are decoded: all of uint8 (n, row bytes), or those that int64 indices name; kept alive.

        The caller checks the row length and alignment.
        """
        cdef Py_ssize_t n = len(rows) if indices is None else len(indices)
        self.rows = rows
        self.indices = indices
        self.count = n
        if len(self.found) < n:
            self.found = np.zeros(n, np.int32)
        self.row_base = <unsigned char*><size_t>int(rows.__array_interface__["data"][0])
        self.row_stride = rows.strides[0]
        self.row_bytes = rows.shape[1]
        self.index_base = NULL
        if indices is not None:
            if indices.dtype != np.int64:
                raise NppError(f"indices are {indices.dtype}, want int64")
            self.index_base = <long long*><size_t>address_of(indices)
        self.found_base = <int*><size_t>address_of(self.found)

    def set_targets(self, targets, tags) -> None:
        """Say where observations go.

        Args:
            targets: Pairs of a key's number and a contiguous uint8 array (at least the number of rows, bytes of an
                observation); kept alive.
            tags: `TAG` per output row if nobody else writes to the graph arrays, else None.
        """
        if len(targets) > MAX_KEYS:
            raise NppError(f"{len(targets)} outputs, at most {MAX_KEYS}")
        self.targets_python = list(targets)
        self.tags = tags
        self.n_targets = len(targets)
        cdef int k
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
            self.targets[k].base = <unsigned char*><size_t>int(array.__array_interface__["data"][0])
        self.tag_base = NULL
        if tags is not None:
            if tags.dtype != TAG or len(tags) < self.count or sizeof(Tag) != TAG.itemsize:
                raise NppError(f"tags must be TAG ({self.count},)")
            self.tag_base = <Tag*><size_t>address_of(tags)

    def write_fully(self, handle, paths, state, int key, out) -> None:
        """Write one observation of a state (uint8) as the environment does, into a uint8 array of its exact size."""
        cdef View view
        bind(&view.world, <Level*><size_t>handle.address, <unsigned char*><size_t>address_of(state), NULL)
        view.paths = <Paths*><size_t>paths.address
        view.background = NULL
        view.limit_frames = 0
        view.gold_total = 0
        view.capacity = &self.capacity
        look_anew(&view)
        write_observation(&view, key, <unsigned char*><size_t>address_of(out))

    def resolve(self, Py_ssize_t first, unsigned long long batch) -> int:
        """Find the sources of the rows from `first` on; stops at the first problem and returns the row's number."""
        cdef Py_ssize_t i = first
        cdef Py_ssize_t last = self.count
        cdef int code = 0
        with nogil:
            while i < last:
                code = self.resolve_one(i, batch)
                self.found_base[i] = code
                if code < 0 and not (code == BLANK and self.blank_allowed):
                    break
                i += 1
        return i

    def write(self, ThreadPool pool not None) -> None:
        """Write the observations of all rows, which `resolve` has gone over."""
        pool.run(<Work>write_some, <void*>self, self.count)

    cdef StateRow* row_at(self, Py_ssize_t i) noexcept nogil:
        """Row i."""
        if self.index_base != NULL:
            i = self.index_base[i]
        return <StateRow*>(self.row_base + i * self.row_stride)

    cdef int resolve_one(self, Py_ssize_t i, unsigned long long batch) noexcept nogil:
        """The source of row i, or why there is none."""
        cdef unsigned char* flags
        cdef Check check
        cdef int k, source
        cdef StateRow* row = self.row_at(i)
        if row.version != STATE_ROW_VERSION:
            return BLANK if is_blank(<unsigned char*>row, self.row_bytes) else OTHER_VERSION
        k = self.buckets[bucket_of(row.level)]
        while k >= 0 and memcmp(self.known_base[k].level.digest, row.level, sizeof(row.level)) != 0:
            k = self.known_base[k].next
        if k < 0:
            return UNKNOWN_LEVEL
        if not is_sound(row, self.row_bytes, self.known_base[k].level, &check):
            return NO_STATE
        source = self.known_base[k].first
        if self.doors_matter and self.known_base[k].level.n_doors > 0:
            flags = state_of(row) + sizeof(Ninja) + self.known_base[k].level.n_movers * sizeof(Mover)
            while source >= 0 and not same_doors(self.known_base[k].level, flags, self.source_base[source].taken):
                source = self.source_base[source].next
        if source < 0:
            return UNKNOWN_DOORS
        self.source_base[source].used = batch
        return source

    cdef void write_one(self, Py_ssize_t i) noexcept nogil:
        """Write all outputs of row i."""
        cdef int k, key, used
        cdef View view
        cdef unsigned char* out
        cdef Tag* tag = NULL
        cdef Source* source
        cdef StateRow* row = self.row_at(i)
        if self.tag_base != NULL:
            tag = &self.tag_base[i]
        if self.found_base[i] < 0:
            for k in range(self.n_targets):
                memset(self.targets[k].base + i * self.targets[k].row_bytes, 0, self.targets[k].row_bytes)
            if tag != NULL:
                memset(tag, 0, sizeof(Tag))
            return
        source = &self.source_base[self.found_base[i]]
        bind(&view.world, source.level, state_of(row), NULL)
        view.paths = source.paths
        view.background = source.background
        view.limit_frames = row.limit_frames
        view.gold_total = source.gold_total
        view.capacity = &self.capacity
        look_anew(&view)
        for k in range(self.n_targets):
            key = self.targets[k].key
            out = self.targets[k].base + i * self.targets[k].row_bytes
            if self.decodings[key].way == WRITE:
                write_observation(&view, key, out)
            elif self.decodings[key].way == COPY:
                self.copy_kept(source, tag, key, out)
            else:
                self.write_nodes(&view, source, <unsigned short*>out)
                used = self.capacity.max_nodes if tag == NULL else tag.counts[0]
                clear(out, source.counts[0] * NODE_BYTES, used * NODE_BYTES)
        if tag != NULL:
            tag.serial = source.serial
            tag.counts = source.counts

    cdef void write_nodes(self, View* view, Source* source, unsigned short* out) noexcept nogil:
        """Write the features of the nodes that there are."""
        cdef int n = source.counts[0]
        cdef unsigned short* nodes = source.nodes
        if view.world.ninja.switches > 0:
            nodes += n * NODE_FEATURES
        write_nodes_anew(view, n, nodes, out, self.overflows(n * NODE_BYTES) and can_stream(out))

    cdef bint overflows(self, Py_ssize_t size) noexcept nogil:
        """Whether so many bytes in every row are more than stay in a cache until someone reads them."""
        return size * self.count > CACHED_BYTES

    cdef void copy_kept(self, Source* source, Tag* tag, int key, unsigned char* out) noexcept nogil:
        """Copy a static key from what is kept of its level, unless the tag says that the row holds it already."""
        cdef Decoding* how = &self.decodings[key]
        cdef Py_ssize_t size = source.counts[how.axis] * how.item_bytes
        # How far the row may hold something else than zeros.
        cdef Py_ssize_t old = (self.limits[how.axis] if tag == NULL else tag.counts[how.axis]) * how.item_bytes
        cdef int plane
        cdef unsigned char* start
        cdef unsigned char* place
        if tag != NULL and tag.serial == source.serial:
            return
        for plane in range(how.planes):
            start = source.kept[key] + plane * size
            place = out + plane * how.plane_bytes
            if self.overflows(size):
                stream_copy(place, start, size)
            else:
                memcpy(place, start, size)
            clear(place, size, old)


cdef void write_some(RowDecoder rows, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Write the observations of some rows."""
    cdef Py_ssize_t i
    for i in range(first, last):
        rows.write_one(i)
    finish_streams()


cdef Decoding decoding_of(row, capacity):
    """How the key of a row of the table is decoded."""
    cdef Decoding found
    shape = observation_spec(row.key, capacity).shape
    axis = row.padded_axis
    if axis is None:
        memset(&found, 0, sizeof(Decoding))
        return found
    found.way = COPY if row.varies == Varies.LEVEL else NODES if row.fields == NODE_FIELDS else WRITE
    found.axis = row.shape[axis] == "max_edges"
    found.planes = int(np.prod(shape[:axis]))
    found.item_bytes = int(np.prod(shape[axis + 1 :])) * row.dtype.itemsize
    found.plane_bytes = shape[axis] * found.item_bytes
    return found


cdef inline void clear(unsigned char* out, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Zeros from start to end, if there is anything between them."""
    if end > start:
        memset(out + start, 0, end - start)


cdef inline int bucket_of(unsigned char* digest) noexcept nogil:
    """Bucket of a level's hash."""
    return (digest[0] | (digest[1] << 8)) & (BUCKETS - 1)


cdef bint is_blank(unsigned char* row, Py_ssize_t size) noexcept nogil:
    """Whether a row holds zeros only."""
    cdef Py_ssize_t i
    for i in range(size):
        if row[i]:
            return False
    return True
