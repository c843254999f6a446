"""What is known of the walls around a place spares work, and never changes an answer."""

from __future__ import annotations

import numpy as np
import pytest
from golden_levels import golden

from npp_env.level import Level, read_map
from npp_env.sim import Batch, LevelHandle
from npp_env.sim.geometry import GEOMETRY_FORMAT, Geometry, compile_level
from npp_env.sim.structs import CELLS, NINJA
from sim.rooms import room

LEVELS, PLACES, TICKS = 24, 160, 12
NEAR_PARTS, TOUCH_PARTS = 0x1FF, 0x1FF << 18
DOORS = (5, 6, 8)


def knowing_nothing(geometry: Geometry) -> Geometry:
    """The same compiled level without all that spares a look at a wall."""
    sections = {
        **geometry.sections,
        "around": np.zeros(CELLS, np.uint32),
        "lines": np.full(len(geometry["lines"]), (1 << 51) - 1, np.uint64),
    }
    return Geometry(GEOMETRY_FORMAT.pack(sections))


def walled_level(rng: np.random.Generator) -> Level:
    """Tiles of all shapes, thick and thin, and doors on the grid and beside it."""
    tiles = np.where(rng.random((23, 42)) < rng.choice([0.05, 0.2, 0.5]), rng.integers(0, 38, (23, 42)), 0)
    for _ in range(int(rng.integers(2, 20))):
        row, column = int(rng.integers(0, 23)), int(rng.integers(0, 42))
        height, width = int(rng.integers(1, 4)), int(rng.integers(1, 12))
        tiles[row : row + height, column : column + width] = rng.choice([0, 1, 1, 2, 34, 35, 36, 37])
    records = [(0, 88, 50, 0, 0)]
    for _ in range(int(rng.integers(0, 30))):
        place = (int(rng.integers(0, 180)), int(rng.integers(0, 104)))
        records.append((int(rng.choice(DOORS)), *place, 2 * int(rng.integers(0, 4)), 0))
        records.append((7, int(rng.integers(4, 170)), int(rng.integers(4, 96)), 0, 0))
    return Level.from_parts(tiles.astype(np.uint8), np.array(records))


def telling_place(rng: np.random.Generator) -> tuple[float, float]:
    """Somewhere, on a grid, at the borders of the parts of a cell, or where walls are just touched."""
    draw = rng.random()
    if draw < 0.2:
        return float(rng.uniform(-40, 1100)), float(rng.uniform(-40, 640))
    offsets = (0, 1, 10, 10.1, 11, 12, 13, 13.9, 14, 23, 23.999999) if draw < 0.8 else (14, 14.0000001, 13.9999999)
    nudge = float(rng.choice([0, 0, 1e-13, -1e-13, 1e-6, -1e-6, 0.4]))
    column, row = int(rng.integers(0, 44)), int(rng.integers(0, 25))
    return 24 * column + float(rng.choice(offsets)) + nudge, 24 * row + float(rng.choice(offsets)) - nudge


def play_from(geometry: Geometry, places: list[tuple[float, float]], speeds: np.ndarray, inputs: np.ndarray) -> bytes:
    """The states after each tick, from these places on."""
    handle = LevelHandle(geometry)
    batch = Batch(len(places), handle.state_bytes)
    batch.set_levels(handle)
    ninjas = batch.states[:, : NINJA.itemsize].view(NINJA)[:, 0]
    ninjas["x"], ninjas["y"] = np.array(places).T
    ninjas["vx"], ninjas["vy"] = speeds.T
    seen = []
    for row in inputs:
        batch.advance(row, 1, False)
        seen.append(batch.states.tobytes())
    return b"".join(seen)


@pytest.mark.parametrize("seed", range(LEVELS))
def test_the_ninja_moves_alike_with_and_without_them(seed):
    rng = np.random.default_rng(seed)
    level = walled_level(rng)
    geometry = compile_level(level)
    places = [telling_place(rng) for _ in range(PLACES)]
    speeds = rng.normal(0, 1, (PLACES, 2)) * rng.choice([0.0, 0.5, 3.0, 12.0], (PLACES, 1))
    inputs = rng.integers(0, 8, (TICKS, PLACES)).astype(np.uint8)
    assert play_from(geometry, places, speeds, inputs) == play_from(knowing_nothing(geometry), places, speeds, inputs)


def test_golden_levels_play_alike_with_and_without_them():
    for case in golden()[::8]:
        geometry = compile_level(read_map(case.map))
        places, speeds = [telling_place(np.random.default_rng(k)) for k in range(32)], np.zeros((32, 2))
        inputs = np.random.default_rng(1).integers(0, 8, (60, 32)).astype(np.uint8)
        plain = play_from(knowing_nothing(geometry), places, speeds, inputs)
        assert play_from(geometry, places, speeds, inputs) == plain


def test_in_the_middle_of_a_room_nothing_is_near_and_beside_its_floor_something_is():
    around = compile_level(room()).sections["around"]
    middle = around[20 * 25 + 12]
    assert middle & NEAR_PARTS == NEAR_PARTS
    assert middle & TOUCH_PARTS == TOUCH_PARTS
    above_the_floor = around[20 * 25 + 19]
    assert above_the_floor & NEAR_PARTS == 0b011011011
    assert above_the_floor & (NEAR_PARTS << 9) == NEAR_PARTS << 9
