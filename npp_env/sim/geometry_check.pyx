"""Whether a compiled level from a file can be that of a level, before the kernel follows the indices in it.

The kernel checks no index. What it would read is compared with the records of the level here where they decide it, and
else held within its bounds: a compiled level that passes may be wrong, but leads nowhere outside of its arrays.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.string cimport memcmp, memset
from npp_env.sim.kernel cimport LevelHandle
from npp_env.sim.layout cimport (
    COLUMNS, COVER_CLEARANCE, DEATH_BALL, EDGE_COLUMNS, EDGE_ROWS, HALF_COLUMNS, HALF_ROWS, LINES_OTHER,
    OUTLOOK_CLEAR, OUTLOOK_ROWS, ROWS, WALL_CONCAVE, Check, Door, Entity, Level, Mover, Ninja, Wall,
)
from npp_env.sim.validity cimport initial_movers, is_valid

from npp_env.level.entity_kinds import SIMULATED_ROWS
from npp_env.sim.structs import NO_EDGE as NO_EDGE_NUMBER
from npp_env.sim.structs import SWITCHED_EXIT

cdef enum:
    EDGES = EDGE_COLUMNS * EDGE_ROWS, CELLS = COLUMNS * ROWS, HALF_CELLS = HALF_COLUMNS * HALF_ROWS
    UNIT_PX = 6, FARTHEST_PX = 8192
    EDGE_BITS = 7, NEAR_BITS = 7, MOST_SOLID = 144, AROUND_BITS = 27
    N_LINES = LINES_OTHER + HALF_COLUMNS
    RECORD_BYTES = 5, DIGEST_BYTES = 16

SIZES = {
    "wall_start": CELLS + 1, "listed_start": CELLS + 1, "near": CELLS, "around": CELLS, "lines": N_LINES,
    "edges_h": EDGES, "edges_v": EDGES, "solid": HALF_CELLS, "digest": DIGEST_BYTES, "scalars": 3,
}

cdef int NO_EDGE = NO_EDGE_NUMBER
cdef int AT_NO_EDGE = SWITCHED_EXIT

# What of a row of the entity table decides where an entity stands and keeps its state.
cdef struct Row:
    bint simulated, flagged, listed, listed_mover, advances, reacts, mine
    int movers, flag, history_ticks

cdef Row[256] rows

# What a level is compared with.
cdef struct Expected:
    unsigned char* records
    Py_ssize_t n_records
    int ball_count
    unsigned char* digest
    unsigned char* ninja


cdef bint below(unsigned char* values, int count, int end) noexcept nogil:
    """Whether all numbers are smaller than this."""
    cdef unsigned char most = 0
    cdef int k
    for k in range(count):
        most = values[k] if values[k] > most else most
    return most < end


cdef bint are_known(Level* level) noexcept nogil:
    """Whether what is known of the walls around each cell, and of lines, uses only the bits that it has."""
    cdef unsigned int around = 0
    cdef unsigned long long lines = 0
    cdef int k
    for k in range(CELLS):
        around |= level.around[k]
    for k in range(N_LINES):
        lines |= level.lines[k]
    return around >> AROUND_BITS == 0 and lines >> (HALF_ROWS + 1) == 0


cdef bint divides(unsigned short* start, int whole) noexcept nogil:
    """Whether the starts of all cells ascend from 0 to the end of what they divide."""
    cdef bint good = start[0] == 0 and start[CELLS] == whole
    cdef int k
    for k in range(CELLS):
        good &= start[k] <= start[k + 1]
    return good


cdef inline bint near_world(double z) noexcept nogil:
    return z >= -FARTHEST_PX and z <= FARTHEST_PX


cdef bint are_walls(Level* level, int count) noexcept nogil:
    """Whether all walls lie somewhere, and belong to doors that there are."""
    cdef Wall* wall
    cdef int k
    for k in range(count):
        wall = &level.walls[k]
        if wall.door < -1 or wall.door >= level.n_flags or wall.kind < 0 or wall.kind > WALL_CONCAVE:
            return False
        if not (near_world(wall.x1) and near_world(wall.y1) and near_world(wall.x2) and near_world(wall.y2)):
            return False
    return True


cdef bint are_doors(Level* level) noexcept nogil:
    """Whether all doors have flags and edges that there are."""
    cdef Door* door
    cdef int k
    for k in range(level.n_doors):
        door = &level.doors[k]
        if door.flag < 0 or door.flag >= level.n_flags or door.vertical < 0 or door.vertical > 1:
            return False
        if door.switched < 0 or door.switched > AT_NO_EDGE:
            return False
        if door.switched == AT_NO_EDGE:
            if door.edge_a != NO_EDGE or door.edge_b != NO_EDGE:
                return False
        elif door.edge_a < 0 or door.edge_a >= EDGES or door.edge_b < 0 or door.edge_b >= EDGES:
            return False
    return True


cdef bint are_entities(Level* level, Expected* expected) noexcept nogil:
    """Walk through the records: whether they give these entities, and these places in a state."""
    cdef Entity* e = level.entities
    cdef Entity* end = e + level.n_entities
    cdef unsigned char* record
    cdef Row* row
    cdef int[256] ordinal
    cdef int flags = 0
    cdef int movers = 0
    cdef int history_ticks = 0
    cdef int m
    cdef Py_ssize_t k
    memset(ordinal, 0, sizeof(ordinal))
    for k in range(expected.n_records):
        record = expected.records + RECORD_BYTES * k
        row = &rows[record[0]]
        if not row.simulated:
            continue
        if e == end or movers + row.movers > level.n_movers:
            return False
        if e.kind != record[0] or e.orientation != record[3] or e.mode != record[4]:
            return False
        if e.x0 != UNIT_PX * record[1] or e.y0 != UNIT_PX * record[2] or not (near_world(e.x) and near_world(e.y)):
            return False
        if e.slot != (flags if row.flagged else movers if row.movers else -1):
            return False
        if e.link != (movers if row.flagged and row.movers else ordinal[record[0]]):
            return False
        for m in range(row.movers):
            if level.mover_entity[movers + m] != e - level.entities:
                return False
        ordinal[record[0]] += 1
        flags += row.flagged
        movers += row.movers
        history_ticks += row.history_ticks
        e += 1
    if e != end or movers != level.n_movers or flags != level.n_flags:
        return False
    return history_ticks == level.history_ticks


cdef bint may_be_touched(Level* level, int count) noexcept nogil:
    """Whether only entities that can be touched are listed in cells."""
    cdef int k
    for k in range(count):
        if level.listed[k] >= level.n_entities or not rows[level.entities[level.listed[k]].kind].listed:
            return False
    return True


cdef bint may_act(Level* level, unsigned short* order, int count, bint advancing) noexcept nogil:
    """Whether an order has only entities with the rule for which it is read."""
    cdef Row* row
    cdef int k
    for k in range(count):
        if order[k] >= level.n_entities:
            return False
        row = &rows[level.entities[order[k]].kind]
        if not (row.advances if advancing else row.reacts):
            return False
    return True


cdef bint are_mines(Level* level) noexcept nogil:
    """Whether all mines are listed, in order, and nothing else."""
    cdef int mines = 0
    cdef int n
    for n in range(level.n_entities):
        if rows[level.entities[n].kind].mine:
            if mines == level.n_mines or level.mines[mines] != n:
                return False
            mines += 1
    return mines == level.n_mines


cdef bint are_balls(Level* level) noexcept nogil:
    """Whether the movers of all death balls are listed, in order, and nothing else."""
    cdef int balls = 0
    cdef int n
    for n in range(level.n_entities):
        if level.entities[n].kind == DEATH_BALL:
            if balls == level.n_balls or level.balls[balls] != level.entities[n].slot:
                return False
            balls += 1
    return balls == level.n_balls


cdef bint are_sights(Level* level, int n_cover, int n_outlooks) noexcept nogil:
    """Whether no line of sight leads out of the map, or to an outlook that is not there."""
    cdef int k, c, r
    if (n_cover != 0 and n_cover != CELLS) or n_outlooks % CELLS or (n_outlooks and not n_cover):
        return False
    for k in range(n_cover):
        c = k // ROWS
        r = k % ROWS
        if (level.cover[k] & COVER_CLEARANCE) > min(min(c + 1, COLUMNS - c), min(r + 1, ROWS - r)):
            return False
    for k in range(n_outlooks):
        if level.outlooks[k] > OUTLOOK_ROWS + ROWS and level.outlooks[k] != OUTLOOK_CLEAR:
            return False
    for k in range(level.n_entities):
        if level.entities[k].outlook * <int>CELLS > n_outlooks:
            return False
    return True


cdef bint is_initial(Level* level, Expected* expected) noexcept nogil:
    """Whether a level begins with a valid state, flags as they are at first, and nothing listed that cannot be."""
    cdef Mover* movers = initial_movers(level)
    cdef unsigned char* flags = <unsigned char*>(movers + level.n_movers)
    cdef Entity* e
    cdef Check check
    cdef int k
    if memcmp(level.initial, expected.ninja, sizeof(Ninja)):
        return False
    for k in range(level.n_movers):
        e = &level.entities[level.mover_entity[k]]
        if movers[k].cell < -1 or movers[k].cell >= (CELLS if rows[e.kind].listed_mover else 0):
            return False
    for k in range(level.n_entities):
        e = &level.entities[k]
        if rows[e.kind].flagged and flags[e.slot] != rows[e.kind].flag:
            return False
    return is_valid(level, level.initial, &check)


# Lengths of sections that the kernel knows only the beginning of.
cdef struct Lengths:
    int walls, listed, cover, outlooks


cdef const char* find_fault(Level* level, Expected* expected, Lengths* n) noexcept nogil:
    """The first section that cannot be right, or NULL; each may rely on those before."""
    if level.ball_count != expected.ball_count:
        return b"scalars"
    if memcmp(level.digest, expected.digest, DIGEST_BYTES):
        return b"digest"
    if not are_entities(level, expected):
        return b"entities"
    if not (divides(level.wall_start, n.walls) and are_walls(level, n.walls)):
        return b"walls"
    if not are_known(level):
        return b"around"
    if not are_doors(level):
        return b"doors"
    if not (below(level.edges_h, EDGES, EDGE_BITS + 1) and below(level.edges_v, EDGES, EDGE_BITS + 1)):
        return b"edges"
    if not below(level.solid, HALF_CELLS, MOST_SOLID + 1):
        return b"solid"
    if not (divides(level.listed_start, n.listed) and may_be_touched(level, n.listed)):
        return b"listed"
    if not below(level.near, CELLS, NEAR_BITS + 1):
        return b"near"
    if not may_act(level, level.advance_order, level.n_advance, True):
        return b"advance_order"
    if not may_act(level, level.react_order, level.n_react, False):
        return b"react_order"
    if not are_mines(level):
        return b"mines"
    if not are_balls(level):
        return b"balls"
    if not are_sights(level, n.cover, n.outlooks):
        return b"cover"
    if not is_initial(level, expected):
        return b"initial"
    return NULL


def wrong_section(
    LevelHandle handle not None, records, int ball_count, bytes digest, bytes ninja, Py_ssize_t state_bytes
) -> str | None:
    """Name the first part of a compiled level that a level could not have, or None.

    Args:
        handle: The compiled level.
        records: Contiguous uint8 (n, 5), those of the level.
        ball_count: Of its counts table.
        digest: 16 bytes, its hash.
        ninja: The ninja at its start.
        state_bytes: Size of its states.
    """
    cdef Expected expected
    cdef Py_buffer table
    cdef Lengths lengths
    cdef const char* fault
    sections = handle.geometry.sections
    for name, size in SIZES.items():
        if len(sections[name]) != size:
            return name
    if handle.state_bytes != state_bytes:
        return "initial"
    if len(digest) != DIGEST_BYTES or len(ninja) != sizeof(Ninja):
        raise ValueError(f"{len(digest)} bytes of hash, {len(ninja)} of the ninja")
    PyObject_GetBuffer(records, &table, PyBUF_SIMPLE)
    expected.records, expected.n_records = <unsigned char*>table.buf, table.len // RECORD_BYTES
    expected.ball_count, expected.digest, expected.ninja = ball_count, digest, ninja
    lengths = Lengths(
        len(sections["walls"]), len(sections["listed"]), len(sections["cover"]), len(sections["outlooks"])
    )
    fault = find_fault(&handle.level, &expected, &lengths)
    PyBuffer_Release(&table)
    return None if fault == NULL else fault.decode("ascii")


def fill_rows() -> None:
    """Take over what is needed of the entity table."""
    cdef Row* row
    for kind, entry in SIMULATED_ROWS.items():
        row = &rows[<int>kind]
        row.simulated = True
        row.flagged = entry.flag is not None
        row.flag = entry.flag or 0
        row.movers = entry.movers
        row.history_ticks = entry.history_ticks
        row.listed = entry.listed
        row.listed_mover = entry.listed and entry.moves
        row.advances = "advance" in entry.rules
        row.reacts = "react" in entry.rules
        row.mine = entry.family == "mines"


fill_rows()
