"""`reachability_features` against ways that are searched independently, field by field."""

from __future__ import annotations

import numpy as np
import pytest

from npp_env import NppEnv, NppVectorEnv
from npp_env.graph import graph_of as package_graph_of
from npp_env.level import Level
from npp_env.level.shipped import load_shipped
from npp_env.rollouts.decoder import ObservationDecoder
from reference.graph import graph_of
from reference.graph_levels import (
    cave,
    chain,
    changed_state,
    gallery,
    halves_match,
    moments_of_a_win,
    observed,
    put,
    rows_of_play,
    state_of,
    trap_and_key,
    vault,
)
from reference.paths import nodes_at, reachability_rows
from reference.scene import DEAD, scene_of

KEY = "reachability_features"
FIELDS = (
    "switch distance",
    "switch direction x",
    "switch direction y",
    "exit distance",
    "exit direction x",
    "exit direction y",
    "whole distance",
    "reachable share",
    "switch reachable",
    "exit reachable",
)


def make_env(level, **changes):
    return NppEnv(levels=[level], observation={"keys": (KEY,), **changes}, max_episode_frames=None, frame_skip=1)


def check_row(found, level, scene):
    """A row is one of those that the documentation permits, in every field."""
    assert found.shape == (10,)
    assert found.dtype == np.float16
    wrong = [np.flatnonzero(~halves_match(found, row)).tolist() for row in reachability_rows(graph_of(level), scene)]
    best = min(wrong, key=len)
    assert best == [], [FIELDS[field] for field in best]


CAVES = {
    "one_exit": cave(56),
    "no_exit": cave(47, exits=0),
    "two_exits": cave(51, exits=2, locked=2),
    "eight_exits": cave(48, exits=8, locked=0),
    "nine_exits": cave(15, exits=9, locked=0),
    "locked": cave(48, locked=3, traps=0, one_ways=0),
    "many_locked": cave(55, locked=6, traps=0, one_ways=2),
    "traps": cave(51, locked=0, traps=3),
    "open_rock": cave(16, one_ways=16),
    "buried": cave(19, buried=True),
    "vault": vault(),
    "trap_and_key": trap_and_key(),
    "chain": chain(3),
    "long_chain": chain(6),
    "far": gallery((3, 160, 42, 0), (4, 150, 42, 0), columns=40),
    "shut_in": gallery((3, 70, 42, 0), (4, 60, 42, 0), (6, 40, 42, 0), (7, 76, 42, 0)),
}


