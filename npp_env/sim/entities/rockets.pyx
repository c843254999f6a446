"""Rocket turrets: one that stays, with a rocket that is listed while it flies (physics 6.16)."""

from libc.math cimport sqrt
from npp_env.sim.body cimport is_target, kill, touches
from npp_env.sim.entities.passes cimport Pose, kinds
from npp_env.sim.grid cimport list_at_end, relist
from npp_env.sim.layout cimport (
    ROCKET_HOMING, ROCKET_IDLE, ROCKET_PREFIRE, ROCKET_TURRET, Entity, Mover, World, cell_of,
)
from npp_env.sim.sight cimport is_in_the_open, sees_from
from npp_env.sim.sweeps cimport sweep
from npp_env.sim.validity cimport Check, expect, expect_direction, expect_flag

cdef int PREFIRE_TICKS = 15
cdef double FIRST_ACCELERATION = 0.1 * 4 / 9
cdef double ACCELERATION_GROWTH = 1.0656022367666107
cdef double TOP_SPEED = 16.0 / 7
cdef double TURN = 0.1 * 2 / 3
# Both the ninja and the rocket are taken where they will be after so many ticks.
cdef double LEAD_TICKS = 1.5

cdef enum:
    AGES = 128

# Speed of a rocket by the number of ticks that it has flown; from `of_age` on it is the top speed.
cdef double[AGES] speeds
cdef int of_age = 0


def fill_speeds() -> None:
    """Let a rocket gain speed, tick by tick (step 1)."""
    global of_age
    cdef double acceleration = FIRST_ACCELERATION
    cdef int age
    for age in range(1, AGES):
        if speeds[age - 1] < TOP_SPEED:
            acceleration = acceleration * ACCELERATION_GROWTH
            speeds[age] = speeds[age - 1] + acceleration
            of_age = age + 1
        else:
            speeds[age] = TOP_SPEED


fill_speeds()


cdef inline double speed_of(Mover* r) noexcept nogil:
    """The speed that a rocket has reached."""
    return speeds[r.age & (AGES - 1)]


cdef inline bint flies_straight(double way_x, double way_y, double wx, double wy) noexcept nogil:
    """A choice: a rocket does not turn towards what is beside or behind it."""
    return way_x * wx + way_y * wy <= 0


cdef inline Mover* rocket_of(World* w, Entity* e) noexcept nogil:
    return &w.movers[e.link]


cdef void rest(World* w, Entity* e) noexcept nogil:
    """Back to idle, with the rocket inside."""
    cdef Mover* r = rocket_of(w, e)
    w.flags[e.slot] = ROCKET_IDLE
    r.x = e.x
    r.y = e.y
    r.way_x = 0.0
    r.way_y = 0.0
    r.stamp = 0
    r.cell = -1
    r.age = 0


cdef void launch(World* w, Entity* e) noexcept nogil:
    """The rocket leaves the turret towards the ninja."""
    cdef Mover* r = rocket_of(w, e)
    cdef double dx = w.ninja.x - r.x
    cdef double dy = w.ninja.y - r.y
    cdef double d = sqrt(dx * dx + dy * dy)
    r.way_x = dx / d if d > 0 else 1.0
    r.way_y = dy / d if d > 0 else 0.0
    r.age = 0
    list_at_end(w, r, cell_of(r.x, r.y))
    w.flags[e.slot] = ROCKET_HOMING


cdef void steer(World* w, Mover* r, double vx, double vy) noexcept nogil:
    """Turn towards where the ninja will be (step 4)."""
    cdef double wx = w.ninja.x + LEAD_TICKS * w.ninja.vx - (r.x + LEAD_TICKS * vx)
    cdef double wy = w.ninja.y + LEAD_TICKS * w.ninja.vy - (r.y + LEAD_TICKS * vy)
    cdef double d = sqrt(wx * wx + wy * wy)
    cdef double p, way_x, way_y
    if not d > 0:
        return
    wx = wx / d
    wy = wy / d
    if flies_straight(r.way_x, r.way_y, wx, wy):
        return
    p = -r.way_y * wx + r.way_x * wy
    way_x = r.way_x + TURN * p * -r.way_y
    way_y = r.way_y + TURN * p * r.way_x
    d = sqrt(way_x * way_x + way_y * way_y)
    r.way_x = way_x / d
    r.way_y = way_y / d


