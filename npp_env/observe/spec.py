"""The table of observations: what each key holds, what it needs, what of it stays the same, and who writes it.

Environments, decoder, stores, estimates and configuration read this table. A new key is a row here, a function in the
`WRITERS` of the module that the row names, and a line in the docstring of `NppEnv`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from typing import Any

import numpy as np

from npp_env.level.entity_kinds import ENTITY_COLUMNS

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
    "phase", "timer", "aim_dx", "aim_dy", *ENTITY_COLUMNS,
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


@dataclass(frozen=True, slots=True)
class Capacity:
    """What the sizes of padded observations depend on."""

    max_entities: int = 16
    max_nodes: int = 4500
    max_edges: int = 18500


class Varies(IntEnum):
    """What numbers of an observation change with; each includes those before it."""

    LEVEL = 0
    DOORS = 1  # which switches are taken
    PLACE = 2  # the node that the ninja is at
    STATE = 3


@dataclass(frozen=True, slots=True)
class ObservationRow:
    """One observation, whatever the capacity.

    Attributes:
        key: Its name.
        shape: Lengths of its axes; a name stands for that field of `Capacity`.
        dtype: Type of its numbers.
        writer: Module of `npp_env.observe` that writes it.
        low: The least value.
        high: The largest value.
        fields: Names along the last axis.
        needs_graph: Whether it is computed from the navigation graph.
        needs_background: Whether it is drawn onto the background of the level.
        varies: What it changes with. `LEVEL`: it is static.
        steadier: Fields that change less often, and with what.
    """

    key: str
    shape: tuple[int | str, ...]
    dtype: np.dtype[Any]
    writer: str
    low: float = -1
    high: float = 1
    fields: tuple[str, ...] = ()
    needs_graph: bool = False
    needs_background: bool = False
    varies: Varies = Varies.STATE
    steadier: dict[str, Varies] = field(default_factory=dict)

    @property
    def padded_axis(self) -> int | None:
        """The axis that the nodes or edges of a graph lie along, padded to the capacity; None of other keys."""
        axes = [axis for axis, length in enumerate(self.shape) if length in ("max_nodes", "max_edges")]
        return axes[0] if axes else None

    def columns(self, *varies: Varies) -> tuple[int, ...]:
        """Places of the fields that change with any of these."""
        return tuple(k for k, name in enumerate(self.fields) if self.steadier.get(name, self.varies) in varies)


_HALF, _BYTE, _WORD = np.dtype(np.float16), np.dtype(np.uint8), np.dtype(np.uint16)
_NODE_FIELDS_VARY = {
    "x": Varies.LEVEL, "y": Varies.LEVEL, "kind": Varies.LEVEL,
    "objective_distance": Varies.DOORS, "reachable": Varies.DOORS, "here": Varies.PLACE,
}  # fmt: skip
_STATIC: dict[str, Any] = {"needs_graph": True, "varies": Varies.LEVEL}

TABLE = (
    ObservationRow("game_state", (len(GAME_STATE_FIELDS),), _HALF, "ninja_features", fields=GAME_STATE_FIELDS),
    ObservationRow(
        "entity_states", ("max_entities", len(ENTITY_FIELDS)), _HALF, "entity_features", fields=ENTITY_FIELDS
    ),
    ObservationRow("switch_states", (25,), _HALF, "entity_features"),
    ObservationRow(
        "reachability_features", (len(REACHABILITY_FIELDS),), _HALF, "path_features",
        fields=REACHABILITY_FIELDS, needs_graph=True,
    ),
    ObservationRow("spatial_context", (SPATIAL_SIDE**2 + 2 + 4 * SPATIAL_MINES,), _HALF, "entity_features"),
    ObservationRow("player_frame", (84, 84, 1), _BYTE, "writer", 0, 255, needs_background=True),
    ObservationRow("global_view", (100, 176, 1), _BYTE, "writer", 0, 255, needs_background=True),
    ObservationRow(
        "graph_node_feats", ("max_nodes", len(NODE_FIELDS)), _HALF, "graph_features",
        fields=NODE_FIELDS, needs_graph=True, steadier=_NODE_FIELDS_VARY,
    ),
    ObservationRow("graph_edge_index", (2, "max_edges"), _WORD, "graph_features", 0, 65535, **_STATIC),
    ObservationRow(
        "graph_edge_feats", ("max_edges", len(EDGE_FIELDS)), _HALF, "graph_features", fields=EDGE_FIELDS, **_STATIC
    ),
    ObservationRow("graph_node_mask", ("max_nodes",), _BYTE, "graph_features", 0, **_STATIC),
    ObservationRow("graph_edge_mask", ("max_edges",), _BYTE, "graph_features", 0, **_STATIC),
    ObservationRow("action_mask", (6,), _BYTE, "ninja_features", 0),
)  # fmt: skip
"""All keys; the place of a row is the number that the kernel knows its key by."""

ROWS = {row.key: row for row in TABLE}
OBSERVATION_KEYS = tuple(ROWS)
GRAPH_KEYS = tuple(row.key for row in TABLE if row.padded_axis is not None)
FRAME_KEYS = tuple(row.key for row in TABLE if row.needs_background)
DEFAULT_KEYS = ("game_state", "reachability_features", "action_mask")
OBSERVATION_GROUPS: dict[str, tuple[str, ...]] = {
    "vectors": DEFAULT_KEYS,
    "frames": FRAME_KEYS,
    "graph": GRAPH_KEYS,
    "all": OBSERVATION_KEYS,
}
"""Short names for several observations."""


@dataclass(frozen=True, slots=True)
class ObservationSpec:
    """One observation: its array and its range."""

    key: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    low: float
    high: float

    @property
    def number(self) -> int:
        """The number that the kernel knows it by."""
        return OBSERVATION_KEYS.index(self.key)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape))

    @property
    def nbytes(self) -> int:
        """Bytes of one observation."""
        return self.size * self.dtype.itemsize


@lru_cache(maxsize=128)
def observation_spec(key: str, capacity: Capacity) -> ObservationSpec:
    """The specification of one key at a capacity; environments share it."""
    row = ROWS[key]
    shape = tuple(getattr(capacity, length) if isinstance(length, str) else length for length in row.shape)
    return ObservationSpec(key, shape, row.dtype, row.low, row.high)
