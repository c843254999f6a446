"""Compiled levels from files: what passes the check cannot lead the kernel outside of its arrays."""

from __future__ import annotations

import numpy as np
import pytest
from golden_levels import golden

from npp_env.errors import NppError, StateError
from npp_env.level import Level, read_map
from npp_env.level.cache import LevelCache
from npp_env.level.entity_kinds import SIMULATED_ROWS, EntityKind
from npp_env.level.level_set import LevelSet
from npp_env.level.validation import count_records
from npp_env.sim import Batch, LevelHandle
from npp_env.sim.geometry import GEOMETRY, GEOMETRY_FORMAT, Geometry, compile_level
from npp_env.sim.state_size import state_bytes_of
from npp_env.sim.structs import CELLS, MOVER, NINJA, WALL
from sim.fuzz_maps import mutated_map, wild_map

CACHE = LevelCache(persist=False)


def check(level: Level, block: np.ndarray) -> None:
    GEOMETRY.check(level, CACHE, block)


def crowded_level() -> Level:
    """A level with every kind of entity, each with its switch, and with two exits."""
    records = [(0, 10, 10, 0, 0), (3, 20, 20, 0, 0), (3, 24, 20, 0, 0), (4, 30, 20, 0, 0), (4, 34, 20, 0, 0)]
    for place, (kind, row) in enumerate(SIMULATED_ROWS.items()):
        if kind != EntityKind.EXIT:
            records.append((int(kind), 12 + 4 * place, 42, 0, 0))
            if row.switch is not None:
                records.append((int(row.switch), 12 + 4 * place, 60, 0, 0))
    return Level.from_parts(np.zeros((23, 42), np.uint8), records)


LEVEL = crowded_level()
BLOCK = compile_level(LEVEL).block


def altered(section: str, change) -> np.ndarray:
    """The block of the level with one section changed in place."""
    block = BLOCK.copy()
    _, sections = GEOMETRY_FORMAT.open(BLOCK)
    start = sections[section].__array_interface__["data"][0] - BLOCK.__array_interface__["data"][0]
    view = block[start : start + sections[section].nbytes].view(sections[section].dtype)
    change(view)
    return block


def fuzz_levels(count: int):
    rng = np.random.default_rng(7)
    valid = [case.map for case in golden()]
    found = 0
    while found < count:
        data = wild_map(rng) if found % 2 else mutated_map(rng, valid[int(rng.integers(len(valid)))])
        try:
            yield read_map(data)
        except NppError:
            continue
        found += 1


def all_levels() -> list[Level]:
    generated = [LevelSet.parse("generated:any")[seed] for seed in range(40)]
    return [*LevelSet.parse(None), *generated, *(read_map(case.map) for case in golden()), *fuzz_levels(400)]


def test_every_compiled_level_passes_and_its_states_have_the_size_that_its_records_say():
    levels = all_levels()
    for level in levels:
        geometry = compile_level(level)
        check(level, geometry.block)
        (size,) = state_bytes_of(count_records(level.records)[None])
        assert size == LevelHandle(geometry).state_bytes
    assert len({level.hash for level in levels}) > 450


def test_a_compiled_level_is_not_that_of_another():
    with pytest.raises(StateError):
        check(read_map(golden()[0].map), BLOCK)


@pytest.mark.parametrize("section", [name for name, _ in GEOMETRY_FORMAT.sections])
def test_no_section_may_hold_anything(section):
    """Whoever adds a section sees here that the check looks at it, too."""
    check(LEVEL, altered(section, lambda view: None))
    assert len(Geometry(BLOCK)[section]) > 0
    with pytest.raises(StateError):
        check(LEVEL, altered(section, lambda view: view.view(np.uint8).fill(0xFE)))


def put(field, index, value):
    def change(view):
        if field is None:
            view[index] = value
        else:
            view[field][index] = value

    return change