cdef void home(World* w, Entity* e) noexcept nogil:
    """Fly on and turn, or explode at a wall."""
    cdef Mover* r = rocket_of(w, e)
    if r.age < of_age:
        r.age += 1
    cdef double vx = speed_of(r) * r.way_x
    cdef double vy = speed_of(r) * r.way_y
    cdef double x = r.x
    cdef double y = r.y
    cdef bint near_walls = not is_in_the_open(w, r.cell)
    r.x += vx
    r.y += vy
    relist(w, r)
    if near_walls and sweep(w, x, y, vx, vy, 0) < 1:
        rest(w, e)
    elif is_target(w):
        steer(w, r, vx, vy)


cdef void react_rocket(World* w, Entity* e) noexcept nogil:
    """One phase: look out, aim, or fly."""
    cdef int phase = w.flags[e.slot]
    cdef Mover* r = rocket_of(w, e)
    if phase == ROCKET_HOMING:
        home(w, e)
    elif phase == ROCKET_IDLE:
        if sees_from(w, e):
            w.flags[e.slot] = ROCKET_PREFIRE
    elif is_target(w):
        r.age += 1
        if r.age >= PREFIRE_TICKS:
            launch(w, e)
    else:
        rest(w, e)


cdef double touch_rocket(World* w, Entity* e) noexcept nogil:
    """Only a rocket in flight is listed; it explodes and kills."""
    cdef Mover* r = rocket_of(w, e)
    if is_target(w) and touches(w, r.x, r.y, kinds[ROCKET_TURRET].emerged_radius):
        rest(w, e)
        kill(w)
    return 0.0


cdef void pose_turret(World* w, Entity* e, Pose* pose) noexcept nogil:
    """Its phase, and how long until the rocket leaves."""
    cdef int phase = w.flags[e.slot]
    pose.phase = phase / 3.0
    if phase == ROCKET_PREFIRE:
        pose.timer = 1 - rocket_of(w, e).age / <double>PREFIRE_TICKS


cdef void pose_rocket(World* w, Entity* e, Pose* pose) noexcept nogil:
    """Where it flies."""
    cdef Mover* r = rocket_of(w, e)
    pose.nx = r.way_x
    pose.ny = r.way_y
    pose.vx = speed_of(r) * r.way_x
    pose.vy = speed_of(r) * r.way_y


cdef void check_rocket(World* w, Entity* e, Check* check) noexcept nogil:
    """A rocket inside its turret, or one that flies and is listed where it is."""
    cdef Mover* r = rocket_of(w, e)
    cdef int phase = w.flags[e.slot]
    cdef bint flies = phase == ROCKET_HOMING
    cdef int cell = cell_of(r.x, r.y) if flies else -1
    expect_flag(check, phase, 1 << ROCKET_IDLE | 1 << ROCKET_PREFIRE | 1 << ROCKET_HOMING)
    expect(check, b"age", r.age, 0, of_age if flies else PREFIRE_TICKS - 1 if phase == ROCKET_PREFIRE else 0)
    expect_direction(check, r.way_x, r.way_y, flies)
    expect(check, b"cell", r.cell, cell, cell)
    expect(check, b"phase", r.phase, 0, 0)
    if flies:
        expect(check, b"stamp", r.stamp, w.level.n_entities, w.level.n_entities + w.ninja.stamp - 1)
    else:
        expect(check, b"x", r.x, e.x, e.x)
        expect(check, b"y", r.y, e.y, e.y)
        expect(check, b"stamp", r.stamp, 0, 0)


kinds[ROCKET_TURRET].react = react_rocket
kinds[ROCKET_TURRET].touch = touch_rocket
kinds[ROCKET_TURRET].pose = pose_turret
kinds[ROCKET_TURRET].pose_emerged = pose_rocket
kinds[ROCKET_TURRET].check = check_rocket
