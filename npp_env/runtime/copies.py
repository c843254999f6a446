"""What a pickle or a deep copy of an environment carries: how it was made, its episodes, its random numbers."""

from __future__ import annotations

from typing import Any

from npp_env.runtime.episodes import Episodes
from npp_env.runtime.level_resources import FOREIGN_LEVEL
from npp_env.runtime.saved_state import SavedState, carry_out, read_saved_state, write_saved_state

_ATTRIBUTES = ("_np_random", "_np_random_seed", "action_space", "observation_space", "spec", "_was_reset")


def contents_of(environment: Any, episodes: Episodes, arguments: dict[str, Any], *attributes: str) -> dict[str, Any]:
    """All that another environment needs to go on as this one.

    Args:
        environment: The environment.
        episodes: Its episodes.
        arguments: How it was made, beside what all environments have.
        attributes: What it has beside what all have.
    """
    episodes.finish()
    items = enumerate(episodes.engine.in_use)
    return {
        "arguments": {
            "config": episodes.config,
            "levels": episodes.levels,
            "sampling": episodes.sampling,
            "render_mode": environment.render_mode,
            **arguments,
        },
        "states": {i: write_saved_state(SavedState.of(episodes, i)) for i, item in items if item is not None},
        "foreign": {
            i: item.level for i, item in enumerate(episodes.engine.in_use) if item and item.index == FOREIGN_LEVEL
        },
        "attributes": {name: getattr(environment, name) for name in (*_ATTRIBUTES, *attributes)},
    }


def restore_contents(environment: Any, episodes: Episodes, contents: dict[str, Any]) -> None:
    """Let an environment that was made with the same arguments go on as the other.

    Args:
        environment: The environment.
        episodes: Its episodes.
        contents: Of `contents_of`.
    """
    foreign = {i: episodes.foreign(level) for i, level in contents["foreign"].items()}
    states = {i: read_saved_state(state) for i, state in contents["states"].items()}
    carry_out([state.prepare(episodes, i, foreign.get(i)) for i, state in states.items()])
    for name, value in contents["attributes"].items():
        setattr(environment, name, value)
