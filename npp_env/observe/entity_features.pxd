from npp_env.observe.view cimport View

cdef void write_entity_states(View* view, unsigned short* out) noexcept nogil
cdef void write_switch_states(View* view, unsigned short* out) noexcept nogil
cdef void write_spatial_context(View* view, unsigned short* out) noexcept nogil