N = len(Geometry(BLOCK)["entities"])
FLAGS = int(Geometry(BLOCK)["scalars"][1])


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        ("scalars", None, 99),
        ("wall_start", None, 60000),
        ("walls", "door", FLAGS),
        ("walls", "door", -2),
        ("walls", "kind", 5),
        ("walls", "kind", -1),
        ("walls", "x1", np.nan),
        ("walls", "y2", np.inf),
        ("walls", "y1", 1e9),
        ("listed_start", None, 60000),
        ("listed", None, N),
        ("near", None, 8),
        ("edges_h", None, 8),
        ("edges_v", None, 255),
        ("doors", "edge_a", 89 * 51),
        ("doors", "edge_b", -1),
        ("doors", "flag", FLAGS),
        ("doors", "flag", -1),
        ("doors", "vertical", 2),
        ("doors", "switched", 3),
        ("entities", "slot", FLAGS + 1000),
        ("entities", "slot", -1),
        ("entities", "link", 30000),
        ("entities", "kind", 28),
        ("entities", "kind", 200),
        ("entities", "orientation", 77),
        ("entities", "mode", 77),
        ("entities", "x", np.nan),
        ("entities", "y0", np.inf),
        ("mover_entity", None, N),
        ("advance_order", None, N),
        ("react_order", None, N),
        ("mines", None, N),
        ("balls", None, 60000),
        ("solid", None, 145),
        ("digest", None, 1),
    ],
)
def test_single_values_out_of_their_range(section, field, value):
    with pytest.raises(StateError):
        check(LEVEL, altered(section, put(field, 0, value)))


def test_entities_in_lists_for_which_they_have_no_rule():
    geometry = Geometry(BLOCK)
    kinds = geometry["entities"]["kind"]
    gold, laser = int(np.flatnonzero(kinds == 2)[0]), int(np.flatnonzero(kinds == 23)[0])
    for section, index in (("advance_order", gold), ("react_order", gold), ("listed", laser)):
        with pytest.raises(StateError, match=section):
            check(LEVEL, altered(section, put(None, 0, index)))


def test_initial_states():
    geometry = Geometry(BLOCK)
    owner = geometry["entities"]["kind"][geometry["mover_entity"]]
    laser, drone = int(np.flatnonzero(owner == 23)[0]), int(np.flatnonzero(owner == 14)[0])

    def mover(index, field, value):
        def change(view):
            start = NINJA.itemsize + index * MOVER.itemsize
            view[start : start + MOVER.itemsize].view(MOVER)[field] = value

        return change

    def ninja(field, value):
        return lambda view: view[: NINJA.itemsize].view(NINJA).__setitem__(field, value)

    for change in (
        ninja("state", -1),
        ninja("vx", np.nan),
        ninja("stamp", 7),
        mover(drone, "cell", CELLS),
        mover(drone, "cell", -2),
        mover(laser, "cell", 5),  # it cannot be touched
        mover(drone, "x", np.nan),
        mover(drone, "turn", 4),
        mover(drone, "u", np.inf),
        lambda view: view[-16:].fill(9),
    ):
        with pytest.raises(StateError, match="initial"):
            check(LEVEL, altered("initial", change))


@pytest.mark.parametrize("section", [name for name, _ in GEOMETRY_FORMAT.sections])
def test_sections_of_other_sizes(section):
    _, sections = GEOMETRY_FORMAT.open(BLOCK)
    array = sections[section]
    for other in (array[:-1], array[:0], np.concatenate([array, array[-1:]])):
        # An entity that never or twice acts, and a door that is told twice, lead nowhere.
        if section in ("advance_order", "react_order", "doors"):
            check(LEVEL, GEOMETRY_FORMAT.pack({**sections, section: other}))
        else:
            # The handle itself misses its numbers.
            with pytest.raises((StateError, IndexError)):
                check(LEVEL, GEOMETRY_FORMAT.pack({**sections, section: other}))


def test_what_passes_can_be_played():
    """Bytes changed at random: refused, or played without leaving the arrays (which a sanitizer build would tell)."""
    rng = np.random.default_rng(3)
    passed = 0
    for _ in range(3000):
        block = BLOCK.copy()
        for place in rng.integers(4 * GEOMETRY_FORMAT.header_ints, len(block), int(rng.integers(1, 4))):
            block[place] ^= 1 << int(rng.integers(8))
        try:
            check(LEVEL, block)
        except StateError:
            continue
        passed += 1
        handle = LevelHandle(Geometry(block), True)
        batch = Batch(1, handle.state_bytes)
        batch.set_level(0, handle)
        for byte in (0, 3, 5, 2):
            batch.advance_one(0, byte, 20, False)
    # Coordinates of walls, and which edges are solid, are facts that no index depends on.
    assert passed > 100


def test_the_layout_of_walls_is_what_the_check_takes_it_for():
    assert WALL.itemsize == 20
