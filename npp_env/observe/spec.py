"""Shape, type and range of every observation, and the layouts that join them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

LAYOUTS = ("dict", "flat", "packed", "state")

GAME_STATE_FIELDS = (
    "x", "y", "x_in_tile", "y_in_tile", "speed_x", "speed_y",
    "standing", "running", "skidding", "rising", "falling", "sliding", "dead", "celebrating",
    "airborne", "walled", "wall_normal", "floor_normal_x", "floor_normal_y", "ceiling_normal_x", "ceiling_normal_y",
    "jump_buffer", "floor_buffer", "wall_buffer", "pad_buffer", "jump_hold", "gravity", "last_horizontal", "last_jump",
    "pad_direction_x", "pad_direction_y", "time_left", "switch_taken", "gold_left",
)  # fmt: skip
ENTITY_FIELDS = (
    "present", "dx", "dy", "speed_x", "speed_y", "direction_x", "direction_y", "mode", "radius",
    "mine", "gold", "exit_switch", "door", "locked_door_switch", "trap_door_switch", "launch_pad", "one_way",
    "zap_drone", "floor_guard", "bounce_block", "thwump", "toggle_mine", "laser_turret", "boost_pad", "death_ball",
    "mini_drone", "shove_thwump", "open_exit",
)  # fmt: skip
REACHABILITY_FIELDS = (
    "switch_distance", "switch_direction_x", "switch_direction_y",
    "exit_distance", "exit_direction_x", "exit_direction_y",
    "objective_distance", "reachable_share", "switch_reachable", "exit_reachable",
)  # fmt: skip
NODE_FIELDS = ("x", "y", "dx", "dy", "kind", "objective_distance", "reachable", "here")
EDGE_FIELDS = ("dx", "dy", "length", "kind")
SPATIAL_SIDE = 11
SPATIAL_MINES = 8

OBSERVATION_KEYS = (
    "game_state",
    "entity_states",
    "switch_states",
    "reachability_features",
    "spatial_context",
    "player_frame",
    "global_view",
    "graph_node_feats",
    "graph_edge_index",
    "graph_edge_feats",
    "graph_node_mask",
    "graph_edge_mask",
    "action_mask",
)
"""All keys; the position of a key is the number that the kernel knows it by."""

GRAPH_KEYS = tuple(key for key in OBSERVATION_KEYS if key.startswith("graph_"))


@dataclass(frozen=True, slots=True)
class ObservationSpec:
    """One observation: its array and its range."""

    key: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    low: float
    high: float

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape))

    @property
    def nbytes(self) -> int:
        """Bytes of one observation."""
        return self.size * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class Capacity:
    """What the sizes of padded observations depend on."""

    max_entities: int = 16
    max_nodes: int = 4500
    max_edges: int = 18500


def observation_spec(key: str, capacity: Capacity) -> ObservationSpec:
    """The specification of one key."""
    half, byte, word = np.dtype(np.float16), np.dtype(np.uint8), np.dtype(np.uint16)
    nodes, edges = capacity.max_nodes, capacity.max_edges
    spatial = SPATIAL_SIDE * SPATIAL_SIDE + 2 + 4 * SPATIAL_MINES
    table: dict[str, tuple[tuple[int, ...], np.dtype[Any], float, float]] = {
        "game_state": ((len(GAME_STATE_FIELDS),), half, -1, 1),
        "entity_states": ((capacity.max_entities, len(ENTITY_FIELDS)), half, -1, 1),
        "switch_states": ((25,), half, -1, 1),
        "reachability_features": ((len(REACHABILITY_FIELDS),), half, -1, 1),
        "spatial_context": ((spatial,), half, -1, 1),
        "player_frame": ((84, 84, 1), byte, 0, 255),
        "global_view": ((100, 176, 1), byte, 0, 255),
        "graph_node_feats": ((nodes, len(NODE_FIELDS)), half, -1, 1),
        "graph_edge_index": ((2, edges), word, 0, 65535),
        "graph_edge_feats": ((edges, len(EDGE_FIELDS)), half, -1, 1),
        "graph_node_mask": ((nodes,), byte, 0, 1),
        "graph_edge_mask": ((edges,), byte, 0, 1),
        "action_mask": ((6,), byte, 0, 1),
    }
    shape, dtype, low, high = table[key]
    return ObservationSpec(key, shape, dtype, low, high)
