"""What the bytes of a navigation graph and of its distance fields mean; readers in C take their offsets from here."""

from __future__ import annotations

from enum import IntEnum

from npp_env.graph.block import FIRST_NUMBER, BlockFormat

NO_NODE = 65535
NO_DOOR = -1


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
    version=3,
    numbers=5,
    sections=(
        ("node_x", "<f4"),
        ("node_y", "<f4"),
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

# Indices of int32 values in the header of a graph's block.
GRAPH_NODES, GRAPH_LATTICE_NODES, GRAPH_EDGES, GRAPH_DOORS, GRAPH_SPAWN_NODE = range(FIRST_NUMBER, FIRST_NUMBER + 5)
# Indices of the byte offsets of the sections that observers read.
GRAPH_NODE_X = GRAPH_FORMAT.section_index("node_x")
GRAPH_NODE_Y = GRAPH_FORMAT.section_index("node_y")
GRAPH_NEAREST_NODE = GRAPH_FORMAT.section_index("nearest_node")
GRAPH_EDGE_START = GRAPH_FORMAT.section_index("edge_start")
GRAPH_EDGE_TARGET = GRAPH_FORMAT.section_index("edge_target")
GRAPH_EDGE_DOOR = GRAPH_FORMAT.section_index("edge_door")
GRAPH_EDGE_FEATURES = GRAPH_FORMAT.section_index("edge_features")
GRAPH_EDGE_KIND = GRAPH_FORMAT.section_index("edge_kind")
GRAPH_NODE_KIND = GRAPH_FORMAT.section_index("node_kind")
GRAPH_SPLIT_HALF = GRAPH_FORMAT.section_index("split_half")
GRAPH_SPLIT_NODE = GRAPH_FORMAT.section_index("split_node")
GRAPH_DOOR_SLOT = GRAPH_FORMAT.section_index("door_slot")
GRAPH_DOOR_TRAP = GRAPH_FORMAT.section_index("door_trap")

DISTANCES_FORMAT = BlockFormat(
    "set of distance fields",
    magic=0x4450504E,  # "NPPD"
    version=2,
    numbers=10,
    sections=(
        ("switch_distance", "<f4"),
        ("exit_distance", "<f4"),
        ("plan_distance", "<f4"),
        ("switch_next", "<u2"),
        ("exit_next", "<u2"),
        ("plan_next", "<u2"),
        ("reachable", "u1"),
        ("blocked", "u1"),
    ),
)

# Indices of int32 values in the header of distance fields; from the spawn's distances on they are bits of a float32.
(
    FIELDS_NODES,
    FIELDS_SPAWN_NODE,
    FIELDS_REACHABLE_NODES,
    FIELDS_SWITCH_NODE,
    FIELDS_EXIT_NODE,
    FIELDS_SPAWN_SWITCH_DISTANCE,
    FIELDS_SPAWN_EXIT_DISTANCE,
    FIELDS_SPAWN_PLAN_DISTANCE,
    FIELDS_SWITCH_EXIT_DISTANCE,
    FIELDS_REACHABLE_SHARE,
) = range(FIRST_NUMBER, FIRST_NUMBER + 10)
FIELDS_SWITCH_DISTANCE = DISTANCES_FORMAT.section_index("switch_distance")
FIELDS_EXIT_DISTANCE = DISTANCES_FORMAT.section_index("exit_distance")
FIELDS_PLAN_DISTANCE = DISTANCES_FORMAT.section_index("plan_distance")
FIELDS_SWITCH_NEXT = DISTANCES_FORMAT.section_index("switch_next")
FIELDS_EXIT_NEXT = DISTANCES_FORMAT.section_index("exit_next")
FIELDS_PLAN_NEXT = DISTANCES_FORMAT.section_index("plan_next")
FIELDS_REACHABLE = DISTANCES_FORMAT.section_index("reachable")
FIELDS_BLOCKED = DISTANCES_FORMAT.section_index("blocked")
