"""Worst error of every float16 field against float64; `python tests/observe/precision.py` prints the table."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from golden_levels import golden  # noqa: E402
from npp_env.observe.plain import plain_view  # noqa: E402
from npp_env.sim.uncompiled import unpack_level, unpack_world  # noqa: E402
from play import held_actions  # noqa: E402

import npp_env  # noqa: E402
from npp_env.graph.distances import fields_of  # noqa: E402
from npp_env.level.binary import read_map  # noqa: E402
from npp_env.observe.spec import ENTITY_FIELDS, GAME_STATE_FIELDS, REACHABILITY_FIELDS  # noqa: E402

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
    "switch_distance": (4000, "px"),
    "exit_distance": (4000, "px"),
    "objective_distance": (4000, "px"),
}
FIELDS = {
    "game_state": GAME_STATE_FIELDS,
    "entity_states": ENTITY_FIELDS,
    "switch_states": ("switch_dx", "switch_dy", "door_dx", "door_dy", "open"),
    "reachability_features": REACHABILITY_FIELDS,
    "spatial_context": ("all",),
}
UNITS |= {
    "switch_dx": (1056, "px"),
    "switch_dy": (600, "px"),
    "door_dx": (1056, "px"),
    "door_dy": (600, "px"),
}


def uncompiled(name: str):
    """An observer's source as a plain module whose float16 conversion leaves the number as it is."""
    path = ROOT / "npp_env" / "observe" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"plain_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.half = float
    return module


def exact_observations(env, modules) -> dict[str, np.ndarray]:
    """The observations of an environment in float64."""
    ninja, entity, path = modules
    item = env._episodes.resources_of(0)
    slot = env._engine.slots[0]
    handle = env._engine.path_handles[0]
    fields = fields_of(env.level, env._episodes.doors_taken(0))
    paths = path.PlainPaths(handle.arrays, handle.spawn_distance, fields.reachable_share)
    view = plain_view(
        unpack_world(unpack_level(item.handle.geometry.sections), env._engine.states[0]),
        paths=paths,
        limit_frames=int(slot["limit_frames"]),
        gold_total=int(slot["gold_total"]),
        k_entities=env.config.observation.max_entities,
    )
    writers = {
        "game_state": ninja.write_game_state,
        "entity_states": entity.write_entity_states,
        "switch_states": entity.write_switch_states,
        "reachability_features": path.write_reachability,
        "spatial_context": entity.write_spatial_context,
    }
    exact = {}
    for key, write in writers.items():
        out = np.zeros(env.observation_space[key].shape).reshape(-1)
        write(view, out)
        exact[key] = out
    return exact


def worst_errors(steps: int = 25) -> dict[tuple[str, str], float]:
    """Worst error by key and field, over random play on the golden levels."""
    modules = tuple(uncompiled(name) for name in ("ninja_features", "entity_features", "path_features"))
    levels = [read_map(item.map) for item in golden()[::4]]
    env = npp_env.NppEnv({"observation": {"keys": list(FIELDS)}}, levels=levels)
    worst: dict[tuple[str, str], float] = {}
    for number in range(len(levels)):
        observation, _ = env.reset(seed=number, options={"level": number})
        for action in held_actions(np.random.default_rng(number), steps)[:, 0]:
            exact = exact_observations(env, modules)
            for key, names in FIELDS.items():
                error = np.abs(observation[key].reshape(-1).astype(np.float64) - exact[key])
                for k, name in enumerate(names):
                    value = float(error[k :: len(names)].max())
                    worst[key, name] = max(worst.get((key, name), 0.0), value)
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
