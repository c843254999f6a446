# C layout of a compiled level and of a state, and the numbers in them; structs.py holds the same for Python.

cdef enum NinjaState:
    STANDING, RUNNING, SKIDDING, RISING, FALLING, SLIDING, DEAD, DOOMED, CELEBRATING, OFF

# Kinds of entities; nameless, so that they can be indices.
cdef enum:
    NINJA, MINE, GOLD, EXIT, EXIT_SWITCH, DOOR, LOCKED_DOOR, LOCKED_DOOR_SWITCH, TRAP_DOOR, TRAP_DOOR_SWITCH
    LAUNCH_PAD, ONE_WAY, CHAINGUN_DRONE, LASER_DRONE, ZAP_DRONE, CHASER_DRONE, FLOOR_GUARD, BOUNCE_BLOCK
    ROCKET_TURRET, GAUSS_TURRET, THWUMP, TOGGLE_MINE, EVIL_NINJA, LASER_TURRET, BOOST_PAD, DEATH_BALL, MINI_DRONE
    UNUSED_27, SHOVE_THWUMP

# The most movers that can be near the ninja: as many as a map has records.
cdef enum:
    MOST_CANDIDATES = 8192

cdef enum:
    COLUMNS = 44, ROWS = 25, EDGE_COLUMNS = 89, EDGE_ROWS = 51, HALF_COLUMNS = 88, HALF_ROWS = 50
    CELL_PX = 24, HALF_PX = 12

cdef enum WallKind:
    WALL_HORIZONTAL, WALL_VERTICAL, WALL_SLANTED, WALL_CONVEX, WALL_CONCAVE

cdef enum MineMode:
    MINE_ARMED, MINE_IDLE, MINE_ARMING

cdef enum DoorFlag:
    DOOR_OPEN = 1, DOOR_TAKEN = 2, DOOR_TICK = 2

cdef enum NearBit:
    NEAR_TOUCHABLE = 1, NEAR_PUSHING = 2, NEAR_MINE = 4

cdef enum EdgeBit:
    EDGE_TILE_MASK = 3, EDGE_HAS_DOOR = 4

cdef enum:
    OUTLOOK_UNKNOWN = 0, OUTLOOK_ROWS = 46, OUTLOOK_CLEAR = 255

cdef enum EdgeValue:
    EDGE_SOLID = 2

# The first of nine bits each, one for each part of a cell: no wall can push the ninja there; the wall that is nearest
# to it shows its front; it touches no wall.
cdef enum AroundBit:
    AROUND_FREE = 1, AROUND_FRONT = 1 << 9, AROUND_UNTOUCHED = 1 << 18

# Where the upright lines of the half grid, its level lines by half column, and other walls begin among `lines`.
cdef enum:
    LINES_UPRIGHT = 0, LINES_LYING = 89, LINES_OTHER = 177

cdef enum CoverBit:
    COVER_CLEARANCE = 15, COVER_LEFT = 16, COVER_RIGHT = 32, COVER_TOP = 64, COVER_BOTTOM = 128

cdef enum ThwumpPhase:
    THWUMP_RETURNING = -1, THWUMP_RESTING = 0, THWUMP_CHARGING = 1

cdef enum ShovePhase:
    SHOVE_RESTING, SHOVE_TRIGGERED, SHOVE_LAUNCHED, SHOVE_RETURNING

cdef enum RocketPhase:
    ROCKET_IDLE, ROCKET_PREFIRE, ROCKET_HOMING

cdef enum GaussPhase:
    GAUSS_IDLE, GAUSS_TARGETING, GAUSS_PREFIRE, GAUSS_POSTFIRE

cdef enum GunPhase:
    GUN_IDLE, GUN_PREFIRE, GUN_FIRING, GUN_POSTFIRE

cdef enum ChaserPhase:
    CHASER_CALM, CHASER_CHASING

cdef enum FollowerPhase:
    FOLLOWER_ASLEEP, FOLLOWER_TOUCHED, FOLLOWER_WAITING, FOLLOWER_ACTIVE

cdef enum InputBit:
    INPUT_JUMP = 1, INPUT_RIGHT = 2, INPUT_LEFT = 4

cdef enum Orientation:
    FACING_RIGHT = 0, FACING_DOWN = 2, FACING_LEFT = 4, FACING_UP = 6

cdef struct Ninja:
    double x, y, vx, vy
    double g, drag
    double wn
    double fnx, fny
    double cnx, cny
    double pnx, pny
    double fraction
    int frame, gold, stamp, arming
    signed char state, air, walled, h, jump_prev, hold
    signed char b_jump, b_floor, b_wall, b_pad
    signed char switches, reserved
    int followers

