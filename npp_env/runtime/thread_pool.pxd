# Work on the items first..last-1 of something; of a cdef class it is a function whose first argument is that class.
ctypedef void (*Work)(void* context, Py_ssize_t first, Py_ssize_t last) noexcept nogil

# A part of the items, which one thread begins with and others help with; alone on its line of the cache.
cdef struct Part:
    Py_ssize_t next
    Py_ssize_t last
    Py_ssize_t taken
    Py_ssize_t reserved[5]

cdef struct Job:
    Work work
    void* context
    Py_ssize_t chunk
    Py_ssize_t inside
    Job* following
    Part* parts
    int n_parts
    bint awaited

cdef class ThreadPool:
    cdef readonly int num_threads
    cdef Job job
    cdef bint registered
    cdef void give_back(self) noexcept
    cdef int run(self, Work work, void* context, Py_ssize_t count) except -1
    cdef void share(self, Py_ssize_t count, int parts) noexcept
