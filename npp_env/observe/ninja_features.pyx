"""Observations of the ninja itself: `game_state` and `action_mask`."""

from libc.string cimport memset
from npp_env.observe.view cimport View, half, halves, octets, unit
from npp_env.sim.layout cimport CELEBRATING, DEAD, G_FALL, RISING, Ninja, ifloor

cdef double SPEED_SCALE = 12.0
cdef double LONGEST_BUFFER = 6.0
cdef double LONGEST_HOLD = 46.0

# Of the small numbers of a state, as float16: themselves, as ticks of a buffer (-1 is empty), and of a held jump.
cdef unsigned short[256] small, buffered, held
cdef int number
for number in range(-128, 128):
    small[<unsigned char>number] = half(number)
    buffered[<unsigned char>number] = half((number + 1) / LONGEST_BUFFER)
    held[<unsigned char>number] = half(number / LONGEST_HOLD)


cdef void write_game_state(View* view, unsigned short* out) noexcept nogil:
    """The 34 numbers of `game_state`; `GAME_STATE_FIELDS` names them."""
    cdef Ninja* n = view.world.ninja
    cdef int k
    out[0] = half(unit(n.x / 528.0 - 1))
    out[1] = half(unit(n.y / 300.0 - 1))
    out[2] = half((n.x / 24 - ifloor(n.x / 24)) * 2 - 1)
    out[3] = half((n.y / 24 - ifloor(n.y / 24)) * 2 - 1)
    out[4] = half(unit(n.vx / SPEED_SCALE))
    out[5] = half(unit(n.vy / SPEED_SCALE))
    memset(out + 6, 0, 8 * sizeof(unsigned short))
    k = n.state
    if k >= DEAD or k < 0:
        # Dead and doomed are one, celebrating comes next; whatever a state holds, it is one of the eight.
        k = DEAD + 1 if k == CELEBRATING else DEAD
    out[6 + k] = half(1.0)
    out[14] = small[<unsigned char>n.air]
    out[15] = small[<unsigned char>n.walled]
    out[16] = half(unit(n.wn))
    out[17] = half(unit(n.fnx))
    out[18] = half(unit(n.fny))
    out[19] = half(unit(n.cnx))
    out[20] = half(unit(n.cny))
    out[21] = buffered[<unsigned char>n.b_jump]
    out[22] = buffered[<unsigned char>n.b_floor]
    out[23] = buffered[<unsigned char>n.b_wall]
    out[24] = buffered[<unsigned char>n.b_pad]
    out[25] = held[<unsigned char>n.hold]
    out[26] = half(n.g / G_FALL)
    out[27] = small[<unsigned char>n.h]
    out[28] = small[<unsigned char>n.jump_prev]
    out[29] = half(unit(n.pnx))
    out[30] = half(unit(n.pny))
    if view.limit_frames > 0:
        out[31] = half(unit(1.0 - n.frame / <double>view.limit_frames))
    else:
        out[31] = half(1.0)
    out[32] = half(1.0 if n.switches > 0 else 0.0)
    if view.gold_total > 0:
        out[33] = half(unit((view.gold_total - n.gold) / <double>view.gold_total))
    else:
        out[33] = 0


cdef void write_action_mask(View* view, unsigned char* out) noexcept nogil:
    """Which of the six actions can make a difference to the ninja's motion.

    When the episode has ended no input counts: only idle stays. A jump that is held on from the previous tick does
    nothing unless the ninja is rising (holding prolongs it) or an earlier press is still buffered, so the jump actions
    are then masked; releasing is what makes the next jump possible.
    """
    cdef Ninja* n = view.world.ninja
    cdef int k
    out[0] = 1
    for k in range(1, 6):
        out[k] = n.state < DEAD
    if n.jump_prev and n.state != RISING and n.b_jump < 0:
        for k in range(3, 6):
            out[k] = 0


WRITERS = {"game_state": halves(write_game_state), "action_mask": octets(write_action_mask)}
