"""The frames of the package against the second reading in `frames.py`, fixed numbers, and pictures."""

from __future__ import annotations

import numpy as np
import pytest

from npp_env import NppEnv
from npp_env.level.shipped import load_shipped, shipped_level_names
from npp_env.recording import load_shipped_recording
from npp_env.render.background import build_frame_background
from npp_env.sim.simulation import Simulation

from . import frames as reference
from .frame_scenes import NAMES, all_cases, dead_ninja, frames_of, read_picture, room, sheet, sheets
from .scene import scene_of

# Both sides sample tiles, at 12 and 16 points to the side of a pixel of the player frame: where an outline crosses a
# pixel its share is off by less than 1/24 + 1/32 at the very worst, and the contrast is 56; over all 38 tiles no pixel
# is off by more than 1. Everywhere else, and in all shapes, frames are exact.
EDGE_TOLERANCE = 1
PICTURE_TOLERANCE = 1
CASES = {case.name: case for case in all_cases()}


def assert_frames(simulation: Simulation, background: np.ndarray | None = None, note: object = "") -> None:
    scene = scene_of(simulation.level, simulation.state)
    wanted = (reference.player_frame(scene), reference.global_view(scene))
    for name, found, (picture, edge) in zip(
        ("player_frame", "global_view"), frames_of(simulation, background), wanted, strict=True
    ):
        off = np.abs(found - picture)
        wrong = np.argwhere(off > np.where(edge, EDGE_TOLERANCE, 0))
        if len(wrong):
            row, column = wrong[0]
            raise AssertionError(
                f"{name} {note}: {len(wrong)} pixels differ, the first at row {row}, column {column}: "
                f"{found[row, column]}, by the documentation {picture[row, column]:.0f}"
            )


@pytest.fixture(scope="module")
def empty_room() -> np.ndarray:
    return build_frame_background(room())


@pytest.mark.parametrize("name", CASES)
def test_every_kind_alone(name, empty_room):
    assert_frames(CASES[name].simulation(), empty_room)


def test_all_tiles():
    # Every tile, and every tile beside others; two levels, as the ninja sees but a part.
    rng = np.random.default_rng(3)
    tiles = np.zeros((23, 42), np.uint8)
    tiles[1:19:3, 1:40:3].flat[:38] = range(38)
    assert_frames(Simulation(room((2, 100, 90), ninja=(20, 20), tiles=tiles)))
    for ninja in ((24, 20), (60, 24), (90, 30), (130, 60)):
        assert_frames(Simulation(room(ninja=ninja, tiles=tiles)), note=ninja)
    assert_frames(Simulation(room(ninja=(80, 50), tiles=rng.integers(0, 40, (23, 42)).astype(np.uint8))))


@pytest.mark.parametrize("tile", range(40))
def test_each_tile_covers_what_the_physics_says(tile):
    tiles = np.zeros((23, 42), np.uint8)
    tiles[11, 20:22] = tile
    assert_frames(Simulation(room(ninja=(80, 50), tiles=tiles)))


# Away from whole pixels of either frame, in both directions.
OFFSETS = [(0.0, 0.0), (0.3, 0.0), (0.0, -0.7), (1.4, 2.6), (-2.2, 3.1), (5.5, -4.9)]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.kind in reference.MOVERS])
def test_movers_between_pixels(name, empty_room):
    simulation = CASES[name].simulation()
    x, y = float(simulation.movers["x"][0]), float(simulation.movers["y"][0])
    for dx, dy in OFFSETS:
        simulation.movers["x"][0], simulation.movers["y"][0] = x + dx, y + dy
        assert_frames(simulation, empty_room, (dx, dy))


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (480.0, 300.0), (480.9, 300.2), (481.0, 299.0), (481.1, 298.9), (479.4, 301.7), (34.0, 34.0), (1022.0, 34.0),
        (34.0, 566.0), (1022.0, 566.0), (528.0, 34.3), (34.3, 300.0), (1021.6, 300.0), (528.0, 565.6), (0.0, 0.0),
        (1056.0, 600.0), (-3.0, 300.0), (1060.0, 300.0), (528.0, -31.0), (528.0, 640.0), (-90.0, 300.0),
        (1130.0, 700.0), (528.0, -3000.0), (9999.0, 300.0), (-9999.0, -9999.0),
    ],
)  # fmt: skip
def test_the_ninja_is_in_the_middle(x, y, empty_room):
    simulation = Simulation(room((2, 8, 8), (2, 84, 52), (25, 168, 92), (11, 86, 48, 1), (14, 4, 50)))
    simulation.ninja["x"], simulation.ninja["y"] = x, y
    assert_frames(simulation, empty_room)
    frame, _ = frames_of(simulation, empty_room)
    if -500 < x < 1500:
        assert (frame[40:44, 40:44] == 255).all()


