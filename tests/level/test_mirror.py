from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from level.samples import golden_maps, small_level
from npp_env.errors import LevelError, RecordingError
from npp_env.level import EntityKind, Level, read_map
from npp_env.level.mirror import TILE_MIRROR, mirror_level
from npp_env.level.shipped import load_shipped, shipped_level_names
from npp_env.recording import Recording, load_shipped_recording
from npp_env.recording.mirror import INPUT_MIRROR, mirror_inputs, mirror_recording
from npp_env.sim import Simulation
from npp_env.sim.geometry import compile_level
from npp_env.sim.structs import WALL_SLANTED


def wall_points(level: Level, mirrored: bool) -> set[tuple[float, ...]]:
    """Outlines of the tiles as points, without the direction that they are drawn in."""
    points = set()
    for wall in compile_level(level)["walls"]:
        x1, y1, x2, y2 = (float(wall[name]) for name in ("x1", "y1", "x2", "y2"))
        if mirrored:
            x1, x2 = 1056 - x1, (1056 - x2 if wall["kind"] <= WALL_SLANTED else -x2)
        ends = ((x1, y1), (x2, y2))
        if wall["kind"] <= WALL_SLANTED:
            ends = tuple(sorted(ends))
        points.add((int(wall["kind"]), *ends[0], *ends[1]))
    return points


@pytest.mark.parametrize("tile", range(38))
def test_the_outline_of_every_tile_is_mirrored(tile):
    tiles = np.zeros((23, 42), np.uint8)
    tiles[10, 7] = tile
    level = Level.from_parts(tiles, [(0, 10, 90, 0, 0)])
    assert wall_points(mirror_level(level), mirrored=True) == wall_points(level, mirrored=False)


def test_tiles_and_inputs_mirror_back():
    assert (TILE_MIRROR[TILE_MIRROR] == np.arange(256)).all()
    plain = [byte for byte in range(16) if byte & 6 != 6]
    assert (INPUT_MIRROR[INPUT_MIRROR][plain] == plain).all()
    # Both at once count as left.
    assert mirror_inputs(np.array([6, 7], np.uint8)).tolist() == [2, 3]


@pytest.mark.parametrize("index", range(0, 96, 7))
def test_twice_is_the_level_itself(index):
    level = read_map(golden_maps()[index])
    if (level.records[:, 1] > 176).any():
        pytest.skip("entities outside the map")
    modes = level.records[level.records[:, 0] == EntityKind.LASER_TURRET, 4]
    assert (modes <= 1).all()
    assert mirror_level(mirror_level(level)) == level


@given(st.sampled_from([10, 11, 14, 20, 23, 26]), st.integers(0, 7), st.integers(0, 1))
def test_directions_point_the_other_way(kind, orientation, mode):
    level = small_level([(kind, 40, 40, orientation, mode)])
    record = mirror_level(level).records[-1]
    assert record[1] == 176 - 40
    if kind in (10, 11, 23):
        angle, mirrored = orientation * 45, int(record[3]) * 45
        assert np.isclose(np.cos(np.radians(angle)), -np.cos(np.radians(mirrored)), atol=1e-9)
        assert np.isclose(np.sin(np.radians(angle)), np.sin(np.radians(mirrored)), atol=1e-9)
    if kind in (14, 26):
        assert (orientation // 2, int(record[3]) // 2) in {(0, 2), (2, 0), (1, 1), (3, 3)}
    if kind in (14, 23, 26):
        assert record[4] == 1 - mode


@pytest.mark.parametrize("mode", range(4))
def test_a_mirrored_drone_flies_the_mirrored_way(mode):
    tiles = np.ones((23, 42), np.uint8)
    tiles[5:16, 5:25] = 0
    tiles[8:11, 9:14] = 1
    tiles[12, 18:20] = 1
    level = Level.from_parts(tiles, [(0, 4 * 8 + 2, 4 * 15 + 2, 0, 0), (14, 4 * 12 + 2, 4 * 7 + 2, 0, mode)])
    one, other = Simulation(level), Simulation(mirror_level(level))
    for _ in range(600):
        one.advance(0)
        other.advance(0)
        assert other.movers["x"][0] == pytest.approx(1056 - one.movers["x"][0], abs=1e-6)
        assert other.movers["y"][0] == pytest.approx(one.movers["y"][0], abs=1e-6)


@pytest.mark.parametrize("name", shipped_level_names())
def test_mirrored_recordings_win_on_the_same_frame(name):
    recording = load_shipped_recording(name)
    mirrored = mirror_recording(recording)
    simulation = Simulation(mirrored.level)
    for byte in mirrored.inputs.tolist():
        simulation.advance(byte)
    assert (simulation.outcome, int(simulation.ninja["frame"])) == ("won", recording.frames)
    assert simulation.ninja["gold"] == recording.gold


def test_what_cannot_be_mirrored():
    with pytest.raises(LevelError, match=r"record 3, gold, has x 177"):
        mirror_level(small_level([(2, 177, 10, 0, 0)]))
    level = load_shipped("first_steps/walk")
    bare = Recording(None, level.hash, np.zeros(3, np.uint8))
    with pytest.raises(RecordingError, match="none is at hand"):
        mirror_recording(bare)
    with pytest.raises(RecordingError, match="the level given is"):
        mirror_recording(bare, small_level())
    assert mirror_recording(bare, level).level == mirror_level(level)