def scattered_states(level, start, seed, count):
    """The ninja in the open, in rock, outside of the world, dead, with all sorts of switches taken."""
    rng = np.random.default_rng(seed)
    scene = scene_of(level, start)
    doors, exits = len(scene.of_kind(6, 8)), len(scene.of_kind(3))
    label = graph_of(level).label
    ys, xs = np.nonzero(label >= 0)
    places = [(-50.0, 700.0), (1100.0, -3.0), *rng.uniform((60, 60), (440, 320), (3, 2)).tolist()]
    for k in rng.integers(len(xs), size=count).tolist():
        places.append((xs[k] + rng.uniform(-0.5, 0.5), ys[k] + rng.uniform(-0.5, 0.5)))
    some_doors = [door for door in range(doors) if rng.random() < 0.5]
    some_exits = rng.permutation(exits)[: (exits + 1) // 2].tolist()
    switches = [([], []), (some_doors, []), (some_doors, some_exits)]
    for number, (x, y) in enumerate(places):
        yield changed_state(level, start, x, y, *switches[number % 3], dead=number % 5 == 4)


@pytest.mark.parametrize("name", CAVES)
def test_places_and_switches(name):
    level = CAVES[name]
    env = make_env(level)
    observation, _ = env.reset(seed=0)
    start = state_of(env)
    check_row(observation[KEY], level, scene_of(level, start))
    for state in scattered_states(level, start, seed=len(name), count=18):
        put(env, state)
        check_row(observed(env, KEY), level, scene_of(level, state))


@pytest.mark.parametrize("name", ["platforms", "pinched"])
def test_node_of_a_position(name):
    """As the package answers in Python; many half cells of these levels have several nodes."""
    level = cave(55, one_ways=24) if name == "platforms" else cave(204)
    graph, package = graph_of(level), package_graph_of(level)
    assert package.spawn_node in nodes_at(graph, *graph.spawn)
    for x, y in np.random.default_rng(0).uniform((60, 60), (450, 330), (1500, 2)).tolist():
        if graph.label[int(y), int(x)] >= 0:
            assert package.node_at(x, y) in nodes_at(graph, x, y)


def test_the_caves_show_every_case():
    """Otherwise the comparison above would say little."""
    rows = []
    for name, level in CAVES.items():
        env = make_env(level)
        env.reset(seed=0)
        start = state_of(env)
        states = scattered_states(level, start, seed=len(name), count=18)
        rows += [reachability_rows(graph_of(level), scene_of(level, state))[0] for state in states]
    table = np.array(rows)
    for column in (0, 3, 6):
        assert (table[:, column] == 1).any()
        assert ((table[:, column] > 0) & (table[:, column] < 1)).sum() > 20
    for column in (8, 9):
        assert set(table[:, column]) == {0.0, 1.0}
    assert (table[:, 0] == 0).any()
    assert len(set(table[:, 7])) > 5


def test_a_level_without_any_free_place():
    tiles = np.full((23, 42), 2, np.uint8)
    level = Level.from_parts(tiles, [(0, 86, 48, 0, 0), (3, 86, 50, 0, 0), (4, 86, 52, 0, 0)])
    env = make_env(level)
    observation, _ = env.reset(seed=0)
    assert graph_of(level).lattice == 0
    assert observation[KEY].tolist() == [1, 0, 0, 1, 0, 0, 1, 0, 0, 0]
    check_row(observation[KEY], level, scene_of(level, state_of(env)))


PLAYED = ("first_steps/walk", "doors/first_key", "doors/two_keys", "doors/safe", "doors/trap", "one_ways/cage")


@pytest.mark.parametrize("name", PLAYED)
def test_play_to_the_end(name):
    """A winning recording: in both phases, with each configuration of the doors, and after the victory."""
    level = load_shipped(name)
    for observation, scene in moments_of_a_win(make_env(level), level, name, every=7):
        check_row(observation[KEY], level, scene)


def test_after_death():
    level = load_shipped("mines/first_mines")
    env = make_env(level)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(3000):
        observation, _, terminated, _, _ = env.step(rng.choice([2, 5, 5, 3]))
        if terminated:
            break
    scene = scene_of(level, state_of(env))
    assert scene.ninja.state == DEAD
    check_row(observation[KEY], level, scene)


def test_the_decoder_writes_the_same():
    level = CAVES["one_exit"]
    env = make_env(level, layout="state")
    rows, states = rows_of_play(env, (2, 5, 5, 1, 4, 0), 8)
    decoded = ObservationDecoder(env.config, [level]).decode(rows)[KEY]
    for found, state in zip(np.asarray(decoded), states, strict=True):
        check_row(found, level, scene_of(level, state))


def test_a_vector_environment_writes_the_same():
    levels = [CAVES["two_exits"], CAVES["traps"], CAVES["vault"]]
    env = NppVectorEnv(4, levels=levels, observation={"keys": (KEY,)}, autoreset_mode="DISABLED")
    observation, info = env.reset(seed=5)
    for step in range(12):
        for i in range(4):
            level = levels[info["level"][i]]
            check_row(observation[KEY][i], level, scene_of(level, state_of(env, i)))
        observation, _, terminated, _, info = env.step([step % 6, 2, 5, 1])
        if terminated.any():
            break