@pytest.mark.parametrize("x", [10_000.0, -10_000.0, np.nan, np.inf])
def test_a_ninja_that_is_nowhere_sees_wall(x, empty_room):
    simulation = Simulation(room((2, 84, 52)))
    simulation.ninja["x"], simulation.ninja["y"] = x, x
    frame, view = frames_of(simulation, empty_room)
    assert (frame == 72).all()
    assert (view < 255).all()


def test_beyond_the_map_is_wall(empty_room):
    simulation = Simulation(room((2, 84, 52)))
    simulation.ninja["x"], simulation.ninja["y"] = 34.0, 566.0
    frame, _ = frames_of(simulation, empty_room)
    # 34 px to the left of the ninja the level ends, 10 px to its left the ring begins; the same below.
    assert (frame[:, : 42 - 5] == 72).all()
    assert (frame[42 + 5 :, :] == 72).all()
    assert (frame[:35, 48:] == 128).all()
    assert frame[42, 36:48].tolist() == [72, 252, *[255] * 8, 252, 128]


def test_the_dead(empty_room):
    assert_frames(dead_ninja(), empty_room)
    frame, view = frames_of(dead_ninja(), empty_room)
    assert frame[42, 42] == 0
    assert (frame[42, 38], frame[42, 45], frame[42, 48]) == (255, 255, 128)
    assert view[50, 82] == 60
    for state in (0, 5, 7, 8):
        simulation = dead_ninja()
        simulation.ninja["state"] = state
        assert frames_of(simulation, empty_room)[0][42, 42] == 255


