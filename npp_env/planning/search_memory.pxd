# The memory of one search: a tree of decisions, the states that wait as a heap, the keys that were met.
from libc.math cimport sqrtf
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memset
from npp_env.sim.layout cimport COLUMNS, ROWS

cdef enum:
    WAITING = 1024              # states that wait at the most
    SEEN_PLACES = 1 << 15
    N_INPUTS = 6
    SLOTS = WAITING + N_INPUTS
    CELLS = COLUMNS * ROWS
    CROWD_WEIGHT_PX = 5

cdef struct Waiting:
    float rank      # what it cost when it was put in its place: others that were expanded nearby make it dearer
    float cost
    int slot        # of its state
    int node        # of the tree
    int crowd       # its cell and configuration

cdef struct Scratch:
    int state_bytes
    unsigned char* states       # SLOTS of them, and one more to try things with
    int* free_slots
    int n_free
    Waiting* heap
    int n_heap
    unsigned long long* seen
    float* crowds               # states expanded, by configuration and cell
    unsigned char* tried        # branches that were followed in vain, by place
    int* parents
    unsigned char* inputs
    unsigned char* lengths
    int n_tree
    int tree_room

cdef inline unsigned char* state_at(Scratch* s, int slot) noexcept nogil:
    return s.states + <size_t>slot * s.state_bytes

cdef inline int take_slot(Scratch* s) noexcept nogil:
    s.n_free -= 1
    return s.free_slots[s.n_free]

cdef inline void free_slot(Scratch* s, int slot) noexcept nogil:
    s.free_slots[s.n_free] = slot
    s.n_free += 1

cdef inline float rank_of(Scratch* s, Waiting* w) noexcept nogil:
    # What a waiting state costs now.
    return w.cost + CROWD_WEIGHT_PX * sqrtf(s.crowds[w.crowd])

cdef inline void sink(Scratch* s, int k) noexcept nogil:
    # Put the element at k of the heap into its place among those below it.
    cdef Waiting moved = s.heap[k]
    cdef int child
    while True:
        child = 2 * k + 1
        if child >= s.n_heap:
            break
        if child + 1 < s.n_heap and s.heap[child + 1].rank < s.heap[child].rank:
            child += 1
        if s.heap[child].rank >= moved.rank:
            break
        s.heap[k] = s.heap[child]
        k = child
    s.heap[k] = moved

cdef inline void push(Scratch* s, Waiting* w) noexcept nogil:
    # Let a state wait.
    cdef int k = s.n_heap
    cdef int parent
    s.n_heap += 1
    while k > 0:
        parent = (k - 1) // 2
        if s.heap[parent].rank <= w.rank:
            break
        s.heap[k] = s.heap[parent]
        k = parent
    s.heap[k] = w[0]

cdef inline Waiting pop(Scratch* s) noexcept nogil:
    # Take out the best state, with what crowds cost by now; the heap is not empty.
    cdef Waiting best
    cdef float now
    while True:
        now = rank_of(s, &s.heap[0])
        if now <= s.heap[0].rank:
            break
        s.heap[0].rank = now
        sink(s, 0)
    best = s.heap[0]
    s.n_heap -= 1
    if s.n_heap:
        s.heap[0] = s.heap[s.n_heap]
        sink(s, 0)
    return best

cdef inline int by_rank(const void* a, const void* b) noexcept nogil:
    # Order of waiting states; ties by age.
    cdef Waiting* first = <Waiting*>a
    cdef Waiting* second = <Waiting*>b
    if first.rank != second.rank:
        return -1 if first.rank < second.rank else 1
    return first.node - second.node

cdef inline void drop_the_worse_half(Scratch* s) noexcept nogil:
    cdef int k
    for k in range(s.n_heap):
        s.heap[k].rank = rank_of(s, &s.heap[k])
    qsort(s.heap, s.n_heap, sizeof(Waiting), by_rank)
    while s.n_heap > WAITING // 2:
        s.n_heap -= 1
        free_slot(s, s.heap[s.n_heap].slot)

cdef inline bint prepare(Scratch* s, int state_bytes, int tree_room, int n_known, int n_places) noexcept nogil:
    # Get the memory of a search; False if there is none. Give it back in either case.
    cdef int k
    memset(s, 0, sizeof(Scratch))
    s.state_bytes = state_bytes
    s.tree_room = tree_room
    s.states = <unsigned char*>malloc(<size_t>(SLOTS + 1) * state_bytes)
    s.free_slots = <int*>malloc(SLOTS * sizeof(int))
    s.heap = <Waiting*>malloc(SLOTS * sizeof(Waiting))
    s.seen = <unsigned long long*>calloc(SEEN_PLACES, sizeof(unsigned long long))
    s.crowds = <float*>calloc(<size_t>n_known * CELLS, sizeof(float))
    s.tried = <unsigned char*>calloc(n_places + 1, 1)
    s.parents = <int*>malloc(tree_room * sizeof(int))
    s.inputs = <unsigned char*>malloc(tree_room)
    s.lengths = <unsigned char*>malloc(tree_room)
    if s.states == NULL or s.free_slots == NULL or s.heap == NULL or s.seen == NULL or s.crowds == NULL:
        return False
    if s.tried == NULL or s.parents == NULL or s.inputs == NULL or s.lengths == NULL:
        return False
    for k in range(SLOTS):
        s.free_slots[k] = SLOTS - 1 - k
    s.n_free = SLOTS
    return True

cdef inline void give_back(Scratch* s) noexcept nogil:
    free(s.states)
    free(s.free_slots)
    free(s.heap)
    free(s.seen)
    free(s.crowds)
    free(s.tried)
    free(s.parents)
    free(s.inputs)
    free(s.lengths)
