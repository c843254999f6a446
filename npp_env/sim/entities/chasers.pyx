"""Chasers: zap drones that fly at twice their speed where they see the ninja straight ahead (physics 6.19)."""

from libc.math cimport fabs
from npp_env.sim.body cimport is_target
from npp_env.sim.entities.drones cimport (
    STEP_PX, can_go, direction_x, direction_y, first_turn, go_on, place_drone, pose_drone, reach_goal, turn_by_mode,
)
from npp_env.sim.entities.passes cimport Pose, kinds, touch_to_kill
from npp_env.sim.grid cimport relist, way_free
from npp_env.sim.layout cimport CHASER_CALM, CHASER_CHASING, CHASER_DRONE, Entity, Mover, World, ifloor, mover_of
from npp_env.sim.validity cimport Check, expect

# The table has the speed of a chase.
cdef double CALM_SPEED = 8.0 / 7
# So far beside its way it still sees the ninja.
cdef double ASIDE_PX = 12.0


cdef inline double speed_of(Mover* b) noexcept nogil:
    return kinds[CHASER_DRONE].speed if b.phase == CHASER_CHASING else CALM_SPEED


cdef bint sees_ahead(World* w, Mover* b, int direction) noexcept nogil:
    """Whether the ninja is ahead in a direction, nearly in line, with nothing between them."""
    cdef double dx = w.ninja.x - b.x
    cdef double dy = w.ninja.y - b.y
    cdef int i = ifloor(b.x / 12)
    cdef int j = ifloor(b.y / 12)
    if not is_target(w):
        return False
    if direction_x(direction) == 0:
        if not (dy * direction_y(direction) > 0 and fabs(dx) <= ASIDE_PX):
            return False
        return way_free(w, j, ifloor(w.ninja.y / 12), i, True)
    if not (dx * direction_x(direction) > 0 and fabs(dy) <= ASIDE_PX):
        return False
    return way_free(w, i, ifloor(w.ninja.x / 12), j, False)


cdef bint choose(World* w, Entity* e) noexcept nogil:
    """At a goal: go on with a chase, begin one, or turn by mode; answers whether there is a way at all."""
    cdef Mover* b = mover_of(w, e)
    cdef double radius = kinds[CHASER_DRONE].radius
    cdef int base = b.direction
    cdef int turn, direction
    if b.phase == CHASER_CHASING:
        if can_go(w, b, base, radius, STEP_PX):
            return True
        b.phase = CHASER_CALM
        b.direction = (base - first_turn(e.mode) + 4) % 4
    for turn in range(3):
        direction = (base + turn + 3) % 4
        if sees_ahead(w, b, direction) and can_go(w, b, direction, radius, STEP_PX):
            b.phase = CHASER_CHASING
            return True
    return turn_by_mode(w, e, STEP_PX)


cdef void advance_chaser(World* w, Entity* e) noexcept nogil:
    """Fly on, or decide at the goal; the way that is left is that of the speed after the decision."""
    cdef Mover* b = mover_of(w, e)
    cdef double d = reach_goal(b, speed_of(b))
    if d < 0:
        relist(w, b)
    elif choose(w, e):
        go_on(b, max(0.0, speed_of(b) - d))


cdef void pose_chaser(World* w, Entity* e, Pose* pose) noexcept nogil:
    """As a drone, at its present speed; and whether it chases."""
    cdef Mover* b = mover_of(w, e)
    pose_drone(w, e, pose)
    pose.vx = pose.nx * speed_of(b)
    pose.vy = pose.ny * speed_of(b)
    pose.phase = 1.0 if b.phase == CHASER_CHASING else 0.0


cdef void check_chaser(World* w, Entity* e, Check* check) noexcept nogil:
    """One of four directions, calm or chasing."""
    cdef Mover* b = mover_of(w, e)
    expect(check, b"phase", b.phase, <int>CHASER_CALM, <int>CHASER_CHASING)
    expect(check, b"direction", b.direction, 0, 3)


kinds[CHASER_DRONE].place = place_drone
kinds[CHASER_DRONE].advance = advance_chaser
kinds[CHASER_DRONE].touch = touch_to_kill
kinds[CHASER_DRONE].pose = pose_chaser
kinds[CHASER_DRONE].check = check_chaser
