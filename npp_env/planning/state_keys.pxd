# The key of a state: states with the same key count as one. `StateKeys` fills the rule from a `Resolution`.
from libc.math cimport fabs, floor, rint
from npp_env.sim.layout cimport MINE_ARMED, RISING, Mover, Ninja

cdef struct KeyRule:
    double position_px, speed_px, mover_px, mover_reach_px
    int hold_ticks
    int n_moving, n_mines
    int* moving         # numbers of the movers that count
    int* mines          # where in a state their flags stand

cdef inline unsigned long long mixed(unsigned long long key, long long part) noexcept nogil:
    key = (key ^ <unsigned long long>part) * 0x9E3779B97F4A7C15ULL
    return key ^ (key >> 29)

cdef inline int posture_of(KeyRule* rule, Ninja* n) noexcept nogil:
    cdef int posture = 16 * n.jump_prev + 32 * n.air
    if n.state == RISING:
        posture += 2 + n.hold // rule.hold_ticks
    if n.walled:
        posture += 64 * (2 + (n.wn > 0) - (n.wn < 0))
    return posture

cdef inline unsigned long long key_of_movers(KeyRule* rule, Ninja* n) noexcept nogil:
    # Movers far from the ninja do not count.
    cdef Mover* movers = <Mover*>(n + 1)
    cdef Mover* b
    cdef unsigned long long total = 0
    cdef unsigned long long part
    cdef int k
    for k in range(rule.n_moving):
        b = &movers[rule.moving[k]]
        if fabs(b.x - n.x) < rule.mover_reach_px and fabs(b.y - n.y) < rule.mover_reach_px:
            part = mixed(rule.moving[k] + 1, <long long>floor(b.x / rule.mover_px))
            part = mixed(part, <long long>floor(b.y / rule.mover_px))
            total += mixed(part, b.phase * 8 + b.direction)
    return total

cdef inline unsigned long long key_of(KeyRule* rule, unsigned char* state, long long configuration) noexcept nogil:
    cdef Ninja* n = <Ninja*>state
    cdef unsigned long long key = <unsigned long long>configuration
    cdef unsigned long long armed = 0
    cdef int k
    key = mixed(key, <long long>floor(n.x / rule.position_px))
    key = mixed(key, <long long>floor(n.y / rule.position_px))
    key = mixed(key, <long long>rint(n.vx / rule.speed_px))
    key = mixed(key, <long long>rint(n.vy / rule.speed_px))
    key = mixed(key, posture_of(rule, n))
    if rule.n_moving:
        key = mixed(key, <long long>key_of_movers(rule, n))
    if rule.n_mines:
        for k in range(rule.n_mines):
            if state[rule.mines[k]] == MINE_ARMED:
                armed += <unsigned long long>(k + 1) * 0x9E3779B97F4A7C15ULL
        key = mixed(key, <long long>armed)
    return key

cdef class StateKeys:
    cdef KeyRule rule
    cdef object arrays
