"""The two grey frames of a state: around the ninja, and the whole level.

Both begin as a copy of the level's background (see `npp_env.render.background`); what can change is drawn on
top. Harmful things are darker than walls and empty space, helpful ones brighter, and brightest is the ninja.
"""

from libc.math cimport fabs
from libc.string cimport memcpy, memset
from npp_env.render.canvas cimport Canvas, copy_window, draw_line, fill_box, fill_disc
from npp_env.sim.entities.passes cimport KINDS, Pose, kinds
from npp_env.sim.kernel cimport LevelHandle, bind
from npp_env.sim.layout cimport (
    DEAD, FACING_DOWN, FACING_RIGHT, Entity, World, eighth_x, eighth_y, ifloor, is_horizontal, mover_of,
)

from npp_env.errors import NppError
from npp_env.level.entity_kinds import SIMULATED_ROWS
from npp_env.render.greys import BACKGROUND_BYTES, HALF_SHAPE, SIXTH_SHAPE
from npp_env.render.greys import WALL as WALL_GREY

cdef int FRAME_SIDE = 84
cdef int HALF_WIDTH = HALF_SHAPE[1]
cdef int HALF_HEIGHT = HALF_SHAPE[0]
cdef int VIEW_WIDTH = SIXTH_SHAPE[1]
cdef int VIEW_HEIGHT = SIXTH_SHAPE[0]
cdef int WALL = WALL_GREY

# Below this scale a small thing is one blot; details would only wash it out.
cdef double DETAIL_SCALE = 0.3
# No entity reaches farther from its position than this, beams, aims and door switches aside.
cdef double REACH_PX = 18.0
cdef double FAR = 10000.0

cdef enum:
    MOST_STROKES = 8

cdef enum ShapeNumber:
    DISC, BOX, DOOR_LINE, PLATE, FACE, BEAM, LINE, CROSS, TRAIL

# A `Mark` of the entity table.
cdef struct Stroke:
    int shape
    double width, height
    int grey
    int mask, value
    bint at_record, emerged, detail

# How a kind is drawn; what reaches far is drawn wherever its position is.
cdef struct Look:
    Stroke[MOST_STROKES] strokes
    int count
    bint reaches_far, aims, flagged, moves

cdef Look[KINDS] looks


def fill_looks() -> None:
    """Take over how the entity table draws each kind."""
    cdef Stroke* stroke
    cdef int k
    for kind, row in SIMULATED_ROWS.items():
        looks[<int>kind].count = len(row.frame)
        looks[<int>kind].flagged = row.flag is not None
        looks[<int>kind].moves = row.moves
        looks[<int>kind].aims = row.aims
        looks[<int>kind].reaches_far = row.switch is not None or looks[<int>kind].aims
        for k, mark in enumerate(row.frame[:MOST_STROKES]):
            stroke = &looks[<int>kind].strokes[k]
            stroke.shape = mark.shape
            stroke.width, stroke.height = mark.size
            stroke.grey = mark.grey
            stroke.mask = 0 if mark.flag is None else mark.mask
            stroke.value = mark.flag or 0
            stroke.at_record = mark.at_record
            stroke.emerged = mark.emerged
            stroke.detail = mark.detail
        if len(row.frame) > MOST_STROKES:
            raise NppError(f"the row of {kind.label} draws {len(row.frame)} marks; at most {MOST_STROKES} are allowed")


fill_looks()


cdef void draw_plate(Canvas* c, Entity* e, double half_length, int grey) noexcept nogil:
    """A launch pad or one-way platform: a bar across its direction, and a dot on the side that it faces."""
    cdef double nx = eighth_x(e.orientation)
    cdef double ny = eighth_y(e.orientation)
    cdef double tx = -ny * half_length
    cdef double ty = nx * half_length
    # One-ways hold at their position, so that the bar lies behind it.
    cdef double x = e.x - 2.0 * nx
    cdef double y = e.y - 2.0 * ny
    draw_line(c, x - tx, y - ty, x + tx, y + ty, 2.0, grey)
    if c.scale > DETAIL_SCALE:
        draw_line(c, e.x, e.y, e.x + 4.0 * nx, e.y + 4.0 * ny, 1.5, grey)


cdef void draw_face(Canvas* c, Entity* e, double x, double y, Stroke* stroke) noexcept nogil:
    """The lethal side of a thwump."""
    cdef double q = kinds[e.kind].radius
    if e.orientation != FACING_RIGHT and e.orientation != FACING_DOWN:
        q = -q
    if is_horizontal(e.orientation):
        fill_box(c, x + q, y, stroke.width, stroke.height, stroke.grey)
    else:
        fill_box(c, x, y + q, stroke.height, stroke.width, stroke.grey)


