"""What the ninja does with its input: running, skidding, jumping, sliding (physics 5.8)."""

from libc.math cimport fabs, sqrt
from npp_env.sim.layout cimport (
    CELEBRATING, DEAD, DOOMED, FALLING, G_FALL, OFF, RISING, RUNNING, SKIDDING, SLIDING, STANDING, Ninja, World,
)
from npp_env.sim.validity cimport FARTHEST_PX, LATEST, Check, expect, expect_velocity

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
# Rounding may leave a unit vector, or a share of a tick, a little above 1.
cdef double LONGEST_NORMAL = 1 + 1e-9

cdef enum Armed:
    JUMP_ARMED = 1
    WALL_ARMED = 2
    FLOOR_ARMED = 4
    PAD_ARMED = 8

cdef enum:
    BUFFER_TICKS = 5
    PAD_TICKS = 3
    LONGEST_JUMP = 45


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
    n.state = RISING
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
    if n.h * n.wn < 0 and n.state == SLIDING:
        jx = TWO_THIRDS
        jy = -1.0
    n.state = RISING
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
    if n.state > SKIDDING:
        if n.state == RISING:
            n.g = G_FALL
        n.state = SKIDDING if n.vx * n.h <= 0 else RUNNING
    if jumps:
        floor_jump(w)
        return
    along = fabs(n.vy * n.fnx - n.vx * n.fny)
    if n.state == SKIDDING:
        if n.h * along * n.vx > 0:
            n.state = RUNNING
        elif along < 0.1 and n.fnx == 0:
            n.state = STANDING
        elif n.vy < 0 and n.fnx != 0:
            s = sqrt(n.vx * n.vx + n.vy * n.vy)
            f = fabs(n.vx * (1 - F_SKID) * n.fny)
            f = s - f * (n.fny * n.fny)
            n.vx = n.vx / s * f
            n.vy = n.vy / s * f
        else:
            n.vx = n.vx * F_SKID
    elif n.state == RUNNING:
        if n.h * along * n.vx > 0:
            if n.h * n.fnx < 0 and fabs(t) < V_MAX:
                s = A_FLOOR / 2 * n.h
                n.vx += s * n.fny * n.fny
                n.vy += s * n.fny * -n.fnx
        else:
            n.state = SKIDDING
    elif n.h != 0:
        n.state = RUNNING
    elif along < 0.1:
        n.vx = n.vx * F_STAND
    else:
        n.state = SKIDDING


cdef void decide_in_air(World* w, int edge, int armed) noexcept nogil:
    """Steer, rise while jump is held, jump off what was just touched, slide down a wall.

    Args:
        w: The environment.
        edge: Whether jump was pressed in this tick.
        armed: Bits of the buffers that are armed.
    """
    cdef Ninja* n = w.ninja
    cdef double t = n.vx + A_AIR * n.h
    if fabs(t) < V_MAX:
        n.vx = t
    if n.state < RISING:
        n.state = FALLING
        return
    if n.state == RISING:
        n.hold += 1
        if w.jump == 0 or n.hold > LONGEST_JUMP:
            n.g = G_FALL
            n.state = FALLING
            return
    if edge or armed & JUMP_ARMED:
        if n.walled or armed & WALL_ARMED:
            wall_jump(w)
            return
        if armed & FLOOR_ARMED:
            floor_jump(w)
            return
        if armed & PAD_ARMED and edge:
            pad_jump(w)
            return
    if not n.walled:
        if n.state == SLIDING:
            n.state = FALLING
    elif n.state == SLIDING:
        if n.h * n.wn <= 0:
            n.vy = n.vy * F_WALL
        else:
            n.state = FALLING
    elif n.vy > 0 and n.h * n.wn < 0:
        if n.state == RISING:
            n.g = G_FALL
        n.state = SLIDING


