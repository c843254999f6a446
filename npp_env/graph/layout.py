"""What the bytes of a navigation graph and of its distance fields mean."""

from __future__ import annotations

import struct
from enum import IntEnum

import numpy as np

from npp_env.errors import LevelError
from npp_env.level.block import BlockFormat

_FIRST_FLOAT = 5
_INTS, _FLOATS = struct.Struct("<5i"), struct.Struct("<5f")

NO_NODE = 65535
NO_DOOR = -1
MAX_NODES = NO_NODE - 1


def require_room(what: str, count: int, limit: int) -> None:
    """Refuse a level that has more of something than a graph holds.

    Raises:
        LevelError: It has.
    """
    if count > limit:
        raise LevelError(
            f"the level is too crowded for a navigation graph: {count:,} {what}, at most {limit:,}; it can be played "
            f"with reward.shaping_weight=0 and observations that need no graph"
        )


class NodeKind(IntEnum):
    """What a node stands for. All but the lattice are ends: edges lead to them (by touch), none from them."""

    LATTICE = 0
    EXIT_SWITCH = 1
    EXIT = 2
    LOCKED_DOOR_SWITCH = 3
    TRAP_DOOR_SWITCH = 4
    DOOR = 5
    LOCKED_DOOR = 6
    TRAP_DOOR = 7


class EdgeKind(IntEnum):
    """How the ninja would take an edge."""

    WALK = 0  # along the ground
    FALL = 1  # downwards through the air
    JUMP = 2  # up or across, not higher above the ground than a jump goes
    WALL = 3  # up or across, higher than that, but along a wall
    AIR = 4  # up or across, out of reach of both
    TOUCH = 5  # to an end


GRAPH_FORMAT = BlockFormat(
    "navigation graph",
    magic=0x4E50504E,  # "NPPN"
    version=4,
    numbers=5,  # nodes, nodes of the lattice, edges, doors, node of the spawn
    sections=(
        ("node_x", "<f4"),
        ("node_y", "<f4"),
        ("place_x", "<f4"),
        ("place_y", "<f4"),
        ("place_of_x", "u1"),
        ("place_of_y", "u1"),
        ("nearest_node", "<u2"),
        ("edge_start", "<u4"),
        ("edge_target", "<u2"),
        ("edge_door", "<i2"),
        ("edge_features", "<f2"),
        ("edge_kind", "u1"),
        ("node_kind", "u1"),
        ("node_entity", "<i2"),
        ("split_half", "<u2"),
        ("split_node", "<u2"),
        ("gate_start", "<u2"),
        ("gate_door", "<u2"),
        ("door_entity", "<i2"),
        ("door_slot", "<i2"),
        ("door_trap", "u1"),
        ("door_switch_node", "<u2"),
        ("exit_slot", "<i2"),
    ),
)

NODE_WAYS = np.dtype(
    [
        ("switch_distance", "<f4"),
        ("exit_distance", "<f4"),
        ("plan_distance", "<f4"),
        ("switch_next", "<u2"),
        ("exit_next", "<u2"),
        ("plan_next", "<u2"),
        ("x", "<u2"),  # of the node, which lies on a pixel
        ("y", "<u2"),
        ("reachable", "u1"),
        ("blocked", "u1"),
    ]
)
"""What is known of the ways from a node. A step reads most of it, so it lies together."""

DISTANCES_FORMAT = BlockFormat(
    "set of distance fields",
    magic=0x4450504E,  # "NPPD"
    version=3,
    # Nodes, node of the spawn, nodes reachable from it, switch and exit nearest to it. Then bits of a float32 each:
    # from the spawn to switch, exit, and by a switch to an exit; from that switch to the exit; the reachable share.
    numbers=10,
    sections=(("ways", NODE_WAYS),),
)


def spawn_numbers(numbers: list[int]) -> tuple[float, ...]:
    """The float32 among the numbers of distance fields.

    From the spawn to switch, exit, and over a switch to an exit; from that switch to the exit; the reachable share.
    """
    return _FLOATS.unpack(_INTS.pack(*numbers[_FIRST_FLOAT:]))
