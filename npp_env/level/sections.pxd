# Named arrays in blocks of bytes, as whoever wants their addresses sees them.
cdef class Places:
    cdef void* address(self, name) except? NULL
    cdef Py_ssize_t count(self, name) except -1

# What the blocks of a format have in common.
cdef class SectionTable:
    cdef object what
    cdef int magic
    cdef int version
    cdef Py_ssize_t first_section
    cdef readonly Py_ssize_t head_bytes
    cdef Py_ssize_t alignment
    cdef readonly dict numbers
    cdef tuple dtypes
    cdef Py_ssize_t[64] itemsizes
    cdef Py_ssize_t n_sections

cdef class Sections(Places):
    cdef readonly object block
    cdef SectionTable table
    cdef const int* header
    cdef const int* places
    cdef int number(self, name) except -1

cdef class JoinedSections(Places):
    cdef Sections first
    cdef Sections second
    cdef Sections holder(self, name)
