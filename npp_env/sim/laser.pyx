"""Laser turrets: a rotating beam, on an axle (spinner) or crawling along the walls (surface).

Surface mode is the best public knowledge of the game; no recording decides it to the frame, so it stands
alone here. A turret takes two movers: the first holds position, beam angle (u), heading of the surface normal
(v), sense (phase) and mode (turn: 1 surface, 0 spinner); the second holds the last wall point.
"""

from libc.math cimport atan2, cos, fabs, sin, sqrt
from npp_env.sim.body cimport is_target, kill, segment_hits
from npp_env.sim.layout cimport Mover, Ninja, World
from npp_env.sim.walls cimport nearest_plain, ray_length

cdef double PI = 3.141592653589793
cdef double TWO_PI = 6.283185307179586
cdef double RADIUS = 5.9
cdef double REACH = 12.0
cdef double SPIN = 0.010471975
cdef double CRAWL_PX = 0.1
cdef double CORNER_TURN = 0.005524805665672641
cdef double BEAM_TURN = 0.11049611331345282


cdef void fire(World* w, int m) noexcept nogil:
    """Kill the ninja if the turret sees it and the beam meets it."""
    cdef Ninja* n = w.ninja
    cdef double x = w.movers[m].x
    cdef double y = w.movers[m].y
    cdef double dx = n.x - x
    cdef double dy = n.y - y
    cdef double d = sqrt(dx * dx + dy * dy)
    cdef double length, ax, ay
    if d > 10 and not ray_length(w, x, y, dx / d, dy / d) > d - 10:
        return
    ax = cos(w.movers[m].u)
    ay = sin(w.movers[m].u)
    length = ray_length(w, x, y, ax, ay)
    if segment_hits(w, x, y, x + length * ax, y + length * ay, 10):
        kill(w)


cdef void crawl(World* w, int m) noexcept nogil:
    """Move a surface turret along its wall by one pixel, in ten rounds, and let the beam follow."""
    cdef Mover* b = &w.movers[m]
    cdef Mover* last = &w.movers[m + 1]
    cdef double beta = b.v
    cdef int sense = b.phase
    cdef double mx, my, d, moved
    cdef int _round
    for _round in range(10):
        b.x += CRAWL_PX * (-sin(beta) * sense)
        b.y += CRAWL_PX * (cos(beta) * sense)
        if nearest_plain(w, b.x, b.y, REACH) < 0:
            break
        mx = b.x - w.a
        my = b.y - w.b
        d = sqrt(mx * mx + my * my)
        if d > 0:
            mx = mx / d
            my = my / d
        if cos(beta) * mx + sin(beta) * my < 0.0000001 or w.on_door:
            sense = -sense
            b.x += CRAWL_PX * (-sin(beta) * sense)
            b.y += CRAWL_PX * (cos(beta) * sense)
            continue
        moved = sqrt((w.a - last.x) * (w.a - last.x) + (w.b - last.y) * (w.b - last.y))
        if moved < 0.0000001:
            beta += sense * CORNER_TURN
            b.x = w.a + RADIUS * cos(beta)
            b.y = w.b + RADIUS * sin(beta)
        else:
            b.x = w.a + RADIUS * mx
            b.y = w.b + RADIUS * my
            beta = atan2(my, mx)
        last.x = w.a
        last.y = w.b
    b.v = beta
    b.phase = sense
    d = beta - b.u
    while d > PI:
        d -= TWO_PI
    while d < -PI:
        d += TWO_PI
    if fabs(d) <= BEAM_TURN:
        b.u = beta
    elif d > 0:
        b.u += BEAM_TURN
    else:
        b.u -= BEAM_TURN


cdef void react_laser(World* w, int e) noexcept nogil:
    """Kill test with the present beam, then turn or crawl."""
    cdef int m = w.level.entities[e].slot
    if is_target(w):
        fire(w, m)
    if w.movers[m].turn:
        crawl(w, m)
        return
    w.movers[m].u += w.movers[m].phase * SPIN
    if w.movers[m].u < 0:
        w.movers[m].u += TWO_PI
    elif w.movers[m].u >= TWO_PI:
        w.movers[m].u -= TWO_PI


cdef void place_laser(World* w, int e) noexcept nogil:
    """Decide at load between surface and spinner mode; the mover holds the record's position and angle."""
    cdef int m = w.level.entities[e].slot
    cdef Mover* b = &w.movers[m]
    cdef int i = nearest_plain(w, b.x, b.y, REACH)
    if i < 0:
        return
    cdef double nx = b.x - w.a
    cdef double ny = b.y - w.b
    cdef double d = sqrt(nx * nx + ny * ny)
    if not (w.back or d < 7):
        return
    if d > 0:
        nx = nx / d
        ny = ny / d
        if w.back:
            nx = -nx
            ny = -ny
    else:
        # On the wall itself: its outer normal.
        if w.level.walls[i].kind < 3:
            nx = -(w.level.walls[i].y2 - w.level.walls[i].y1)
            ny = w.level.walls[i].x2 - w.level.walls[i].x1
        else:
            nx = w.a - w.level.walls[i].x1
            ny = w.b - w.level.walls[i].y1
            if w.level.walls[i].kind == 4:
                nx = -nx
                ny = -ny
        d = sqrt(nx * nx + ny * ny)
        nx = nx / d
        ny = ny / d
    w.movers[m + 1].x = w.a
    w.movers[m + 1].y = w.b
    b.x = w.a + RADIUS * nx
    b.y = w.b + RADIUS * ny
    b.v = atan2(ny, nx)
    b.u = b.v
    b.turn = 1
