from npp_env.observe.view cimport View

cdef void write_node_offsets(View* view, int count, unsigned short* out) noexcept nogil
cdef void remember(View* view) noexcept nogil
