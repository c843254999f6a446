"""Searches for ways that win from many states of a level, each alone and all without the GIL."""

import numpy as np

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset
from npp_env.graph.node_lookup cimport node_at
from npp_env.planning.search_memory cimport (
    CELLS, N_INPUTS, SEEN_PLACES, SLOTS, Scratch, Waiting, drop_the_worse_half, free_slot, give_back, pop, prepare,
    push, rank_of, state_at, take_slot,
)
from npp_env.planning.state_keys cimport StateKeys, key_of
from npp_env.runtime.thread_pool cimport ThreadPool, Work
from npp_env.sim.kernel cimport LevelHandle, advance_block
from npp_env.sim.layout cimport CELEBRATING, DEAD, Ninja, cell_of

from npp_env.errors import NppError
from npp_env.sim.structs import address_of

cdef enum:
    LATE_STEPS = 12             # whoever follows a branch a little behind may need some steps more
    ROOT = -1

# What one search may use: the memory for its tree grows with it.
MOST_TICKS = 10_000_000
# The six inputs, in the order of the actions.
cdef unsigned char[N_INPUTS] INPUTS = [0, 4, 2, 1, 5, 3]
# Lengths of a decision in steps, used in turn.
cdef int[4] LENGTHS = [2, 1, 3, 1]
cdef float FRAME_WEIGHT_PX = 0.2
# Stands for the distance where no way is known.
cdef float NO_WAY_PX = 3000.0

cdef long long configuration_of(Ground* g, unsigned char* state) noexcept nogil:
    """Which switches are touched, as bits."""
    cdef long long found = 0
    cdef int k
    for k in range(g.n_switches):
        if state[g.columns[k]] != g.initial[k]:
            found |= 1LL << k
    return found


cdef int number_of(Ground* g, long long configuration, Quest* q) noexcept nogil:
    """The number of a known configuration; of another, that of the start, and it is noted that it was missed."""
    cdef int k
    for k in range(g.n_known):
        if g.known[k] == configuration:
            return k
    for k in range(q.n_wanted):
        if q.wanted[k] == configuration:
            return 0
    if q.n_wanted < MOST_WANTED:
        q.wanted[q.n_wanted] = configuration
        q.n_wanted += 1
    return 0


cdef int find_branch(Ground* g, unsigned long long key) noexcept nogil:
    """The place on a branch where a state had this key, -1 if there is none."""
    cdef unsigned int k = key & g.branch_mask
    while g.branch_nodes[k] >= 0:
        if g.branch_keys[k] == key:
            return g.branch_nodes[k]
        k = (k + 1) & g.branch_mask
    return -1


cdef int follow(Ground* g, Scratch* s, Quest* q, unsigned char* state, int node) noexcept nogil:
    """Play what is left of a branch from a state; the number of steps that won, 0 if they did not."""
    cdef unsigned char* copy = state_at(s, SLOTS)
    cdef Ninja* n = <Ninja*>copy
    cdef int step, last
    if s.tried[node] >= 2:
        return 0
    memcpy(copy, state, g.level.state_bytes)
    last = g.left[node] - 1
    for step in range(g.left[node] + LATE_STEPS):
        q.spent += advance_block(
            g.level, copy, g.steps[g.first_step[node] + (step if step < last else last)], g.frame_skip, True
        )
        if n.state == CELEBRATING:
            return step + 1
        if n.state == DEAD:
            break
    s.tried[node] += 1
    return 0


cdef void report(Ground* g, Scratch* s, Quest* q, int node, int branch, int rest) noexcept nogil:
    """Write down the steps to a node of the tree, and the rest of a branch behind them."""
    cdef int count = 0
    cdef int k = node
    cdef int i, last
    while k != ROOT:
        count += s.lengths[k]
        k = s.parents[k]
    q.found = <unsigned char*>malloc(count + rest if count + rest else 1)
    if q.found == NULL:
        q.n_steps = -1
        return
    q.n_steps = count + rest
    for i in range(rest):
        last = g.left[branch] - 1
        q.found[count + i] = g.steps[g.first_step[branch] + (i if i < last else last)]
    k = node
    while k != ROOT:
        count -= s.lengths[k]
        memset(q.found + count, s.inputs[k], s.lengths[k])
        k = s.parents[k]


