"""The two grey frames of a state: around the ninja, and the whole level.

Both begin as a copy of the level's background (see `npp_env.render.background`); what can change is drawn on
top. Harmful things are darker than walls and empty space, helpful ones brighter, and brightest is the ninja.
"""

from libc.math cimport cos, fabs, sin
from libc.string cimport memcpy
from npp_env.render.canvas cimport Canvas, copy_window, draw_line, fill_box, fill_disc
from npp_env.sim.kernel cimport LevelHandle, bind
from npp_env.sim.layout cimport Entity, Level, World, eighth_x, ifloor
from npp_env.sim.walls cimport ray_length

from npp_env.errors import NppError
from npp_env.render.greys import BACKGROUND_BYTES
from npp_env.render.greys import WALL as WALL_GREY

cdef int FRAME_SIDE = 84
cdef int HALF_WIDTH = 528
cdef int HALF_HEIGHT = 300
cdef int VIEW_WIDTH = 176
cdef int VIEW_HEIGHT = 100
cdef int WALL = WALL_GREY

# Below this scale a small thing is one blot; details would only wash it out.
cdef double DETAIL_SCALE = 0.3
# No entity reaches farther from its position than this, beams and door switches aside.
cdef double REACH_PX = 18.0
cdef int DEAD = 6


cdef void draw_door(Canvas* c, Entity* e, int grey) noexcept nogil:
    """The line of a closed door."""
    if e.orientation == 0 or e.orientation == 4:
        fill_box(c, e.x0, e.y0, 2.0, 12.0, grey)
    else:
        fill_box(c, e.x0, e.y0, 12.0, 2.0, grey)


cdef void draw_plate(Canvas* c, Entity* e, double half_length, int grey) noexcept nogil:
    """A launch pad or one-way platform: a bar across its direction, and a dot on the side that it faces."""
    cdef double nx = eighth_x(e.orientation)
    cdef double ny = eighth_x((e.orientation + 6) % 8)
    cdef double tx = -ny * half_length
    cdef double ty = nx * half_length
    # One-ways hold at their position, so that the bar lies behind it.
    cdef double x = e.x - 2.0 * nx
    cdef double y = e.y - 2.0 * ny
    draw_line(c, x - tx, y - ty, x + tx, y + ty, 2.0, grey)
    if c.scale > DETAIL_SCALE:
        draw_line(c, e.x, e.y, e.x + 4.0 * nx, e.y + 4.0 * ny, 1.5, grey)


cdef void draw_fixed(Canvas* c, World* w, Entity* e) noexcept nogil:
    """An entity that stays where it is, by its flag; nothing for those that move."""
    cdef int kind = e.kind
    cdef int flag = 0
    if kind >= 14 and kind != 21 and kind != 24:
        return
    if e.slot >= 0:
        flag = w.flags[e.slot]
    if kind == 1 or kind == 21:
        if flag == 0:
            # A mine is always armed, a toggle mine was armed by the ninja: a grey of its own for each.
            fill_disc(c, e.x, e.y, 5.0, 0 if kind == 1 else 12)
        elif flag == 1:
            fill_disc(c, e.x, e.y, 3.5, 96)
        else:
            fill_disc(c, e.x, e.y, 5.0, 52)
    elif kind == 2:
        if flag == 0:
            fill_disc(c, e.x, e.y, 4.0, 200)
    elif kind == 3:
        if flag == 0:
            fill_disc(c, e.x0, e.y0, 12.0, 192)
            fill_disc(c, e.x0, e.y0, 8.0, 96)
            fill_box(c, e.x, e.y, 6.0, 4.0, 230)
        else:
            fill_disc(c, e.x0, e.y0, 12.0, 230)
            fill_disc(c, e.x0, e.y0, 6.0, 180)
    elif kind == 5:
        if (flag & 1) == 0:
            draw_door(c, e, 160)
    elif kind == 6:
        if (flag & 1) == 0:
            draw_door(c, e, 28)
            fill_box(c, e.x, e.y, 4.0, 4.0, 190)
    elif kind == 8:
        if (flag & 1) == 0:
            draw_door(c, e, 36)
        else:
            fill_box(c, e.x, e.y, 4.0, 4.0, 88)
    elif kind == 10:
        draw_plate(c, e, 6.0, 214)
    elif kind == 11:
        draw_plate(c, e, 12.0, 176)
    elif kind == 24:
        fill_disc(c, e.x, e.y, 7.0, 172)
        if c.scale > DETAIL_SCALE:
            fill_disc(c, e.x, e.y, 4.0, 136)


