"""The ninja as entities see it: can it be hurt, does it touch, kill it, let it win."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import sqrt
    from cython.cimports.npp_env.sim.layout import G_FALL, World
else:
    from math import sqrt

    from npp_env.sim.structs import G_FALL


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_target(w: cython.pointer(World)) -> cython.int:
    """Whether the ninja can be hurt: neither dead nor celebrating."""
    return w.ninja.state < 6 or w.ninja.state == 7


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def touches(w: cython.pointer(World), x: cython.double, y: cython.double, radius: cython.double) -> cython.int:
    """Whether a circle overlaps the ninja."""
    dx: cython.double = x - w.ninja.x
    dy: cython.double = y - w.ninja.y
    return sqrt(dx * dx + dy * dy) < radius + 10


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def segment_hits(
    w: cython.pointer(World),
    x1: cython.double,
    y1: cython.double,
    x2: cython.double,
    y2: cython.double,
    rho: cython.double,
) -> cython.int:
    """Whether a segment comes nearer to the ninja's centre than rho."""
    ex: cython.double = x2 - x1
    ey: cython.double = y2 - y1
    square: cython.double = ex * ex + ey * ey
    u: cython.double = 0.0
    if square > 0:
        u = ((w.ninja.x - x1) * ex + (w.ninja.y - y1) * ey) / square
    if u < 0:
        u = 0
    if u > 1:
        u = 1
    dx: cython.double = w.ninja.x - (x1 + u * ex)
    dy: cython.double = w.ninja.y - (y1 + u * ey)
    return dx * dx + dy * dy < rho * rho


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def kill(w: cython.pointer(World)) -> cython.void:
    """Doom a living ninja; the end of the tick makes it dead."""
    if w.ninja.state < 6:
        if w.ninja.state == 3:
            w.ninja.g = G_FALL
        w.ninja.state = 7


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def win(w: cython.pointer(World)) -> cython.void:
    """Let a living ninja celebrate."""
    if w.ninja.state < 6:
        if w.ninja.state == 3:
            w.ninja.g = G_FALL
        w.ninja.state = 8
