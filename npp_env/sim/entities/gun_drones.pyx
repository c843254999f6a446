"""Chaingun and laser drones: they stop and shoot at a ninja that they see (physics 6.18).

A gun drone takes two movers: the second holds its line of fire.
"""

from libc.math cimport sqrt
from npp_env.sim.body cimport is_target
from npp_env.sim.entities.drones cimport STEP_PX, direction_x, direction_y, fly, place_drone
from npp_env.sim.entities.passes cimport Pose, kinds
from npp_env.sim.layout cimport (
    CHAINGUN_DRONE, GUN_FIRING, GUN_IDLE, GUN_POSTFIRE, GUN_PREFIRE, LASER_DRONE, Entity, Mover, World, mover_of,
)
from npp_env.sim.sight cimport end_of_shot, sees, shoot
from npp_env.sim.validity cimport Check, expect, expect_direction, expect_unlisted, expect_unused

cdef struct Gun:
    int prefire_ticks, firing_ticks, postfire_ticks

# How long a laser drone fires is a choice; a chaingun drone stops when an eighth bullet would be due.
cdef int BEAM_TICKS = 80
cdef int BULLET_TICKS = 9
cdef int BULLETS = 7
cdef Gun chaingun = Gun(52, BULLET_TICKS * (BULLETS + 1), 90)
cdef Gun laser = Gun(45, BEAM_TICKS, 60)


cdef inline Gun* gun_of(Entity* e) noexcept nogil:
    return &chaingun if e.kind == CHAINGUN_DRONE else &laser


cdef inline void enter(Mover* b, int phase) noexcept nogil:
    """Begin a phase."""
    b.phase = phase
    b.ticks = 0


cdef void aim(World* w, Mover* b) noexcept nogil:
    """Fix the line of fire: towards the ninja."""
    cdef Mover* line = b + 1
    cdef double dx = w.ninja.x - b.x
    cdef double dy = w.ninja.y - b.y
    cdef double d = sqrt(dx * dx + dy * dy)
    line.aim_x = dx / d if d > 0 else 1.0
    line.aim_y = dy / d if d > 0 else 0.0


cdef void take_side(World* w, Mover* b) noexcept nogil:
    """Let the bullets wander to the side that the ninja moves to; to none if it is where the drone is."""
    cdef Mover* line = b + 1
    line.side = 0
    if w.ninja.x != b.x or w.ninja.y != b.y:
        line.side = -1 if -line.aim_y * w.ninja.vx + line.aim_x * w.ninja.vy < 0 else 1


cdef void leave_off(Mover* b, int phase) noexcept nogil:
    """Begin a phase without a line of fire."""
    enter(b, phase)
    b[1].aim_x = 0.0
    b[1].aim_y = 0.0
    b[1].side = 0


cdef void place_gun(World* w, Entity* e) noexcept nogil:
    """A drone that looks out."""
    place_drone(w, e)
    leave_off(mover_of(w, e), GUN_IDLE)


cdef void line_of_bullet(Mover* b, int bullet, double* dx, double* dy) noexcept nogil:
    """Unit vector along which a bullet, from 1 on, is shot."""
    cdef Mover* line = b + 1
    cdef double across = (bullet / 6.0 - 0.5) * 0.3
    cdef double d
    dx[0] = line.aim_x + across * (line.side * -line.aim_y)
    dy[0] = line.aim_y + across * (line.side * line.aim_x)
    d = sqrt(dx[0] * dx[0] + dy[0] * dy[0])
    dx[0] = dx[0] / d
    dy[0] = dy[0] / d


cdef void begin_prefire(World* w, Entity* e, Mover* b) noexcept nogil:
    """A laser drone fixes its line now, a chaingun drone when it begins to fire."""
    enter(b, GUN_PREFIRE)
    if e.kind == LASER_DRONE:
        aim(w, b)


