# C layout of a compiled level and of a state, and the numbers in them; structs.py holds the same for Python.

cdef enum NinjaState:
    STANDING = 0
    RUNNING = 1
    SKIDDING = 2
    RISING = 3
    FALLING = 4
    SLIDING = 5
    DEAD = 6
    DOOMED = 7
    CELEBRATING = 8
    OFF = 9

# Kinds of entities; nameless, so that they can be indices.
cdef enum:
    NINJA = 0
    MINE = 1
    GOLD = 2
    EXIT = 3
    EXIT_SWITCH = 4
    DOOR = 5
    LOCKED_DOOR = 6
    LOCKED_DOOR_SWITCH = 7
    TRAP_DOOR = 8
    TRAP_DOOR_SWITCH = 9
    LAUNCH_PAD = 10
    ONE_WAY = 11
    CHAINGUN_DRONE = 12
    LASER_DRONE = 13
    ZAP_DRONE = 14
    CHASER_DRONE = 15
    FLOOR_GUARD = 16
    BOUNCE_BLOCK = 17
    ROCKET_TURRET = 18
    GAUSS_TURRET = 19
    THWUMP = 20
    TOGGLE_MINE = 21
    EVIL_NINJA = 22
    LASER_TURRET = 23
    BOOST_PAD = 24
    DEATH_BALL = 25
    MINI_DRONE = 26
    UNUSED_27 = 27
    SHOVE_THWUMP = 28

cdef enum:
    COLUMNS = 44
    ROWS = 25
    EDGE_COLUMNS = 89
    EDGE_ROWS = 51
    HALF_COLUMNS = 88
    HALF_ROWS = 50

cdef enum WallKind:
    WALL_HORIZONTAL = 0
    WALL_VERTICAL = 1
    WALL_SLANTED = 2
    WALL_CONVEX = 3
    WALL_CONCAVE = 4

cdef enum MineMode:
    MINE_ARMED = 0
    MINE_IDLE = 1
    MINE_ARMING = 2

cdef enum DoorFlag:
    DOOR_OPEN = 1
    DOOR_TAKEN = 2
    DOOR_TICK = 2

cdef enum NearBit:
    NEAR_TOUCHABLE = 1
    NEAR_PUSHING = 2
    NEAR_MINE = 4

cdef enum EdgeBit:
    EDGE_TILE_MASK = 3
    EDGE_HAS_DOOR = 4

cdef enum EdgeValue:
    EDGE_SOLID = 2

cdef enum ThwumpPhase:
    THWUMP_RETURNING = -1
    THWUMP_RESTING = 0
    THWUMP_CHARGING = 1

cdef enum ShovePhase:
    SHOVE_RESTING = 0
    SHOVE_TRIGGERED = 1
    SHOVE_LAUNCHED = 2
    SHOVE_RETURNING = 3

cdef enum InputBit:
    INPUT_JUMP = 1
    INPUT_RIGHT = 2
    INPUT_LEFT = 4

cdef enum Orientation:
    FACING_RIGHT = 0
    FACING_DOWN = 2
    FACING_LEFT = 4
    FACING_UP = 6

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

cdef extern from *:
    """
    /* Every family gives the numbers of its movers names of its own. */
    typedef struct {
        double x, y;
        union { double vx, goal_x, beam, way_x; };
        union { double vy, goal_y, normal, way_y; };
        int stamp;
        short cell;
        union { signed char phase, run, sense; };
        union { signed char direction, fresh, on_wall; };
    } NppMover;
    """
    ctypedef struct Mover "NppMover":
        double x, y
        double vx, vy           # velocity of a bounce block or death ball
        double goal_x, goal_y   # of a drone
        double beam, normal     # angles of a laser: of its beam, and of its wall
        double way_x, way_y     # direction in which a shove thwump was touched
        int stamp
        short cell
        signed char phase       # of a thwump or shove thwump
        signed char run         # of a floor guard: -1, 0 or 1
        signed char sense       # of a laser: 1 clockwise, -1 anticlockwise
        signed char direction   # of a drone: 0 to 3
        signed char fresh       # whether a shove thwump was touched in this tick
        signed char on_wall     # whether a laser crawls along a wall

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

cdef struct WallPoint:
    double x, y
    int side    # +1 if the wall shows its front, -1 if its back, 0 if there is no wall
    int wall    # its index

cdef inline Mover* mover_of(World* w, Entity* e) noexcept nogil:
    return &w.movers[e.slot]

cdef inline int ifloor(double z) noexcept nogil:
    cdef int i = <int>z
    if z < i:
        i -= 1
    return i

cdef inline int column_of(double x) noexcept nogil:
    cdef int i = ifloor(x / 24)
    if i < 0:
        return 0
    if i >= COLUMNS:
        return COLUMNS - 1
    return i

cdef inline int row_of(double y) noexcept nogil:
    cdef int i = ifloor(y / 24)
    if i < 0:
        return 0
    if i >= ROWS:
        return ROWS - 1
    return i

cdef inline int cell_of(double x, double y) noexcept nogil:
    return column_of(x) * ROWS + row_of(y)

cdef extern from *:
    """
    #define NPP_G_FALL 0x1.1111111111110p-4
    static const double npp_eighths[8] = {
        1.0, 0.7071067811865476, 0.0, -0.7071067811865476, -1.0, -0.7071067811865476, 0.0, 0.7071067811865476
    };
    """
    const double G_FALL "NPP_G_FALL"
    const double[8] EIGHTHS "npp_eighths"

# The unit vector of an orientation 0..7, clockwise from right.
cdef inline double eighth_x(int orientation) noexcept nogil:
    return EIGHTHS[orientation & 7]

cdef inline double eighth_y(int orientation) noexcept nogil:
    return EIGHTHS[(orientation + 6) & 7]

cdef inline bint is_horizontal(int orientation) noexcept nogil:
    return orientation == FACING_RIGHT or orientation == FACING_LEFT
