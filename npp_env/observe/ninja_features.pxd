from npp_env.observe.view cimport View

cdef void write_game_state(View* view, unsigned short* out) noexcept nogil
cdef void write_action_mask(View* view, unsigned char* out) noexcept nogil
