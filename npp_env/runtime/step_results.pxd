# What a step says of each environment beside its observation, a row of each array for an environment.
cdef struct ResultRows:
    double* reward
    double* episode_return
    long long* frame
    long long* outcome
    long long* gold
    long long* level
    long long* phase
    long long* episode_steps
    unsigned char* terminated
    unsigned char* truncated

cdef class StepResults:
    cdef readonly object block
    cdef ResultRows rows
    cdef list arrays
    cdef Py_ssize_t references
    cdef bint is_free(self)
    cpdef tuple hand_out(self)

cdef class ResultMemory:
    cdef readonly Py_ssize_t num_envs
    cdef list kept
    cpdef StepResults free(self)