# Of things at column 60, row 42 of the player frame and column 88, row 50 of the global view, as once drawn and found
# to agree with the documentation: first and last column and row that change (left, top, right, bottom), and the grey
# right below and to the right of the middle. Switches are at (63, 63) and (89, 57).
EXTENTS = {
    "mine-armed": ((57, 39, 62, 44), 0, (87, 49, 88, 50), 30),
    "mine-spent": ((58, 40, 61, 43), 96, (87, 49, 88, 50), 104),
    "toggle_mine-armed": ((57, 39, 62, 44), 12, (87, 49, 88, 50), 39),
    "toggle_mine-idle": ((58, 40, 61, 43), 96, (87, 49, 88, 50), 104),
    "toggle_mine-arming": ((57, 39, 62, 44), 52, (87, 49, 88, 50), 70),
    "gold-there": ((58, 40, 61, 43), 200, (87, 49, 88, 50), 181),
    "exit-closed": ((54, 36, 65, 64), 96, (86, 48, 89, 57), 96),
    "exit-open": ((54, 36, 65, 47), 180, (86, 48, 89, 51), 186),
    "door-closed-0": ((59, 36, 60, 47), 160, (87, 48, 88, 51), 152),
    "door-closed-2": ((54, 41, 65, 42), 160, (86, 49, 89, 50), 152),
    "locked_door-closed-4": ((59, 36, 64, 64), 28, (87, 48, 89, 57), 53),
    "locked_door-closed-6": ((54, 41, 65, 64), 28, (86, 49, 89, 57), 53),
    "trap_door-open-0": ((61, 61, 64, 64), 128, (88, 56, 89, 57), 128),
    "trap_door-closed-0": ((59, 36, 60, 47), 36, (87, 48, 88, 51), 59),
    "trap_door-closed-2": ((54, 41, 65, 42), 36, (86, 49, 89, 50), 59),
    "launch_pad-0": ((58, 39, 61, 44), 193, (86, 49, 88, 50), 164),
    "launch_pad-2": ((57, 40, 62, 43), 193, (87, 48, 88, 50), 164),
    "launch_pad-4": ((58, 39, 61, 44), 214, (87, 49, 89, 50), 214),
    "launch_pad-6": ((57, 40, 62, 43), 214, (87, 49, 88, 51), 214),
    "one_way-0": ((58, 36, 61, 47), 164, (86, 48, 88, 51), 148),
    "one_way-2": ((54, 40, 65, 43), 164, (86, 48, 89, 50), 148),
    "one_way-4": ((58, 36, 61, 47), 176, (87, 48, 89, 51), 176),
    "one_way-6": ((54, 40, 65, 43), 176, (86, 49, 89, 51), 176),
    "zap_drone-0": ((56, 38, 63, 45), 160, (86, 48, 89, 51), 20),
    "mini_drone-0": ((57, 39, 62, 44), 124, (87, 49, 88, 50), 48),
    "floor_guard": ((57, 39, 62, 44), 20, (87, 49, 88, 50), 20),
    "bounce_block": ((55, 37, 64, 46), 156, (86, 48, 89, 51), 156),
    "thwump-0": ((55, 37, 65, 46), 156, (86, 48, 90, 51), 117),
    "thwump-2": ((55, 37, 64, 47), 156, (86, 48, 89, 52), 117),
    "thwump-4": ((54, 37, 64, 46), 156, (85, 48, 89, 51), 156),
    "thwump-6": ((55, 36, 64, 46), 156, (86, 47, 89, 51), 156),
    "laser_turret-0": ((57, 39, 83, 44), 160, (87, 49, 171, 50), 6),
    "laser_turret-2": ((57, 39, 62, 83), 160, (87, 49, 88, 95), 6),
    "laser_turret-4": ((0, 39, 62, 44), 160, (4, 49, 88, 50), 16),
    "laser_turret-6": ((57, 0, 62, 44), 160, (87, 4, 88, 50), 16),
    "boost_pad": ((56, 38, 63, 45), 136, (86, 48, 89, 51), 171),
    "death_ball": ((56, 38, 63, 45), 0, (86, 48, 89, 51), 10),
    "shove_thwump": ((54, 36, 65, 47), 0, (86, 48, 89, 51), 0),
    "chaingun_drone-idle": ((56, 38, 63, 45), 72, (86, 48, 89, 51), 8),
    "chaingun_drone-shooting": ((31, 38, 63, 83), 176, (56, 48, 89, 95), 8),
    "laser_drone-idle": ((56, 38, 63, 45), 72, (86, 48, 89, 51), 36),
    "laser_drone-firing": ((27, 38, 63, 83), 176, (52, 48, 89, 95), 36),
    "rocket_turret-idle": ((57, 39, 62, 44), 160, (87, 49, 88, 50), 55),
    "rocket_turret-flying": ((44, 39, 62, 54), 160, (82, 49, 88, 54), 97),
    "gauss_turret-idle": ((57, 39, 62, 44), 160, (87, 49, 88, 50), 44),
    "gauss_turret-targeting": ((44, 39, 62, 61), 160, (82, 49, 88, 56), 44),
    "gauss_turret-shooting": ((27, 39, 62, 83), 160, (52, 49, 88, 95), 92),
}


@pytest.mark.parametrize("name", EXTENTS)
def test_extent_and_grey(name, empty_room):
    without = frames_of(Simulation(room()), empty_room)
    found = frames_of(CASES[name].simulation(), empty_room)
    wanted = EXTENTS[name]
    for k, (column, row) in enumerate([(60, 42), (88, 50)]):
        rows, columns = np.nonzero(found[k] != without[k])
        extent = (columns.min(), rows.min(), columns.max(), rows.max())
        assert extent == wanted[2 * k]
        assert found[k][row, column] == wanted[2 * k + 1]


@pytest.mark.parametrize("name", ["gold-taken", "door-open-0", "door-open-2", "locked_door-open-0"])
def test_what_is_gone_leaves_nothing(name, empty_room):
    without = frames_of(Simulation(room()), empty_room)
    for found, empty in zip(frames_of(CASES[name].simulation(), empty_room), without, strict=True):
        assert (found == empty).all()


