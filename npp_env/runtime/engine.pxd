from npp_env.observe.path_features cimport PathHandle
from npp_env.runtime.episode_rows cimport EpisodeRows
from npp_env.runtime.step_results cimport StepResults
from npp_env.runtime.thread_pool cimport ThreadPool

cdef class Engine(EpisodeRows):
    cdef readonly list in_use
    cdef readonly list path_handles
    cdef readonly object actions
    cdef unsigned char* action_base
    cdef object buffers
    cdef StepResults reported
    cdef const long long* chosen
    cdef Py_ssize_t n_without_level
    cdef readonly Py_ssize_t n_begun
    cdef int restore_one(self, restoration) except -1
    cdef int make_room(self, list items) except -1
    cdef int begin_one(self, Py_ssize_t i, item, unsigned long long key, long long episode, bint fresh) except -1
    cdef int place(self, Py_ssize_t i, item) except -1
    cdef int give_paths(self, Py_ssize_t i, PathHandle paths) except -1
    cdef int use_buffer(self, int buffer) except -1
    cdef int require(self, Py_ssize_t i) except -1
    cdef int require_all(self) except -1
