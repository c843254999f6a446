cdef class Turn:
    cdef readonly str what
    cdef readonly str cure
    cdef public bint torn
    cdef unsigned int holder
    cdef int enter(self) except -1
    cdef int take(self) except -1
    cdef void leave(self) noexcept
