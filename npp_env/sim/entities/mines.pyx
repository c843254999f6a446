"""Mines and toggle mines: the same rules, begun in different modes (physics 6.1)."""

from npp_env.sim.body cimport is_target, kill, touches
from npp_env.sim.entities.passes cimport Pose, kinds
from npp_env.sim.layout cimport (
    COLUMNS, DEAD, MINE, MINE_ARMED, MINE_ARMING, MINE_IDLE, NEAR_MINE, OFF, ROWS, TOGGLE_MINE, Entity, Level, World,
    column_of, row_of,
)
from npp_env.sim.validity cimport Check, expect_flag


cdef inline double radius_in(int mode) noexcept nogil:
    """Radius of a mine by its mode."""
    if mode == MINE_ARMED:
        return 4.0
    if mode == MINE_IDLE:
        return 3.5
    return 4.5


cdef void react_mines(World* w, Entity* any_mine) noexcept nogil:
    """Toggle the mines near the ninja, and those that are arming wherever they are.

    One call serves all mines: no other rule changes what they look at.
    """
    cdef Level* level = w.level
    cdef Entity* e
    cdef int k, c, r, col
    cdef bint target = is_target(w)
    if w.ninja.arming > 0:
        for k in range(level.n_mines):
            e = &level.entities[level.mines[k]]
            if w.flags[e.slot] == MINE_ARMING and not (target and touches(w, e.x, e.y, radius_in(MINE_ARMING))):
                w.flags[e.slot] = MINE_IDLE if w.ninja.state == DEAD or w.ninja.state == OFF else MINE_ARMED
                w.ninja.arming -= 1
    if not target:
        return
    c = column_of(w.ninja.x)
    r = row_of(w.ninja.y)
    if (level.near[c * ROWS + r] & NEAR_MINE) == 0:
        return
    for col in range(c - 1 if c > 0 else 0, (c + 1 if c < COLUMNS - 1 else c) + 1):
        for k in range(
            level.listed_start[col * ROWS + (r - 1 if r > 0 else 0)],
            level.listed_start[col * ROWS + (r + 1 if r < ROWS - 1 else r) + 1],
        ):
            e = &level.entities[level.listed[k]]
            if e.kind != TOGGLE_MINE and e.kind != MINE:
                continue
            if w.flags[e.slot] == MINE_IDLE and touches(w, e.x, e.y, radius_in(MINE_IDLE)):
                w.flags[e.slot] = MINE_ARMING
                w.ninja.arming += 1


cdef double touch_mine(World* w, Entity* e) noexcept nogil:
    """An armed mine kills and is idle from then on."""
    if w.flags[e.slot] == MINE_ARMED and is_target(w) and touches(w, e.x, e.y, radius_in(MINE_ARMED)):
        w.flags[e.slot] = MINE_IDLE
        kill(w)
    return 0.0


cdef void pose_mine(World* w, Entity* e, Pose* pose) noexcept nogil:
    """How dangerous it is: armed 1, arming 0.5, idle 0."""
    cdef int mode = w.flags[e.slot]
    pose.radius = radius_in(mode)
    pose.mode = 1.0 if mode == MINE_ARMED else 0.5 if mode == MINE_ARMING else 0.0


cdef void check_mine(World* w, Entity* e, Check* check) noexcept nogil:
    """One of three modes; the ninja knows how many are arming."""
    cdef int mode = w.flags[e.slot]
    expect_flag(check, mode, 1 << MINE_ARMED | 1 << MINE_IDLE | 1 << MINE_ARMING)
    check.arming += mode == MINE_ARMING


cdef int mine
for mine in (MINE, TOGGLE_MINE):
    kinds[mine].react = react_mines
    kinds[mine].touch = touch_mine
    kinds[mine].pose = pose_mine
    kinds[mine].check = check_mine
