"""The parts of the search, each for itself."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npp_env.graph.navigation import graph_of
from npp_env.level import Level
from npp_env.level.cache import LevelCache
from npp_env.level.entity_kinds import EntityKind
from npp_env.level.shipped import load_shipped
from npp_env.planning.frontier import ROOT, DecisionTree, Frontier
from npp_env.planning.guide import Guide
from npp_env.planning.keys import Resolution, SeenKeys
from npp_env.planning.shorten import Shortener
from npp_env.planning.state_keys import StateKeys
from npp_env.recording import load_shipped_recording
from npp_env.sim import Simulation
from npp_env.sim.geometry import geometry_of
from npp_env.sim.outcome import NinjaState
from npp_env.sim.structs import MOVER, NINJA
from npp_env.sim.views import movers_view, ninja_view

CAROUSEL = load_shipped("drones/carousel")


def guide_of(name: str) -> tuple[Guide, Simulation]:
    level, cache = load_shipped(name), LevelCache(persist=False)
    geometry = geometry_of(level, cache)
    return Guide(graph_of(level, cache), geometry), Simulation(level, geometry)


@given(st.lists(st.integers(0, 40), max_size=60), st.lists(st.integers(0, 40), max_size=60))
def test_seen_keys_gives_back_what_is_new(first, second):
    seen = SeenKeys(10)
    for keys in (first, second):
        array = np.array(keys, np.uint64) + np.uint64(1)
        known = set() if keys is first else set(first)
        expected = [i for i, key in enumerate(keys) if key not in known and key not in keys[:i]]
        assert seen.add(array).tolist() == expected


@given(st.data())
def test_frontier_against_a_list(data):
    frontier, model = Frontier(64, 8), {}
    penalties = np.array([0.0, 5.0, 50.0], np.float32)
    number = 0
    for _ in range(data.draw(st.integers(1, 6))):
        count = data.draw(st.integers(0, 20))
        costs = data.draw(st.lists(st.integers(0, 1000), min_size=count, max_size=count))
        cells = data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
        before = frontier.dropped
        frontier.make_room(count, penalties)
        kept = set(frontier.nodes[: frontier.size].tolist())
        assert len(model) - len(kept) == frontier.dropped - before
        ranks = {node: cost + penalties[cell] for node, (cost, cell) in model.items()}
        if len(kept) < len(model) and kept:
            assert max(ranks[n] for n in kept) <= min(ranks[n] for n in ranks if n not in kept)
        model = {node: model[node] for node in kept}
        nodes = np.arange(number, number + count, dtype=np.int32)
        states = np.repeat(nodes[:, None].astype(np.uint8), 8, axis=1)
        frontier.push(states, nodes, np.array(cells, np.int32), np.array(costs, np.float32))
        model.update(zip(nodes.tolist(), zip(costs, cells, strict=True), strict=True))
        number += count
        rows = frontier.best(data.draw(st.integers(1, 30)), penalties)
        taken = frontier.nodes[rows].tolist()
        ranks = [model[node][0] + penalties[model[node][1]] for node in taken]
        assert ranks == sorted(c + penalties[k] for c, k in model.values())[: len(rows)]
        frontier.remove(rows)
        for node in taken:
            del model[node]
        assert set(frontier.nodes[: frontier.size].tolist()) == set(model)
        rest = slice(0, frontier.size)
        assert (frontier.states[rest, 0] == frontier.nodes[rest].astype(np.uint8)).all()


def test_tree_gives_all_inputs_back():
    tree = DecisionTree(10)
    a = tree.add(np.array([ROOT], np.int32), np.array([2], np.uint8), 3)
    b = tree.add(np.repeat(a, 2), np.array([3, 4], np.uint8), 2)
    assert tree.inputs_to(int(b[1])).tolist() == [2, 2, 2, 4, 4]
    assert tree.inputs_to(int(b[0])).tolist() == [2, 2, 2, 3, 3]
    assert tree.inputs_to(ROOT).tolist() == []
    assert tree.room == 7


def test_guide_leads_by_the_key_and_shrinks_along_the_way():
    guide, simulation = guide_of("doors/two_keys")
    recording = load_shipped_recording("doors/two_keys")
    distances, configurations = [], []
    for byte in recording.inputs.tolist():
        ninja = simulation.ninja
        configuration = int(guide.configurations(simulation.state[None])[0])
        node = guide.nodes_at(np.array([ninja["x"]]), np.array([ninja["y"]]))
        distances.append(float(guide.table(configuration)[node[0]]))
        configurations.append(configuration)
        simulation.advance(byte)
    assert np.isfinite(distances).all()
    assert not guide.is_cut_off(simulation.geometry["initial"])
    assert distances[-1] < 60 < distances[0] / 10
    # Two keys and the switch of the exit, each touched once and never forgotten.
    assert len(set(configurations)) == 4
    assert all(b & a == a for a, b in pairwise(configurations))


@settings(max_examples=30)
@given(st.integers(0, 300), st.integers(1, 40))
def test_keys_tell_places_apart_and_agree_with_themselves(ticks, more):
    simulation = Simulation(CAROUSEL)
    keys = StateKeys(simulation.geometry, Resolution())
    zero = np.zeros(1, np.int64)
    simulation.advance(2, ticks)
    one = keys.of(simulation.state[None], zero)
    assert keys.of(simulation.state[None].copy(), zero) == one
    assert keys.of(simulation.state[None], zero + 1) != one
    x = float(simulation.ninja["x"])
    simulation.advance(4, more)
    if abs(float(simulation.ninja["x"]) - x) > 2 * Resolution().position_px:
        assert keys.of(simulation.state[None], zero) != one


def test_shortener_never_gets_longer_and_always_wins():
    level = load_shipped("first_steps/jump")
    recording = load_shipped_recording("first_steps/jump")
    # Standing still first is a detour that it must find and remove.
    slow = np.concatenate([np.zeros(40, np.uint8), recording.inputs])
    simulation = Simulation(level)
    shortener = Shortener(simulation.geometry, slow, np.random.default_rng(0))
    short = shortener.run(3_000_000)
    assert len(short) < len(slow) - 20
    for byte in short.tolist():
        simulation.advance(byte)
    assert simulation.outcome == "won"
    assert simulation.ninja["frame"] == len(short)


def corridor_level(records, exits):
    tiles = np.ones((23, 42), np.uint8)
    tiles[11, 2:40] = 0
    counts = np.zeros(40, np.uint16)
    counts[3] = exits
    return Level.from_parts(tiles, [(0, 20, 50, 0, 0), *records], counts=counts)


@pytest.mark.parametrize(
    "level",
    [
        corridor_level([(3, 110, 50, 0, 0)] * 30 + [(4, 60 + k, 50, 0, 0) for k in range(30)], exits=30),
        corridor_level(
            [(3, 150, 50, 0, 0), (4, 145, 50, 0, 0)]
            + [record for k in range(40) for record in ((6, 60 + 2 * k, 50, 0, 0), (7, 22 + k // 2, 50, 0, 0))],
            exits=1,
        ),
    ],
    ids=["30 exits", "40 locked doors"],
)
def test_guide_does_not_try_all_orders_of_many_switches(level):
    cache = LevelCache(persist=False)
    geometry = geometry_of(level, cache)
    guide = Guide(graph_of(level, cache), geometry)
    assert not guide.is_cut_off(geometry["initial"])
    assert len(guide._tables) <= 4


def test_guide_judges_no_more_configurations_than_it_has_tables_for():
    doors = [record for k in range(40) for record in ((8, 60 + 2 * k, 50, 0, 0), (9, 22 + k // 2, 50, 0, 0))]
    level = corridor_level([(3, 150, 50, 0, 0), (4, 145, 50, 0, 0), *doors], exits=1)
    cache = LevelCache(persist=False)
    guide = Guide(graph_of(level, cache), geometry_of(level, cache))
    many = np.arange(600)
    judged = guide.judged(many)
    own = judged == many
    assert 100 < np.count_nonzero(own) <= len(guide._tables) <= 260
    assert (judged[~own] == 0).all()


def plain_key(geometry, state, configuration: int, r: Resolution) -> int:
    """The key of a state in Python's own numbers."""

    def mix(key: int, part: int) -> int:
        key = ((key ^ part % 2**64) * 0x9E3779B97F4A7C15) % 2**64
        return key ^ key >> 29

    ninja, movers = ninja_view(state), movers_view(state, geometry)
    kinds = geometry["entities"]["kind"]
    posture = 16 * int(ninja["jump_prev"]) + 32 * int(ninja["air"])
    posture += 2 + int(ninja["hold"]) // r.hold_ticks if ninja["state"] == NinjaState.RISING else 0
    posture += 64 * (2 + int(np.sign(ninja["wn"]))) if ninja["walled"] else 0
    key = configuration
    for part in (
        math.floor(ninja["x"] / r.position_px),
        math.floor(ninja["y"] / r.position_px),
        round(float(ninja["vx"]) / r.speed_px),
        round(float(ninja["vy"]) / r.speed_px),
        posture,
    ):
        key = mix(key, part)
    moving = np.flatnonzero(kinds[geometry["mover_entity"]] != EntityKind.EXIT)
    near = 0
    for number in moving.tolist():
        mover = movers[number]
        if max(abs(mover["x"] - ninja["x"]), abs(mover["y"] - ninja["y"])) < r.mover_reach_px:
            part = mix(mix(number + 1, math.floor(mover["x"] / r.mover_px)), math.floor(mover["y"] / r.mover_px))
            near += mix(part, 8 * int(mover["phase"]) + int(mover["turn"]))
    key = mix(key, near) if len(moving) else key
    mines = geometry["entities"][np.isin(kinds, [EntityKind.MINE, EntityKind.TOGGLE_MINE])]
    flags = NINJA.itemsize + len(movers) * MOVER.itemsize
    armed = sum(k * 0x9E3779B97F4A7C15 for k, mine in enumerate(mines, 1) if state[flags + mine["slot"]] == 0)
    return mix(key, armed) if len(mines) else key


@pytest.mark.parametrize("name", ["drones/carousel", "mines/toggle_trail", "mixed/gauntlet", "death_balls/vault"])
def test_keys_are_what_they_are_said_to_be(name):
    """Along a recording, beside a second computation."""
    simulation = Simulation(load_shipped(name))
    states = []
    for byte in load_shipped_recording(name).inputs.tolist():
        simulation.advance(byte)
        states.append(simulation.state.copy())
    for resolution in (Resolution(), Resolution(3.0, 0.3, 8, 8.0, 120.0)):
        keys = StateKeys(simulation.geometry, resolution).of(np.array(states), np.arange(len(states)) << 20)
        plain = [plain_key(simulation.geometry, state, k << 20, resolution) for k, state in enumerate(states)]
        assert keys.tolist() == plain
    assert len(set(plain)) == len(plain)
