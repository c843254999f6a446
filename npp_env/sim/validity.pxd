# Which states are valid: what the kernel can itself produce, with room to spare. The ninja and what all movers have in
# common are checked in `validity.pyx`; every kind that has state adds its own rule, `check`, with `expect`.
from libc.math cimport floor
from npp_env.sim.layout cimport Check, Level, Mover, Ninja

# Within these no sum of places and speeds leaves the whole numbers that cells are computed in.
cdef enum:
    FARTHEST_PX = 1_000_000_000     # by the rules a ninja may fall out of the map, for weeks
    FASTEST_PX = 10_000_000         # and a crowd of bounce blocks may throw it
    MOST_TURNED = 1_000             # an angle, in radians
    LATEST = 1 << 30                # a frame, or a place in the order of lists

cdef inline void expect(Check* check, const char* field, double value, double low, double high) noexcept nogil:
    # The number must lie in low..high, as no NaN does. The first one that does not is kept.
    if check.field == NULL and not (low <= value and value <= high):
        check.field = field
        check.value = value
        check.low = low
        check.high = high

cdef inline void expect_flag(Check* check, int flag, unsigned int values) noexcept nogil:
    # The flag must be one of the values whose bits are set.
    if flag > 31 or not values >> flag & 1:
        expect(check, b"flag", flag, 0, -1)

cdef inline void expect_whole(Check* check, const char* field, double value, double low, double high) noexcept nogil:
    # The number must be a whole one in low..high.
    expect(check, field, value, low, high)
    if check.field == NULL:
        expect(check, field, value, floor(value), floor(value))

cdef inline void expect_velocity(Check* check, double vx, double vy) noexcept nogil:
    expect(check, b"vx", vx, -FASTEST_PX, FASTEST_PX)
    expect(check, b"vy", vy, -FASTEST_PX, FASTEST_PX)

cdef inline void expect_unused(Check* check, double u, double v) noexcept nogil:
    # What a kind does not use stays 0.
    expect(check, b"u", u, 0, 0)
    expect(check, b"v", v, 0, 0)

cdef inline void expect_direction(Check* check, double dx, double dy, bint there) noexcept nogil:
    # A unit vector, or nothing.
    if there:
        expect(check, b"length of the direction, squared,", dx * dx + dy * dy, 0.999999, 1.000001)
    else:
        expect_unused(check, dx, dy)

cdef inline void expect_unlisted(Check* check, Mover* b, int most_ticks) noexcept nogil:
    # In no list; it counts ticks where others have their place in one.
    expect(check, b"cell", b.cell, -1, -1)
    expect(check, b"ticks", b.ticks, 0, most_ticks)

cdef inline Mover* initial_movers(Level* level) noexcept nogil:
    # The movers at the start; by `slot` of an entity.
    return <Mover*>(level.initial + sizeof(Ninja))

cdef bint is_valid(Level* level, unsigned char* block, Check* check) noexcept nogil
cdef str describe(object geometry, Check* check)
