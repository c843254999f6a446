"""What the ninja does with its input: running, skidding, jumping, sliding."""

from libc.math cimport fabs, sqrt
from npp_env.sim.layout cimport G_FALL, Ninja, World

# The game's own doubles: several are not the nearest to the fraction that they stand for.
cdef double G_RISE = float.fromhex("0x1.6c16c16c16c16p-7")
cdef double A_FLOOR = float.fromhex("0x1.1111111111110p-4")
cdef double A_AIR = float.fromhex("0x1.6c16c16c16c16p-5")
cdef double D_NORMAL = float.fromhex("0x1.fc94b94afbccdp-1")
cdef double D_SLOW = float.fromhex("0x1.b93a6cec0b3b2p-1")
cdef double F_SKID = float.fromhex("0x1.e450cf2471707p-1")
cdef double F_STAND = float.fromhex("0x1.b93a6cec0b3b2p-1")
cdef double F_WALL = float.fromhex("0x1.d29ae6860288cp-1")
cdef double V_MAX = float.fromhex("0x1.aaaaaaaaaaaaap+1")
cdef double TWO_THIRDS = 2.0 / 3.0


cdef inline int advance_buffer(int b, int last) noexcept nogil:
    """The next value of an input buffer: it runs from 0 to last and is then idle (-1)."""
    if b >= 0 and b < last:
        return b + 1
    return -1


cdef void floor_jump(World* w) noexcept nogil:
    """Jump off the floor, away from a slope or straight up."""
    cdef Ninja* n = w.ninja
    cdef double jx, jy
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


cdef void wall_jump(World* w) noexcept nogil:
    """Jump off a wall, more steeply out of a slide."""
    cdef Ninja* n = w.ninja
    cdef double jx = 1.0
    cdef double jy = -1.4
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


cdef void pad_jump(World* w) noexcept nogil:
    """Jump shortly after a launch pad: more speed in its direction."""
    cdef Ninja* n = w.ninja
    cdef double m = 2 * fabs(n.pnx) + 2
    n.b_floor = -1
    n.b_wall = -1
    n.b_jump = -1
    n.b_pad = -1
    if m == 2:
        m = 1.7
    n.vx += n.pnx * m * 2 / 3
    n.vy += n.pny * m * 2 / 3


cdef void decide_on_floor(World* w, int jumps) noexcept nogil:
    """Run, skid, stand or jump."""
    cdef Ninja* n = w.ninja
    cdef double t = n.vx + A_FLOOR * n.h
    cdef double along, s, f
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


cdef void decide_in_air(World* w, int edge, int armed) noexcept nogil:
    """Steer, rise while jump is held, jump off what was just touched, slide down a wall.

    Args:
        w: The environment.
        edge: Whether jump was pressed in this tick.
        armed: Buffers that are armed: 1 jump, 2 wall, 4 floor, 8 pad.
    """
    cdef Ninja* n = w.ninja
    cdef double t = n.vx + A_AIR * n.h
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


cdef void decide(World* w) noexcept nogil:
    """Turn input and contacts into the ninja's next move."""
    cdef Ninja* n = w.ninja
    cdef int edge = w.jump == 1 and n.jump_prev == 0
    cdef int armed = 0
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
