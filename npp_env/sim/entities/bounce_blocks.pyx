"""Bounce blocks: a damped spring around their place (physics 6.9)."""

from npp_env.sim.contact cimport Push, inside_square, shove_ninja
from npp_env.sim.entities.passes cimport check_flying, kinds, pose_flying
from npp_env.sim.grid cimport relist
from npp_env.sim.layout cimport BOUNCE_BLOCK, Entity, Mover, World, mover_of

cdef double DRAG = 0.98
cdef double SPRING = float.fromhex("0x1.6c16c16c16c16p-6")
cdef double NINJA_SHARE = 0.2
cdef double BLOCK_SHARE = 1 - 0.2


cdef void advance_block(World* w, Entity* e) noexcept nogil:
    """Swing on."""
    cdef Mover* b = mover_of(w, e)
    b.vx = b.vx * DRAG
    b.vy = b.vy * DRAG
    b.x += b.vx
    b.y += b.vy
    cdef double fx = SPRING * (e.x0 - b.x)
    cdef double fy = SPRING * (e.y0 - b.y)
    b.x += fx
    b.y += fy
    b.vx += fx
    b.vy += fy
    relist(w, b)


cdef bint push_from_block(World* w, Entity* e) noexcept nogil:
    """Block and ninja give way to each other, the block more."""
    cdef Mover* b = mover_of(w, e)
    cdef Push push
    cdef double cx, cy
    if not inside_square(w, b.x, b.y, 19, &push):
        return False
    cx = push.nx * push.depth * BLOCK_SHARE
    cy = push.ny * push.depth * BLOCK_SHARE
    b.x -= cx
    b.y -= cy
    b.vx -= cx
    b.vy -= cy
    shove_ninja(w, push.nx, push.ny, push.depth * NINJA_SHARE)
    return True


cdef double touch_block(World* w, Entity* e) noexcept nogil:
    """A wall on its sides."""
    cdef Mover* b = mover_of(w, e)
    cdef Push push
    return push.nx if inside_square(w, b.x, b.y, 19.1, &push) else 0.0


kinds[BOUNCE_BLOCK].advance = advance_block
kinds[BOUNCE_BLOCK].push = push_from_block
kinds[BOUNCE_BLOCK].touch = touch_block
kinds[BOUNCE_BLOCK].pose = pose_flying
kinds[BOUNCE_BLOCK].check = check_flying
