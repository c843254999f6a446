"""What a policy sees, against a second reading of the documentation."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from npp_env import NppEnv, NppVectorEnv
from reference import vectors
from reference.compare import assert_equal, mismatches
from reference.levels import KINDS, VARIANTS, crowded_rooms, hall, random_level, shipped_levels
from reference.play import (
    KEYS,
    Moment,
    every,
    held,
    phases_of,
    play,
    recorded,
    revealing,
    staged,
    wander,
)
from reference.scene import CELEBRATING, scene_of, state_bytes

FOLDER = Path(__file__).parent
# What makes scenes or asks the package for what is compared, and what of it that may be; all else stands alone.
DRIVERS = {
    "levels.py": {"npp_env.level"},
    "play.py": {"npp_env.NppEnv", "npp_env.level", "npp_env.recording"},
    "graph_levels.py": {"npp_env.level", "npp_env.observe.spec.OBSERVATION_KEYS"},
    "frame_scenes.py": {"npp_env.level", "npp_env.render", "npp_env.sim.simulation"},
    "layout_moments.py": {"npp_env.NppEnv", "npp_env.level", "npp_env.rollouts.decoder"},
}

each_key = pytest.mark.parametrize("key", KEYS)


@cache
def _staged():
    return tuple(every(staged(), 3))


@each_key
def test_staged_scenes(key):
    assert_equal(key, _staged())


def test_more_entities_than_the_observation_holds_and_fewer():
    # A limit of its own, ties of distance, and rows of zeros.
    records = [(2, 20 + 4 * side, 60) for side in (-1, 1, -2, 2)] + [(1, 20, 40), (21, 20, 40), (24, 24, 60)]
    level = hall(records, ninja=(20, 60))
    for rows in (1, 2, 5, 6, 7, 8, 64):
        env = NppEnv(
            levels=[level],
            frame_skip=1,
            observation={"keys": ("entity_states",), "max_entities": rows},
            reward={"shaping_weight": 0},
        )
        given = env.reset(seed=0)[0]["entity_states"]
        scene = scene_of(level, env.get_state()[-state_bytes(level) :])
        expected = np.array(vectors.entity_states(scene, rows)).astype(np.float16).reshape(rows, -1)
        np.testing.assert_array_equal(given, expected)


def test_borders_of_the_map():
    """Every tile along the edges has a shape of its own, right up to the solid ring."""
    shapes = {(column, row): 2 + (column + 7 * row) % 32 for column in range(1, 43) for row in range(1, 24)}
    for x, y in ((5, 5), (5, 95), (171, 5), (171, 95), (88, 5), (88, 95), (5, 50), (171, 50)):
        for shift in (0, 2, 5):
            moment = next(play(hall([], (abs(x - shift), abs(y - shift)), shapes), []))
            assert mismatches("spatial_context", moment) == []


@each_key
def test_nothing_stays_of_the_episode_before(key):
    """Arrays are written again and again: after a victory among many things, an empty hall."""
    doors = [record for kind in (6, 6, 8, 8) for record in ((kind, 100, 60), (kind + 1, 104, 60))]
    mines = [(1, 120 + 2 * k, 30) for k in range(9)]
    rich = hall([(3, 34, 78), (4, 28, 78), *doors, *mines, (2, 24, 78)])
    levels = [rich, hall([])]
    env = NppEnv(levels=levels, frame_skip=1, observation={"keys": (key,)}, reward={"shaping_weight": 0})
    for number in (0, 1, 0):
        observation, _ = env.reset(seed=0, options={"level": number})
        for _ in range(80):
            state = env.get_state()[-state_bytes(levels[number]) :]
            limit = 600 + 4 * int((levels[number].tiles != 1).sum())
            assert mismatches(key, Moment(levels[number], state, limit, env, observation, {})) == []
            observation, _, terminated, _, _ = env.step(2)
            if terminated:
                break
        assert terminated == (number == 0)


@each_key
def test_moments_that_show_something_new(key):
    assert len(revealing()) > 130
    assert_equal(key, revealing())


@cache
def _wandered():
    levels = [random_level(seed) for seed in range(24)]
    plays = [wander(level, number, 240, beyond=1) for number, level in enumerate(levels)]
    plays += [wander(level, number, 90) for number, level in enumerate(crowded_rooms())]
    return tuple(moment for one in plays for moment in every(one, 4))


@cache
def _shipped():
    plays = [recorded(name, level) for name, level in shipped_levels()]
    plays += [wander(level, number, 120) for number, (_, level) in enumerate(shipped_levels())]
    return tuple(moment for one in plays for moment in every(one, 16))


@each_key
def test_random_levels(key):
    assert_equal(key, _wandered())


@each_key
def test_shipped_levels(key):
    moments = _shipped()
    assert_equal(key, moments)
    names = {moment.level.hash for moment in moments if moment.scene.ninja.state == CELEBRATING}
    assert names == {level.hash for _, level in shipped_levels()}, "every shipped level is seen as it is won"


@each_key
def test_time_limits_and_longer_steps(key):
    moments = [
        moment
        for seed in range(4)
        for skip in (3, 4)
        for moment in play(random_level(seed), held(seed, 40), limit_frames=50 + seed, frame_skip=skip, beyond=2)
    ]
    assert_equal(key, moments)


def _required() -> set:
    required = {("state", state) for state in (0, 1, 2, 3, 4, 5, 6, 8)}
    required |= {("airborne", 0), ("airborne", 1), ("rising gravity", True), ("rising gravity", False)}
    required |= {("walled", walled, right) for walled in (0, 1) for right in (False, True)}
    required |= {("floor", x, -1) for x in (-1, 0, 1)} | {("ceiling", x, 1) for x in (-1, 0, 1)}
    required |= {("ceiling", -1, 0), ("ceiling", 1, 0)}
    required |= {("input", h, jump) for h in (-1, 0, 1) for jump in (0, 1)}
    required |= {("moving", x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)}
    required |= {("pad", x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)}
    for buffer in ("jump buffer", "floor buffer", "wall buffer"):
        required |= {(buffer, age) for age in (-1, 0, 1, 2, 3, 4, 5)}
    # Set before the buffers are counted on, the launch pad's is never seen at 0.
    required |= {("pad buffer", age) for age in (-1, 1, 2, 3)}
    required |= {("held", third) for third in range(4)} | {("switches", count) for count in range(3)}
    required |= {("held on", True, age) for age in (-1, 0, 1, 2, 3, 4, 5)}
    required |= {("gold", False, False), ("gold", True, False), ("gold", True, True)}
    required |= {("entities", False), ("entities", True)} | {("mines", third) for third in range(4)}
    required |= {("time", word) for word in ("unlimited", "left", "last", "out", "over")}
    required |= {("tile", tile) for tile in range(38)}
    borders = ((0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1, 0, 1, 0), (0, 1, 1, 0))
    required |= {("border", *map(bool, sides)) for sides in borders}
    entity = {(1, 0), (1, 1), (2, 0), (2, 1), (3, False), (3, True), (21, 0), (21, 1), (21, 2), (24, 0), (24, 1)}
    entity |= {(kind, "open", state) for kind in (5, 6, 8) for state in (False, True)}
    entity |= {(kind, "orientation", o) for kind in (5, 6, 8) for o in range(8)}
    entity |= {(kind, o) for kind in (10, 11) for o in range(8)}
    entity |= {(kind, what, k) for kind in (14, 26) for what in ("turn", "mode") for k in range(4)}
    entity |= {(16, run) for run in (-1, 0, 1)} | {(20, o, phase) for o in (0, 2, 4, 6) for phase in (-1, 0, 1)}
    entity |= {(17, 0, 0), (17, -1, 0), (17, 1, 0), (17, 0, -1), (17, 0, 1)}
    entity |= {(kind, x, y) for kind in (23, 25) for x in (-1, 1) for y in (-1, 1)} | {(23, -1), (23, 1)}
    entity |= {(kind, what, k) for kind in (12, 13) for what in ("turn", "mode") for k in range(4)}
    entity |= {(kind, "phase", phase, late) for kind in (12, 13) for phase in (1, 2, 3) for late in (0, 1)}
    entity |= {(kind, "phase", 0, 0) for kind in (12, 13)} | {(12, "bullet", bullet) for bullet in range(8)}
    entity |= {(12, "line", x, 1, side) for x in (-1, 1) for side in (-1, 1)}
    entity |= {(13, "line", x, 1, 0) for x in (-1, 1)}
    entity |= {(18, 0, 0), (18, 1, 0), (18, 1, 1), *((18, 2, eighth) for eighth in range(4))}
    entity |= {(18, "flies", x, 1) for x in (-1, 1)}
    entity |= {(19, 0, 0)} | {(19, phase, late) for phase in (1, 2, 3) for late in (0, 1)}
    entity |= {(19, "aim", x, 1) for x in (-1, 1)}
    entity |= {(15, what, k, phase) for what in ("turn", "mode") for k in range(4) for phase in (0, 1)}
    entity |= {(22, 0, 0), (22, 1, 0), *((22, phase, number) for phase in (2, 3) for number in (1, 2))}
    sides = ((-1, 0), (1, 0), (0, -1), (0, 1))
    entity |= {(28, phase, *side) for phase in (1, 2, 3) for side in sides} | {(28, 0, 0, 0)}
    return required | {("entity", *what) for what in entity}


def test_everything_that_there_is_was_compared():
    seen = set().union(*(phases_of(moment.scene) for moment in revealing()))
    assert _required() - seen == set()


def test_every_number_was_compared_with_something_but_a_constant():
    values = {key: [] for key in KEYS}
    for moment in (*revealing(), *_wandered()[::4], *_shipped()[::4]):
        for key in KEYS:
            values[key].append(vectors.VECTORS[key](moment.scene))
    for key in KEYS:
        table = np.array(values[key])
        if key == "entity_states":
            # Every row is written alike; it is the columns that must vary.
            table = table.reshape(-1, len(vectors.ENTITY_NAMES))
        constant = np.flatnonzero(table.min(axis=0) == table.max(axis=0)).tolist()
        always = ["idle"] if key == "action_mask" else []
        assert [vectors.field_name(key, index) for index in constant] == always


def test_random_levels_hold_everything():
    for first in range(0, 12, 4):
        found = set()
        for seed in range(first, first + 4):
            level = random_level(seed)
            assert set(range(38)) <= set(np.unique(level.tiles).tolist())
            found |= {tuple(record) for record in level.records[:, [0, 3, 4]].tolist()}
        assert {(kind, *variant) for kind in KINDS for variant in VARIANTS[kind]} <= found
    assert random_level(3) == random_level(3)
    assert random_level(3) != random_level(4)


@pytest.mark.parametrize("tile", [*range(38), 38, 77, 255])
def test_every_tile_at_every_half_tile(tile):
    """The window is moved over the tile, so that each of its half tiles is seen at several places."""
    share = [vectors.solidity(scene_of_tile(tile), i, j) for j in (30, 31) for i in (40, 41)]
    for x, y in ((18, 30), (23, 28), (21, 33)):
        level = hall([], (4 * x + 1, 4 * y // 2 + 1), {(20, 15): tile})
        moment = next(play(level, []))
        assert mismatches("spatial_context", moment) == []
    if tile == 0 or tile >= 34:
        assert share == [0, 0, 0, 0]


def scene_of_tile(tile):
    level = hall([], tiles={(20, 15): tile})
    return scene_of(level, bytes(state_bytes(level)))


def test_solid_parts_of_some_tiles_by_hand():
    def quarters(tile):
        return [round(144 * vectors.SOLID_SHARES[tile, right, lower]) for lower in (0, 1) for right in (0, 1)]

    assert quarters(1) == [144, 144, 144, 144]
    assert quarters(2) == [144, 144, 0, 0]
    assert quarters(3) == [0, 144, 0, 144]
    # Pixel centres on the diagonal are not inside: 66 = 11 * 12 / 2.
    assert quarters(6) == [144, 66, 66, 0]
    assert quarters(9) == [66, 0, 144, 66]
    # Half of the upper half: a triangle 24 wide and 12 high.
    assert sum(quarters(18)) == 144
    assert quarters(18) == [108, 36, 0, 0]
    assert sum(quarters(22)) == 3 * 144
    # A quarter of a disc of radius 24 covers 452.4 pixels.
    assert abs(sum(quarters(10)) - 452.4) < 3
    assert abs(sum(quarters(14)) - (576 - 452.4)) < 3
    assert quarters(14)[3] == 0


@each_key
def test_the_vector_environment(key):
    levels = [random_level(seed) for seed in range(3)]
    env = NppVectorEnv(
        5,
        levels=levels,
        frame_skip=2,
        max_episode_frames=90,
        observation={"keys": (key,)},
        reward={"shaping_weight": 0},
    )
    observations, info = env.reset(seed=4)
    actions = [held(number, 60) for number in range(5)]
    ends = 0
    for step in range(60):
        states = env.get_state()
        for row in range(5):
            level = levels[info["level"][row]]
            moment = Moment(level, states[row][-state_bytes(level) :], 90, env, {key: observations[key][row]}, {})
            assert mismatches(key, moment) == []
        observations, _, terminated, truncated, info = env.step([one[step] for one in actions])
        ends += int((terminated | truncated).sum())
    assert ends >= 5
    assert len(set(info["level"].tolist())) > 1


def imports_of(path):
    """Dotted names of all that a module imports, `from a import b` as `a.b`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_within(name, module):
    return name == module or name.startswith(f"{module}.")


REFERENCES = [path for path in sorted(FOLDER.glob("*.py")) if not path.name.startswith("test_")]


@pytest.mark.parametrize("path", REFERENCES, ids=lambda path: path.name)
def test_references_share_nothing_with_what_they_check(path):
    taken = [name for name in imports_of(path) if is_within(name, "npp_env")]
    permitted = DRIVERS.get(path.name, set())
    assert [name for name in taken if not any(is_within(name, module) for module in permitted)] == []
