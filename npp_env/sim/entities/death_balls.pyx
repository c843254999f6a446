"""Death balls: drawn to the ninja, they bounce off tiles and each other (physics 6.12)."""

from libc.math cimport sqrt
from npp_env.sim.body cimport is_target, kill, touches
from npp_env.sim.entities.passes cimport check_flying, kinds, pose_flying
from npp_env.sim.grid cimport relist
from npp_env.sim.layout cimport DEATH_BALL, Entity, Mover, Ninja, WallPoint, World, mover_of
from npp_env.sim.sweeps cimport sweep
from npp_env.sim.walls cimport nearest_point

cdef double MAX_SPEED = 0.85
cdef int BODY_RADIUS = 8
cdef int SWEEP_RADIUS = 4
cdef int MOST_PUSHES = 16
cdef int REPULSION = 4


cdef void accelerate(World* w, Mover* b) noexcept nogil:
    """Step 1: towards the ninja, or slower if there is none to hurt."""
    cdef double dx, dy, d, speed, excess
    if not is_target(w):
        b.vx = b.vx * 0.95
        b.vy = b.vy * 0.95
        return
    dx = w.ninja.x - b.x
    dy = w.ninja.y - b.y
    d = sqrt(dx * dx + dy * dy)
    if d > 0:
        dx = dx / d
        dy = dy / d
    b.vx += dx * 0.04
    b.vy += dy * 0.04
    speed = sqrt(b.vx * b.vx + b.vy * b.vy)
    if speed > MAX_SPEED:
        excess = (speed - MAX_SPEED) * 0.9
        if excess <= 0.01:
            excess = 0
        excess = excess + MAX_SPEED
        b.vx = b.vx / speed * excess
        b.vy = b.vy / speed * excess


cdef bint push_out(World* w, Mover* b) noexcept nogil:
    """Steps 3 and 4: out of the tiles, and reflected; False if its centre lies on a wall."""
    cdef double sum_x = 0.0
    cdef double sum_y = 0.0
    cdef double dx, dy, d, length, p, factor
    cdef WallPoint point
    cdef int _round
    for _round in range(MOST_PUSHES):
        point = nearest_point(w, b.x, b.y, BODY_RADIUS)
        if point.side == 0:
            break
        dx = b.x - point.x
        dy = b.y - point.y
        d = sqrt(dx * dx + dy * dy)
        length = BODY_RADIUS - d * point.side
        if length < 0.0000001:
            break
        if d == 0:
            return False
        b.x += dx / d * length
        b.y += dy / d * length
        sum_x += dx / d
        sum_y += dy / d
    length = sqrt(sum_x * sum_x + sum_y * sum_y)
    if length > 0:
        dx = sum_x / length
        dy = sum_y / length
        p = b.vx * dx + b.vy * dy
        if p < 0:
            factor = 1 if sqrt(b.vx * b.vx + b.vy * b.vy) <= 1.35 else 2
            b.vx -= dx * p * factor
            b.vy -= dy * p * factor
    return True


cdef void repel(World* w, Entity* e, Mover* b) noexcept nogil:
    """Step 5: away from the later balls that it overlaps, and they from it."""
    cdef int ordinal = e.link
    cdef int k
    cdef Mover* o
    cdef double dx, dy, d
    if ordinal + 1 >= w.level.ball_count:
        return
    for k in range(ordinal + 1, w.level.n_balls):
        o = &w.movers[w.level.balls[k]]
        dx = b.x - o.x
        dy = b.y - o.y
        d = sqrt(dx * dx + dy * dy)
        if d < 2 * BODY_RADIUS and d != 0:
            dx = dx / d * REPULSION
            dy = dy / d * REPULSION
            b.vx += dx
            b.vy += dy
            o.vx -= dx
            o.vy -= dy


cdef void react_ball(World* w, Entity* e) noexcept nogil:
    """All six steps; the sweep is the second."""
    cdef Mover* b = mover_of(w, e)
    cdef double tau
    accelerate(w, b)
    tau = sweep(w, b.x, b.y, b.vx, b.vy, SWEEP_RADIUS)
    b.x = b.x + tau * b.vx
    b.y = b.y + tau * b.vy
    if push_out(w, b):
        repel(w, e, b)
        relist(w, b)


cdef double touch_ball(World* w, Entity* e) noexcept nogil:
    """Kills, and is thrown back."""
    cdef Mover* b = mover_of(w, e)
    cdef Ninja* n = w.ninja
    cdef double dx, dy, d
    if is_target(w) and touches(w, b.x, b.y, kinds[DEATH_BALL].radius):
        dx = b.x - n.x
        dy = b.y - n.y
        d = sqrt(dx * dx + dy * dy)
        if d != 0:
            b.vx += dx / d * 10
            b.vy += dy / d * 10
        kill(w)
    return 0.0


kinds[DEATH_BALL].react = react_ball
kinds[DEATH_BALL].touch = touch_ball
kinds[DEATH_BALL].pose = pose_flying
kinds[DEATH_BALL].check = check_flying
