from npp_env.observe.path_features cimport PathHandle
from npp_env.sim.kernel cimport LevelHandle

cdef class Assignment:
    cdef readonly LevelHandle level
    cdef readonly PathHandle paths
    cdef readonly object background
    cdef unsigned char* background_base
    cdef int limit_frames
    cdef int gold
    cdef int index
