"""Graphs and distances from files: what passes the check cannot lead compiled code outside of its arrays."""

from __future__ import annotations

import numpy as np
import pytest

from graph.random_levels import random_level
from npp_env.errors import StateError
from npp_env.graph.distances import distances_artifact
from npp_env.graph.layout import DISTANCES_FORMAT, GRAPH_FORMAT, NO_NODE
from npp_env.graph.navigation import GRAPH, graph_of
from npp_env.level import Level
from npp_env.level.cache import LevelCache
from npp_env.level.level_set import LevelSet
from npp_env.observe.path_handles import path_handle
from npp_env.render.background import FRAME_BACKGROUND

CACHE = LevelCache(persist=False)


def has_everything(level) -> bool:
    """Whether no section of its graph is empty."""
    return all(len(array) for array in GRAPH_FORMAT.open(CACHE.get(level, GRAPH))[1].values())


def half_filled(seed: int) -> Level:
    """A random level of which only one side is open: its nodes stand in few columns."""
    level = random_level(seed)
    tiles = level.tiles.copy()
    tiles[:, 14:] = 1
    return Level.from_parts(tiles, level.records)


LEVEL = next(level for level in map(half_filled, range(50)) if has_everything(level))
DISTANCES = distances_artifact(graph_of(LEVEL, CACHE).configuration(0))
ARTIFACTS = {"graph": (GRAPH, GRAPH_FORMAT), "distances": (DISTANCES, DISTANCES_FORMAT)}


def check(name: str, block: np.ndarray) -> None:
    artifact, _ = ARTIFACTS[name]
    artifact.check(LEVEL, CACHE, block)


def altered(name: str, section: str, change) -> np.ndarray:
    """The block of an artifact with one section changed in place."""
    artifact, block_format = ARTIFACTS[name]
    original = CACHE.get(LEVEL, artifact)
    block = original.copy()
    array = block_format.open(original)[1][section]
    start = array.__array_interface__["data"][0] - original.__array_interface__["data"][0]
    change(block[start : start + array.nbytes].view(array.dtype))
    return block


def test_every_graph_and_its_distances_pass():
    for level in [*LevelSet.parse(None)][::5] + [random_level(seed) for seed in range(12)]:
        GRAPH.check(level, CACHE, CACHE.get(level, GRAPH))
        artifact = distances_artifact(graph_of(level, CACHE).configuration(0))
        artifact.check(level, CACHE, CACHE.get(level, artifact))


SECTIONS = [(name, section) for name, (_, form) in ARTIFACTS.items() for section, _ in form.sections]


@pytest.mark.parametrize(("name", "section"), SECTIONS)
def test_no_section_may_hold_anything(name, section):
    check(name, altered(name, section, lambda view: None))
    with pytest.raises(StateError, match=section):
        # Half floats are looked at only where searches depend on them.
        check(name, altered(name, section, lambda view: view.view(np.uint8).fill(0xFE)))


@pytest.mark.parametrize(("name", "section"), SECTIONS)
def test_sections_of_other_sizes(name, section):
    artifact, block_format = ARTIFACTS[name]
    numbers, arrays = block_format.open(CACHE.get(LEVEL, artifact))
    array = arrays[section]
    for other in (array[:-1], np.concatenate([array, array[-1:]])):
        # One exit more or less leads nowhere, and neither does a gate of no doors.
        if section != "exit_slot" and (section != "gate_start" or len(other) < len(array)):
            with pytest.raises(StateError):
                check(name, block_format.pack({**arrays, section: other}, numbers))


NODES = graph_of(LEVEL, CACHE).node_count


@pytest.mark.parametrize(
    ("name", "section", "index", "value"),
    [
        ("graph", "edge_start", 0, 1),
        ("graph", "edge_start", 1, 2**31),
        ("graph", "edge_start", -1, 5),
        ("graph", "edge_target", 0, NODES),
        ("graph", "edge_target", 0, NO_NODE),
        ("graph", "edge_door", 3, 30000),
        ("graph", "edge_door", 3, -2),
        ("graph", "edge_kind", 0, 6),
        ("graph", "edge_features", 2, np.nan),
        ("graph", "edge_features", 2, np.inf),
        ("graph", "edge_features", 5, -1.0),
        ("graph", "nearest_node", 0, graph_of(LEVEL, CACHE).lattice_count),
        ("graph", "node_kind", 0, 8),
        ("graph", "node_x", 0, np.nan),
        ("graph", "split_half", 0, 4400),
        ("graph", "split_node", 0, NODES),
        ("graph", "gate_start", 1, 60000),
        ("graph", "gate_door", 0, 200),
        ("graph", "door_switch_node", 0, NODES),
        ("graph", "door_trap", 0, 2),
        ("distances", "ways.switch_distance", 0, np.nan),
        ("distances", "ways.exit_distance", 0, -1.0),
        ("distances", "ways.plan_next", 0, NODES),
        ("distances", "ways.switch_next", 0, NO_NODE - 1),
        ("distances", "ways.reachable", 0, 3),
        ("distances", "ways.blocked", 0, 8),
    ],
)
def test_single_values_out_of_their_range(name, section, index, value):
    section, _, field = section.partition(".")

    def change(view):
        (view[field] if field else view)[index] = value

    with pytest.raises(StateError, match=f"{section}.*{field}"):
        check(name, altered(name, section, change))


@pytest.mark.parametrize("name", ARTIFACTS)
def test_numbers(name):
    artifact, block_format = ARTIFACTS[name]
    numbers, arrays = block_format.open(CACHE.get(LEVEL, artifact))
    for k in range(block_format.numbers):
        for value in (-5, 2**30 + 1, numbers[k] + 1 if k < 5 else -1):
            if name == "graph" and (k, value) == (1, numbers[1] + 1):
                continue  # one node more of the lattice, and one end less, lead nowhere
            if (name, k, value) == ("distances", 2, numbers[2] + 1) or (k >= 5 and value == 2**30 + 1):
                continue  # a count that nothing follows, and a number like any other
            if k in (3, 4) and name == "distances" and value == numbers[k] + 1 and value < NODES:
                continue  # another node
            if name == "graph" and k == 4 and value == numbers[4] + 1:
                continue  # another node
            with pytest.raises(StateError):
                check(name, block_format.pack(arrays, [*numbers[:k], value, *numbers[k + 1 :]]))


def test_distances_of_another_graph():
    other = random_level(99)
    block = CACHE.get(other, distances_artifact(graph_of(other, CACHE).configuration(0)))
    with pytest.raises(StateError):
        check("distances", block)
    assert path_handle(LEVEL, 0, CACHE) is not None


def test_backgrounds_have_one_size():
    good = CACHE.get(LEVEL, FRAME_BACKGROUND)
    FRAME_BACKGROUND.check(LEVEL, CACHE, good)
    for bad in (good[:-1], good.view(np.int8), good.reshape(2, -1), np.zeros(0, np.uint8)):
        with pytest.raises(StateError, match="want 176000 bytes"):
            FRAME_BACKGROUND.check(LEVEL, CACHE, bad)
