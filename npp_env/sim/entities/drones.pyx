"""Zap and mini drones: from goal to goal, turning by mode (physics 6.7)."""

from libc.math cimport sqrt
from npp_env.sim.entities.passes cimport Pose, kinds, touch_to_kill
from npp_env.sim.grid cimport col_free, relist, row_free
from npp_env.sim.layout cimport MINI_DRONE, ZAP_DRONE, Entity, Mover, World, ifloor, mover_of
from npp_env.sim.validity cimport Check, expect

# The turns that a mode tries, in quarters clockwise.
cdef int[4][4] TURNS = [[1, 0, 3, 2], [3, 0, 1, 2], [0, 1, 3, 2], [0, 3, 1, 2]]
# Half cells that a step leads over, with one to spare for rounding.
cdef int MOST_HALVES = 3


cdef int direction_x(int direction) noexcept nogil:
    """Horizontal part of directions 0..3: right, down, left, up."""
    return (direction == 0) - (direction == 2)


cdef int direction_y(int direction) noexcept nogil:
    """Vertical part of directions 0..3."""
    return direction_x((direction + 3) % 4)


cdef void place_drone(World* w, Entity* e) noexcept nogil:
    """Its first goal is its own place."""
    cdef Mover* b = mover_of(w, e)
    b.goal_x = b.x
    b.goal_y = b.y
    b.direction = e.orientation // 2


cdef bint can_go(World* w, Mover* b, int direction, double radius, double step) noexcept nogil:
    """Whether the way to the next goal is free; if so the goal and the direction are stored."""
    cdef int ux = direction_x(direction)
    cdef int uy = direction_y(direction)
    cdef double goal_x = b.x + step * ux
    cdef double goal_y = b.y + step * uy
    cdef int run = ux + uy
    cdef double across = b.y if ux != 0 else b.x
    cdef int low = ifloor((across - radius) / 12)
    cdef int high = ifloor((across + radius) / 12)
    cdef int i = ifloor(((b.x if ux != 0 else b.y) + run * radius) / 12)
    cdef int end = ifloor(((goal_x if ux != 0 else goal_y) + run * radius) / 12)
    cdef int _half
    for _half in range(MOST_HALVES):
        if i == end:
            break
        if not (col_free(w, i, low, high, run) if ux != 0 else row_free(w, low, high, i, run)):
            return False
        i += run
    b.goal_x = goal_x
    b.goal_y = goal_y
    b.direction = direction
    return True


cdef int first_turn(int mode) noexcept nogil:
    """The turn that a mode tries first."""
    return TURNS[mode][0]


cdef bint turn_by_mode(World* w, Entity* e, double step) noexcept nogil:
    """Choose the first way that is free, in the order of its mode; answers whether there is one."""
    cdef Mover* b = mover_of(w, e)
    cdef int old = b.direction
    cdef int k
    for k in range(4):
        if can_go(w, b, (old + TURNS[e.mode][k]) % 4, kinds[e.kind].radius, step):
            return True
    return False


cdef double reach_goal(Mover* b, double speed) noexcept nogil:
    """Fly on by the speed, or go to the goal if that is nearer; answers how far that was, or -1 if it flies on."""
    cdef int ux = direction_x(b.direction)
    cdef int uy = direction_y(b.direction)
    cdef double dx = b.goal_x - b.x
    cdef double dy = b.goal_y - b.y
    cdef double square = dx * dx + dy * dy
    cdef bint over = dx * (b.goal_x - (b.x + speed * ux)) + dy * (b.goal_y - (b.y + speed * uy)) < 0
    cdef double d
    if over or square < 0.00000001:
        d = sqrt(square)
        over = over or d < 0.000001
    if over:
        b.x = b.goal_x
        b.y = b.goal_y
        return d
    b.x += speed * ux
    b.y += speed * uy
    return -1.0


cdef void go_on(Mover* b, double rest) noexcept nogil:
    """Use what is left of a tick's way after a goal."""
    b.x += rest * direction_x(b.direction)
    b.y += rest * direction_y(b.direction)


cdef bint fly(World* w, Entity* e, double step) noexcept nogil:
    """Fly on, or choose a new direction at the goal; answers whether its cell is looked at: it is not at a goal."""
    cdef Mover* b = mover_of(w, e)
    cdef double speed = kinds[e.kind].speed
    cdef double d = reach_goal(b, speed)
    if d >= 0 and turn_by_mode(w, e, step):
        go_on(b, speed - d)
    return d < 0


cdef void advance_drone(World* w, Entity* e) noexcept nogil:
    """Fly by the steps of its kind."""
    if fly(w, e, MINI_STEP_PX if e.kind == MINI_DRONE else STEP_PX):
        relist(w, mover_of(w, e))


cdef void pose_drone(World* w, Entity* e, Pose* pose) noexcept nogil:
    """Its direction, its speed in it, and the mode that says how it turns."""
    cdef Mover* b = mover_of(w, e)
    pose.nx = direction_x(b.direction)
    pose.ny = direction_y(b.direction)
    pose.vx = pose.nx * kinds[e.kind].speed
    pose.vy = pose.ny * kinds[e.kind].speed
    pose.mode = e.mode / 3.0


cdef void check_drone(World* w, Entity* e, Check* check) noexcept nogil:
    """One of four directions; its goal is near, but that is no matter."""
    cdef Mover* b = mover_of(w, e)
    expect(check, b"phase", b.phase, 0, 0)
    expect(check, b"direction", b.direction, 0, 3)


cdef int drone
for drone in (ZAP_DRONE, MINI_DRONE):
    kinds[drone].place = place_drone
    kinds[drone].advance = advance_drone
    kinds[drone].touch = touch_to_kill
    kinds[drone].pose = pose_drone
    kinds[drone].check = check_drone
