from npp_env.observe.state_row cimport StateRow
from npp_env.observe.view cimport Capacity, Held, Paths, View
from npp_env.observe.writer cimport MAX_KEYS
from npp_env.runtime.reward cimport Weights
from npp_env.runtime.step_results cimport ResultRows
from npp_env.sim.layout cimport Level

cdef struct Slot:
    Level* level
    Paths* paths
    unsigned char* background
    double potential
    double reward  # of the last step
    double episode_return
    unsigned long long key  # what its levels are drawn from
    long long episode  # the number of the present one
    unsigned long long doors
    int limit_frames
    int gold_total
    int episode_steps
    int level_index
    unsigned char fresh
    unsigned char doors_changed
    unsigned short node
    unsigned char begun  # an episode, since `take_begun` was called
    unsigned char terminated  # by the last step
    unsigned char truncated
    unsigned char reserved

cdef struct Output:
    int key
    int widened
    Py_ssize_t stride
    unsigned char* base[2]

cdef class EpisodeRows:
    cdef readonly Py_ssize_t num_envs
    cdef readonly Py_ssize_t stride
    cdef readonly object states
    cdef readonly object slots
    cdef readonly object ended
    cdef unsigned char* state_base
    cdef Slot* slot_base
    cdef unsigned char* ended_base
    cdef ResultRows results
    cdef Output outputs[MAX_KEYS]
    cdef int n_outputs
    cdef Held* held[2]
    cdef int buffer
    cdef Weights weights
    cdef int frame_skip
    cdef Capacity capacity
    cdef readonly Py_ssize_t n_unfinished
    cdef void expect(self, Py_ssize_t i, Py_ssize_t last) noexcept nogil
    cdef void look(self, View* view, unsigned short* candidates, Py_ssize_t i) noexcept nogil
    cdef void restart_one(self, Py_ssize_t i, bint fresh) noexcept nogil
    cdef void play_one(self, Py_ssize_t i, int action) noexcept nogil
    cdef void advance_one(self, Py_ssize_t i, int action) noexcept nogil
    cdef void finish_one(self, Py_ssize_t i) noexcept nogil
    cdef void observe_one(self, Py_ssize_t i) noexcept nogil
    cdef void report_episode(self, Py_ssize_t i) noexcept nogil
    cdef void report_one(self, Py_ssize_t i) noexcept nogil
    cdef void write_one(self, View* view, Py_ssize_t i) noexcept nogil
    cdef void write_state(self, StateRow* row, Py_ssize_t i) noexcept nogil