cdef void draw_aimed(Canvas* c, double x, double y, Pose* pose, Stroke* stroke) noexcept nogil:
    """A beam or bullet, the line or cross of an aim, or the trail of what flies."""
    cdef double size = stroke.width
    if stroke.shape == BEAM:
        if pose.shoots:
            draw_line(c, x, y, pose.shot_x, pose.shot_y, size, stroke.grey)
    elif stroke.shape == TRAIL:
        draw_line(c, x - size * pose.nx, y - size * pose.ny, x, y, stroke.height, stroke.grey)
    elif not pose.aims:
        return
    elif stroke.shape == LINE:
        draw_line(c, x, y, pose.aim_x, pose.aim_y, size, stroke.grey)
    else:
        draw_line(c, pose.aim_x - size, pose.aim_y, pose.aim_x + size, pose.aim_y, stroke.height, stroke.grey)
        draw_line(c, pose.aim_x, pose.aim_y - size, pose.aim_x, pose.aim_y + size, stroke.height, stroke.grey)


cdef void pose_of(World* w, Entity* e, bint emerged, Pose* pose) noexcept nogil:
    """How an entity, or what has emerged from it, stands."""
    memset(pose, 0, sizeof(Pose))
    if emerged:
        kinds[e.kind].pose_emerged(w, e, pose)
    else:
        kinds[e.kind].pose(w, e, pose)


cdef void draw_entity(Canvas* c, World* w, Entity* e, double place_x, double place_y, bint emerged) noexcept nogil:
    """The strokes of an entity, or of what has emerged from it, that its flag or phase asks for."""
    cdef Look* look = &looks[e.kind]
    cdef int flag = w.flags[e.slot] if look.flagged else mover_of(w, e).phase if look.moves else 0
    cdef Stroke* stroke
    cdef Pose pose
    cdef double x, y
    cdef int k
    if look.aims:
        pose_of(w, e, emerged, &pose)
    for k in range(look.count):
        stroke = &look.strokes[k]
        if (flag & stroke.mask) != stroke.value or stroke.emerged != emerged:
            continue
        if stroke.detail and not c.scale > DETAIL_SCALE:
            continue
        x = e.x0 if stroke.at_record else place_x
        y = e.y0 if stroke.at_record else place_y
        if stroke.shape == DISC:
            fill_disc(c, x, y, stroke.width, stroke.grey)
        elif stroke.shape == BOX or (stroke.shape == DOOR_LINE and is_horizontal(e.orientation)):
            fill_box(c, x, y, stroke.width, stroke.height, stroke.grey)
        elif stroke.shape == DOOR_LINE:
            fill_box(c, x, y, stroke.height, stroke.width, stroke.grey)
        elif stroke.shape == PLATE:
            draw_plate(c, e, stroke.width, stroke.grey)
        elif stroke.shape == FACE:
            draw_face(c, e, x, y, stroke)
        else:
            draw_aimed(c, x, y, &pose, stroke)


cdef void draw_entities(Canvas* c, World* w) noexcept nogil:
    """All entities, those that move above those that do not, and the ninja on top."""
    cdef int k, m
    cdef Entity* e
    cdef bint emerged
    cdef double x, y
    # What the canvas shows, in world pixels, with a margin for the size of things.
    cdef double left = c.left / c.scale - REACH_PX
    cdef double top = c.top / c.scale - REACH_PX
    cdef double right = (c.left + c.width) / c.scale + REACH_PX
    cdef double bottom = (c.top + c.height) / c.scale + REACH_PX
    for k in range(w.level.n_entities):
        e = &w.level.entities[k]
        if looks[e.kind].moves:
            continue
        if looks[e.kind].reaches_far or (e.x > left and e.x < right and e.y > top and e.y < bottom):
            draw_entity(c, w, e, e.x, e.y, False)
    for m in range(w.level.n_movers):
        e = &w.level.entities[w.level.mover_entity[m]]
        # Of several movers only the first is a place.
        emerged = not looks[e.kind].moves
        if (e.link if emerged else e.slot) != m or (emerged and w.movers[m].cell < 0):
            continue
        x = w.movers[m].x
        y = w.movers[m].y
        if looks[e.kind].reaches_far or (x > left and x < right and y > top and y < bottom):
            draw_entity(c, w, e, x, y, emerged)
    fill_disc(c, w.ninja.x, w.ninja.y, 10.0, 255)
    if w.ninja.state == DEAD:
        fill_disc(c, w.ninja.x, w.ninja.y, 5.0, 0)


