from npp_env.observe.view cimport View

cdef int node_count(View* view) noexcept nogil
cdef int edge_count(View* view) noexcept nogil
cdef void write_node_offsets(View* view, int count, unsigned short* out) noexcept nogil