cdef bint admit(Ground* g, Scratch* s, Quest* q, int slot, int node) noexcept nogil:
    """Look at a living state: follow a branch from it, let it wait, or drop it; answers whether a way was found."""
    cdef unsigned char* state = state_at(s, slot)
    cdef Ninja* n = <Ninja*>state
    cdef long long configuration = configuration_of(g, state)
    cdef unsigned long long key = key_of(g.rule, state, configuration)
    cdef unsigned long long* place = &s.seen[key & (SEEN_PLACES - 1)]
    cdef Waiting waiting
    cdef int number, branch, rest
    if place[0] == key:
        free_slot(s, slot)
        return False
    place[0] = key
    branch = find_branch(g, key) if g.n_nodes else -1
    if branch >= 0:
        rest = follow(g, s, q, state, branch)
        if rest:
            report(g, s, q, node, branch, rest)
            return True
    number = number_of(g, configuration, q)
    waiting.cost = NO_WAY_PX
    rest = node_at(&g.nodes, n.x, n.y)
    if rest < g.node_count and g.tables[number][rest] < NO_WAY_PX:
        waiting.cost = g.tables[number][rest]
    waiting.cost += FRAME_WEIGHT_PX * n.frame
    waiting.slot = slot
    waiting.node = node
    waiting.crowd = number * CELLS + cell_of(n.x, n.y)
    waiting.rank = rank_of(s, &waiting)
    push(s, &waiting)
    return False


cdef bint expand(Ground* g, Scratch* s, Quest* q, Waiting* parent, int length) noexcept nogil:
    """Try all inputs from a state for some steps; answers whether one won."""
    cdef int k, slot, node
    cdef Ninja* n
    cdef unsigned char* state
    for k in range(N_INPUTS):
        slot = take_slot(s)
        state = state_at(s, slot)
        n = <Ninja*>state
        memcpy(state, state_at(s, parent.slot), g.level.state_bytes)
        q.spent += advance_block(g.level, state, INPUTS[k], length * g.frame_skip, True)
        if n.state == DEAD:
            free_slot(s, slot)
            continue
        node = s.n_tree
        s.parents[node] = parent.node
        s.inputs[node] = INPUTS[k]
        s.lengths[node] = length
        s.n_tree += 1
        if n.state == CELEBRATING:
            report(g, s, q, node, 0, 0)
            return True
        if admit(g, s, q, slot, node):
            return True
    return False


cdef void search(Ground* g, Scratch* s, Quest* q) noexcept nogil:
    """Expand the best waiting state, over and over."""
    cdef Waiting best
    cdef int expanded = 0
    cdef int slot = take_slot(s)
    memcpy(state_at(s, slot), q.start, g.level.state_bytes)
    if admit(g, s, q, slot, ROOT):
        return
    while s.n_heap and q.spent < q.ticks and s.n_tree + N_INPUTS <= s.tree_room:
        best = pop(s)
        s.crowds[best.crowd] += 1
        if expand(g, s, q, &best, LENGTHS[expanded % 4]):
            return
        expanded += 1
        free_slot(s, best.slot)
        if s.n_free < N_INPUTS:
            drop_the_worse_half(s)


cdef struct Hunt:
    Ground* ground
    Quest* quests


