"""The ninja's own pass: integrate, push out of what it overlaps, evaluate contacts (physics 5)."""

from libc.math cimport fabs, sqrt
from npp_env.sim.body cimport NINJA_RADIUS, kill
from npp_env.sim.contact cimport count_contact, count_crush
from npp_env.sim.decide cimport decide
from npp_env.sim.entities.passes cimport meet_entities
from npp_env.sim.layout cimport AROUND_FREE, CELEBRATING, DEAD, Ninja, WallPoint, World
from npp_env.sim.sweeps cimport sweep
from npp_env.sim.walls cimport known_around, nearest_to_ninja, touched_wall

cdef double IMPACT_BASE = 6.0
cdef double IMPACT_SLOPE = 4.0 / 3.0
cdef double CRUSH_RATIO = 0.05
cdef int SWEEP_RADIUS = 5
cdef int MOST_PUSHES = 32
cdef int ROUNDS = 4
cdef double SHORT_WAY = 4.8

# Three places near the left wall where the game's own rounding leaves a tiny slope in the floor normal, which
# switches the uphill rules on for one tick. Ordinary starts meet them: spawn x = 36 or 48 with right held, x
# = 60 with left held.
cdef double TILT = 2.0**-47
cdef double TILTED_LEFT_X1 = 50.51197510492316
cdef double TILTED_LEFT_X2 = 49.23232124849253
cdef double TILTED_RIGHT_X = 49.153536108584795


cdef inline void integrate(World* w) noexcept nogil:
    """Move by the velocity and reset the accumulators of the pass (5.3)."""
    cdef Ninja* n = w.ninja
    n.vx = n.vx * n.drag
    n.vy = n.vy * n.drag
    n.vy = n.vy + n.g
    w.xo = n.x
    w.yo = n.y
    n.x = n.x + n.vx
    n.y = n.y + n.vy
    w.vxo = n.vx
    w.vyo = n.vy
    w.n_floor = 0
    w.n_ceiling = 0
    w.floor_x = 0.0
    w.floor_y = 0.0
    w.ceiling_x = 0.0
    w.ceiling_y = 0.0
    w.crush_x = 0.0
    w.crush_y = 0.0
    w.crush_length = 0.0
    w.crushable = 0
    w.settled = False
    w.candidates_cell = -1
    w.n_candidates = 0


cdef inline int settle(World* w, int pushes) noexcept nogil:
    """Remember that no wall pushes the ninja where it is now; answers the pushes that it took."""
    w.settled = True
    w.settled_x = w.ninja.x
    w.settled_y = w.ninja.y
    return pushes


cdef inline bint is_short(double dx, double dy) noexcept nogil:
    """Whether a way ends within less than half of the ninja's radius, and all cells near it are within that radius."""
    return dx * dx + dy * dy < SHORT_WAY * SHORT_WAY and fabs(dx) < 3.9 and fabs(dy) < 3.9


cdef int push_from_tiles(World* w) noexcept nogil:
    """Stop at the tiles on the way and push out of those overlapped; returns how many pushes it took (5.5)."""
    cdef Ninja* n = w.ninja
    cdef double dx = n.x - w.xo
    cdef double dy = n.y - w.yo
    cdef double tau = 1.0
    cdef double d, length, qx, qy, c
    cdef unsigned int known
    cdef WallPoint point
    cdef int k
    # From where all walls are beyond its radius, none comes within half of it on a short way.
    if not (is_short(dx, dy) and known_around(w.level, w.xo, w.yo) & AROUND_FREE):
        tau = sweep(w, w.xo, w.yo, dx, dy, SWEEP_RADIUS)
    n.x = w.xo + tau * dx
    n.y = w.yo + tau * dy
    for k in range(MOST_PUSHES):
        # Neither walls nor doors change between the rounds of a tick.
        if w.settled and n.x == w.settled_x and n.y == w.settled_y:
            return k
        known = known_around(w.level, n.x, n.y)
        if known & AROUND_FREE:
            return k
        point = nearest_to_ninja(w, n.x, n.y, known)
        if point.side == 0:
            return settle(w, k)
        dx = n.x - point.x
        dy = n.y - point.y
        if fabs(dx) <= 0.0000001:
            dx = 0.0
        if n.x == TILTED_LEFT_X1 or n.x == TILTED_LEFT_X2:
            dx = -TILT
        elif n.x == TILTED_RIGHT_X:
            dx = TILT
        d = sqrt(dx * dx + dy * dy)
        length = NINJA_RADIUS - d * point.side
        if d == 0 or length < 0.0000001:
            return settle(w, k)
        qx = dx / d * length
        qy = dy / d * length
        n.x += qx
        n.y += qy
        count_crush(w, qx, qy, length)
        if n.vx * dx + n.vy * dy < 0:
            c = (n.vx * dy - n.vy * dx) / (d * d)
            n.vx = c * dy
            n.vy = c * -dx
        count_contact(w, dx / d, dy / d, dy)
    return MOST_PUSHES


cdef void strike(World* w, double nx, double ny) noexcept nogil:
    """Die if the speed against a surface with this normal was too high."""
    cdef double impact = -(nx * w.vxo + ny * w.vyo)
    if impact > IMPACT_BASE - IMPACT_SLOPE * fabs(ny):
        w.ninja.vx = w.vxo
        w.ninja.vy = w.vyo
        kill(w)


cdef void evaluate_contacts(World* w) noexcept nogil:
    """Touch entities, then judge walls, floor, ceiling and crushing (5.6)."""
    cdef Ninja* n = w.ninja
    cdef double wall = meet_entities(w, False)
    cdef double s
    if wall == 0:
        wall = touched_wall(w, n.x, n.y)
    w.was_air = n.air
    n.air = 1
    n.walled = wall != 0
    if wall != 0:
        n.wn = wall
    if w.n_floor > 0:
        n.air = 0
        s = sqrt(w.floor_x * w.floor_x + w.floor_y * w.floor_y)
        if s == 0:
            n.fnx = 0.0
            n.fny = -1.0
        else:
            n.fnx = w.floor_x / s
            n.fny = w.floor_y / s
        if n.state != CELEBRATING and w.was_air:
            strike(w, n.fnx, n.fny)
    if w.n_ceiling > 0:
        s = sqrt(w.ceiling_x * w.ceiling_x + w.ceiling_y * w.ceiling_y)
        if s == 0:
            n.cnx = 0.0
            n.cny = 1.0
        else:
            n.cnx = w.ceiling_x / s
            n.cny = w.ceiling_y / s
        if n.state != CELEBRATING:
            strike(w, n.cnx, n.cny)
    if w.crushable and w.crush_length > 0:
        s = sqrt(w.crush_x * w.crush_x + w.crush_y * w.crush_y)
        if s / w.crush_length < CRUSH_RATIO:
            kill(w)


cdef void ninja_pass(World* w) noexcept nogil:
    """The ninja's part of a tick."""
    cdef Ninja* n = w.ninja
    cdef int _round
    cdef double pushes, x, y
    if n.state != DEAD:
        integrate(w)
        for _round in range(ROUNDS):
            x = n.x
            y = n.y
            pushes = meet_entities(w, True)
            pushes += push_from_tiles(w)
            # A round without a push that leaves the position as it was would only repeat itself.
            if pushes == 0 and n.x == x and n.y == y:
                break
        evaluate_contacts(w)
    decide(w)
