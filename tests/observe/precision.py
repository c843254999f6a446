"""Worst error of every float16 field against the reference; `python -m tests.observe.precision` prints the table."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from golden_levels import golden
from play import held_actions
from reference import vectors
from reference.graph import graph_of
from reference.levels import random_level
from reference.paths import reachability_rows
from reference.scene import scene_of

import npp_env
from npp_env.level.binary import read_map
from npp_env.observe.spec import ENTITY_FIELDS, GAME_STATE_FIELDS, REACHABILITY_FIELDS

# What one unit of a field stands for, in the unit of the published table.
UNITS = {
    "x": (528, "px"),
    "y": (300, "px"),
    "x_in_tile": (12, "px"),
    "y_in_tile": (12, "px"),
    "speed_x": (12, "px/tick"),
    "speed_y": (12, "px/tick"),
    "dx": (1056, "px"),
    "dy": (600, "px"),
    "radius": (24, "px"),
    "aim_dx": (1056, "px"),
    "aim_dy": (600, "px"),
    "switch_distance": (4000, "px"),
    "exit_distance": (4000, "px"),
    "objective_distance": (4000, "px"),
    "switch_dx": (1056, "px"),
    "switch_dy": (600, "px"),
    "door_dx": (1056, "px"),
    "door_dy": (600, "px"),
}
FIELDS = {
    "game_state": GAME_STATE_FIELDS,
    "entity_states": ENTITY_FIELDS,
    "switch_states": ("switch_dx", "switch_dy", "door_dx", "door_dy", "open"),
    "reachability_features": REACHABILITY_FIELDS,
    "spatial_context": ("all",),
}
# The reference searches paths slowly: only some levels are asked for them.
PATH_LEVELS = 6


def exact_row(key, scene, level, found) -> np.ndarray:
    """The reference's numbers; where several next hops are as short, those nearest to what was found."""
    if key != "reachability_features":
        return np.array(vectors.VECTORS[key](scene))
    rows = np.array(reachability_rows(graph_of(level), scene))
    return rows[np.abs(rows - found).sum(axis=1).argmin()]


def worst_errors(steps: int = 25) -> dict[tuple[str, str], float]:
    """Worst error by key and field, over random play on the golden levels and some that hold every kind."""
    levels = [*(read_map(item.map) for item in golden()[::4]), *(random_level(seed) for seed in range(6))]
    env = npp_env.NppEnv({"observation": {"keys": list(FIELDS)}}, levels=levels)
    worst: dict[tuple[str, str], float] = {}
    for number, level in enumerate(levels):
        observation, _ = env.reset(seed=number, options={"level": number})
        for action in held_actions(np.random.default_rng(number), steps)[:, 0]:
            scene = scene_of(level, env._engine.states[0], int(env._engine.slots[0]["limit_frames"]))
            for key, names in FIELDS.items():
                if key == "reachability_features" and number >= PATH_LEVELS:
                    continue
                found = observation[key].reshape(-1).astype(np.float64)
                error = np.abs(found - exact_row(key, scene, level, found))
                for k, name in enumerate(names):
                    worst[key, name] = max(worst.get((key, name), 0.0), float(error[k :: len(names)].max()))
            observation, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                break
    return worst


def table(worst: dict[tuple[str, str], float]) -> str:
    """The errors as Markdown, in the unit of each field."""
    lines = ["| key | field | worst error |", "|---|---|---|"]
    for (key, name), error in worst.items():
        scale, unit = UNITS.get(name, (1, ""))
        lines.append(f"| `{key}` | {name} | {error * scale:.2g} {unit} |".replace("  |", " |"))
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(worst_errors()))
