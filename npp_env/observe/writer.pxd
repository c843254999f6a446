from npp_env.observe.view cimport View

cdef enum:
    MAX_KEYS = 16

cdef void write_observation(View* view, int number, unsigned char* out) noexcept nogil
