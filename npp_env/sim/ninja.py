"""The ninja's own pass: integrate, push out of what it overlaps, evaluate contacts."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import fabs, sqrt
    from cython.cimports.npp_env.sim.body import kill
    from cython.cimports.npp_env.sim.contact import meet_entities
    from cython.cimports.npp_env.sim.decide import decide
    from cython.cimports.npp_env.sim.layout import Ninja, World
    from cython.cimports.npp_env.sim.walls import nearest_point, sweep, touched_wall
else:
    from math import fabs, sqrt

    from npp_env.sim.body import kill
    from npp_env.sim.contact import meet_entities
    from npp_env.sim.decide import decide
    from npp_env.sim.walls import nearest_point, sweep, touched_wall

IMPACT_BASE = cython.declare(cython.double, 6.0)
IMPACT_SLOPE = cython.declare(cython.double, 4.0 / 3.0)
CRUSH_RATIO = cython.declare(cython.double, 0.05)

# Three places near the left wall where the game's own rounding leaves a tiny slope in the floor normal, which
# switches the uphill rules on for one tick. Ordinary starts meet them: spawn x = 36 or 48 with right held, x
# = 60 with left held.
TILT = cython.declare(cython.double, 2.0**-47)
TILTED_LEFT_X1 = cython.declare(cython.double, 50.51197510492316)
TILTED_LEFT_X2 = cython.declare(cython.double, 49.23232124849253)
TILTED_RIGHT_X = cython.declare(cython.double, 49.153536108584795)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def integrate(w: cython.pointer(World)) -> cython.void:
    """Move by the velocity and reset the accumulators of the pass."""
    n: cython.pointer(Ninja) = w.ninja
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
    w.candidates_cell = -1
    w.n_candidates = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def push_from_tiles(w: cython.pointer(World)) -> cython.int:
    """Stop at the tiles on the way and push out of those overlapped; returns how many pushes it took."""
    n: cython.pointer(Ninja) = w.ninja
    dx: cython.double = n.x - w.xo
    dy: cython.double = n.y - w.yo
    tau: cython.double = sweep(w, w.xo, w.yo, dx, dy, 5)
    d: cython.double
    length: cython.double
    qx: cython.double
    qy: cython.double
    c: cython.double
    side: cython.int
    k: cython.int
    n.x = w.xo + tau * dx
    n.y = w.yo + tau * dy
    for k in range(32):
        side = nearest_point(w, n.x, n.y, 10)
        if side == 0:
            return k
        dx = n.x - w.a
        dy = n.y - w.b
        if fabs(dx) <= 0.0000001:
            dx = 0.0
        if n.x == TILTED_LEFT_X1 or n.x == TILTED_LEFT_X2:
            dx = -TILT
        elif n.x == TILTED_RIGHT_X:
            dx = TILT
        d = sqrt(dx * dx + dy * dy)
        length = 10 - d * side
        if d == 0 or length < 0.0000001:
            return k
        qx = dx / d * length
        qy = dy / d * length
        n.x += qx
        n.y += qy
        w.crush_x += qx
        w.crush_y += qy
        w.crush_length += length
        if n.vx * dx + n.vy * dy < 0:
            c = (n.vx * dy - n.vy * dx) / (d * d)
            n.vx = c * dy
            n.vy = c * -dx
        if dy >= -0.0001:
            w.n_ceiling += 1
            w.ceiling_x += dx / d
            w.ceiling_y += dy / d
        else:
            w.n_floor += 1
            w.floor_x += dx / d
            w.floor_y += dy / d
    return 32


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def strike(w: cython.pointer(World), nx: cython.double, ny: cython.double) -> cython.void:
    """Die if the speed against a surface with this normal was too high."""
    impact: cython.double = -(nx * w.vxo + ny * w.vyo)
    if impact > IMPACT_BASE - IMPACT_SLOPE * fabs(ny):
        w.ninja.vx = w.vxo
        w.ninja.vy = w.vyo
        kill(w)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def evaluate_contacts(w: cython.pointer(World)) -> cython.void:
    """Touch entities, then judge walls, floor, ceiling and crushing."""
    n: cython.pointer(Ninja) = w.ninja
    wall: cython.double = meet_entities(w, False)
    s: cython.double
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
        if n.state != 8 and w.was_air:
            strike(w, n.fnx, n.fny)
    if w.n_ceiling > 0:
        s = sqrt(w.ceiling_x * w.ceiling_x + w.ceiling_y * w.ceiling_y)
        if s == 0:
            n.cnx = 0.0
            n.cny = 1.0
        else:
            n.cnx = w.ceiling_x / s
            n.cny = w.ceiling_y / s
        if n.state != 8:
            strike(w, n.cnx, n.cny)
    if w.crushable and w.crush_length > 0:
        s = sqrt(w.crush_x * w.crush_x + w.crush_y * w.crush_y)
        if s / w.crush_length < CRUSH_RATIO:
            kill(w)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def ninja_pass(w: cython.pointer(World)) -> cython.void:
    """The ninja's part of a tick."""
    n: cython.pointer(Ninja) = w.ninja
    _round: cython.int
    pushes: cython.double
    x: cython.double
    y: cython.double
    if n.state != 6:
        integrate(w)
        for _round in range(4):
            x = n.x
            y = n.y
            pushes = meet_entities(w, True)
            pushes += push_from_tiles(w)
            # A round without a push that leaves the position as it was would only repeat itself.
            if pushes == 0 and n.x == x and n.y == y:
                break
        evaluate_contacts(w)
    decide(w)
