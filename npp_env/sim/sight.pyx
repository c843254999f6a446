"""What a shooter sees, and what its shot meets (physics 6.15).

A ray is cast from wall to wall only where a look at whole cells does not decide. Such a look keeps a margin to
everything that rounding could turn (corners of cells, joints of walls, the edge of the ninja) which is many orders of
magnitude above rounding errors, so that it never differs from the ray.
"""

from libc.math cimport fabs, sqrt
from npp_env.sim.body cimport NINJA_RADIUS, is_target, kill, segment_hits
from npp_env.sim.layout cimport (
    COLUMNS, COVER_BOTTOM, COVER_CLEARANCE, COVER_LEFT, COVER_RIGHT, COVER_TOP, DEAD, OUTLOOK_CLEAR, OUTLOOK_ROWS, ROWS,
    Entity, World, ifloor,
)
from npp_env.sim.sweeps cimport RAY_PX, ray_in_cell, ray_length

# A ray needs a finite start and direction.
cdef double FAR = 10000.0
cdef double MARGIN_PX = 0.000001
# The ninja's radius with a margin, squared.
cdef double NEARER_SQUARE = 99.99
cdef double FARTHER_SQUARE = 100.01
cdef double STRAIGHT_PX = 0.001

# So far from walls, in cells, it pays to leap.
cdef enum:
    CELL_PX = 24, LEAP = 4

cdef enum Look:
    UNDECIDED, HIDDEN, CLEAR

# A line from a shooter to the ninja, followed from border to border of the cells.
cdef struct Line:
    double x, y         # where it begins
    double dx, dy       # to the ninja
    double square       # its length, squared
    double slow         # the smaller part of (dx, dy), without a sign

# Where it stands along one axis: shares of the line.
cdef struct Way:
    double next         # up to the next border
    double delta        # from border to border
    double rate         # borders a line
    int step            # to the next cell
    int side            # of the next cell that it enters through


cdef inline bint is_within(double x, double y) noexcept nogil:
    """Whether a place lies within the map, by a margin."""
    return x > 1 and x < COLUMNS * CELL_PX - 1 and y > 1 and y < ROWS * CELL_PX - 1


cdef inline Way way_of(double start, double d, int step, int upper_side, int lower_side) noexcept nogil:
    """How a line from a place, d long along an axis, crosses the borders of cells."""
    cdef int cell = ifloor(start / CELL_PX)
    cdef double delta = CELL_PX / d
    cdef double rate = d * (1.0 / CELL_PX)
    if d > 0:
        return Way(((cell + 1) * CELL_PX - start) / d, delta, rate, step, upper_side)
    return Way((cell * CELL_PX - start) / d, -delta, -rate, -step, lower_side)


cdef inline bint cross(Way* way, Way* other, int cells, int* cell) noexcept nogil:
    """Go on by so many cells without walls along one axis, short of the next border; False at a corner of cells."""
    cdef double end = way.next + cells * way.delta
    cdef double crossed = (end - other.next) * other.rate
    cdef int others
    if crossed >= 0:
        others = <int>crossed
        crossed -= others
        if not (crossed > MARGIN_PX and crossed < 1 - MARGIN_PX):
            return False
        other.next += (others + 1) * other.delta
        cell[0] += (others + 1) * other.step
    way.next = end
    cell[0] += cells * way.step
    return True


cdef inline bint is_walled(Line* line, double share, int cover, int side) noexcept nogil:
    """Whether the line meets a wall where it enters a cell; not at the joint of two pieces, nor where it begins."""
    cdef double along
    if not (cover & side and share > 0):
        return False
    if side == COVER_LEFT or side == COVER_RIGHT:
        along = (line.y + share * line.dy) * (2.0 / CELL_PX)
    else:
        along = (line.x + share * line.dx) * (2.0 / CELL_PX)
    along -= <int>along
    return along > MARGIN_PX and along < 1 - MARGIN_PX


cdef int look_in_cell(World* w, Line* line, int cell) noexcept nogil:
    """Whether a wall of this cell hides the ninja, or at least ends the line behind its edge."""
    cdef double d = sqrt(line.square)
    cdef double length = ray_in_cell(w, cell, line.x, line.y, line.dx / d, line.dy / d)
    if length >= RAY_PX:
        return UNDECIDED
    return CLEAR if length > d - NINJA_RADIUS else HIDDEN


cdef int look(World* w, Line* line) noexcept nogil:
    """Follow a line through the cells, in leaps where there are no walls around."""
    cdef Way column = way_of(line.x, line.dx, ROWS, COVER_LEFT, COVER_RIGHT)
    cdef Way row = way_of(line.y, line.dy, 1, COVER_TOP, COVER_BOTTOM)
    cdef int cell = ifloor(line.x / CELL_PX) * ROWS + ifloor(line.y / CELL_PX)
    cdef double left = line.square
    cdef double share = 0.0
    cdef int side = 0
    cdef int cover, clearance, answer, _step
    for _step in range(COLUMNS + ROWS):
        cover = w.level.cover[cell]
        clearance = cover & COVER_CLEARANCE
        if clearance == 0:
            if left > FARTHER_SQUARE and is_walled(line, share, cover, side):
                return HIDDEN
            answer = look_in_cell(w, line, cell)
            if answer != UNDECIDED:
                return answer
        elif clearance >= LEAP:
            clearance -= 1
            if column.next + clearance * column.delta < row.next + clearance * row.delta:
                if not cross(&column, &row, clearance, &cell):
                    return UNDECIDED
            elif not cross(&row, &column, clearance, &cell):
                return UNDECIDED
        if fabs(column.next - row.next) * line.slow < MARGIN_PX:
            return UNDECIDED
        if column.next < row.next:
            share = column.next
            column.next += column.delta
            cell += column.step
            side = column.side
        else:
            share = row.next
            row.next += row.delta
            cell += row.step
            side = row.side
        left = (1 - share) * (1 - share) * line.square
        if share >= 1 or left < NEARER_SQUARE:
            return CLEAR
    return UNDECIDED


