"""`Sides`: whoever goes left sees the world in a mirror, so that what is learned going right serves both ways.

The game knows no left and right. A network that is shown every situation with the next hop to the right learns each of
them once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from npp_env.errors import ConfigError, requires
from npp_env.level.entity_kinds import DRONE_MODES, ENTITY_COLUMNS, LASER_MODES, EntityKind
from npp_env.observe.spec import (
    ENTITY_FIELDS,
    GAME_STATE_FIELDS,
    REACHABILITY_FIELDS,
    ROWS,
    SPATIAL_MINES,
    SPATIAL_SIDE,
    Capacity,
    observation_spec,
)

with requires("PyTorch", __name__, "pip install 'npp_env[learning]'"):
    import torch
    from torch import nn

ACTION_MIRROR = (0, 2, 1, 3, 5, 4)
"""The action of the mirror image, by action."""
_SIDEWAYS = frozenset(
    (
        "x", "x_in_tile", "speed_x", "wall_normal", "floor_normal_x", "ceiling_normal_x", "last_horizontal",
        "pad_direction_x", "dx", "direction_x", "aim_dx", "switch_direction_x", "exit_direction_x",
    )
)  # fmt: skip
"""Fields whose sign a mirror changes."""
_LAST_DRONE_MODE = len(DRONE_MODES) - 1
_MODE = ENTITY_FIELDS.index("mode")
_SWITCH_TAKEN = GAME_STATE_FIELDS.index("switch_taken")
_TO_SWITCH, _TO_EXIT = (REACHABILITY_FIELDS.index(f"{goal}_direction_x") for goal in ("switch", "exit"))


def _sideways(fields: tuple[str, ...]) -> list[int]:
    return [column for column, name in enumerate(fields) if name in _SIDEWAYS]


def _columns_of(kinds: list[EntityKind]) -> list[int]:
    columns = [kind.row.column for kind in kinds]
    return [ENTITY_FIELDS.index(ENTITY_COLUMNS[column]) for column in columns if column is not None]


_DRONES = _columns_of([kind for kind in EntityKind if kind.row.modes == DRONE_MODES])
"""Their mode is a rule that has a twin, which turns the other way round."""
_SIGNED = _columns_of([kind for kind in EntityKind if kind.row.modes == LASER_MODES or kind is EntityKind.FLOOR_GUARD])
"""Their mode is a direction: its sign changes."""
_GRID = SPATIAL_SIDE**2


def _switch_fields() -> list[int]:
    """Columns of `switch_states`: the places of five switches and their doors."""
    return [first + column for first in range(0, 25, 5) for column in (0, 2)]


_SIDEWAYS_COLUMNS: Mapping[str, list[int]] = {
    "game_state": _sideways(GAME_STATE_FIELDS),
    "reachability_features": _sideways(REACHABILITY_FIELDS),
    "switch_states": _switch_fields(),
    "spatial_context": [_GRID, *range(_GRID + 3, _GRID + 2 + 4 * SPATIAL_MINES, 4)],
    "entity_states": _sideways(ENTITY_FIELDS),
}
"""Of each observation that has a mirror image, the columns whose sign it changes."""


def _kinds() -> Any:
    """Weights (fields, 2) that tell of an entity whether its mode has a twin, and whether it is a direction."""
    weights = torch.zeros(len(ENTITY_FIELDS), 2)
    for number, columns in enumerate((_DRONES, _SIGNED)):
        weights[columns, number] = 1
    return weights


class Sides(nn.Module):
    """Shows a network every situation with the next hop to the right.

    Args:
        keys: The observations that the network looks at; `game_state` and `reachability_features` among them.

    Raises:
        ConfigError: There is no mirror image of one of them.
    """

    def __init__(self, keys: tuple[str, ...]) -> None:
        super().__init__()
        without = [key for key in keys if key not in _SIDEWAYS_COLUMNS]
        missing = {"game_state", "reachability_features"} - set(keys)
        if without or missing:
            what = f"{without[0]} has no mirror image" if without else f"it takes {', '.join(sorted(missing))}"
            raise ConfigError(
                f"the policy cannot see {', '.join(keys)} in a mirror: {what}; "
                "--policy-option mirror=false does without"
            )
        self.keys = keys
        # It stands in model files, so that a model is played with the eyes that it was trained with.
        self.register_buffer("swapped", torch.tensor(ACTION_MIRROR))
        for key in keys:
            fields = len(ROWS[key].fields) or observation_spec(key, Capacity()).size
            factors = torch.ones(fields)
            factors[_SIDEWAYS_COLUMNS[key]] = -1
            self.register_buffer(f"_{key}", factors, persistent=False)
        self.register_buffer("_kinds", _kinds(), persistent=False)

    def judged(self, observations: Mapping[str, Any], judge: Callable[[Mapping[str, Any]], Any]) -> Any:
        """What a network says of a minibatch, an `npp_env.learning.networks.Output`, if it sees it from one side.

        Args:
            observations: As the world shows them; they stay as they are.
            judge: The network.
        """
        shown, left = self(observations)
        output = judge(shown)
        swapped = output.logits.index_select(0, left).index_select(1, self.swapped)
        return output._replace(logits=output.logits.index_copy(0, left, swapped))

    def forward(self, observations: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        """The observations of a minibatch, fresh, and which rows of them (k,) are shown in the mirror."""
        ways = observations["reachability_features"]
        taken = observations["game_state"][:, _SWITCH_TAKEN] > 0
        hop = torch.where(taken, ways[:, _TO_EXIT], ways[:, _TO_SWITCH])
        left = (hop < 0).nonzero().squeeze(1)
        turned = {}
        for key in self.keys:
            mirrored = self.mirrored(key, observations[key].index_select(0, left))
            turned[key] = observations[key].index_copy(0, left, mirrored)
        return turned, left

    def mirrored(self, key: str, rows: Any) -> Any:
        """The mirror images of observations (n, ...) of one key; `rows` itself, overwritten."""
        rows *= getattr(self, f"_{key}")
        if key == "spatial_context":
            grid = rows[:, :_GRID].view(-1, SPATIAL_SIDE, SPATIAL_SIDE)
            grid.copy_(grid.flip(2))
        elif key == "entity_states":
            self._turn_modes(rows)
        return rows

    def _turn_modes(self, entities: Any) -> None:
        """Of entities (n, k, fields), in place: drones turn the other way round, and so do guards and lasers."""
        mode = entities[..., _MODE]
        drones, signed = (entities @ self._kinds).unbind(-1)
        rule = (mode * _LAST_DRONE_MODE).round()
        other_rule = (rule + 1 - 2 * (rule % 2)) / _LAST_DRONE_MODE
        mode.copy_(torch.where(drones > 0, other_rule, mode * (1 - 2 * signed)))
