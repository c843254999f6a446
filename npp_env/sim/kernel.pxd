from npp_env.sim.layout cimport Level, World
from npp_env.sim.turn cimport Turn

cdef class LevelHandle:
    cdef object __weakref__
    cdef Level level
    cdef readonly object geometry
    cdef readonly size_t address
    cdef readonly Py_ssize_t state_bytes
    cdef object arrays

cdef class Batch:
    cdef readonly object states
    cdef readonly object addresses
    cdef readonly Py_ssize_t num_envs
    cdef readonly Py_ssize_t stride
    cdef unsigned char* base
    cdef size_t* levels
    cdef list handles
    cdef readonly Turn turn
    cdef bint levels_missing(self, Py_ssize_t i)
    cpdef advance_range(self, inputs, Py_ssize_t first, Py_ssize_t last, int ticks=*, bint stop=*)
    cdef int check(self, Py_ssize_t n_inputs, Py_ssize_t first, Py_ssize_t last, int ticks) except -1

cdef void bind(World* w, Level* level, unsigned char* block, unsigned short* candidates) noexcept nogil
cdef int advance_block(Level* level, unsigned char* block, int byte, int ticks, int stop) noexcept nogil
cdef void restart_block(Level* level, unsigned char* block, Py_ssize_t stride) noexcept nogil
