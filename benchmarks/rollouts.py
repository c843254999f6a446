"""Storing observations: bytes for each way to do it, and how fast state rows are decoded."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._measuring import OBSERVATION_SETS, held_actions, measure_speed, rounded
from npp_env import NppVectorEnv
from npp_env.graph.navigation import graph_of
from npp_env.level import Level
from npp_env.level.level_set import LevelSet
from npp_env.observe.spec import GRAPH_KEYS, OBSERVATION_KEYS
from npp_env.rollouts.decoder import ObservationDecoder
from npp_env.rollouts.estimate import Demand, storage_choices
from npp_env.rollouts.packing import PackedObservations

STORED_KEYS = ("game_state", "reachability_features", "action_mask", "player_frame", "global_view", *GRAPH_KEYS)
"""A rollout of graphs and frames."""
ROLLOUT = Demand("ppo", 128, 512)
REPLAY = Demand("dqn", buffer_size=1_000_000)
TARGETS = {"vectors": 1_000_000, "graph": 100_000, "frames": 20_000}
"""Observations decoded per CPU second."""
LIMITS = {"packed": 5e9, "compact state, own length": 64e6}
REPLAY_LIMITS = {"compact state, own length": 1e9}
MINIBATCH = 256
# (row, length in tiles, whether every other tile is half a tile): 450 nodes, 1,800 edges.
CORRIDORS = ((2, 40, False), (4, 16, False), (6, 40, True), (8, 40, True), (10, 33, True))


def corridor_level() -> Level:
    """A level whose graph has about 450 nodes and 1,800 edges."""
    tiles = np.ones((23, 42), np.uint8)
    for row, length, halved in CORRIDORS:
        tiles[row, 1 : 1 + length] = 0
        if halved:
            tiles[row, 1 : 1 + length : 2] = 2
    floor = 4 * (CORRIDORS[0][0] + 1) + 2
    records = [[0, 10, floor, 0, 0], [3, 150, floor, 0, 0], [4, 80, floor, 0, 0]]
    return Level.from_parts(tiles, records, name="corridors")


def play_states(levels: LevelSet, count: int, num_envs: int = 64) -> NDArray[np.uint8]:
    """State rows of random play in random order, (about count, bytes)."""
    env = NppVectorEnv(num_envs, levels=levels, observation={"layout": "state"})
    rows = [env.reset(seed=0)[0]]
    for actions in held_actions(count // num_envs - 1, num_envs):
        rows.append(env.step(actions)[0])
    states: NDArray[np.uint8] = np.concatenate(rows)
    np.random.default_rng(0).shuffle(states)
    return states


def packed_bytes(levels: LevelSet, quick: bool) -> float:
    """Bytes per observation of a rollout in packed storage, measured."""
    num_envs, steps = (16, 16) if quick else (32, 64)
    env = NppVectorEnv(num_envs, levels=levels, observation={"keys": STORED_KEYS}, copy=False)
    packed = PackedObservations(env.single_observation_space, steps, num_envs)
    observation = env.reset(seed=0)[0]
    for actions in held_actions(steps, num_envs):
        packed.add(observation)
        observation = env.step(actions)[0]
    return packed.nbytes / len(packed)


def measure_sizes(name: str, levels: LevelSet, quick: bool) -> dict[str, Any]:
    """Bytes per observation, per rollout and per replay."""
    rows = []
    for choice in storage_choices({"observation": {"keys": STORED_KEYS}}, levels):
        rollout, replay = ROLLOUT.total_bytes(choice), REPLAY.total_bytes(choice)
        rows.append(
            [
                choice.name,
                round(choice.observation_bytes),
                _megabytes(rollout),
                _verdict(rollout, LIMITS.get(choice.name)),
                _megabytes(ROLLOUT.peak_bytes(choice)),
                _megabytes(replay),
                _verdict(replay, REPLAY_LIMITS.get(choice.name)),
            ]
        )
    measured = packed_bytes(levels, quick)
    return {
        "title": f"Storage of graphs and frames: {name}",
        "header": ["storage", "bytes/observation", "128 x 512, MB", "limit", "peak", "replay of 1 M, MB", "limit "],
        "rows": rows,
        "notes": [
            f"A short rollout in packed storage, with what is kept once, takes {measured:,.0f} bytes/observation.  ",
            "Peak: SB3 copies the largest array of a rollout once more. A replay holds the next observations too.  ",
            "Internals: the navigation arrays that graph observations are computed from, padded, as float32.",
        ],
    }


def _megabytes(count: float) -> int | float:
    return rounded(count / 1e6, 4)


def _verdict(count: float, limit: float | None) -> str:
    if limit is None:
        return ""
    return f"{'<=' if count <= limit else 'ABOVE'} {limit / 1e6:,.0f}"


def measure_decoding(name: str, levels: LevelSet, quick: bool) -> dict[str, Any]:
    """Observations decoded per CPU second, on one thread, out of minibatches in random order."""
    states = play_states(levels, 1024 if quick else 4096)
    sets = {k: OBSERVATION_SETS[k] for k in ("vectors", "graph", "frames", "all")}
    sets.update({key: (key,) for key in OBSERVATION_KEYS})
    batches = np.arange(len(states)).reshape(-1, MINIBATCH)
    rows = []
    for label, keys in sets.items():
        decoder = ObservationDecoder({"observation": {"keys": keys}}, levels)
        memory = decoder.allocate(MINIBATCH)
        own = {key: np.empty((MINIBATCH, *box.shape), box.dtype) for key, box in decoder.space().items()}
        speeds = []
        for out, arranged in ((memory, False), (memory, True), (own, False)):

            def work(decoder: ObservationDecoder = decoder, out: Any = out, arranged: bool = arranged) -> None:
                for indices in batches:
                    order = decoder.arranged(states, out, indices) if arranged else indices
                    decoder.decode(states, out=out, indices=order)

            speeds.append(measure_speed(work, len(states), 0.1 if quick else 0.6).per_cpu_second)
        target = TARGETS.get(label)
        rows.append([label, *(rounded(speed) for speed in speeds), f"{target:,}" if target else ""])
    return {
        "title": f"Decoding: {name}",
        "header": ["observations", "per CPU second", "arranged", "into the caller's arrays", "target"],
        "rows": rows,
        "notes": [
            f"One thread, minibatches of {MINIBATCH} in random order, as they are or `arranged`; frames are pairs, "
            f"graph is all its keys. The target of graphs is meant for arranged minibatches."
        ],
    }


def run(quick: bool) -> dict[str, Any]:
    """Measure storage and decoding."""
    corridors = LevelSet([corridor_level()])
    graph = graph_of(corridors[0])
    shipped = LevelSet.parse("shipped")
    sets = {
        f"a level of {len(graph.node_x)} nodes and {len(graph.edge_target):,} edges at 4500/18500": corridors,
        f"the {len(shipped)} shipped levels": shipped,
    }
    tables = [measure_sizes(name, levels, quick) for name, levels in sets.items()]
    tables.extend(measure_decoding(name, levels, quick) for name, levels in sets.items())
    return {"tables": tables}
