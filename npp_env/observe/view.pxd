# What an observation is a function of: a level, a state, and the episode's context.
from npp_env.graph.node_lookup cimport NodeTable
from npp_env.sim.layout cimport World

# Where ways lead: to the switch, to the exit, and over the switch to the exit.
cdef enum:
    TO_SWITCH, TO_EXIT, TO_END

# What a step reads of a node, side by side in memory; `npp_env.graph.layout.NODE_WAYS` for Python.
cdef struct NodeWays:
    float distance[3]           # path length to each goal, infinite if there is no way
    unsigned short following[3]  # the node after it on the way there
    unsigned short x, y
    unsigned char reachable, blocked

cdef struct Paths:
    unsigned long long serial   # of these distances, never used twice
    unsigned long long graph    # the same for all distances in one level
    int n_nodes
    int n_edges
    int n_places                # different coordinates of nodes; 0 if there are too many to number
    float* place_x
    float* place_y
    unsigned char* place_of_x
    unsigned char* place_of_y
    NodeTable table
    float* node_x
    float* node_y
    unsigned char* node_kind
    unsigned int* edge_start
    unsigned short* edge_target
    unsigned char* edge_kind
    NodeWays* ways
    double spawn_distance
    double reachable_share

# `npp_env.observe.spec.Capacity`, filled by field name.
cdef struct Capacity:
    int max_entities
    int max_nodes
    int max_edges

# What the graph arrays of an output row hold already, if nobody else writes to them.
cdef struct Held:
    unsigned long long serial   # of the paths
    unsigned long long graph
    int nodes, edges            # how many; zeros behind them
    int here                    # the node that is marked
    int taken                   # whether the exit switch was

cdef struct View:
    World world
    Held* held                  # NULL if that is not known
    Paths* paths
    unsigned char* background
    Capacity* capacity
    int limit_frames
    int gold_total
    int node                    # that stands for the ninja's position; negative until someone asked
    double objective            # path length to the end; negative until someone asked

cdef inline void look_anew(View* view) noexcept nogil:
    # Forget what is known of the state before.
    view.held = NULL
    view.node = -1
    view.objective = -1

# Writers of numbers of two bytes and of one; the `WRITERS` of a module name theirs by key, with `halves` or `octets`.
ctypedef void (*HalvesWriter)(View* view, unsigned short* out) noexcept nogil
ctypedef void (*OctetsWriter)(View* view, unsigned char* out) noexcept nogil

cdef inline tuple halves(HalvesWriter writer):
    return 2, <size_t>writer

cdef inline tuple octets(OctetsWriter writer):
    return 1, <size_t>writer

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    /* Nearest float16 of a double, ties to even; as numpy converts it. Added to a power of two of the right size, the
       bits of the value that a float16 has come to lie at the end of the sum, rounded by the addition. */
    static inline unsigned short npp_half(double value) {
        uint64_t bits, magnitude, exponent, power, sum;
        double positive, large, both;
        memcpy(&bits, &value, 8);
        magnitude = bits & 0x7fffffffffffffffULL;
        unsigned short sign = (unsigned short)((bits >> 48) & 0x8000u);
        if (magnitude >= 0x40f0000000000000ULL) return (unsigned short)(sign | 0x7c00u);
        exponent = magnitude >> 52;
        exponent = exponent > 1009 ? exponent : 1009;
        power = (exponent + 42) << 52;
        memcpy(&positive, &magnitude, 8);
        memcpy(&large, &power, 8);
        both = positive + large;
        memcpy(&sum, &both, 8);
        return (unsigned short)(sign | (((exponent - 1009) << 10) + (sum - power)));
    }
    """
    unsigned short half "npp_half"(double value) noexcept nogil

cdef inline double unit(double z) noexcept nogil:
    # Cut to [-1, 1].
    if z < -1:
        return -1.0
    if z > 1:
        return 1.0
    return z