cdef void hunt_some(Hunt* hunt, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Carry out some searches."""
    cdef Scratch scratch
    cdef Ground* g = hunt.ground
    cdef Quest* q
    cdef int tree_room
    cdef Py_ssize_t k
    for k in range(first, last):
        q = &hunt.quests[k]
        tree_room = <int>(q.ticks // g.frame_skip) + 2 * N_INPUTS
        if prepare(&scratch, g.level.state_bytes, tree_room, g.n_known, g.n_nodes):
            search(g, &scratch, q)
        else:
            q.n_steps = -1
        give_back(&scratch)


cdef class Hunter:
    """Searches on one level.

    Args:
        handle: The compiled level.
        keys: Tells its states apart.
        graph: Its `NavigationGraph`.
        columns: int (s,), where in a state the flags of switches stand.
        initial: uint8 (s,), what they are at first.
        frame_skip: Ticks of a step.
    """

    cdef Ground ground
    cdef object arrays
    cdef object held
    cdef object known
    cdef list distances

    def __init__(self, LevelHandle handle not None, StateKeys keys not None, graph, columns, initial, int frame_skip):
        columns = np.ascontiguousarray(columns, np.int32)
        initial = np.ascontiguousarray(initial, np.uint8)
        self.arrays = (handle, keys, graph, columns, initial, graph.nearest_node, graph.split_half, graph.split_node)
        self.ground.level = &handle.level
        self.ground.rule = &keys.rule
        self.ground.frame_skip = frame_skip
        self.ground.n_switches = len(columns)
        self.ground.columns = <int*><size_t>address_of(columns)
        self.ground.initial = <unsigned char*><size_t>address_of(initial)
        self.ground.nodes.n_split = len(graph.split_half)
        self.ground.nodes.nearest = <unsigned short*><size_t>address_of(graph.nearest_node)
        self.ground.nodes.split_half = <unsigned short*><size_t>address_of(graph.split_half)
        self.ground.nodes.split_node = <unsigned short*><size_t>address_of(graph.split_node)
        self.ground.node_count = graph.node_count
        self.distances = []
        self.known = np.zeros(MOST_CONFIGURATIONS, np.int64)
        self.set_branches(np.zeros(0, np.uint64), np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(1, np.uint8))

    def add_table(self, long long configuration, table) -> None:
        """Let searches know the distances (nodes + 1,) of a configuration; the first one stands for unknown ones."""
        if len(self.distances) < MOST_CONFIGURATIONS and configuration not in self.known[: len(self.distances)]:
            self.known[len(self.distances)] = configuration
            self.distances.append(np.ascontiguousarray(table, np.float32))

    def configurations(self):
        """The configurations whose distances are known, in the order in which they came; a fresh int64 array."""
        return self.known[: len(self.distances)].copy()

    def set_branches(self, keys, first_step, left, steps) -> None:
        """Let searches know branches that win.

        Args:
            keys: uint64 (n,), of the states at all places on branches; of equal ones the first counts.
            first_step: int (n,), where in `steps` the rest of the branch begins.
            left: int (n,), how many steps that rest has.
            steps: uint8, the steps of all branches.
        """
        size = 16
        while size < 2 * len(keys) + 2:
            size *= 2
        table_keys, table_nodes = np.zeros(size, np.uint64), np.full(size, -1, np.int32)
        first_step, left = np.ascontiguousarray(first_step, np.int32), np.ascontiguousarray(left, np.int32)
        steps = np.ascontiguousarray(steps, np.uint8)
        cdef unsigned long long[::1] place_keys = table_keys
        cdef int[::1] place_nodes = table_nodes
        cdef const unsigned long long[::1] given = np.ascontiguousarray(keys, np.uint64)
        cdef unsigned int mask = size - 1
        cdef unsigned int k
        cdef int i
        for i in range(given.shape[0]):
            k = given[i] & mask
            while place_nodes[k] >= 0 and place_keys[k] != given[i]:
                k = (k + 1) & mask
            if place_nodes[k] < 0:
                place_keys[k], place_nodes[k] = given[i], i
        self.held = (table_keys, table_nodes, first_step, left, steps)
        self.ground.branch_mask = mask
        self.ground.branch_keys = <unsigned long long*><size_t>address_of(table_keys)
        self.ground.branch_nodes = <int*><size_t>address_of(table_nodes)
        self.ground.n_nodes = len(keys)
        self.ground.first_step = <int*><size_t>address_of(first_step)
        self.ground.left = <int*><size_t>address_of(left)
        self.ground.steps = <unsigned char*><size_t>address_of(steps)

    def run(self, states, ticks, ThreadPool pool not None) -> tuple:
        """Search from states for steps that win.

        Args:
            states: uint8 (n, state_bytes), valid states that have not ended.
            ticks: int64 (n,), what each may use, at most MOST_TICKS.
            pool: Threads; the result does not depend on their number.

        Returns:
            For each state its steps, a fresh uint8 array, or None; the ticks that all of them used; the configurations
            that some of them missed, sorted.
        """
        cdef const unsigned char[:, ::1] rows = np.ascontiguousarray(states)
        cdef const long long[::1] allowed = np.ascontiguousarray(ticks, np.int64)
        cdef Py_ssize_t count = rows.shape[0]
        cdef Py_ssize_t i
        cdef Hunt hunt
        if count and not 0 <= min(allowed) <= max(allowed) <= MOST_TICKS:
            raise NppError(f"ticks are {np.asarray(allowed)}; each must be 0 to {MOST_TICKS}")
        if rows.shape[1] != self.ground.level.state_bytes or allowed.shape[0] != count or not self.distances:
            raise NppError(f"states of {rows.shape[1]} bytes, {allowed.shape[0]} budgets, {len(self.distances)} tables")
        pointers = np.array([address_of(table) for table in self.distances], np.uintp)
        self.ground.n_known = len(self.distances)
        self.ground.known = <long long*><size_t>address_of(self.known)
        self.ground.tables = <float**><size_t>address_of(pointers)
        hunt.ground = &self.ground
        hunt.quests = <Quest*>calloc(count + 1, sizeof(Quest))
        if hunt.quests == NULL:
            raise MemoryError
        try:
            for i in range(count):
                hunt.quests[i].start = <unsigned char*>&rows[i, 0]
                hunt.quests[i].ticks = allowed[i]
            pool.run(<Work>hunt_some, &hunt, count)
            return collect(hunt.quests, count)
        finally:
            for i in range(count):
                free(hunt.quests[i].found)
            free(hunt.quests)


cdef tuple collect(Quest* quests, Py_ssize_t count):
    """What came of searches, as Python has it."""
    cdef Py_ssize_t i
    cdef long long spent = 0
    ways, wanted = [], set()
    for i in range(count):
        if quests[i].n_steps < 0:
            raise MemoryError
        spent += quests[i].spent
        ways.append(
            np.frombuffer(quests[i].found[: quests[i].n_steps], np.uint8).copy() if quests[i].n_steps else None
        )
        wanted.update(quests[i].wanted[k] for k in range(quests[i].n_wanted))
    return ways, spent, sorted(wanted)
