"""Evil ninjas: once touched, they follow the ninja's own path at a distance in time (physics 6.20).

The path is kept in the state, from the first tick on that one of them will repeat.
"""

from npp_env.sim.body cimport is_target, kill, touches
from npp_env.sim.entities.passes cimport Pose, kinds
from npp_env.sim.grid cimport relist
from npp_env.sim.layout cimport (
    EVIL_NINJA, FOLLOWER_ACTIVE, FOLLOWER_ASLEEP, FOLLOWER_TOUCHED, FOLLOWER_WAITING, Entity, Mover, Place, World,
    mover_of,
)
from npp_env.sim.validity cimport Check, expect, expect_unused, expect_whole

from npp_env.level.entity_kinds import EVIL_NINJA_DELAY_TICKS

# So many ticks lie between the ninja and the first of them, and between each and the next.
cdef int DELAY_TICKS = EVIL_NINJA_DELAY_TICKS
# An active one kills in this radius; the table has the one in which it is woken.
cdef double DEADLY_RADIUS = 6.0


cdef inline int woken_in(Mover* b) noexcept nogil:
    """The tick in which one with a number was touched."""
    return <int>b.starts - DELAY_TICKS * <int>b.number


cdef inline Place* place_after(World* w, int tick) noexcept nogil:
    """Where the ninja was after a tick; the state remembers it for as long as somebody follows."""
    return &w.history[tick % w.level.history_ticks]


cdef inline int repeated_tick(World* w, Mover* b) noexcept nogil:
    """The tick whose end an active one repeats now."""
    return w.ninja.frame - (DELAY_TICKS * <int>b.number - 1)


cdef void react_evil(World* w, Entity* e) noexcept nogil:
    """Get a number in the tick after the touch, wait, and follow."""
    cdef Mover* b = mover_of(w, e)
    cdef Place* place
    if b.phase == FOLLOWER_ASLEEP:
        return
    if b.phase == FOLLOWER_TOUCHED:
        w.ninja.followers += 1
        b.number = w.ninja.followers
        b.starts = w.ninja.frame - 1 + DELAY_TICKS * b.number
        b.phase = FOLLOWER_WAITING
    if w.ninja.frame >= b.starts:
        b.phase = FOLLOWER_ACTIVE
        place = place_after(w, repeated_tick(w, b))
        b.x = place.x
        b.y = place.y
        relist(w, b)


cdef double touch_evil(World* w, Entity* e) noexcept nogil:
    """The first touch wakes it; once it is active it kills."""
    cdef Mover* b = mover_of(w, e)
    if b.phase == FOLLOWER_ASLEEP:
        if is_target(w) and touches(w, b.x, b.y, kinds[EVIL_NINJA].radius):
            b.phase = FOLLOWER_TOUCHED
    elif b.phase == FOLLOWER_ACTIVE:
        if is_target(w) and touches(w, b.x, b.y, DEADLY_RADIUS):
            kill(w)
    return 0.0


cdef void pose_evil(World* w, Entity* e, Pose* pose) noexcept nogil:
    """Its phase and how much of it is left; where it will start; once active, its next move."""
    cdef Mover* b = mover_of(w, e)
    cdef Place* place
    pose.phase = b.phase / 3.0
    if b.phase == FOLLOWER_WAITING:
        pose.timer = (b.starts - w.ninja.frame) / (DELAY_TICKS * b.number)
        place = place_after(w, woken_in(b) + 1)
        pose.aims = True
        pose.aim_x = place.x
        pose.aim_y = place.y
    elif b.phase == FOLLOWER_ACTIVE:
        pose.radius = DEADLY_RADIUS
        place = place_after(w, repeated_tick(w, b) + 1)
        pose.vx = place.x - b.x
        pose.vy = place.y - b.y


cdef void check_evil(World* w, Entity* e, Check* check) noexcept nogil:
    """Asleep or touched at its place, without a number; or with one, and in time for its phase."""
    cdef Mover* b = mover_of(w, e)
    cdef int frame = w.ninja.frame
    cdef double delay = DELAY_TICKS * b.number
    expect(check, b"phase", b.phase, <int>FOLLOWER_ASLEEP, <int>FOLLOWER_ACTIVE)
    expect(check, b"turn", b.direction, 0, 0)
    if b.phase != FOLLOWER_ACTIVE:
        expect(check, b"x", b.x, e.x, e.x)
        expect(check, b"y", b.y, e.y, e.y)
    if b.phase < FOLLOWER_WAITING:
        expect_unused(check, b.number, b.starts)
        return
    check.followers += 1
    expect_whole(check, b"number", b.number, 1, w.level.history_ticks // DELAY_TICKS)
    # It was touched in tick `starts - delay`, the first or later, and got its number in the next.
    if b.phase == FOLLOWER_WAITING:
        expect_whole(check, b"starts", b.starts, max(delay, frame) + 1, frame - 1 + delay)
    else:
        expect_whole(check, b"starts", b.starts, delay + 1, frame)


kinds[EVIL_NINJA].react = react_evil
kinds[EVIL_NINJA].touch = touch_evil
kinds[EVIL_NINJA].pose = pose_evil
kinds[EVIL_NINJA].check = check_evil
