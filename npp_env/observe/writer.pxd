from npp_env.observe.view cimport View

cdef void write_observation(View* view, int key, unsigned char* out) noexcept nogil
