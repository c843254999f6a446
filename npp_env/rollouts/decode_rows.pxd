from npp_env.observe.state_row cimport StateRow
from npp_env.observe.view cimport Capacity, Paths, View
from npp_env.observe.writer cimport MAX_KEYS
from npp_env.sim.layout cimport Level

cdef struct Known:
    Level* level
    int first
    int next

cdef struct Source:
    Level* level
    Paths* paths
    unsigned char* background
    unsigned char* taken
    unsigned short* nodes
    unsigned char* kept[MAX_KEYS]
    unsigned long long serial
    unsigned long long used
    int gold_total
    int counts[2]
    int next

cdef struct Tag:
    unsigned long long serial
    int counts[2]

# How a key is decoded: written anew from the state, copied from what is kept of its level, or the node features.
cdef enum Way:
    WRITE, COPY, NODES

# Along an axis of a graph key lie nodes (0) or edges (1), `planes` times.
cdef struct Decoding:
    Way way
    int axis
    int planes
    Py_ssize_t item_bytes
    Py_ssize_t plane_bytes

cdef struct Target:
    int key
    Py_ssize_t row_bytes
    unsigned char* base

cdef class RowDecoder:
    cdef readonly Py_ssize_t count
    cdef readonly object found
    cdef object known
    cdef object sources
    cdef object handles
    cdef object rows
    cdef object indices
    cdef object targets_python
    cdef object tags
    cdef Known* known_base
    cdef Source* source_base
    cdef int buckets[1024]
    cdef unsigned char* row_base
    cdef Py_ssize_t row_stride
    cdef Py_ssize_t row_bytes
    cdef long long* index_base
    cdef int* found_base
    cdef Tag* tag_base
    cdef Target targets[MAX_KEYS]
    cdef Decoding decodings[MAX_KEYS]
    cdef int n_targets
    cdef Capacity capacity
    cdef int limits[2]
    cdef bint doors_matter
    cdef bint blank_allowed
    cdef StateRow* row_at(self, Py_ssize_t i) noexcept nogil
    cdef int resolve_one(self, Py_ssize_t i, unsigned long long batch) noexcept nogil
    cdef void write_one(self, Py_ssize_t i) noexcept nogil
    cdef void write_nodes(self, View* view, Source* source, unsigned short* out) noexcept nogil
    cdef bint overflows(self, Py_ssize_t size) noexcept nogil
    cdef void copy_kept(self, Source* source, Tag* tag, int key, unsigned char* out) noexcept nogil
