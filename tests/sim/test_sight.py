"""Lines of sight: what is known of cells gives the same answers as a ray against every wall."""

from __future__ import annotations

import numpy as np
import pytest

from npp_env.level import Level
from npp_env.sim import Simulation
from npp_env.sim.geometry import GEOMETRY_FORMAT, Geometry, compile_level
from npp_env.sim.structs import COVER_CLEARANCE, OUTLOOK_CLEAR, OUTLOOK_UNKNOWN
from sim.rooms import room

ROCKET, GAUSS, CHAINGUN, LASER_DRONE, LASER = 18, 19, 12, 13, 23
NOTHING, FALLING = 0, 4
LEVELS, PLACES = 16, 700


def with_rays_only(geometry: Geometry) -> Geometry:
    """The same compiled level without all that spares a ray."""
    entities = geometry["entities"].copy()
    entities["outlook"] = 0
    nothing = np.zeros(0, np.uint8)
    sections = {**geometry.sections, "entities": entities, "cover": nothing, "outlooks": nothing}
    return Geometry(GEOMETRY_FORMAT.pack(sections))


def watched_level(rng: np.random.Generator) -> Level:
    """Walls of all kinds, whole blocks of them, doors between tiles, and many shooters."""
    share = rng.choice([0.02, 0.1, 0.25])
    tiles = np.where(rng.random((23, 42)) < share, rng.integers(0, 38, (23, 42)), 0)
    for _ in range(int(rng.integers(3, 14))):
        row, column = int(rng.integers(0, 23)), int(rng.integers(0, 42))
        height, width = (1, int(rng.integers(2, 14))) if rng.random() < 0.5 else (int(rng.integers(2, 8)), 2)
        tiles[row : row + height, column : column + width] = 1
    records = [(0, 88, 50, 0, 0)]
    for _ in range(40):
        step = int(rng.choice([1, 2, 4]))
        place = (step * int(rng.integers(1, 175 // step)), step * int(rng.integers(1, 99 // step)))
        kind = int(rng.choice([ROCKET, ROCKET, GAUSS, GAUSS, CHAINGUN, LASER_DRONE, LASER]))
        records.append((kind, *place, 2 * int(rng.integers(0, 4)), int(rng.integers(0, 2))))
    for _ in range(int(rng.integers(0, 12))):
        column, row = int(rng.integers(2, 42)), int(rng.integers(2, 23))
        upright = bool(rng.integers(0, 2))
        place = (4 * column, 4 * row + 2) if upright else (4 * column + 2, 4 * row)
        records.append((int(rng.choice([5, 6, 8])), *place, 0 if upright else 2, 0))
        records.append((7, 2, 2, 0, 0))
    return Level.from_parts(tiles.astype(np.uint8), np.array(records))


def telling_place(rng: np.random.Generator, shooters: np.ndarray) -> tuple[float, float]:
    """Somewhere, on a grid, or so that a line leads through a corner of cells or the joint of two walls."""
    draw = rng.random()
    if draw < 0.3:
        return float(rng.uniform(-30, 1090)), float(rng.uniform(-30, 640))
    if draw < 0.55:
        step = float(rng.choice([1, 2, 6, 12, 24]))
        return step * int(rng.integers(0, 1056 // step)), step * int(rng.integers(0, 600 // step))
    if draw < 0.65:
        return float(rng.uniform(30, 1020)), 24.0 * int(rng.integers(2, 24)) - 10.0
    x, y = shooters[int(rng.integers(0, len(shooters)))].tolist()
    if draw < 0.75:
        return x + float(rng.uniform(-14, 14)), y + float(rng.uniform(-14, 14))
    grid = 12.0 * int(rng.integers(1, 3))
    corner = grid * int(rng.integers(2, 1032 // grid)), grid * int(rng.integers(2, 576 // grid))
    reach = 1.0 + float(rng.choice([1.0, 0.5, rng.random()]))
    off = float(rng.choice([0.0, 0.0, 1e-13, 1e-9, 1e-7, 1e-5, 1e-3]))
    return x + reach * (corner[0] - x) + off, y + reach * (corner[1] - y) - off


@pytest.mark.parametrize("seed", range(LEVELS))
def test_what_is_known_of_cells_answers_as_rays_do(seed):
    rng = np.random.default_rng([seed, 16])
    level = watched_level(rng)
    geometry = compile_level(level)
    quick, plain = Simulation(level, geometry), Simulation(level, with_rays_only(geometry))
    assert len(geometry["cover"]) == 1100
    shooters = level.records[np.isin(level.records[:, 0], (ROCKET, GAUSS)), 1:3] * 6.0
    start = plain.state.copy()
    seen = 0
    for _ in range(PLACES):
        x, y = telling_place(rng, shooters)
        doors = rng.integers(0, 2, int((geometry["doors"]["switched"] >= 0).sum()))
        for simulation in (quick, plain):
            simulation.state[:] = start
            n = simulation.ninja
            n["x"], n["y"], n["state"] = x, y, FALLING
            simulation.flags[geometry["doors"]["flag"]] = doors
            simulation.advance(NOTHING, 2, stop=False)
        assert quick.state.tobytes() == plain.state.tobytes(), (x, y)
        seen += int((plain.flags[geometry["entities"]["slot"][geometry["entities"]["kind"] == ROCKET]] == 1).sum())
    assert 0.02 < seen / (PLACES * (level.records[:, 0] == ROCKET).sum()) < 0.98


def test_cells_in_the_open_know_how_far_it_is_to_a_wall():
    # The room's floor is row 20; above it and inside the ring everything is free.
    cover = compile_level(room((ROCKET, 60, 50)))["cover"].reshape(44, 25)
    assert (cover[20, 1:20] & COVER_CLEARANCE).tolist() == [*range(1, 11), *range(9, 0, -1)]
    assert cover[20, 20] == 64
    assert cover[20, 0] == 128
    assert (cover[0, 10], cover[43, 10]) == (32, 16)


def test_an_outlook_knows_the_open_and_what_a_wall_hides():
    # A wall of three tiles at columns 20, rows 9-11; the turret stands to its left, in the middle of cell (10, 10).
    level = room((ROCKET, 42, 42), walls=[(20, 9), (20, 10), (20, 11)])
    outlook = compile_level(level)["outlooks"].reshape(44, 25)
    assert outlook[10, 10] == OUTLOOK_CLEAR
    assert (outlook[1:20, 10] == OUTLOOK_CLEAR).all()
    # Behind the wall the border at its left side, number 20, ends all lines, in a wedge that opens.
    assert (outlook[21:42, 10] == 1 + 20).all()
    assert outlook[21, 8] != 1 + 20
    assert outlook[41, 7] == 1 + 20
    # Below the floor its top, border 20 of the rows: numbers of rows begin at 46.
    assert (outlook[5:16, 21] == OUTLOOK_UNKNOWN).all()  # full tiles
    assert outlook[20, 9] == OUTLOOK_UNKNOWN


def test_a_level_without_shooters_knows_nothing_of_sight():
    geometry = compile_level(room((14, 60, 50)))
    assert len(geometry["cover"]) == len(geometry["outlooks"]) == 0


def test_a_door_off_the_grid_leaves_everything_to_rays():
    geometry = compile_level(room((ROCKET, 60, 50), (5, 41, 50, 0)))
    assert len(geometry["cover"]) == len(geometry["outlooks"]) == 0
    assert compile_level(room((ROCKET, 60, 50), (5, 40, 50, 0)))["cover"].any()
