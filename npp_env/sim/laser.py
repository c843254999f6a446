"""Laser turrets: a rotating beam, on an axle (spinner) or crawling along the walls (surface).

Surface mode is the best public knowledge of the game; no recording decides it to the frame, so it stands
alone here. A turret takes two movers: the first holds position, beam angle (u), heading of the surface normal
(v), sense (phase) and mode (turn: 1 surface, 0 spinner); the second holds the last wall point.
"""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import atan2, cos, fabs, sin, sqrt
    from cython.cimports.npp_env.sim.body import is_target, kill, segment_hits
    from cython.cimports.npp_env.sim.layout import Mover, Ninja, World
    from cython.cimports.npp_env.sim.walls import nearest_plain, ray_length
else:
    from math import atan2, cos, fabs, sin, sqrt

    from npp_env.sim.body import is_target, kill, segment_hits
    from npp_env.sim.walls import nearest_plain, ray_length

PI = cython.declare(cython.double, 3.141592653589793)
TWO_PI = cython.declare(cython.double, 6.283185307179586)
RADIUS = cython.declare(cython.double, 5.9)
REACH = cython.declare(cython.double, 12.0)
SPIN = cython.declare(cython.double, 0.010471975)
CRAWL_PX = cython.declare(cython.double, 0.1)
CORNER_TURN = cython.declare(cython.double, 0.005524805665672641)
BEAM_TURN = cython.declare(cython.double, 0.11049611331345282)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def fire(w: cython.pointer(World), m: cython.int) -> cython.void:
    """Kill the ninja if the turret sees it and the beam meets it."""
    n: cython.pointer(Ninja) = w.ninja
    x: cython.double = w.movers[m].x
    y: cython.double = w.movers[m].y
    dx: cython.double = n.x - x
    dy: cython.double = n.y - y
    d: cython.double = sqrt(dx * dx + dy * dy)
    length: cython.double
    ax: cython.double
    ay: cython.double
    if d > 10 and not ray_length(w, x, y, dx / d, dy / d) > d - 10:
        return
    ax = cos(w.movers[m].u)
    ay = sin(w.movers[m].u)
    length = ray_length(w, x, y, ax, ay)
    if segment_hits(w, x, y, x + length * ax, y + length * ay, 10):
        kill(w)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def crawl(w: cython.pointer(World), m: cython.int) -> cython.void:
    """Move a surface turret along its wall by one pixel, in ten rounds, and let the beam follow."""
    b: cython.pointer(Mover) = cython.address(w.movers[m]) if cython.compiled else w.movers[m]
    last: cython.pointer(Mover) = cython.address(w.movers[m + 1]) if cython.compiled else w.movers[m + 1]
    beta: cython.double = b.v
    sense: cython.int = b.phase
    mx: cython.double
    my: cython.double
    d: cython.double
    moved: cython.double
    _round: cython.int
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def react_laser(w: cython.pointer(World), e: cython.int) -> cython.void:
    """Kill test with the present beam, then turn or crawl."""
    m: cython.int = w.level.entities[e].slot
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def place_laser(w: cython.pointer(World), e: cython.int) -> cython.void:
    """Decide at load between surface and spinner mode; the mover holds the record's position and angle."""
    m: cython.int = w.level.entities[e].slot
    b: cython.pointer(Mover) = cython.address(w.movers[m]) if cython.compiled else w.movers[m]
    i: cython.int = nearest_plain(w, b.x, b.y, REACH)
    if i < 0:
        return
    nx: cython.double = b.x - w.a
    ny: cython.double = b.y - w.b
    d: cython.double = sqrt(nx * nx + ny * ny)
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
