"""Graph arrays in which a step rewrites only what changed, beside arrays that are written anew each time."""

from __future__ import annotations

import numpy as np
import pytest

from npp_env import NppEnv, NppVectorEnv
from npp_env.graph import graph_of
from npp_env.level import Level
from npp_env.level.cache import cache_in
from npp_env.level.shipped import load_shipped
from npp_env.observe.spec import GRAPH_KEYS
from npp_env.recording import load_shipped_recording
from npp_env.runtime.episode_rows import INPUT_OF_ACTION

LEVELS = ("doors/two_keys", "doors/trap", "first_steps/walk", "first_steps/jump")
SMALL = {"max_nodes": 300, "max_edges": 900}


def config(**more):
    return {"levels": [f"shipped:{name}" for name in LEVELS], "observation": {"keys": GRAPH_KEYS}, **more}


def own_buffers(env, count):
    return {key: np.zeros((count, *space.shape), space.dtype) for key, space in env.single_observation_space.items()}


def assert_same(found, expected):
    for key, array in expected.items():
        assert np.array_equal(found[key].view(np.uint8), array.view(np.uint8)), key


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("graph", [{}, SMALL], ids=["whole", "cut"])
def test_kept_graphs_are_those_written_anew(copy, graph):
    """Over changes of place, doors, switch and level: the caller's own arrays are always written in full."""
    count = 6
    kept = NppVectorEnv(count, config(graph=graph, copy=copy), frame_skip=4, max_episode_steps=40)
    given = own_buffers(kept, count)
    anew = NppVectorEnv(count, config(graph=graph), frame_skip=4, max_episode_steps=40, buffers=given)
    rng = np.random.default_rng(3)
    found, _ = kept.reset(seed=5)
    assert_same(found, anew.reset(seed=5)[0])
    for step in range(150):
        actions = rng.integers(0, 6, count)
        found = kept.step(actions)[0]
        # Nobody else's leftovers: what was there before must not matter.
        for array in given.values():
            array.fill(step % 200)
        assert_same(found, anew.step(actions)[0])
        if step % 37 == 36:
            states = kept.get_state()[::-1]
            kept.set_state(states)
            anew.set_state(states)


@pytest.mark.parametrize(("name", "phases"), [("doors/two_keys", 3), ("doors/trap", 2)])
def test_doors_and_switch_along_a_win(name, phases):
    envs = [NppEnv(levels=f"shipped:{name}", frame_skip=1, observation={"keys": GRAPH_KEYS}, copy=False)]
    given = {key: np.zeros((1, *space.shape), space.dtype) for key, space in envs[0].observation_space.items()}
    envs.append(NppEnv(levels=f"shipped:{name}", frame_skip=1, observation={"keys": GRAPH_KEYS}, buffers=given))
    observations = [env.reset(seed=0)[0] for env in envs]
    distances = set()
    for byte in load_shipped_recording(name).inputs.tolist():
        assert_same(*observations)
        distances.add(observations[0]["graph_node_feats"][:, 5].tobytes())
        results = [env.step(INPUT_OF_ACTION.index(byte & 7)) for env in envs]
        observations = [result[0] for result in results]
    assert_same(*observations)
    assert results[0][2]
    assert len(distances) >= phases


def test_views_of_graphs_cannot_be_written():
    env = NppVectorEnv(2, config(copy=False))
    observation, _ = env.reset(seed=1)
    for key in GRAPH_KEYS:
        with pytest.raises(ValueError, match="read-only"):
            observation[key][0] = 1
    env = NppVectorEnv(2, config(copy=True))
    observation, _ = env.reset(seed=1)
    observation["graph_node_feats"][:] = 1


def test_nodes_off_the_grid_give_the_same(monkeypatch, tmp_path):
    """Offsets of nodes whose coordinates are too many to number are computed node by node."""
    level = load_shipped("doors/two_keys")
    records = [*level.records.tolist(), [4, 10, 10, 0, 0]]  # no effect, but another level
    twin = Level.from_parts(level.tiles, records)
    seen, places = [], []
    for limit, one in ((256, level), (3, twin)):
        monkeypatch.setattr("npp_env.graph.builder._MOST_PLACES", limit)
        env = NppEnv(levels=[one], observation={"keys": GRAPH_KEYS}, cache_directory=str(tmp_path))
        env.reset(seed=1)
        seen.append(env.step(2)[0])
        places.append(len(graph_of(one, cache_in(str(tmp_path))).place_x))
    assert_same(seen[0], seen[1])
    assert places[0] > 0
    assert places[1] == 0
