"""Thwumps: they charge at a ninja in their lane and return (physics 6.10)."""

from libc.math cimport fabs
from npp_env.sim.body cimport is_target, kill, segment_hits
from npp_env.sim.contact cimport Push, count_crush, inside_square, shove_ninja
from npp_env.sim.entities.passes cimport Pose, kinds
from npp_env.sim.grid cimport col_free, relist, row_free
from npp_env.sim.layout cimport (
    FACING_DOWN, FACING_RIGHT, THWUMP, THWUMP_CHARGING, THWUMP_RESTING, THWUMP_RETURNING, Entity, Mover, World,
    ifloor, is_horizontal, mover_of,
)
from npp_env.sim.validity cimport Check, expect, expect_unused

cdef double RETURN_SPEED = 8.0 / 7.0
cdef int EDGE_PX = 11
cdef int LANE_PX = 38
cdef int SIGHT_STEPS = 100


cdef inline int charge_sign(Entity* e) noexcept nogil:
    """Sign of the charge along its axis."""
    return 1 if e.orientation == FACING_RIGHT or e.orientation == FACING_DOWN else -1


cdef inline bint is_free(World* w, bint horizontal, int i, double cross, int step) noexcept nogil:
    """Whether it may leave half cell i of its moving axis."""
    cdef int low = ifloor((cross - EDGE_PX) / 12)
    cdef int high = ifloor((cross + EDGE_PX) / 12)
    if horizontal:
        return col_free(w, i, low, high, step)
    return row_free(w, low, high, i, step)


cdef void advance_thwump(World* w, Entity* e) noexcept nogil:
    """Charge until blocked, then return to the origin."""
    cdef Mover* b = mover_of(w, e)
    if b.phase == THWUMP_RESTING:
        return
    cdef bint horizontal = is_horizontal(e.orientation)
    cdef double* z = &b.x if horizontal else &b.y
    cdef double cross = b.y if horizontal else b.x
    cdef double origin = e.x0 if horizontal else e.y0
    cdef double speed = kinds[THWUMP].speed if b.phase == THWUMP_CHARGING else RETURN_SPEED
    cdef int step = charge_sign(e) * b.phase
    cdef double new = z[0] + speed * step
    if b.phase == THWUMP_RETURNING and (new - origin) * (z[0] - origin) < 0:
        b.phase = THWUMP_RESTING
        z[0] = origin
        return
    cdef int i = ifloor((z[0] + step * EDGE_PX) / 12)
    if i != ifloor((new + step * EDGE_PX) / 12) and not is_free(w, horizontal, i, cross, step):
        b.phase = THWUMP_RETURNING
        return
    z[0] = new
    relist(w, b)


cdef void react_thwump(World* w, Entity* e) noexcept nogil:
    """Charge when the ninja is in its lane, in front of the first obstacle."""
    cdef Mover* b = mover_of(w, e)
    if b.phase != THWUMP_RESTING or not is_target(w):
        return
    cdef bint horizontal = is_horizontal(e.orientation)
    cdef int q = charge_sign(e)
    cdef double z = b.x if horizontal else b.y
    cdef double cross = b.y if horizontal else b.x
    cdef double z_ninja = w.ninja.x if horizontal else w.ninja.y
    cdef double cross_ninja = w.ninja.y if horizontal else w.ninja.x
    if not fabs(cross - cross_ninja) < LANE_PX:
        return
    cdef int target = ifloor(z_ninja / 12)
    cdef int i = ifloor((z - q * EDGE_PX) / 12)
    cdef int delta = target - i
    cdef int steps = 0
    if delta * q < 0:
        return
    while steps < SIGHT_STEPS:
        if not is_free(w, horizontal, i, cross, q):
            delta = target - i
            break
        i += q
        steps += 1
    if steps > 0 and delta * q <= 0:
        b.phase = THWUMP_CHARGING


cdef bint push_from_thwump(World* w, Entity* e) noexcept nogil:
    """A moving wall, which may crush."""
    cdef Mover* b = mover_of(w, e)
    cdef Push push
    if not inside_square(w, b.x, b.y, 19, &push):
        return False
    shove_ninja(w, push.nx, push.ny, push.depth)
    count_crush(w, push.nx * push.depth, push.ny * push.depth, push.depth)
    w.crushable = True
    return True


cdef double touch_thwump(World* w, Entity* e) noexcept nogil:
    """A wall on all sides, lethal in front."""
    cdef Mover* b = mover_of(w, e)
    cdef double reach = EDGE_PX * charge_sign(e)
    cdef Push push
    cdef bint hit
    if not is_target(w) or not inside_square(w, b.x, b.y, 19.1, &push):
        return 0.0
    if is_horizontal(e.orientation):
        hit = segment_hits(w, b.x + reach, b.y - 7, b.x + reach, b.y + 7, 12)
    else:
        hit = segment_hits(w, b.x - 7, b.y + reach, b.x + 7, b.y + reach, 12)
    if hit:
        kill(w)
    return push.nx


cdef void pose_thwump(World* w, Entity* e, Pose* pose) noexcept nogil:
    """Its lethal side; charging 1, returning -1."""
    cdef int phase = mover_of(w, e).phase
    cdef double speed = phase * (kinds[THWUMP].speed if phase > 0 else RETURN_SPEED)
    pose.mode = phase
    if is_horizontal(e.orientation):
        pose.nx = charge_sign(e)
    else:
        pose.ny = charge_sign(e)
    pose.vx = pose.nx * speed
    pose.vy = pose.ny * speed


cdef void check_thwump(World* w, Entity* e, Check* check) noexcept nogil:
    """Resting, or on its way along its axis."""
    cdef Mover* b = mover_of(w, e)
    if is_horizontal(e.orientation):
        expect(check, b"y", b.y, e.y0, e.y0)
    else:
        expect(check, b"x", b.x, e.x0, e.x0)
    expect_unused(check, b.vx, b.vy)
    expect(check, b"phase", b.phase, <int>THWUMP_RETURNING, <int>THWUMP_CHARGING)
    expect(check, b"turn", b.direction, 0, 0)


kinds[THWUMP].advance = advance_thwump
kinds[THWUMP].react = react_thwump
kinds[THWUMP].push = push_from_thwump
kinds[THWUMP].touch = touch_thwump
kinds[THWUMP].pose = pose_thwump
kinds[THWUMP].check = check_thwump
