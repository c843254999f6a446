"""Regular doors, and locked and trap doors with their switches (physics 6.4)."""

from npp_env.sim.body cimport touches
from npp_env.sim.entities.passes cimport Pose, kinds
from npp_env.sim.layout cimport DOOR, DOOR_OPEN, DOOR_TAKEN, DOOR_TICK, LOCKED_DOOR, TRAP_DOOR, Entity, World
from npp_env.sim.validity cimport Check, expect, expect_flag

cdef int OPEN_TICKS = 5


cdef void react_door(World* w, Entity* e) noexcept nogil:
    """A regular door closes a while after the last contact; the timer counts above the bit that says open."""
    cdef unsigned char* flag = &w.flags[e.slot]
    if flag[0] & DOOR_OPEN:
        flag[0] += DOOR_TICK
        if flag[0] // DOOR_TICK > OPEN_TICKS:
            flag[0] = 0


cdef double touch_door(World* w, Entity* e) noexcept nogil:
    """A regular door opens, its timer at 0."""
    if touches(w, e.x, e.y, kinds[DOOR].radius):
        w.flags[e.slot] = DOOR_OPEN
    return 0.0


cdef double touch_locked_door(World* w, Entity* e) noexcept nogil:
    """The switch opens the door for good."""
    if touches(w, e.x, e.y, kinds[LOCKED_DOOR].radius):
        w.flags[e.slot] = DOOR_OPEN | DOOR_TAKEN
    return 0.0


cdef double touch_trap_door(World* w, Entity* e) noexcept nogil:
    """The switch closes the door for good."""
    if touches(w, e.x, e.y, kinds[TRAP_DOOR].radius):
        w.flags[e.slot] = DOOR_TAKEN
    return 0.0


cdef void pose_door(World* w, Entity* e, Pose* pose) noexcept nogil:
    """Open 1, closed 0."""
    pose.mode = w.flags[e.slot] & DOOR_OPEN


cdef void check_door(World* w, Entity* e, Check* check) noexcept nogil:
    """Closed, or open with some ticks counted."""
    cdef int flag = w.flags[e.slot]
    expect(check, b"flag", flag, 0, DOOR_OPEN + DOOR_TICK * OPEN_TICKS)
    if flag != 0:
        expect(check, b"bit of the flag that says open", flag & DOOR_OPEN, 1, 1)


cdef void check_locked_door(World* w, Entity* e, Check* check) noexcept nogil:
    """Closed, or opened by its switch."""
    expect_flag(check, w.flags[e.slot], 1 << 0 | 1 << (DOOR_OPEN | DOOR_TAKEN))


cdef void check_trap_door(World* w, Entity* e, Check* check) noexcept nogil:
    """Open, or closed by its switch."""
    expect_flag(check, w.flags[e.slot], 1 << DOOR_OPEN | 1 << DOOR_TAKEN)


kinds[DOOR].react = react_door
kinds[DOOR].touch = touch_door
kinds[LOCKED_DOOR].touch = touch_locked_door
kinds[TRAP_DOOR].touch = touch_trap_door
kinds[DOOR].pose = kinds[LOCKED_DOOR].pose = kinds[TRAP_DOOR].pose = pose_door
kinds[DOOR].check = check_door
kinds[LOCKED_DOOR].check = check_locked_door
kinds[TRAP_DOOR].check = check_trap_door