cdef void draw_player_frame(World* w, unsigned char* background, unsigned char* out) noexcept nogil:
    """Draw the (84, 84) frame centred on the ninja, 2 world pixels to the pixel; beyond the level is wall."""
    # The camera stands on whole pixels, so that still things look the same wherever they appear.
    cdef Canvas canvas = Canvas(
        pixels=out, width=FRAME_SIDE, height=FRAME_SIDE, scale=0.5, left=camera(w.ninja.x), top=camera(w.ninja.y)
    )
    copy_window(background, HALF_WIDTH, HALF_HEIGHT, &canvas, WALL)
    draw_entities(&canvas, w)


cdef inline double camera(double position) noexcept nogil:
    """First pixel of the half-size picture that the player frame shows, in one axis."""
    if not (fabs(position) < FAR):
        return FAR
    return ifloor(position * 0.5 + 0.5) - 42


cdef void draw_global_view(World* w, unsigned char* background, unsigned char* out) noexcept nogil:
    """Draw the (100, 176) view of the whole level, 6 world pixels to the pixel."""
    cdef Canvas canvas = Canvas(pixels=out, width=VIEW_WIDTH, height=VIEW_HEIGHT, scale=1.0 / 6.0, left=0.0, top=0.0)
    memcpy(out, background + HALF_WIDTH * HALF_HEIGHT, VIEW_WIDTH * VIEW_HEIGHT)
    draw_entities(&canvas, w)


def player_frame(LevelHandle handle not None, state, background, out):
    """Draw the frame centred on the ninja.

    Args:
        handle: The level.
        state: uint8 (at least handle.state_bytes,), a state of this level.
        background: uint8 (176000,), the level's `frame_background`.
        out: uint8 (84, 84) or (84, 84, 1), contiguous; written in place and returned.

    Raises:
        NppError: An array has the wrong size.
    """
    return draw_into(handle, state, background, out, False)


def global_view(LevelHandle handle not None, state, background, out):
    """Draw the view of the whole level.

    Args:
        handle, state, background: As `player_frame` takes them.
        out: uint8 (100, 176) or (100, 176, 1), contiguous; written in place and returned.
    """
    return draw_into(handle, state, background, out, True)


def draw_into(LevelHandle handle not None, state, background, out, bint whole):
    """Check the arrays, and draw one frame or the other into `out`."""
    cdef const unsigned char[::1] source = background.reshape(-1)
    cdef const unsigned char[::1] block = state
    cdef unsigned char[::1] target = out.reshape(-1)
    cdef int size = VIEW_WIDTH * VIEW_HEIGHT if whole else FRAME_SIDE * FRAME_SIDE
    check_sizes(handle.state_bytes, block.shape[0], source.shape[0], target.shape[0], size)
    cdef World world
    bind(&world, &handle.level, <unsigned char*>&block[0], NULL)
    if whole:
        draw_global_view(&world, <unsigned char*>&source[0], &target[0])
    else:
        draw_player_frame(&world, <unsigned char*>&source[0], &target[0])
    return out


def aim_and_shot(LevelHandle handle not None, state, int entity) -> tuple:
    """Where an entity aims, and where the beam or bullet that it shot in this tick ends: points (x, y), or None.

    Args:
        handle: The level.
        state: uint8 (at least handle.state_bytes,), a state of this level.
        entity: Its row in the entity table of the compiled level, of a kind that aims.
    """
    cdef const unsigned char[::1] block = state
    if block.shape[0] < handle.state_bytes:
        raise NppError(f"a state of this level takes {handle.state_bytes} bytes, got {block.shape[0]}")
    if not 0 <= entity < handle.level.n_entities or not looks[handle.level.entities[entity].kind].aims:
        raise NppError(f"entity {entity} of {handle.level.n_entities} aims at nothing")
    cdef World world
    cdef Pose pose
    bind(&world, &handle.level, <unsigned char*>&block[0], NULL)
    pose_of(&world, &handle.level.entities[entity], False, &pose)
    return (
        (pose.aim_x, pose.aim_y) if pose.aims else None,
        (pose.shot_x, pose.shot_y) if pose.shoots else None,
    )


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
