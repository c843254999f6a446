"""Digests of everything that a level gives: states, observations, rewards, layouts, saved states, recordings.

A change of structure must not change one bit of them. `python -m tests.fingerprints.record` writes them down anew; do
so only where a value is meant to change, and say so in the changelog.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from npp_env.config import EnvironmentConfig
from npp_env.env import NppEnv
from npp_env.level.shipped import shipped_level_names
from npp_env.observe.spec import OBSERVATION_KEYS
from npp_env.recording import load_shipped_recording
from npp_env.vector import NppVectorEnv
from tests.play import held_actions

FILE = Path(__file__).parent / "shipped.json"
STEPS = 60
GRAPH = {"max_nodes": 1500, "max_edges": 9000}
INPUT_OF_ACTION = (0, 4, 2, 1, 5, 3)


class Digest:
    """SHA-256 over named streams of arrays and numbers."""

    def __init__(self) -> None:
        self._streams: dict[str, Any] = {}

    def add(self, stream: str, value: Any) -> None:
        data = value if isinstance(value, bytes) else np.ascontiguousarray(value).tobytes()
        self._streams.setdefault(stream, hashlib.sha256()).update(data)

    def short(self) -> dict[str, str]:
        return {name: stream.hexdigest()[:16] for name, stream in sorted(self._streams.items())}


def fingerprint_of_level(name: str) -> dict[str, str]:
    """Random play, then the recording that wins, with every key; and each other layout for a few steps."""
    digest = Digest()
    rng = np.random.default_rng(sum(name.encode()))
    levels = f"shipped:{name}"
    env = NppEnv(levels=levels, observation={"keys": OBSERVATION_KEYS}, graph=GRAPH)
    _play(env, digest, held_actions(rng, STEPS)[:, 0].tolist())
    single = NppEnv(levels=levels, observation={"keys": OBSERVATION_KEYS}, graph=GRAPH, frame_skip=1)
    inputs = [INPUT_OF_ACTION.index(byte & 7) for byte in load_shipped_recording(name).inputs.tolist()]
    _play(single, digest, inputs, every=15)
    for layout in ("flat", "packed", "state"):
        keys = [key for key in OBSERVATION_KEYS if not key.startswith("graph_")]
        other = NppEnv(levels=levels, observation={"keys": keys, "layout": layout})
        observation, _ = other.reset(seed=1)
        digest.add(layout, observation)
        for action in held_actions(rng, 8)[:, 0].tolist():
            digest.add(layout, other.step(action)[0])
    return digest.short()


def _play(env: NppEnv, digest: Digest, actions: list[int], every: int = 1) -> None:
    observation, info = env.reset(seed=0)
    for number, action in enumerate(actions):
        observation, reward, terminated, truncated, info = env.step(action)
        digest.add("reward", np.float64(reward))
        numbers = {key: float(info[key]) for key in sorted(info) if not isinstance(info[key], str)}
        digest.add("info", json.dumps(numbers).encode())
        if number % every == 0 or terminated or truncated:
            for key, array in observation.items():
                digest.add(key, array)
            digest.add("saved", env.get_state())
        if terminated or truncated:
            break


def fingerprint_of_vector() -> dict[str, str]:
    """Many environments over all levels, with restarts."""
    digest = Digest()
    keys = ("game_state", "entity_states", "switch_states", "reachability_features", "spatial_context", "action_mask")
    config = EnvironmentConfig.for_parallel_training(
        observation={"keys": keys}, max_episode_frames=200, levels="shipped"
    )
    envs = NppVectorEnv(num_envs=24, config=config)
    rng = np.random.default_rng(5)
    observations, _ = envs.reset(seed=3)
    for actions in held_actions(rng, 120, 24):
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        for key, array in observations.items():
            digest.add(key, array)
        digest.add("reward", rewards)
        digest.add("ends", np.stack([terminated, truncated]))
        for key in ("frame", "outcome", "gold", "level", "phase", "episode_return", "episode_steps"):
            digest.add("info", np.asarray(infos[key], np.float64))
    return digest.short()


def all_fingerprints() -> dict[str, dict[str, str]]:
    """By shipped level, and for the vector environment."""
    return {**{name: fingerprint_of_level(name) for name in shipped_level_names()}, "vector": fingerprint_of_vector()}


if __name__ == "__main__":
    FILE.write_text(json.dumps(all_fingerprints(), indent=1) + "\n")
