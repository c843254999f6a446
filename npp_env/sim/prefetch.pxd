# Memory that is wanted soon.

cdef extern from *:
    """
    #ifdef __GNUC__
    #define npp_prefetch(place) __builtin_prefetch(place)
    #else
    #define npp_prefetch(place) ((void)(place))
    #endif
    """
    void prefetch "npp_prefetch"(const void* place) noexcept nogil

cdef inline void prefetch_bytes(const void* place, Py_ssize_t count) noexcept nogil:
    # All lines of the cache that a piece of memory may lie in.
    cdef Py_ssize_t offset
    for offset in range(0, count, 64):
        prefetch(<const char*>place + offset)