cdef void decide(World* w) noexcept nogil:
    """Turn input and contacts into the ninja's next move."""
    cdef Ninja* n = w.ninja
    cdef int edge = w.jump == 1 and n.jump_prev == 0
    cdef int armed = 0
    n.jump_prev = w.jump
    n.b_pad = advance_buffer(n.b_pad, PAD_TICKS)
    n.b_jump = advance_buffer(n.b_jump, BUFFER_TICKS)
    n.b_wall = advance_buffer(n.b_wall, BUFFER_TICKS)
    n.b_floor = advance_buffer(n.b_floor, BUFFER_TICKS)
    if n.b_jump >= 0 and n.b_jump < BUFFER_TICKS:
        armed = armed | JUMP_ARMED
    if n.b_wall >= 0 and n.b_wall < BUFFER_TICKS:
        armed = armed | WALL_ARMED
    if n.b_floor >= 0 and n.b_floor < BUFFER_TICKS:
        armed = armed | FLOOR_ARMED
    if n.b_pad >= 0 and n.b_pad <= PAD_TICKS:
        armed = armed | PAD_ARMED
    if edge and n.air:
        n.b_jump = 0
    if n.walled:
        n.b_wall = 0
    if not n.air:
        n.b_floor = 0
    if n.state == DEAD or n.state == OFF:
        return
    if n.state == DOOMED:
        n.state = DEAD
    elif n.state == CELEBRATING:
        n.drag = D_NORMAL if n.air else D_SLOW
    elif n.air:
        decide_in_air(w, edge, armed)
    else:
        decide_on_floor(w, edge or (armed & JUMP_ARMED))


cdef void check_ninja(Ninja* n, Check* check) noexcept nogil:
    """What a ninja can be between two ticks; what it counts is compared elsewhere."""
    expect(check, b"x", n.x, -FARTHEST_PX, FARTHEST_PX)
    expect(check, b"y", n.y, -FARTHEST_PX, FARTHEST_PX)
    expect_velocity(check, n.vx, n.vy)
    if n.g != G_FALL:
        expect(check, b"g", n.g, G_RISE, G_RISE)
    if n.drag != D_SLOW:
        expect(check, b"drag", n.drag, D_NORMAL, D_NORMAL)
    expect(check, b"wn", n.wn, -LONGEST_NORMAL, LONGEST_NORMAL)
    expect(check, b"fnx", n.fnx, -LONGEST_NORMAL, LONGEST_NORMAL)
    expect(check, b"fny", n.fny, -LONGEST_NORMAL, LONGEST_NORMAL)
    expect(check, b"cnx", n.cnx, -LONGEST_NORMAL, LONGEST_NORMAL)
    expect(check, b"cny", n.cny, -LONGEST_NORMAL, LONGEST_NORMAL)
    expect(check, b"pnx", n.pnx, -LONGEST_NORMAL, LONGEST_NORMAL)
    expect(check, b"pny", n.pny, -LONGEST_NORMAL, LONGEST_NORMAL)
    expect(check, b"fraction", n.fraction, 0, LONGEST_NORMAL)
    expect(check, b"frame", n.frame, 0, LATEST)
    expect(check, b"stamp", n.stamp, 0, LATEST)
    expect(check, b"state", n.state, <int>STANDING, <int>OFF)
    expect(check, b"air", n.air, 0, 1)
    expect(check, b"walled", n.walled, 0, 1)
    expect(check, b"h", n.h, -1, 1)
    expect(check, b"jump_prev", n.jump_prev, 0, 1)
    expect(check, b"hold", n.hold, 0, LONGEST_JUMP + 1)
    expect(check, b"b_jump", n.b_jump, -1, BUFFER_TICKS)
    expect(check, b"b_floor", n.b_floor, -1, BUFFER_TICKS)
    expect(check, b"b_wall", n.b_wall, -1, BUFFER_TICKS)
    expect(check, b"b_pad", n.b_pad, -1, PAD_TICKS)
    expect(check, b"reserved", n.reserved, 0, 0)