cdef void draw_laser(Canvas* c, World* w, int m) noexcept nogil:
    """A laser turret with its beam, up to the wall that ends it."""
    cdef double dx, dy, length
    cdef double x = w.movers[m].x
    cdef double y = w.movers[m].y
    cdef double angle = w.movers[m].u
    # A ray needs a finite start and direction.
    if fabs(x) < 10000.0 and fabs(y) < 10000.0 and fabs(angle) < 10000.0:
        dx = cos(angle)
        dy = sin(angle)
        length = ray_length(w, x, y, dx, dy)
        draw_line(c, x, y, x + length * dx, y + length * dy, 1.0, 16)
    fill_disc(c, x, y, 6.0, 0)
    if c.scale > DETAIL_SCALE:
        fill_disc(c, x, y, 2.5, 160)


cdef void draw_mover(Canvas* c, World* w, Entity* e) noexcept nogil:
    """An entity that moves, where it is now."""
    cdef int kind = e.kind
    cdef double x = w.movers[e.slot].x
    cdef double y = w.movers[e.slot].y
    cdef double q
    if kind == 14:
        fill_disc(c, x, y, 7.5, 20)
        if c.scale > DETAIL_SCALE:
            fill_disc(c, x, y, 3.0, 160)
    elif kind == 26:
        fill_disc(c, x, y, 4.5, 20)
        if c.scale > DETAIL_SCALE:
            fill_disc(c, x, y, 1.5, 160)
    elif kind == 16:
        fill_box(c, x, y, 6.0, 6.0, 20)
    elif kind == 17:
        fill_box(c, x, y, 9.0, 9.0, 184)
        fill_box(c, x, y, 6.0, 6.0, 156)
    elif kind == 20:
        fill_box(c, x, y, 9.0, 9.0, 156)
        q = -9.0
        if e.orientation == 0 or e.orientation == 2:
            q = 9.0
        if e.orientation == 0 or e.orientation == 4:
            fill_box(c, x + q, y, 2.0, 8.0, 0)
        else:
            fill_box(c, x, y + q, 8.0, 2.0, 0)
    elif kind == 25:
        fill_disc(c, x, y, 8.0, 44)
        fill_disc(c, x, y, 5.0, 0)
    elif kind == 28:
        fill_box(c, x, y, 12.0, 12.0, 156)
        fill_disc(c, x, y, 8.0, 0)


cdef void draw_entities(Canvas* c, World* w) noexcept nogil:
    """All entities, those that move above those that do not, and the ninja on top."""
    cdef int k, m
    cdef bint apart
    cdef Entity* e
    # What the canvas shows, in world pixels, with a margin for the size of things.
    cdef double left = c.left / c.scale - REACH_PX
    cdef double top = c.top / c.scale - REACH_PX
    cdef double right = (c.left + c.width) / c.scale + REACH_PX
    cdef double bottom = (c.top + c.height) / c.scale + REACH_PX
    for k in range(w.level.n_entities):
        e = &w.level.entities[k]
        # The switch of these is far from the door or exit, and one of the two may be seen.
        apart = e.kind == 3 or e.kind == 6 or e.kind == 8
        if apart or (e.x > left and e.x < right and e.y > top and e.y < bottom):
            draw_fixed(c, w, e)
    for m in range(w.level.n_movers):
        k = w.level.mover_entity[m]
        e = &w.level.entities[k]
        if e.slot != m or e.kind == 3:
            # Exits are drawn by their switch's flag, and of a laser's two movers only the first is its place.
            continue
        if e.kind == 23:
            draw_laser(c, w, m)
        elif w.movers[m].x > left and w.movers[m].x < right and w.movers[m].y > top and w.movers[m].y < bottom:
            draw_mover(c, w, e)
    fill_disc(c, w.ninja.x, w.ninja.y, 10.0, 255)
    if w.ninja.state == DEAD:
        fill_disc(c, w.ninja.x, w.ninja.y, 5.0, 0)


cdef void draw_player_frame(
    Level* level, unsigned char* state, unsigned char* background, unsigned char* out
) noexcept nogil:
    """Draw the (84, 84) frame centred on the ninja, 2 world pixels to the pixel; beyond the level is wall."""
    cdef World world
    cdef Canvas canvas
    cdef World* w = &world
    cdef Canvas* c = &canvas
    bind(w, level, state, NULL)
    c.pixels = out
    c.width = FRAME_SIDE
    c.height = FRAME_SIDE
    c.scale = 0.5
    # The camera stands on whole pixels, so that still things look the same wherever they appear.
    c.left = camera(w.ninja.x)
    c.top = camera(w.ninja.y)
    copy_window(background, HALF_WIDTH, HALF_HEIGHT, c, WALL)
    draw_entities(c, w)