def test_every_look_can_be_told_from_every_other(empty_room):
    # What is gone, orientations that mean nothing to the eye, and a mine that has killed aside.
    looks: dict[tuple[str, ...], str] = {}
    same = {"mine-spent": "toggle_mine-idle"}
    for name, case in CASES.items():
        gone = name in ("gold-taken",) or name.startswith(("door-open", "locked_door-open", "trap_door-open-"))
        if name in same or (gone and name != "trap_door-open-0"):
            continue
        # Drones that recover look as if they were idle, and a chaingun between its bullets is about to fire.
        if name in ("chaingun_drone-firing", "chaingun_drone-recovering", "laser_drone-recovering"):
            continue
        if case.kind in (5, 6, 8, 14, 15, 26) and case.orientation not in ((0, 2) if case.kind < 14 else (0,)):
            continue
        for number, frame in enumerate(frames_of(case.simulation(), empty_room)):
            if number == 1 and name == "chaingun_drone-about_to_fire":
                continue  # the eye is a detail of the player frame
            twin = looks.setdefault((str(number), frame.tobytes().hex()), name)
            assert twin == name


@pytest.mark.parametrize("seed", range(8))
def test_crowded_scenes(seed):
    simulation = crowded(seed)
    assert_frames(simulation)
    simulation.ninja["x"] += 8.3
    simulation.ninja["y"] -= 5.1
    assert_frames(simulation)


def crowded(seed: int) -> Simulation:
    """Everything over everything, in random modes and between pixels; walls of random tiles around."""
    rng = np.random.default_rng(seed)
    tiles = np.zeros((23, 42), np.uint8)
    tiles[rng.random((23, 42)) < 0.1] = 1
    tiles[:6, :] = rng.integers(0, 34, (6, 42))
    tiles[9:15, 17:26] = 0
    records: list[tuple[int, ...]] = []
    for kind in rng.permutation([k for k in NAMES if k != 3] * 3):
        place = rng.integers((76, 44), (98, 60))
        orientation = int(rng.integers(4)) * 2 if kind in (12, 13, 14, 15, 26) else int(rng.integers(8))
        if kind in (5, 6, 8):
            place = place // 4 * 4 + ((0, 2) if orientation in (0, 4) else (2, 0))
        records.append((int(kind), *place.tolist(), orientation))
    records.append((3, *rng.integers((76, 44), (98, 60)).tolist()))
    simulation = Simulation(room(*records, ninja=(86, 52), tiles=tiles))
    kinds = [e.kind for e in scene_of(simulation.level, simulation.state).entities if e.flag is not None]
    choices = {1: (0, 1), 2: (0, 1), 3: (0, 1), 5: (0, 1), 6: (0, 3), 8: (1, 2), 18: (0, 1), 21: (0, 1, 2), 24: (0, 1)}
    simulation.flags[: len(kinds)] = [rng.choice(choices[kind]) for kind in kinds]
    simulation.movers["x"] += rng.uniform(-6, 6, len(simulation.movers))
    simulation.movers["y"] += rng.uniform(-6, 6, len(simulation.movers))
    make_shooters_busy(simulation, rng)
    return simulation


def make_shooters_busy(simulation: Simulation, rng: np.random.Generator) -> None:
    """Let rockets fly, and put the other shooters into random phases with random aims."""
    movers = simulation.movers
    for entity in simulation.geometry["entities"]:
        kind, slot = int(entity["kind"]), int(entity["slot"])
        angle, phase = rng.uniform(0, 2 * np.pi), int(rng.integers(4))
        way = np.cos(angle), np.sin(angle)
        if kind == 18 and phase == 0:
            simulation.flags[slot] = 2
            mover = movers[entity["link"]]
            mover["cell"], mover["u"], mover["v"] = 300, *way
        elif kind == 19:
            movers["phase"][slot], movers["stamp"][slot] = phase, int(rng.integers(2))
            movers["u"][slot], movers["v"][slot] = rng.uniform(480, 560), rng.uniform(280, 340)
        elif kind in (12, 13):
            movers["phase"][slot], movers["stamp"][slot] = phase, 9 * int(rng.integers(8))
            movers["u"][slot + 1], movers["v"][slot + 1], movers["phase"][slot + 1] = *way, int(rng.choice([-1, 1]))
        elif kind == 15:
            movers["phase"][slot] = phase % 2
        elif kind == 22:
            number = int(rng.integers(1, 4))
            movers["phase"][slot] = phase
            movers["u"][slot], movers["v"][slot] = number, 120 * number + int(rng.integers(1, 90))
    past = simulation.state[-3 * 1920 :].view("<f8").reshape(360, 2)
    past[:] = rng.uniform((480, 280), (560, 340), (360, 2))
    simulation.ninja["frame"] = 400


