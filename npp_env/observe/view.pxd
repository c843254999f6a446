# What an observation is a function of: a level, a state, and the episode's context.
from npp_env.graph.node_lookup cimport NodeTable
from npp_env.sim.layout cimport World

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
    float* switch_distance
    float* exit_distance
    float* plan_distance
    unsigned short* switch_next
    unsigned short* exit_next
    unsigned short* plan_next
    unsigned char* reachable
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
    #include <math.h>
    /* Nearest float16 of a double, ties to even; as numpy converts it. */
    static inline unsigned short npp_half(double value) {
        uint64_t bits;
        memcpy(&bits, &value, 8);
        unsigned short sign = (unsigned short)((bits >> 48) & 0x8000u);
        int exponent = (int)((bits >> 52) & 0x7ff) - 1023;
        uint64_t mantissa = bits & 0xfffffffffffffULL;
        if (exponent > 15) return (unsigned short)(sign | 0x7c00u);
        if (exponent < -14) {
            double scaled = rint(fabs(value) * 16777216.0);
            return (unsigned short)(sign | (unsigned short)scaled);
        }
        unsigned int half = ((unsigned int)(exponent + 15) << 10) | (unsigned int)(mantissa >> 42);
        uint64_t rest = mantissa & 0x3ffffffffffULL;
        if (rest > 0x20000000000ULL || (rest == 0x20000000000ULL && (half & 1u))) half += 1;
        return (unsigned short)(sign | half);
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
