from npp_env.sim.layout cimport Level

# A background is the half-size picture (300, 528) followed by the sixth-size picture (100, 176).
cdef void draw_player_frame(
    Level* level, unsigned char* state, unsigned char* background, unsigned char* out
) noexcept nogil
cdef void draw_global_view(
    Level* level, unsigned char* state, unsigned char* background, unsigned char* out
) noexcept nogil
