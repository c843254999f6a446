"""Laser turrets: a rotating beam, on an axle (spinner) or crawling along the walls (surface; physics 6.14).

Surface mode is the best public knowledge of the game; no recording decides it to the frame, so it stands
alone here. A turret takes two movers: the second holds the last wall point.
"""

from libc.math cimport atan2, cos, fabs, sin, sqrt
from npp_env.sim.body cimport NINJA_RADIUS, is_target
from npp_env.sim.entities.passes cimport Pose, kinds
from npp_env.sim.layout cimport (
    LASER_TURRET, WALL_CONCAVE, WALL_CONVEX, Entity, Mover, Ninja, Wall, WallPoint, World, eighth_x, eighth_y,
    mover_of,
)
from npp_env.sim.sight cimport can_meet, end_of_shot, sees, shoot
from npp_env.sim.validity cimport MOST_TURNED, Check, expect, expect_unused, initial_movers
from npp_env.sim.walls cimport nearest_plain

cdef double PI = 3.141592653589793
cdef double TWO_PI = 6.283185307179586
cdef double RADIUS = 5.9
cdef double REACH = 12.0
cdef double SURFACE_PX = 7.0
cdef double SPIN = 0.010471975
cdef int CRAWL_ROUNDS = 10
cdef double CRAWL_PX = 0.1
# Full turns between two angles of at most `MOST_TURNED`.
cdef int MOST_TURNS = 400
cdef double CORNER_TURN = 0.005524805665672641
cdef double BEAM_TURN = 0.11049611331345282


cdef void fire(World* w, Mover* b) noexcept nogil:
    """Kill the ninja if the turret sees it and the beam meets it."""
    cdef Ninja* n = w.ninja
    cdef double dx = n.x - b.x
    cdef double dy = n.y - b.y
    cdef double d = sqrt(dx * dx + dy * dy)
    cdef double ax = cos(b.beam)
    cdef double ay = sin(b.beam)
    if can_meet(w, b.x, b.y, ax, ay) and (d <= NINJA_RADIUS or sees(w, b.x, b.y)):
        shoot(w, b.x, b.y, ax, ay)


cdef void crawl(World* w, Mover* b) noexcept nogil:
    """Move a surface turret along its wall by one pixel, in ten rounds, and let the beam follow."""
    cdef Mover* last = b + 1
    cdef double beta = b.normal
    cdef int sense = b.sense
    cdef double mx, my, d, moved
    cdef WallPoint point
    cdef int _round
    for _round in range(CRAWL_ROUNDS):
        b.x += CRAWL_PX * (-sin(beta) * sense)
        b.y += CRAWL_PX * (cos(beta) * sense)
        point = nearest_plain(w, b.x, b.y, REACH)
        if point.side == 0:
            break
        mx = b.x - point.x
        my = b.y - point.y
        d = sqrt(mx * mx + my * my)
        if d > 0:
            mx = mx / d
            my = my / d
        if cos(beta) * mx + sin(beta) * my < 0.0000001 or w.level.walls[point.wall].door >= 0:
            sense = -sense
            b.x += CRAWL_PX * (-sin(beta) * sense)
            b.y += CRAWL_PX * (cos(beta) * sense)
            continue
        moved = sqrt((point.x - last.x) * (point.x - last.x) + (point.y - last.y) * (point.y - last.y))
        if moved < 0.0000001:
            beta += sense * CORNER_TURN
            b.x = point.x + RADIUS * cos(beta)
            b.y = point.y + RADIUS * sin(beta)
        else:
            b.x = point.x + RADIUS * mx
            b.y = point.y + RADIUS * my
            beta = atan2(my, mx)
        last.x = point.x
        last.y = point.y
    b.normal = beta
    b.sense = sense
    follow(b)


cdef void follow(Mover* b) noexcept nogil:
    """Turn the beam towards the normal of the wall, the short way round."""
    cdef double d = b.normal - b.beam
    cdef int turns = 0
    while d > PI and turns < MOST_TURNS:
        d -= TWO_PI
        turns += 1
    while d < -PI and turns < MOST_TURNS:
        d += TWO_PI
        turns += 1
    if fabs(d) <= BEAM_TURN:
        b.beam = b.normal
    elif d > 0:
        b.beam += BEAM_TURN
    else:
        b.beam -= BEAM_TURN