cdef extern from *:
    """
    /* Every family gives the numbers of its movers names of its own. */
    typedef struct {
        double x, y;
        union { double vx, goal_x, beam, way_x, aim_x, number; };
        union { double vy, goal_y, normal, way_y, aim_y, starts; };
        union { int stamp, ticks; };
        short cell;
        union { signed char phase, run, sense, side; };
        union { signed char direction, fresh, on_wall, age; };
    } NppMover;
    """
    ctypedef struct Mover "NppMover":
        double x, y
        double vx, vy           # velocity of a bounce block or death ball
        double goal_x, goal_y   # of a drone
        double beam, normal     # angles of a laser: of its beam, and of its wall
        double way_x, way_y     # direction in which a shove thwump was touched, or in which a rocket flies
        double aim_x, aim_y     # aim point of a gauss turret; in the second mover of a gun drone its line of fire
        double number, starts   # of an evil ninja: which one it is, from 1, and the tick in which it becomes active
        int stamp
        int ticks               # how long the phase of a gauss turret or gun drone lasts: they are never listed
        short cell
        signed char phase       # of a thwump, shove thwump, gauss turret, gun drone, chaser or evil ninja
        signed char run         # of a floor guard: -1, 0 or 1
        signed char sense       # of a laser: 1 clockwise, -1 anticlockwise
        signed char direction   # of a drone: 0 to 3
        signed char fresh       # whether a shove thwump was touched in this tick
        signed char on_wall     # whether a laser crawls along a wall
        signed char side        # in the second mover of a chaingun drone: to which side its bullets wander, -1, 0 or 1
        signed char age         # ticks that a rocket turret has aimed, or that its rocket has gained speed

cdef struct Place:
    double x, y

cdef struct Wall:
    float x1, y1, x2, y2
    short door
    signed char kind, reserved

cdef struct Entity:
    float x, y
    float x0, y0
    short slot, link
    unsigned char kind, orientation, mode, outlook

cdef struct Door:
    short edge_a, edge_b, flag
    signed char vertical, switched

cdef struct Level:
    int n_entities, n_movers, n_doors, n_advance, n_react, n_mines, n_balls, n_cover, ball_count, n_flags, state_bytes
    int history_ticks   # how many of its last places a state keeps of the ninja
    int history_start   # where they begin in a state
    unsigned short* wall_start
    Wall* walls
    unsigned short* listed_start
    unsigned short* listed
    unsigned char* near
    unsigned int* around
    unsigned long long* lines
    unsigned char* edges_h
    unsigned char* edges_v
    Door* doors
    Entity* entities
    unsigned short* mover_entity
    unsigned short* advance_order
    unsigned short* react_order
    unsigned short* mines
    unsigned short* balls
    unsigned char* cover
    unsigned char* outlooks
    unsigned char* solid
    unsigned char* initial
    unsigned char* digest

cdef struct World:
    Level* level
    Ninja* ninja
    Mover* movers
    unsigned char* flags
    Place* history      # by tick modulo their number
    unsigned short* candidates
    int n_candidates
    int candidates_cell
    int watched_cell    # where shooters look for the ninja in this tick; -1 outside the map
    int jump
    # scratch of the ninja pass
    double xo, yo, vxo, vyo
    double ceiling_x, ceiling_y
    double floor_x, floor_y
    int n_ceiling, n_floor
    double crush_x, crush_y, crush_length
    int crushable
    int was_air
    bint settled                # whether no wall pushes at the place that follows
    double settled_x, settled_y

cdef struct WallPoint:
    double x, y
    int side    # +1 if the wall shows its front, -1 if its back, 0 if there is no wall
    int wall    # its index

# What a check of a state found, and what its rules count for the comparison with the ninja's own counts.
cdef struct Check:
    const char* field       # the first number that is wrong; NULL while there is none
    double value, low, high
    int entity              # whose number it is; -1 for the ninja
    int gold, switches, arming, followers

cdef inline Mover* mover_of(World* w, Entity* e) noexcept nogil:
    return &w.movers[e.slot]

cdef inline int ifloor(double z) noexcept nogil:
    cdef int i = <int>z
    if z < i:
        i -= 1
    return i

cdef inline int cell_along(double z, int cells) noexcept nogil:
    # The floor of z / 24, clamped to the map: no quotient rounds up to a whole number, so that of whole pixels will do.
    if not z >= 24:
        return 0
    if z >= 24 * cells:
        return cells - 1
    return <int>z // 24

cdef inline int column_of(double x) noexcept nogil:
    return cell_along(x, COLUMNS)

cdef inline int row_of(double y) noexcept nogil:
    return cell_along(y, ROWS)

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

cdef inline bint is_over(Ninja* ninja) noexcept nogil:
    # Won or dead: no input counts any more.
    return ninja.state == DEAD or ninja.state == CELEBRATING