cdef int try_look(World* w, double x, double y) noexcept nogil:
    """Look from a place to the ninja, if both lie well within the map and not too near to each other."""
    cdef Line line = Line(x, y, w.ninja.x - x, w.ninja.y - y, 0.0, 0.0)
    line.square = line.dx * line.dx + line.dy * line.dy
    line.slow = min(fabs(line.dx), fabs(line.dy))
    if (
        w.level.n_cover
        and line.slow > STRAIGHT_PX
        and line.square > FARTHER_SQUARE
        and is_within(x, y)
        and is_within(w.ninja.x, w.ninja.y)
    ):
        return look(w, &line)
    return UNDECIDED


cdef void watch(World* w) noexcept nogil:
    """Find the cell that the ninja is in, for all shooters of a tick."""
    cdef int c = ifloor(w.ninja.x / CELL_PX)
    cdef int r = ifloor(w.ninja.y / CELL_PX)
    w.watched_cell = c * ROWS + r if 0 <= c < COLUMNS and 0 <= r < ROWS else -1


cdef bint is_in_the_open(World* w, int cell) noexcept nogil:
    """Whether it is known that neither a cell nor one of its neighbours has a wall."""
    return w.level.n_cover and (w.level.cover[cell] & COVER_CLEARANCE) >= 2


cdef bint is_behind(double x, double y, double to_x, double to_y, double border) noexcept nogil:
    """Whether a line from (x, y) to the ninja, at (to_x, to_y), ends at a border across x that is walled there."""
    cdef double dx = to_x - x
    cdef double dy = to_y - y
    cdef double behind = to_x - border
    cdef double along = (y + (border - x) * dy / dx) * (2.0 / CELL_PX)
    along -= <int>along
    # Between two pieces of wall, and where the border touches the ninja, the ray has to tell.
    return (
        along > MARGIN_PX
        and along < 1 - MARGIN_PX
        and behind * behind * (dx * dx + dy * dy) > FARTHER_SQUARE * (dx * dx)
    )


cdef bint sees_from(World* w, Entity* turret) noexcept nogil:
    """Whether a turret that stays where it is sees the ninja; for most cells it is known without a look."""
    cdef int known
    cdef bint hidden
    if not is_target(w):
        return False
    if turret.outlook and w.watched_cell >= 0:
        known = w.level.outlooks[(turret.outlook - 1) * (COLUMNS * ROWS) + w.watched_cell]
        if known == OUTLOOK_CLEAR:
            return True
        if known >= OUTLOOK_ROWS:
            hidden = is_behind(turret.y, turret.x, w.ninja.y, w.ninja.x, (known - OUTLOOK_ROWS) * CELL_PX)
        else:
            hidden = known and is_behind(turret.x, turret.y, w.ninja.x, w.ninja.y, (known - 1) * CELL_PX)
        if hidden:
            return False
    return sees(w, turret.x, turret.y)


cdef bint sees(World* w, double x, double y) noexcept nogil:
    """Whether a shooter at (x, y) sees the ninja: no wall or closed door ends the line to its edge."""
    if not is_target(w):
        return False
    cdef int answer = try_look(w, x, y)
    if answer != UNDECIDED:
        return answer == CLEAR
    cdef double dx = w.ninja.x - x
    cdef double dy = w.ninja.y - y
    cdef double d = sqrt(dx * dx + dy * dy)
    return d < NINJA_RADIUS or ray_length(w, x, y, dx / d, dy / d) > d - NINJA_RADIUS


cdef bint can_meet(World* w, double x, double y, double dx, double dy) noexcept nogil:
    """Whether the ninja is near a beam without an end from (x, y) along a unit direction; if not, none meets it."""
    cdef double to_x = w.ninja.x - x
    cdef double to_y = w.ninja.y - y
    return fabs(dx * to_y - dy * to_x) < NINJA_RADIUS + 1 and dx * to_x + dy * to_y > -NINJA_RADIUS - 1


cdef void shoot(World* w, double x, double y, double dx, double dy) noexcept nogil:
    """Kill the ninja if a beam from (x, y) along a unit direction meets it before a wall."""
    if w.ninja.state >= DEAD or not can_meet(w, x, y, dx, dy):
        return
    cdef double length = ray_length(w, x, y, dx, dy)
    if segment_hits(w, x, y, x + length * dx, y + length * dy, NINJA_RADIUS):
        kill(w)


cdef bint end_of_shot(
    World* w, double x, double y, double dx, double dy, double* end_x, double* end_y
) noexcept nogil:
    """Where a beam from (x, y) along a unit direction ends; answers whether there is such a beam, for any state."""
    cdef double square = dx * dx + dy * dy
    if not (fabs(x) < FAR and fabs(y) < FAR and square > 0.5 and square < 2):
        return False
    cdef double length = ray_length(w, x, y, dx, dy)
    end_x[0] = x + length * dx
    end_y[0] = y + length * dy
    return True