cdef void react_laser(World* w, Entity* e) noexcept nogil:
    """Kill test with the present beam, then turn or crawl."""
    cdef Mover* b = mover_of(w, e)
    if is_target(w):
        fire(w, b)
    if b.on_wall:
        crawl(w, b)
        return
    b.beam += b.sense * SPIN
    if b.beam < 0:
        b.beam += TWO_PI
    elif b.beam >= TWO_PI:
        b.beam -= TWO_PI


cdef void outer_normal(Wall* wall, WallPoint* point, double* nx, double* ny) noexcept nogil:
    """Direction away from a wall at one of its points."""
    if wall.kind < WALL_CONVEX:
        nx[0] = -(wall.y2 - wall.y1)
        ny[0] = wall.x2 - wall.x1
    else:
        nx[0] = point.x - wall.x1
        ny[0] = point.y - wall.y1
        if wall.kind == WALL_CONCAVE:
            nx[0] = -nx[0]
            ny[0] = -ny[0]


cdef void place_laser(World* w, Entity* e) noexcept nogil:
    """Point the beam, and decide between surface and spinner mode."""
    cdef Mover* b = mover_of(w, e)
    cdef WallPoint point = nearest_plain(w, b.x, b.y, REACH)
    cdef double nx = b.x - point.x
    cdef double ny = b.y - point.y
    cdef double d = sqrt(nx * nx + ny * ny)
    b.beam = atan2(eighth_y(e.orientation), eighth_x(e.orientation))
    b.sense = -1 if e.mode == 1 else 1
    if point.side == 0 or not (point.side < 0 or d < SURFACE_PX):
        return
    if d > 0:
        nx = point.side * (nx / d)
        ny = point.side * (ny / d)
    else:
        outer_normal(&w.level.walls[point.wall], &point, &nx, &ny)
        d = sqrt(nx * nx + ny * ny)
        nx = nx / d
        ny = ny / d
    b[1].x = point.x
    b[1].y = point.y
    b.x = point.x + RADIUS * nx
    b.y = point.y + RADIUS * ny
    b.normal = atan2(ny, nx)
    b.beam = b.normal
    b.on_wall = True


cdef void pose_laser(World* w, Entity* e, Pose* pose) noexcept nogil:
    """Where the beam points and ends, and the sense in which it turns."""
    cdef Mover* b = mover_of(w, e)
    pose.nx = cos(b.beam)
    pose.ny = sin(b.beam)
    pose.mode = b.sense
    pose.aims = end_of_shot(w, b.x, b.y, pose.nx, pose.ny, &pose.aim_x, &pose.aim_y)
    pose.shoots = pose.aims
    pose.shot_x = pose.aim_x
    pose.shot_y = pose.aim_y


cdef void check_laser(World* w, Entity* e, Check* check) noexcept nogil:
    """A beam that turns one way or the other, on an axle or on a wall for good; the second mover is a point."""
    cdef Mover* b = mover_of(w, e)
    cdef Mover* initial = &initial_movers(w.level)[e.slot]
    expect(check, b"beam", b.beam, -MOST_TURNED, MOST_TURNED)
    expect(check, b"normal", b.normal, -MOST_TURNED, MOST_TURNED)
    expect(check, b"size of the sense", b.sense * b.sense, 1, 1)
    expect(check, b"on_wall", b.on_wall, initial.on_wall, initial.on_wall)
    expect(check, b"cell", b.cell, -1, -1)
    expect(check, b"stamp", b.stamp, initial.stamp, initial.stamp)
    expect_unused(check, b[1].vx, b[1].vy)
    expect(check, b"cell of the wall point", b[1].cell, -1, -1)
    expect(check, b"stamp of the wall point", b[1].stamp, 0, 0)
    expect(check, b"phase of the wall point", b[1].phase, 0, 0)
    expect(check, b"turn of the wall point", b[1].direction, 0, 0)


kinds[LASER_TURRET].place = place_laser
kinds[LASER_TURRET].react = react_laser
kinds[LASER_TURRET].pose = pose_laser
kinds[LASER_TURRET].check = check_laser
