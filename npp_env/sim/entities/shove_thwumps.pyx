"""Shove thwumps: launched when the ninja lets go of them (physics 6.13)."""

from libc.math cimport fabs
from npp_env.sim.body cimport kill, touches
from npp_env.sim.contact cimport Push, count_crush, inside_square, shove_ninja
from npp_env.sim.entities.passes cimport Pose, kinds
from npp_env.sim.grid cimport col_free, relist, row_free
from npp_env.sim.layout cimport (
    SHOVE_LAUNCHED, SHOVE_RESTING, SHOVE_RETURNING, SHOVE_THWUMP, SHOVE_TRIGGERED, Entity, Mover, World, ifloor,
    mover_of,
)
from npp_env.sim.validity cimport Check, expect

cdef int CORE_RADIUS = 8
cdef int LAUNCH_STEP = 4
cdef int RETURN_STEP = 1


cdef void move(World* w, Mover* b, int sign, int length) noexcept nogil:
    """Along (or against) the direction of the touch, or turned back at an obstacle."""
    cdef int step, i
    cdef double new
    if b.way_y == 0:
        step = sign * <int>b.way_x
        new = b.x + step * length
        i = ifloor(b.x / 12)
        if i != ifloor(new / 12) and not col_free(
            w, i, ifloor((b.y - CORE_RADIUS) / 12), ifloor((b.y + CORE_RADIUS) / 12), step
        ):
            b.phase = SHOVE_RETURNING
            return
        b.x = new
    else:
        step = sign * <int>b.way_y
        new = b.y + step * length
        i = ifloor(b.y / 12)
        if i != ifloor(new / 12) and not row_free(
            w, ifloor((b.x - CORE_RADIUS) / 12), ifloor((b.x + CORE_RADIUS) / 12), i, step
        ):
            b.phase = SHOVE_RETURNING
            return
        b.y = new
    relist(w, b)


cdef void react_shove(World* w, Entity* e) noexcept nogil:
    """Launched when the ninja has left it, then back to its origin."""
    cdef Mover* b = mover_of(w, e)
    if b.phase == SHOVE_TRIGGERED:
        if b.fresh:
            b.fresh = False
            return
        b.phase = SHOVE_LAUNCHED
    if b.phase == SHOVE_RETURNING:
        if fabs(b.x - e.x0) + fabs(b.y - e.y0) >= 1:
            move(w, b, 1, RETURN_STEP)
        else:
            b.x = e.x0
            b.y = e.y0
            b.phase = SHOVE_RESTING
    elif b.phase == SHOVE_LAUNCHED:
        move(w, b, -1, LAUNCH_STEP)


cdef inline bint on_touched_side(Mover* b, Push* push) noexcept nogil:
    """Whether the ninja is at the side from which it was triggered."""
    return b.way_x * push.nx + b.way_y * push.ny >= 0.01


cdef bint push_from_shove(World* w, Entity* e) noexcept nogil:
    """A wall until it flies; when triggered, only on the side of the touch."""
    cdef Mover* b = mover_of(w, e)
    cdef Push push
    if b.phase > SHOVE_TRIGGERED or not inside_square(w, b.x, b.y, 22, &push):
        return False
    if b.phase == SHOVE_TRIGGERED and not on_touched_side(b, &push):
        return False
    shove_ninja(w, push.nx, push.ny, push.depth)
    count_crush(w, push.nx * push.depth, push.ny * push.depth, push.depth)
    return True


cdef double touch_shove(World* w, Entity* e) noexcept nogil:
    """Triggered by contact, lethal at its core once it flies."""
    cdef Mover* b = mover_of(w, e)
    cdef Push push
    cdef bint inside = inside_square(w, b.x, b.y, 22.1, &push)
    if inside and b.phase == SHOVE_RESTING:
        b.fresh = True
        if push.other > 0.2:
            b.way_x = push.nx
            b.way_y = push.ny
            b.phase = SHOVE_TRIGGERED
        return push.nx
    if inside and b.phase == SHOVE_TRIGGERED:
        if on_touched_side(b, &push):
            b.fresh = True
            return push.nx
        return 0.0
    if touches(w, b.x, b.y, CORE_RADIUS):
        kill(w)
    return 0.0


cdef void pose_shove(World* w, Entity* e, Pose* pose) noexcept nogil:
    """The side of the touch, and how far the cycle of phases has come."""
    cdef Mover* b = mover_of(w, e)
    pose.nx = b.way_x
    pose.ny = b.way_y
    pose.mode = b.phase / 3.0
    if b.phase == SHOVE_LAUNCHED:
        pose.vx = -LAUNCH_STEP * pose.nx
        pose.vy = -LAUNCH_STEP * pose.ny
    elif b.phase == SHOVE_RETURNING:
        pose.vx = RETURN_STEP * pose.nx
        pose.vy = RETURN_STEP * pose.ny


cdef void check_shove(World* w, Entity* e, Check* check) noexcept nogil:
    """One of four phases; after the first touch the side of it, one of four."""
    cdef Mover* b = mover_of(w, e)
    cdef double length = fabs(b.way_x) + fabs(b.way_y)
    expect(check, b"phase", b.phase, <int>SHOVE_RESTING, <int>SHOVE_RETURNING)
    expect(check, b"fresh", b.fresh, 0, 1)
    expect(check, b"product of way_x and way_y", b.way_x * b.way_y, 0, 0)
    expect(check, b"length of the way", length, 0 if b.phase == SHOVE_RESTING and length == 0 else 1, 1)


kinds[SHOVE_THWUMP].react = react_shove
kinds[SHOVE_THWUMP].push = push_from_shove
kinds[SHOVE_THWUMP].touch = touch_shove
kinds[SHOVE_THWUMP].pose = pose_shove
kinds[SHOVE_THWUMP].check = check_shove