cdef inline double camera(double position) noexcept nogil:
    """First pixel of the half-size picture that the player frame shows, in one axis."""
    if not (fabs(position) < 10000.0):
        return 10000.0
    return ifloor(position * 0.5 + 0.5) - 42


cdef void draw_global_view(
    Level* level, unsigned char* state, unsigned char* background, unsigned char* out
) noexcept nogil:
    """Draw the (100, 176) view of the whole level, 6 world pixels to the pixel."""
    cdef World world
    cdef Canvas canvas
    cdef World* w = &world
    cdef Canvas* c = &canvas
    bind(w, level, state, NULL)
    memcpy(out, background + HALF_WIDTH * HALF_HEIGHT, VIEW_WIDTH * VIEW_HEIGHT)
    c.pixels = out
    c.width = VIEW_WIDTH
    c.height = VIEW_HEIGHT
    c.scale = 1.0 / 6.0
    c.left = 0.0
    c.top = 0.0
    draw_entities(c, w)


def player_frame(LevelHandle handle not None, state, background, out):
    """Draw the frame centred on the ninja.

    Args:
        handle: The level.
        state: uint8 (at least handle.state_bytes,), a state of this level.
        background: uint8 (176000,), the level's `frame_background`.
        out: uint8 (84, 84) or (84, 84, 1), contiguous; written in place.

    Returns:
        `out`.

    Raises:
        NppError: An array has the wrong size.
    """
    return draw_into(handle, state, background, out, False)


def global_view(LevelHandle handle not None, state, background, out):
    """Draw the view of the whole level.

    Args:
        handle: The level.
        state: uint8 (at least handle.state_bytes,), a state of this level.
        background: uint8 (176000,), the level's `frame_background`.
        out: uint8 (100, 176) or (100, 176, 1), contiguous; written in place.

    Returns:
        `out`.

    Raises:
        NppError: An array has the wrong size.
    """
    return draw_into(handle, state, background, out, True)


def draw_into(LevelHandle handle not None, state, background, out, bint whole):
    """Check the arrays, and draw one frame or the other into `out`."""
    cdef const unsigned char[::1] source = background.reshape(-1)
    cdef const unsigned char[::1] block = state
    cdef unsigned char[::1] target = out.reshape(-1)
    cdef int size = VIEW_WIDTH * VIEW_HEIGHT if whole else FRAME_SIDE * FRAME_SIDE
    check_sizes(handle.state_bytes, block.shape[0], source.shape[0], target.shape[0], size)
    cdef Level* level = &handle.level
    cdef unsigned char* bytes_in = <unsigned char*>&block[0]
    cdef unsigned char* behind = <unsigned char*>&source[0]
    cdef unsigned char* pixels = &target[0]
    if whole:
        draw_global_view(level, bytes_in, behind, pixels)
    else:
        draw_player_frame(level, bytes_in, behind, pixels)
    return out


def beam_length(LevelHandle handle not None, state, double x, double y, double angle) -> float:
    """Length of a laser's beam from a finite point (x, y) in the level, up to the first wall or closed door.

    Args:
        handle: The level.
        state: uint8 (at least handle.state_bytes,), a state of this level.
        x: Start of the beam in world pixels.
        y: Start of the beam in world pixels.
        angle: Its direction, 0 to the right, clockwise in radians.
    """
    cdef const unsigned char[::1] block = state
    if block.shape[0] < handle.state_bytes:
        raise NppError(f"a state of this level takes {handle.state_bytes} bytes, got {block.shape[0]}")
    if not (fabs(x) < 10000.0 and fabs(y) < 10000.0 and fabs(angle) < 10000.0):
        raise NppError(f"a beam needs a point in the level and an angle, got ({x}, {y}) and {angle}")
    cdef World world
    bind(&world, &handle.level, <unsigned char*>&block[0], NULL)
    return ray_length(&world, x, y, cos(angle), sin(angle))


cdef int check_sizes(
    Py_ssize_t state_bytes, Py_ssize_t block, Py_ssize_t source, Py_ssize_t target, Py_ssize_t pixels
) except -1:
    """Refuse arrays that the drawing would run out of."""
    if block < state_bytes:
        raise NppError(f"a state of this level takes {state_bytes} bytes, got {block}")
    if source != BACKGROUND_BYTES:
        raise NppError(f"a frame background has {BACKGROUND_BYTES} bytes, got {source}")
    if target != pixels:
        raise NppError(f"the frame has {pixels} pixels, `out` has {target}")
    return 0
