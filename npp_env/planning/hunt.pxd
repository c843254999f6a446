# A search from one state for steps that win: the best waiting state is expanded, until one wins or no ticks are left.
from npp_env.graph.node_lookup cimport NodeTable
from npp_env.planning.state_keys cimport KeyRule
from npp_env.sim.layout cimport Level

cdef enum:
    MOST_CONFIGURATIONS = 256
    MOST_WANTED = 8

# What all searches on a level share; nothing in it changes while they run.
cdef struct Ground:
    Level* level
    KeyRule* rule
    NodeTable nodes
    int frame_skip
    # Which switches are touched: where their flags stand in a state, and what these are at first.
    int n_switches
    int* columns
    unsigned char* initial
    # Distances by node, for each configuration that is known.
    int n_known
    long long* known
    float** tables
    int node_count
    # Places on branches that win, by the key of the state: an open table, and what is left of the branch from there on.
    unsigned int branch_mask
    unsigned long long* branch_keys
    int* branch_nodes
    int n_nodes
    int* first_step     # where the rest of the branch begins in `steps`
    int* left
    unsigned char* steps

# One search: what it begins with and may use, and what came of it.
cdef struct Quest:
    unsigned char* start
    long long ticks             # it may use
    long long spent
    int n_steps                 # that win; 0 if none were found, -1 if there was no memory
    unsigned char* found        # the steps, to be freed
    int n_wanted
    long long[MOST_WANTED] wanted   # configurations whose distances it missed
