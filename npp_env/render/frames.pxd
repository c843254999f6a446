from npp_env.sim.layout cimport World

# A background is the half-size picture (300, 528) followed by the sixth-size picture (100, 176).
cdef void draw_player_frame(World* w, unsigned char* background, unsigned char* out) noexcept nogil
cdef void draw_global_view(World* w, unsigned char* background, unsigned char* out) noexcept nogil
