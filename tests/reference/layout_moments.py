"""Moments of play with all that the environment returned, and the sizes that the documentation gives."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from graph.random_levels import random_level
from play import held_actions
from sim.rooms import room as hall

from npp_env import NppEnv
from npp_env.level import Level
from npp_env.level.shipped import load_shipped
from npp_env.rollouts.decoder import ObservationDecoder

from .frame_scenes import NAMES

NODES, EDGES, ENTITIES = 900, 3300, 11
SIZES: dict[str, tuple[tuple[int, ...], str]] = {
    "game_state": ((34,), "<f2"),
    "entity_states": ((ENTITIES, 39), "<f2"),
    "switch_states": ((25,), "<f2"),
    "reachability_features": ((10,), "<f2"),
    "spatial_context": ((155,), "<f2"),
    "player_frame": ((84, 84, 1), "u1"),
    "global_view": ((100, 176, 1), "u1"),
    "graph_node_feats": ((NODES, 8), "<f2"),
    "graph_edge_index": ((2, EDGES), "<u2"),
    "graph_edge_feats": ((EDGES, 4), "<f2"),
    "graph_node_mask": ((NODES,), "u1"),
    "graph_edge_mask": ((EDGES,), "u1"),
    "action_mask": ((6,), "u1"),
}
KEYS = tuple(SIZES)
SIZE_CONFIG = {"graph": {"max_nodes": NODES, "max_edges": EDGES}}
HEADER = struct.Struct("<Iiii16sQ")  # version, level, time limit, steps, hash, checksum
INPUTS = {0: 0, 1: 4, 2: 2, 3: 1, 4: 5, 5: 3}


def config_of(keys: tuple[str, ...], layout: str, **more: Any) -> dict[str, Any]:
    return {"observation": {"keys": keys, "layout": layout, "max_entities": ENTITIES}, **SIZE_CONFIG, **more}


@lru_cache
def rich_levels() -> tuple[Level, ...]:
    """Doors that open one after the other, every kind of entity, caves, and a small level: each of another size."""
    shafts = [(25, row) for row in range(1, 19)] + [(33, row) for row in range(1, 19)]
    doors = [(6, 100, 78, 0), (7, 36, 78), (8, 132, 78, 0), (9, 52, 78), (2, 28, 78), (2, 44, 78)]
    everything = [(kind, 20 + 8 * k, 60 - 3 * (k % 5), 2) for k, kind in enumerate(NAMES) if kind not in (3, 6, 8)]
    solid = [(column, row) for column in range(1, 43) for row in range(1, 12)]
    return (
        hall(*doors, (3, 150, 77), (4, 66, 77), walls=shafts + solid),
        hall(*everything, (3, 150, 77), (4, 28, 77), (6, 120, 78, 0), (7, 24, 78), walls=solid),
        random_level(5),
        load_shipped("first_steps/walk"),
    )


@dataclass
class Moment:
    number: int
    level: Level
    limit: int
    steps: int
    vector: np.ndarray
    observation: dict[str, np.ndarray]


@lru_cache
def moments() -> tuple[Moment, ...]:
    """Vectors and observations of every level under several time limits, by two environments that play the same."""
    levels = list(rich_levels())
    found = []
    for run, limit in enumerate((None, 90, 400)):
        dense, compact = (
            NppEnv(levels=levels, **config_of(KEYS, layout, frame_skip=3 + run, max_episode_frames=limit))
            for layout in ("dict", "state")
        )
        for number, level in enumerate(levels):
            options = {"level": number}
            observation, vector = (env.reset(seed=0, options=options)[0] for env in (dense, compact))
            actions = held_actions(np.random.default_rng(10 * run + number), 12 if number else 50)[:, 0]
            actions[:] = 2 if number == 0 else actions
            for steps, action in enumerate([*actions.tolist(), None]):
                found.append(Moment(number, level, limit or 0, steps, vector, observation))
                if action is None:
                    break
                observation, _, terminated, truncated, _ = dense.step(action)
                vector = compact.step(action)[0]
                if terminated or truncated:
                    found.append(Moment(number, level, limit or 0, steps + 1, vector, observation))
                    break
    return tuple(found)


def decoder(keys: tuple[str, ...] = KEYS, **more: Any) -> ObservationDecoder:
    return ObservationDecoder(config_of(keys, "state"), list(rich_levels()), **more)


def assert_rows(decoded, wanted: list[Moment], keys: tuple[str, ...] = KEYS) -> None:
    assert tuple(decoded) == keys
    for key in keys:
        assert len(decoded[key]) == len(wanted)
        for i, moment in enumerate(wanted):
            assert decoded[key][i].dtype == np.dtype(SIZES[key][1])
            same = decoded[key][i].tobytes() == moment.observation[key].tobytes()
            assert same, f"{key} of row {i}, level {moment.number}, step {moment.steps}, limit {moment.limit}"


def stacked(wanted: list[Moment]) -> np.ndarray:
    return np.stack([moment.vector for moment in wanted])


def shuffled(seed: int, count: int = 0) -> list[Moment]:
    order = np.random.default_rng(seed).permutation(len(moments()))
    return [moments()[i] for i in order[: count or None]]
