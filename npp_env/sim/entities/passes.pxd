from npp_env.sim.layout cimport Entity, World
from npp_env.sim.validity cimport Check

cdef struct Pose:
    double vx, vy   # velocity
    double nx, ny   # direction that it faces
    double mode     # what it is about to do, from -1 to 1
    double radius   # present radius, or half its side
    double phase    # how far its cycle of phases has come, from 0 to 1
    double timer    # share of the phase that is left
    bint aims, shoots
    double aim_x, aim_y     # where it aims
    double shot_x, shot_y   # where the beam or bullet of this tick ends

ctypedef void (*PassRule)(World* w, Entity* e) noexcept nogil
ctypedef bint (*PushRule)(World* w, Entity* e) noexcept nogil
ctypedef double (*TouchRule)(World* w, Entity* e) noexcept nogil
ctypedef void (*PoseRule)(World* w, Entity* e, Pose* pose) noexcept nogil
ctypedef void (*CheckRule)(World* w, Entity* e, Check* check) noexcept nogil

# A row of the entity table as the kernel needs it; each family enters its rules when it is imported.
cdef struct Kind:
    PassRule place
    PassRule advance
    PassRule react
    PushRule push       # answers whether it pushed
    TouchRule touch     # answers a wall normal, or 0
    PoseRule pose
    PoseRule pose_emerged
    CheckRule check     # what its flag and movers can be, beyond what all movers have in common
    double radius
    double speed
    double reach        # the ninja's centre is nearer than this, in each axis, where it touches
    bint moves
    bint deactivates
    int active_flag
    int column
    bint emerges        # its mover becomes an entity of its own while it is listed
    int emerged_column
    double emerged_radius

cdef enum:
    KINDS = 32

cdef Kind[KINDS] kinds

# Rules that several families share.
cdef double touch_to_kill(World* w, Entity* e) noexcept nogil
cdef void pose_facing(World* w, Entity* e, Pose* pose) noexcept nogil
cdef void pose_flying(World* w, Entity* e, Pose* pose) noexcept nogil
cdef void check_flying(World* w, Entity* e, Check* check) noexcept nogil

cdef void place_entities(World* w) noexcept nogil
cdef void advance_entities(World* w) noexcept nogil
cdef void react_entities(World* w) noexcept nogil
cdef double meet_entities(World* w, bint pushing) noexcept nogil

cdef inline bint takes_part(World* w, Entity* e) noexcept nogil:
    # Whether an entity was not collected or used up.
    return not kinds[e.kind].deactivates or w.flags[e.slot] == kinds[e.kind].active_flag
