"""The memory layout of a state and of a compiled level, as numpy dtypes.

`layout.pxd` declares the same layout as C structs; the kernel compares their sizes when it is imported.
"""

from __future__ import annotations

import numpy as np

from npp_env.level.layout import MAX_RECORDS
from npp_env.sim.addresses import address_of as address_of

MOST_CANDIDATES = MAX_RECORDS
"""Movers that can be near the ninja at once."""
COLUMNS, ROWS = 44, 25
CELLS = COLUMNS * ROWS
EDGE_COLUMNS, EDGE_ROWS = 89, 51
HALF_COLUMNS, HALF_ROWS = 88, 50

NINJA = np.dtype(
    [
        ("x", "<f8"),
        ("y", "<f8"),
        ("vx", "<f8"),
        ("vy", "<f8"),
        ("g", "<f8"),  # present gravity
        ("drag", "<f8"),
        ("wn", "<f8"),  # last wall normal
        ("fnx", "<f8"),  # last floor normal
        ("fny", "<f8"),
        ("cnx", "<f8"),  # last ceiling normal
        ("cny", "<f8"),
        ("pnx", "<f8"),  # direction of the last launch pad boost
        ("pny", "<f8"),
        ("fraction", "<f8"),  # of the winning tick until the exit was touched
        ("frame", "<i4"),
        ("gold", "<i4"),
        ("stamp", "<i4"),  # how many times an entity was listed anew
        ("arming", "<i4"),  # mines in mode 2
        ("state", "i1"),
        ("air", "i1"),
        ("walled", "i1"),
        ("h", "i1"),  # horizontal input of the last tick
        ("jump_prev", "i1"),
        ("hold", "i1"),
        ("b_jump", "i1"),
        ("b_floor", "i1"),
        ("b_wall", "i1"),
        ("b_pad", "i1"),
        ("switches", "i1"),  # exit switches taken, at most 127
        ("reserved", "i1"),
        ("followers", "<i4"),  # evil ninjas that have a number
    ]
)
"""The first bytes of every state."""

MOVER = np.dtype(
    [
        ("x", "<f8"),
        ("y", "<f8"),
        ("u", "<f8"),  # goal, velocity, angle, direction or aim: layout.pxd names them for each family
        ("v", "<f8"),
        ("stamp", "<i4"),  # place in the list of its cell; of what is never listed, ticks of its phase
        ("cell", "<i2"),  # where it is listed, -1 nowhere
        ("phase", "i1"),
        ("turn", "i1"),
    ]
)
"""An entity that moves, or that enters its cell's list during play (the exit)."""

PLACE = np.dtype([("x", "<f8"), ("y", "<f8")])
"""Where the ninja was after a tick; what follows it needs its past."""

WALL = np.dtype(
    [
        ("x1", "<f4"),
        ("y1", "<f4"),
        ("x2", "<f4"),
        ("y2", "<f4"),
        ("door", "<i2"),  # flag of the door that it belongs to, -1 for a tile
        ("kind", "i1"),
        ("reserved", "i1"),
    ]
)
"""A boundary piece: a directed line (x1, y1) to (x2, y2), or an arc of centre (x1, y1), quadrant (x2, y2)."""

WALL_HORIZONTAL, WALL_VERTICAL, WALL_SLANTED, WALL_CONVEX, WALL_CONCAVE = range(5)

ENTITY = np.dtype(
    [
        ("x", "<f4"),  # where it acts: of a door or an exit, the switch
        ("y", "<f4"),
        ("x0", "<f4"),  # where the record puts it
        ("y0", "<f4"),
        ("slot", "<i2"),  # into the flags, or the movers; -1 for an entity without a state
        ("link", "<i2"),  # of an exit: the mover that is its door; else its ordinal among its kind
        ("kind", "u1"),
        ("orientation", "u1"),
        ("mode", "u1"),
        ("outlook", "u1"),  # of a turret: 1 + number of its outlook, 0 if it has none
    ]
)

