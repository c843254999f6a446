from npp_env.observe.view cimport View

cdef void write_nodes_anew(
    View* view, int count, const unsigned short* steady, unsigned short* out, bint streamed
) noexcept nogil
cdef void remember(View* view) noexcept nogil
