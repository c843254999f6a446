from npp_env.observe.view cimport Paths, View

cdef class PathHandle:
    cdef object __weakref__
    cdef Paths paths
    cdef readonly size_t address
    cdef readonly double spawn_distance
    cdef readonly object arrays

cdef int node_here(View* view) noexcept nogil
cdef double potential(View* view) noexcept nogil
