"""What the ninja does with its input: running, skidding, jumping, sliding."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import fabs, sqrt
    from cython.cimports.npp_env.sim.layout import G_FALL, Ninja, World
else:
    from math import fabs, sqrt

    from npp_env.sim.structs import G_FALL

# The game's own doubles: several are not the nearest to the fraction that they stand for.
G_RISE = cython.declare(cython.double, float.fromhex("0x1.6c16c16c16c16p-7"))
A_FLOOR = cython.declare(cython.double, float.fromhex("0x1.1111111111110p-4"))
A_AIR = cython.declare(cython.double, float.fromhex("0x1.6c16c16c16c16p-5"))
D_NORMAL = cython.declare(cython.double, float.fromhex("0x1.fc94b94afbccdp-1"))
D_SLOW = cython.declare(cython.double, float.fromhex("0x1.b93a6cec0b3b2p-1"))
F_SKID = cython.declare(cython.double, float.fromhex("0x1.e450cf2471707p-1"))
F_STAND = cython.declare(cython.double, float.fromhex("0x1.b93a6cec0b3b2p-1"))
F_WALL = cython.declare(cython.double, float.fromhex("0x1.d29ae6860288cp-1"))
V_MAX = cython.declare(cython.double, float.fromhex("0x1.aaaaaaaaaaaaap+1"))
TWO_THIRDS = cython.declare(cython.double, 2.0 / 3.0)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def advance_buffer(b: cython.int, last: cython.int) -> cython.int:
    """The next value of an input buffer: it runs from 0 to last and is then idle (-1)."""
    if b >= 0 and b < last:
        return b + 1
    return -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def floor_jump(w: cython.pointer(World)) -> cython.void:
    """Jump off the floor, away from a slope or straight up."""
    n: cython.pointer(Ninja) = w.ninja
    jx: cython.double
    jy: cython.double
    n.b_jump = -1
    n.b_floor = -1
    n.b_pad = -1
    n.state = 3
    n.g = G_RISE
    if n.fnx == 0:
        jx = 0.0
        jy = -2.0
    elif n.vx * n.fnx >= 0:
        if n.vx * n.h >= 0:
            jx = TWO_THIRDS * n.fnx
            jy = 2 * n.fny
        else:
            jx = 0.0
            jy = -1.4
    elif n.vx * n.h > 0:
        jx = 0.0
        jy = -1.4
    else:
        jx = TWO_THIRDS * n.fnx
        jy = 2 * n.fny
        n.vx = 0.0
    if n.vy > 0:
        n.vy = 0.0
    n.vx += jx
    n.vy += jy
    n.x += jx
    n.y += jy
    n.hold = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def wall_jump(w: cython.pointer(World)) -> cython.void:
    """Jump off a wall, more steeply out of a slide."""
    n: cython.pointer(Ninja) = w.ninja
    jx: cython.double = 1.0
    jy: cython.double = -1.4
    if n.h * n.wn < 0 and n.state == 5:
        jx = TWO_THIRDS
        jy = -1.0
    n.state = 3
    n.g = G_RISE
    if n.vx * n.wn < 0:
        n.vx = 0.0
    if n.vy > 0:
        n.vy = 0.0
    n.vx += jx * n.wn
    n.vy += jy
    n.x += jx * n.wn
    n.y += jy
    n.b_jump = -1
    n.b_wall = -1
    n.b_pad = -1
    n.hold = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def pad_jump(w: cython.pointer(World)) -> cython.void:
    """Jump shortly after a launch pad: more speed in its direction."""
    n: cython.pointer(Ninja) = w.ninja
    m: cython.double = 2 * fabs(n.pnx) + 2
    n.b_floor = -1
    n.b_wall = -1
    n.b_jump = -1
    n.b_pad = -1
    if m == 2:
        m = 1.7
    n.vx += n.pnx * m * 2 / 3
    n.vy += n.pny * m * 2 / 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def decide_on_floor(w: cython.pointer(World), jumps: cython.int) -> cython.void:
    """Run, skid, stand or jump."""
    n: cython.pointer(Ninja) = w.ninja
    t: cython.double = n.vx + A_FLOOR * n.h
    along: cython.double
    s: cython.double
    f: cython.double
    if fabs(t) < V_MAX:
        n.vx = t
    if n.state > 2:
        if n.state == 3:
            n.g = G_FALL
        n.state = 2 if n.vx * n.h <= 0 else 1
    if jumps:
        floor_jump(w)
        return
    along = fabs(n.vy * n.fnx - n.vx * n.fny)
    if n.state == 2:
        if n.h * along * n.vx > 0:
            n.state = 1
        elif along < 0.1 and n.fnx == 0:
            n.state = 0
        elif n.vy < 0 and n.fnx != 0:
            s = sqrt(n.vx * n.vx + n.vy * n.vy)
            f = fabs(n.vx * (1 - F_SKID) * n.fny)
            f = s - f * (n.fny * n.fny)
            n.vx = n.vx / s * f
            n.vy = n.vy / s * f
        else:
            n.vx = n.vx * F_SKID
    elif n.state == 1:
        if n.h * along * n.vx > 0:
            if n.h * n.fnx < 0 and fabs(t) < V_MAX:
                s = A_FLOOR / 2 * n.h
                n.vx += s * n.fny * n.fny
                n.vy += s * n.fny * -n.fnx
        else:
            n.state = 2
    elif n.h != 0:
        n.state = 1
    elif along < 0.1:
        n.vx = n.vx * F_STAND
    else:
        n.state = 2


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def decide_in_air(w: cython.pointer(World), edge: cython.int, armed: cython.int) -> cython.void:
    """Steer, rise while jump is held, jump off what was just touched, slide down a wall.

    Args:
        w: The environment.
        edge: Whether jump was pressed in this tick.
        armed: Buffers that are armed: 1 jump, 2 wall, 4 floor, 8 pad.
    """
    n: cython.pointer(Ninja) = w.ninja
    t: cython.double = n.vx + A_AIR * n.h
    if fabs(t) < V_MAX:
        n.vx = t
    if n.state < 3:
        n.state = 4
        return
    if n.state == 3:
        n.hold += 1
        if w.jump == 0 or n.hold > 45:
            n.g = G_FALL
            n.state = 4
            return
    if edge or armed & 1:
        if n.walled or armed & 2:
            wall_jump(w)
            return
        if armed & 4:
            floor_jump(w)
            return
        if armed & 8 and edge:
            pad_jump(w)
            return
    if not n.walled:
        if n.state == 5:
            n.state = 4
    elif n.state == 5:
        if n.h * n.wn <= 0:
            n.vy = n.vy * F_WALL
        else:
            n.state = 4
    elif n.vy > 0 and n.h * n.wn < 0:
        if n.state == 3:
            n.g = G_FALL
        n.state = 5


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def decide(w: cython.pointer(World)) -> cython.void:
    """Turn input and contacts into the ninja's next move."""
    n: cython.pointer(Ninja) = w.ninja
    edge: cython.int = w.jump == 1 and n.jump_prev == 0
    armed: cython.int = 0
    n.jump_prev = w.jump
    n.b_pad = advance_buffer(n.b_pad, 3)
    n.b_jump = advance_buffer(n.b_jump, 5)
    n.b_wall = advance_buffer(n.b_wall, 5)
    n.b_floor = advance_buffer(n.b_floor, 5)
    if n.b_jump >= 0 and n.b_jump < 5:
        armed = armed | 1
    if n.b_wall >= 0 and n.b_wall < 5:
        armed = armed | 2
    if n.b_floor >= 0 and n.b_floor < 5:
        armed = armed | 4
    if n.b_pad >= 0 and n.b_pad < 4:
        armed = armed | 8
    if edge and n.air:
        n.b_jump = 0
    if n.walled:
        n.b_wall = 0
    if not n.air:
        n.b_floor = 0
    if n.state == 6 or n.state == 9:
        return
    if n.state == 7:
        n.state = 6
    elif n.state == 8:
        n.drag = D_NORMAL if n.air else D_SLOW
    elif n.air:
        decide_in_air(w, edge, armed)
    else:
        decide_on_floor(w, edge or (armed & 1))