cdef void fire(World* w, Entity* e, Mover* b) noexcept nogil:
    """One tick of a beam, or of a burst of bullets."""
    cdef double dx, dy
    if e.kind == LASER_DRONE:
        shoot(w, b.x, b.y, b[1].aim_x, b[1].aim_y)
    b.ticks += 1
    if b.ticks >= gun_of(e).firing_ticks:
        leave_off(b, GUN_POSTFIRE)
    elif e.kind == CHAINGUN_DRONE and b.ticks % BULLET_TICKS == 0:
        line_of_bullet(b, b.ticks // BULLET_TICKS, &dx, &dy)
        shoot(w, b.x, b.y, dx, dy)


cdef void react_gun(World* w, Entity* e) noexcept nogil:
    """One phase: look out, make ready, fire, or recover."""
    cdef Mover* b = mover_of(w, e)
    if b.phase == GUN_IDLE:
        if sees(w, b.x, b.y):
            begin_prefire(w, e, b)
    elif b.phase == GUN_PREFIRE:
        if not is_target(w):
            leave_off(b, GUN_POSTFIRE)
            return
        b.ticks += 1
        if b.ticks >= gun_of(e).prefire_ticks:
            enter(b, GUN_FIRING)
            if e.kind == CHAINGUN_DRONE:
                aim(w, b)
                take_side(w, b)
    elif b.phase == GUN_FIRING:
        fire(w, e, b)
    else:
        b.ticks += 1
        if b.ticks < gun_of(e).postfire_ticks:
            return
        if sees(w, b.x, b.y):
            begin_prefire(w, e, b)
        else:
            enter(b, GUN_IDLE)


cdef void advance_gun(World* w, Entity* e) noexcept nogil:
    """It flies only while it is idle, and is never listed."""
    if mover_of(w, e).phase == GUN_IDLE:
        fly(w, e, STEP_PX)


cdef void pose_chaingun(World* w, Mover* b, Pose* pose) noexcept nogil:
    """While it fires: when and where the next bullet goes, and the one that was shot in this tick."""
    cdef int bullet = b.ticks // BULLET_TICKS
    cdef double dx, dy
    pose.timer = 1 - b.ticks % BULLET_TICKS / <double>BULLET_TICKS
    if bullet < BULLETS:
        line_of_bullet(b, bullet + 1, &dx, &dy)
        pose.aims = end_of_shot(w, b.x, b.y, dx, dy, &pose.aim_x, &pose.aim_y)
    if b.ticks > 0 and b.ticks % BULLET_TICKS == 0:
        line_of_bullet(b, bullet, &dx, &dy)
        pose.shoots = end_of_shot(w, b.x, b.y, dx, dy, &pose.shot_x, &pose.shot_y)


cdef void pose_gun(World* w, Entity* e, Pose* pose) noexcept nogil:
    """Where it flies to, its turning rule and phase, how much of the phase is left, and its line of fire."""
    cdef Mover* b = mover_of(w, e)
    cdef Gun* gun = gun_of(e)
    pose.nx = direction_x(b.direction)
    pose.ny = direction_y(b.direction)
    pose.mode = e.mode / 3.0
    pose.phase = b.phase / 3.0
    if b.phase == GUN_IDLE:
        pose.vx = pose.nx * kinds[e.kind].speed
        pose.vy = pose.ny * kinds[e.kind].speed
    elif b.phase == GUN_PREFIRE:
        pose.timer = 1 - b.ticks / <double>gun.prefire_ticks
    elif b.phase == GUN_POSTFIRE:
        pose.timer = 1 - b.ticks / <double>gun.postfire_ticks
    elif e.kind == CHAINGUN_DRONE:
        pose_chaingun(w, b, pose)
    else:
        pose.timer = 1 - b.ticks / <double>gun.firing_ticks
    if e.kind == LASER_DRONE and (b.phase == GUN_PREFIRE or b.phase == GUN_FIRING):
        pose.aims = end_of_shot(w, b.x, b.y, b[1].aim_x, b[1].aim_y, &pose.aim_x, &pose.aim_y)
        pose.shoots = pose.aims and b.phase == GUN_FIRING
        pose.shot_x = pose.aim_x
        pose.shot_y = pose.aim_y


cdef void check_gun(World* w, Entity* e, Check* check) noexcept nogil:
    """A phase and how long it has lasted; the second mover holds the line of fire, while there is one."""
    cdef Mover* b = mover_of(w, e)
    cdef Gun* gun = gun_of(e)
    cdef int[4] most = [0, gun.prefire_ticks - 1, gun.firing_ticks - 1, gun.postfire_ticks - 1]
    cdef bint aims = b.phase == GUN_FIRING or (e.kind == LASER_DRONE and b.phase == GUN_PREFIRE)
    cdef int side = 1 if aims and e.kind == CHAINGUN_DRONE else 0
    expect(check, b"direction", b.direction, 0, 3)
    expect(check, b"phase", b.phase, <int>GUN_IDLE, <int>GUN_POSTFIRE)
    expect_unlisted(check, b, most[b.phase & 3])
    expect_unused(check, b[1].x, b[1].y)
    expect_direction(check, b[1].aim_x, b[1].aim_y, aims)
    expect_unlisted(check, b + 1, 0)
    expect(check, b"side", b[1].side, -side, side)
    expect(check, b"turn of the line of fire", b[1].direction, 0, 0)


cdef int drone
for drone in (CHAINGUN_DRONE, LASER_DRONE):
    kinds[drone].place = place_gun
    kinds[drone].advance = advance_gun
    kinds[drone].react = react_gun
    kinds[drone].pose = pose_gun
    kinds[drone].check = check_gun