@pytest.mark.parametrize("name", [*shipped_level_names()[::3], "mixed/laser_room", "doors/trap", "doors/swing"])
def test_winning_recordings(name):
    simulation = Simulation(load_shipped(name))
    background = build_frame_background(simulation.level)
    inputs = list(load_shipped_recording(name).inputs)
    looked_at = {round(k) for k in np.linspace(0, len(inputs) - 1, 4)}
    for tick, byte in enumerate(inputs):
        if tick in looked_at:
            assert_frames(simulation, background, (name, tick))
        simulation.advance(int(byte))
    assert_frames(simulation, background, (name, "end"))


@pytest.mark.parametrize("name", ["slopes/moons", "mixed/factory"])
def test_the_environment_returns_these_frames(name):
    keys = ("global_view", "player_frame")
    dense, compact = (
        NppEnv(levels=f"shipped:{name}", observation={"keys": keys, "layout": layout}) for layout in ("dict", "state")
    )
    level = load_shipped(name)
    found, vector = dense.reset(seed=0)[0], compact.reset(seed=0)[0]
    for action in (2, 5, 5, 1, 2, 3):
        scene = scene_of(level, vector[40:].tobytes())
        for key, (picture, edge) in (
            ("player_frame", reference.player_frame(scene)),
            ("global_view", reference.global_view(scene)),
        ):
            off = np.abs(found[key][..., 0].astype(int) - picture)
            assert (off <= np.where(edge, EDGE_TOLERANCE, 0)).all(), key
        found, vector = dense.step(action)[0], compact.step(action)[0]


@pytest.mark.parametrize("orientation", range(8))
@pytest.mark.parametrize("kind", [10, 11])
def test_plates_look_the_same_wherever_they_are(kind, orientation, empty_room):
    crops = set()
    for x, y in ((88, 50), (31, 20), (61, 77), (140, 33), (160, 81)):
        frame, view = frames_of(Simulation(room((kind, x, y, orientation), ninja=(x - 6, y))), empty_room)
        crops.add((frame[30:54, 48:75].tobytes(), view[y - 4 : y + 4, x - 3 : x + 4].tobytes()))
    assert len(crops) == 1


@pytest.mark.parametrize("name", sheets())
def test_pictures(name):
    found, kept = sheet(sheets()[name]()), read_picture(name)
    assert found.shape == kept.shape
    assert np.abs(found.astype(int) - kept).max() <= PICTURE_TOLERANCE


@pytest.mark.parametrize("angle", np.linspace(0.05, 6.25, 9).round(3))
def test_beams_end_at_walls_edges_and_doors(angle):
    rng = np.random.default_rng(int(1000 * angle))
    tiles = np.zeros((23, 42), np.uint8)
    outer = np.ones((23, 42), bool)
    outer[8:15, 16:26] = False
    tiles[outer] = rng.integers(0, 38, outer.sum())
    tiles[rng.random(tiles.shape) < 0.4] = 0
    doors = [(5, 100, 50, 0), (6, 72, 50, 4), (8, 86, 64, 2), (5, 86, 40, 6), (5, 82, 40, 2)]
    simulation = Simulation(room(*doors, (23, 87, 51), ninja=(92, 46), tiles=tiles))
    simulation.flags[:5] = rng.integers(0, 2, 5)
    for turn in range(6):
        simulation.movers["u"][0] = angle + 0.11 * turn
        assert_frames(simulation, note=float(simulation.movers["u"][0]))


def test_cases_are_all_looks():
    kinds = {1, 2, 3, 5, 6, 8, *range(10, 27), 28}
    assert {case.kind for case in CASES.values()} == kinds
    assert len(CASES) == len(all_cases())
