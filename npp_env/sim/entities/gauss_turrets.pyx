"""Gauss turrets: they follow the ninja with an aim point, and shoot through it (physics 6.17)."""

from libc.math cimport sqrt
from npp_env.sim.body cimport is_target
from npp_env.sim.entities.passes cimport Pose, kinds
from npp_env.sim.layout cimport (
    GAUSS_IDLE, GAUSS_POSTFIRE, GAUSS_PREFIRE, GAUSS_TARGETING, GAUSS_TURRET, Entity, Mover, World, mover_of,
)
from npp_env.sim.sight cimport end_of_shot, sees_from, shoot
from npp_env.sim.validity cimport Check, expect, expect_unlisted

# How near the aim point is to the ninja decides how fast it follows, and how fast the turret makes up its mind, in
# half ticks.
cdef double[3] REGION_SQUARES = [9216.0, 1764.0, 576.0]
cdef int[4] REGION_HALF_TICKS = [0, 1, 3, 7]
cdef double[4] REGION_SHARES = [0.03 * 2 / 3, 0.035 * 2 / 3, 0.05 * 2 / 3, 0.05 * 2 / 3]
cdef int TARGETING_HALF_TICKS = 180
cdef int FIRING_TICKS = 15
cdef double LEAD_TICKS = 1.5


cdef inline void enter(Mover* b, int phase) noexcept nogil:
    """Begin a phase."""
    b.phase = phase
    b.ticks = 0


cdef void drop_aim(Mover* b) noexcept nogil:
    """An idle turret aims at nothing."""
    enter(b, GAUSS_IDLE)
    b.aim_x = b.x
    b.aim_y = b.y


cdef void place_gauss(World* w, Entity* e) noexcept nogil:
    """The aim point starts at the turret."""
    drop_aim(mover_of(w, e))


cdef void follow(World* w, Mover* b) noexcept nogil:
    """Draw the aim point after the ninja, until it was near for long enough."""
    cdef double ex = w.ninja.x + LEAD_TICKS * w.ninja.vx - b.aim_x
    cdef double ey = w.ninja.y + LEAD_TICKS * w.ninja.vy - b.aim_y
    cdef double square = ex * ex + ey * ey
    cdef int region = 0
    while region < 3 and not square > REGION_SQUARES[region]:
        region += 1
    b.ticks += REGION_HALF_TICKS[region]
    b.aim_x += ex * REGION_SHARES[region]
    b.aim_y += ey * REGION_SHARES[region]
    if b.ticks > TARGETING_HALF_TICKS:
        enter(b, GAUSS_PREFIRE)


cdef void line_of_fire(Mover* b, double* dx, double* dy) noexcept nogil:
    """Unit vector to the aim point."""
    dx[0] = b.aim_x - b.x
    dy[0] = b.aim_y - b.y
    cdef double d = sqrt(dx[0] * dx[0] + dy[0] * dy[0])
    dx[0] = dx[0] / d if d > 0 else 1.0
    dy[0] = dy[0] / d if d > 0 else 0.0


cdef void react_gauss(World* w, Entity* e) noexcept nogil:
    """One phase: look out, follow, wait with the aim fixed and shoot, or recover."""
    cdef Mover* b = mover_of(w, e)
    cdef double dx, dy
    if b.phase == GAUSS_IDLE:
        if sees_from(w, e):
            enter(b, GAUSS_TARGETING)
    elif b.phase == GAUSS_TARGETING:
        if sees_from(w, e):
            follow(w, b)
        else:
            drop_aim(b)
    else:
        b.ticks += 1
        if b.ticks < FIRING_TICKS:
            return
        if b.phase == GAUSS_PREFIRE:
            if is_target(w):
                line_of_fire(b, &dx, &dy)
                shoot(w, b.x, b.y, dx, dy)
            enter(b, GAUSS_POSTFIRE)
        elif sees_from(w, e):
            enter(b, GAUSS_TARGETING)
        else:
            drop_aim(b)


cdef void pose_gauss(World* w, Entity* e, Pose* pose) noexcept nogil:
    """Its phase, how much of it is left, its aim point, and the shot of this tick."""
    cdef Mover* b = mover_of(w, e)
    cdef double dx, dy
    pose.phase = b.phase / 3.0
    if b.phase == GAUSS_IDLE:
        return
    if b.phase == GAUSS_TARGETING:
        pose.timer = 1 - b.ticks / <double>TARGETING_HALF_TICKS
    else:
        pose.timer = 1 - b.ticks / <double>FIRING_TICKS
    pose.aims = True
    pose.aim_x = b.aim_x
    pose.aim_y = b.aim_y
    if b.phase == GAUSS_POSTFIRE and b.ticks == 0:
        line_of_fire(b, &dx, &dy)
        pose.shoots = end_of_shot(w, b.x, b.y, dx, dy, &pose.shot_x, &pose.shot_y)


cdef void check_gauss(World* w, Entity* e, Check* check) noexcept nogil:
    """A phase and how long it has lasted; an idle turret has its aim at itself."""
    cdef Mover* b = mover_of(w, e)
    cdef int most = FIRING_TICKS - 1
    expect(check, b"x", b.x, e.x, e.x)
    expect(check, b"y", b.y, e.y, e.y)
    expect(check, b"phase", b.phase, <int>GAUSS_IDLE, <int>GAUSS_POSTFIRE)
    expect(check, b"turn", b.direction, 0, 0)
    if b.phase == GAUSS_IDLE:
        most = 0
        expect(check, b"aim_x", b.aim_x, b.x, b.x)
        expect(check, b"aim_y", b.aim_y, b.y, b.y)
    elif b.phase == GAUSS_TARGETING:
        most = TARGETING_HALF_TICKS
    expect_unlisted(check, b, most)


kinds[GAUSS_TURRET].place = place_gauss
kinds[GAUSS_TURRET].react = react_gauss
kinds[GAUSS_TURRET].pose = pose_gauss
kinds[GAUSS_TURRET].check = check_gauss
