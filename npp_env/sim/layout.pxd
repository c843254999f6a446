# C layout of a compiled level and of a state; structs.py holds the same as numpy dtypes and Python classes.

cdef struct Ninja:
    double x, y, vx, vy
    double g, drag
    double wn
    double fnx, fny
    double cnx, cny
    double pnx, pny
    double fraction
    int frame
    int gold
    int stamp
    int arming
    signed char state
    signed char air
    signed char walled
    signed char h
    signed char jump_prev
    signed char hold
    signed char b_jump
    signed char b_floor
    signed char b_wall
    signed char b_pad
    signed char switches
    signed char reserved0
    int reserved1

cdef struct Mover:
    double x, y
    double u, v
    int stamp
    short cell
    signed char phase
    signed char turn

cdef struct Wall:
    float x1, y1, x2, y2
    short door
    signed char kind
    signed char reserved

cdef struct Entity:
    float x, y
    float x0, y0
    short slot
    short link
    unsigned char kind
    unsigned char orientation
    unsigned char mode
    unsigned char reserved

cdef struct Door:
    short edge_a
    short edge_b
    short flag
    signed char vertical
    signed char switched

cdef struct Level:
    int n_entities
    int n_movers
    int n_flags
    int n_doors
    int n_advance
    int n_react
    int n_mines
    int n_balls
    int ball_count
    int state_bytes
    unsigned short* wall_start
    Wall* walls
    unsigned short* listed_start
    unsigned short* listed
    unsigned char* near
    unsigned char* edges_h
    unsigned char* edges_v
    Door* doors
    Entity* entities
    unsigned short* mover_entity
    unsigned short* advance_order
    unsigned short* react_order
    unsigned short* mines
    unsigned short* balls
    unsigned char* solid
    unsigned char* initial
    unsigned char* digest

cdef struct World:
    Level* level
    Ninja* ninja
    Mover* movers
    unsigned char* flags
    unsigned short* candidates
    int n_candidates
    int candidates_cell
    int jump
    # scratch of the ninja pass
    double xo, yo, vxo, vyo
    double ceiling_x, ceiling_y
    double floor_x, floor_y
    int n_ceiling, n_floor
    double crush_x, crush_y, crush_length
    int crushable
    int was_air
    # results of the geometric queries
    double a, b
    int back
    int on_door
    double nx, ny, depth, other

cdef inline int ifloor(double z) noexcept nogil:
    cdef int i = <int>z
    if z < i:
        i -= 1
    return i

cdef inline int column_of(double x) noexcept nogil:
    cdef int i = ifloor(x / 24)
    if i < 0:
        return 0
    if i > 43:
        return 43
    return i

cdef inline int row_of(double y) noexcept nogil:
    cdef int i = ifloor(y / 24)
    if i < 0:
        return 0
    if i > 24:
        return 24
    return i

cdef extern from *:
    """
    #define NPP_G_FALL 0x1.1111111111110p-4
    """
    const double G_FALL "NPP_G_FALL"

cdef inline double eighth_x(int orientation) noexcept nogil:
    if orientation == 2 or orientation == 6:
        return 0.0
    if orientation == 0:
        return 1.0
    if orientation == 4:
        return -1.0
    if orientation == 1 or orientation == 7:
        return 0.7071067811865476
    return -0.7071067811865476