DOOR = np.dtype(
    [
        ("edge_a", "<i2"),
        ("edge_b", "<i2"),
        ("flag", "<i2"),
        ("vertical", "i1"),
        ("switched", "i1"),  # whether a switch elsewhere decides it, SWITCHED_DOOR or SWITCHED_EXIT; 0 if none does
    ]
)

# Which bit of its flag says that the switch was taken: bit 1 of a locked or trap door, bit 0 of an exit. Exits stand
# behind the doors, on no edge, where a level has several: the way to the end then depends on which of them are open.
SWITCHED_DOOR, SWITCHED_EXIT = 1, 2
MAX_TOLD_EXITS = 8
NO_EDGE = -32768

# Bits of `near`: what stands in the 3 x 3 cells around a cell and never moves.
NEAR_TOUCHABLE, NEAR_PUSHING, NEAR_MINE = 1, 2, 4

# Bits of an edge: the tile's value in the lower two, and whether a door may close it.
EDGE_TILE_MASK, EDGE_HAS_DOOR = 3, 4
EDGE_SOLID = 2

# Bits of the cover of a cell: how far the nearest wall is, and which of its sides its tile walls from end to end.
COVER_CLEARANCE, COVER_LEFT, COVER_RIGHT, COVER_TOP, COVER_BOTTOM = 15, 16, 32, 64, 128

MINE_ARMED, MINE_IDLE, MINE_ARMING = range(3)

# Bits of a door's flag: open, and the switch taken; a regular door counts the ticks since the last contact instead.
DOOR_OPEN, DOOR_TAKEN, DOOR_TICK = 1, 2, 2

THWUMP_RETURNING, THWUMP_RESTING, THWUMP_CHARGING = -1, 0, 1
SHOVE_RESTING, SHOVE_TRIGGERED, SHOVE_LAUNCHED, SHOVE_RETURNING = range(4)
ROCKET_IDLE, ROCKET_PREFIRE, ROCKET_HOMING = range(3)
GAUSS_IDLE, GAUSS_TARGETING, GAUSS_PREFIRE, GAUSS_POSTFIRE = range(4)
GUN_IDLE, GUN_PREFIRE, GUN_FIRING, GUN_POSTFIRE = range(4)
CHASER_CALM, CHASER_CHASING = range(2)
FOLLOWER_ASLEEP, FOLLOWER_TOUCHED, FOLLOWER_WAITING, FOLLOWER_ACTIVE = range(4)
INPUT_JUMP, INPUT_RIGHT, INPUT_LEFT = 1, 2, 4
FACING_RIGHT, FACING_DOWN, FACING_LEFT, FACING_UP = 0, 2, 4, 6

# What a turret can see of a cell: unknown, hidden behind an upright border of cells (1 + its number) or a level one
# (OUTLOOK_ROWS + its number), or all of it.
OUTLOOK_UNKNOWN, OUTLOOK_ROWS, OUTLOOK_CLEAR = 0, 1 + COLUMNS + 1, 255
MOST_OUTLOOKS = 255

_DIAGONAL = 0.7071067811865476
ORIENTATION_VECTORS = (
    (1.0, 0.0),
    (_DIAGONAL, _DIAGONAL),
    (0.0, 1.0),
    (-_DIAGONAL, _DIAGONAL),
    (-1.0, 0.0),
    (-_DIAGONAL, -_DIAGONAL),
    (0.0, -1.0),
    (_DIAGONAL, -_DIAGONAL),
)


def ifloor(z: float) -> int:
    """Floor towards minus infinity, as the kernel does it."""
    i = int(z)
    return i - 1 if z < i else i


def column_of(x: float) -> int:
    """Column of the cell that a point lies in, clamped to the world."""
    return min(max(ifloor(x / 24), 0), COLUMNS - 1)


def row_of(y: float) -> int:
    """Row of the cell that a point lies in, clamped to the world."""
    return min(max(ifloor(y / 24), 0), ROWS - 1)
