"""Toy changes, as a new contributor would make them: an entity, an observation and a reward term.

Each is the text that goes into files that exist, and files that are new, its test among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Edit:
    """One piece of a change.

    Attributes:
        path: The file, relative to the root of the repository.
        new: What is put there.
        old: Text that occurs exactly once and is replaced; empty if the file is new.
    """

    path: str
    new: str
    old: str = ""

    def apply(self, tree: Path) -> None:
        path = tree / self.path
        if not self.old:
            assert not path.exists(), f"{self.path} is there already"
            path.write_text(self.new, encoding="utf-8")
            return
        text = path.read_text(encoding="utf-8")
        assert text.count(self.old) == 1, f"{self.old!r} occurs {text.count(self.old)} times in {self.path}"
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Toy:
    """A change: its pieces, its test, and the tests that were there before and must not mind it."""

    name: str
    edits: tuple[Edit, ...]
    unconcerned: tuple[str, ...]

    @property
    def package_files(self) -> set[str]:
        return {edit.path for edit in self.edits if edit.path.startswith("npp_env/")}

    @property
    def test_files(self) -> set[str]:
        return {edit.path for edit in self.edits if edit.path.startswith("tests/")}

    @property
    def compiled(self) -> set[str]:
        return {path for path in self.package_files if path.endswith((".pyx", ".pxd"))}


ENTITY = Toy(
    "entity",
    (
        Edit(
            "npp_env/level/entity_kinds.py",
            """\
    EntityKind.UNUSED_27: EntityRow(_NOTHING,
        family="snails", rules=("place", "advance", "touch", "pose", "check"), listed=True, movers=1,
        directed=True, radius_px=5.0, speed_px=0.5, column=26, frame=(_disc(5.0, 60),), mark=("s", _VIOLET)),
""",
            "    EntityKind.UNUSED_27: EntityRow(_NOTHING, ignored=True),\n",
        ),
        Edit(
            "npp_env/sim/entities/snails.pyx",
            '''\
"""Snails: they creep the way that they face, through everything, and kill."""

from npp_env.sim.entities.passes cimport check_flying, kinds, pose_flying, touch_to_kill
from npp_env.sim.grid cimport relist
from npp_env.sim.layout cimport UNUSED_27, Entity, Mover, World, eighth_x, eighth_y, mover_of


cdef void place_snail(World* w, Entity* e) noexcept nogil:
    """Set off."""
    mover_of(w, e).vx = kinds[UNUSED_27].speed * eighth_x(e.orientation)
    mover_of(w, e).vy = kinds[UNUSED_27].speed * eighth_y(e.orientation)


cdef void advance_snail(World* w, Entity* e) noexcept nogil:
    """Creep on."""
    cdef Mover* b = mover_of(w, e)
    b.x += b.vx
    b.y += b.vy
    relist(w, b)


kinds[UNUSED_27].place = place_snail
kinds[UNUSED_27].advance = advance_snail
kinds[UNUSED_27].touch = touch_to_kill
kinds[UNUSED_27].pose = pose_flying
kinds[UNUSED_27].check = check_flying
''',
        ),
        Edit(
            "npp_env/render/entity_shapes.py",
            """\
def _snail(pen: Pen, shown: Shown) -> None:
    x, y = shown.place
    pen.disc(x, y, 5.0, palette.DANGER)


SHAPES: dict[int, tuple[int, Callable[[Pen, Shown], None]]] = {
    EntityKind.UNUSED_27: (AMONG, _snail),
""",
            "SHAPES: dict[int, tuple[int, Callable[[Pen, Shown], None]]] = {\n",
        ),
        Edit(
            "tests/sim/test_snails.py",
            """\
import numpy as np

from npp_env import NppEnv
from npp_env.cli.terminal_level import MARKS
from npp_env.level.mirror import mirror_level
from npp_env.level.text import read_text, write_text
from npp_env.observe.spec import ENTITY_FIELDS
from npp_env.render import palette
from npp_env.render.picture import draw_rgb
from sim.rooms import NOTHING, STAND, play, room, run_until

SNAIL, RIGHT, LEFT = 27, 0, 4


def test_it_creeps_the_way_it_faces():
    simulation = play(room((SNAIL, 60, STAND, RIGHT), (SNAIL, 80, STAND, LEFT)), (NOTHING, 20))
    assert simulation.movers["x"].tolist() == [370, 470]
    assert simulation.movers["y"].tolist() == [468, 468]


def test_it_kills_within_fifteen_pixels():
    simulation = play(room((SNAIL, 14, STAND, RIGHT)))
    run_until(simulation, NOTHING, lambda s: s.outcome == "died")
    assert 14 < abs(simulation.movers[0]["x"] - simulation.ninja["x"]) < 15


def test_a_policy_sees_it():
    keys = ("entity_states", "player_frame")
    env = NppEnv(observation={"keys": keys}, reward={"shaping_weight": 0}, frame_skip=1, max_episode_frames=None)
    with_it, _ = env.reset(seed=0, options={"level": room((SNAIL, 28, STAND, LEFT))})
    row = dict(zip(ENTITY_FIELDS, with_it["entity_states"][0].tolist(), strict=True))
    assert row["present"] == row["unused_27"] == 1
    assert sum(row[name] for name in ENTITY_FIELDS[13:]) == 1
    assert ENTITY_FIELDS[-2:] == ("evil_ninja", "unused_27")
    assert row["speed_x"] == np.float16(-0.5 / 12)
    assert row["radius"] == np.float16(5 / 24)
    without, _ = env.reset(seed=0, options={"level": room()})
    different = np.argwhere(with_it["player_frame"][..., 0] != without["player_frame"][..., 0])
    assert different.mean(axis=0).round().tolist() == [42, 66]
    assert with_it["player_frame"][42, 66, 0] == 60


def test_a_person_sees_it():
    simulation = play(room((SNAIL, 60, STAND, RIGHT)), (NOTHING, 20))
    picture = draw_rgb(simulation.level, simulation.geometry, simulation.state)
    assert tuple(picture[468, 370]) == tuple(palette.DANGER)
    assert MARKS[SNAIL][0] == "s"


def test_levels_with_it_are_written_and_mirrored():
    level = room((SNAIL, 60, STAND, RIGHT))
    assert "unused-27 60 78 right" in write_text(level)
    assert read_text(write_text(level)) == level
    image = play(mirror_level(level), (NOTHING, 20))
    assert image.movers["x"].tolist() == [1056 - 370]
""",
        ),
    ),
    (
        "tests/sim/test_entity_table.py",
        "tests/level/test_mirror.py",
        "tests/level/test_text.py",
        "tests/test_layers.py",
    ),
)

OBSERVATION = Toy(
    "observation",
    (
        Edit(
            "npp_env/observe/spec.py",
            """\
    ObservationRow("action_mask", (6,), _BYTE, "ninja_features", 0),
    ObservationRow("speed", (1,), _HALF, "ninja_features", 0),
""",
            '    ObservationRow("action_mask", (6,), _BYTE, "ninja_features", 0),\n',
        ),
        Edit(
            "npp_env/observe/ninja_features.pyx",
            '''\
cdef void write_speed(View* view, unsigned short* out) noexcept nogil:
    """The length of the velocity."""
    cdef Ninja* n = view.world.ninja
    out[0] = half(unit(sqrt(n.vx * n.vx + n.vy * n.vy) / SPEED_SCALE))


WRITERS = {
    "game_state": halves(write_game_state),
    "action_mask": octets(write_action_mask),
    "speed": halves(write_speed),
}
''',
            'WRITERS = {"game_state": halves(write_game_state), "action_mask": octets(write_action_mask)}\n',
        ),
        Edit(
            "npp_env/observe/ninja_features.pyx",
            "from libc.math cimport sqrt\nfrom npp_env.observe.view cimport View, half, halves, octets, unit\n",
            "from npp_env.observe.view cimport View, half, halves, octets, unit\n",
        ),
        Edit(
            "npp_env/env.py",
            "    - `action_mask` (6,) uint8: as `action_masks()`.\n"
            "    - `speed` (1,) float16: length of the velocity / 12 px per tick.\n",
            "    - `action_mask` (6,) uint8: as `action_masks()`.\n",
        ),
        Edit(
            "tests/observe/test_speed.py",
            """\
import math

import numpy as np

from npp_env import NppEnv, NppVectorEnv, ObservationDecoder
from npp_env.level.shipped import load_shipped
from npp_env.observe.buffers import ObservationLayout
from npp_env.observe.spec import OBSERVATION_GROUPS, OBSERVATION_KEYS, Capacity
from npp_env.sim import Simulation
from npp_env.sim.simulation import RIGHT

LEVEL, ACTION, STEPS = "first_steps/walk", 2, 10
KEYS = ("action_mask", "speed", "game_state")


def expected():
    simulation = Simulation(load_shipped(LEVEL))
    simulation.advance(RIGHT, 4 * STEPS)
    speed = math.hypot(simulation.ninja["vx"], simulation.ninja["vy"]) / 12
    assert speed > 0.1
    return np.float16(speed)


def options(layout, keys=KEYS):
    return {"levels": f"shipped:{LEVEL}", "observation": {"keys": keys, "layout": layout}}


def played(env):
    env.reset(seed=0)
    for _ in range(STEPS):
        observation = env.step(ACTION)[0]
    return observation


def test_an_environment_and_a_batch_show_it():
    assert played(NppEnv(**options("dict")))["speed"] == expected()
    env = NppVectorEnv(3, **options("dict"))
    env.reset(seed=0)
    for _ in range(STEPS):
        observation = env.step(np.full(3, ACTION))[0]
    assert env.observation_space["speed"].shape == (3, 1)
    assert observation["speed"].tolist() == [[expected()]] * 3


def test_all_layouts_hold_it():
    assert played(NppEnv(**options("flat")))[6] == expected()
    packed = played(NppEnv(**options("packed")))
    assert packed.size == 6 + 2 + 68
    layout = ObservationLayout(KEYS, "packed", Capacity())
    assert layout.unpack(packed)["speed"] == expected()


def test_a_decoder_rebuilds_it():
    state = played(NppEnv(**options("state")))
    decoder = ObservationDecoder(**{"levels": f"shipped:{LEVEL}", "keys": KEYS})
    assert decoder.decode(state[None])["speed"].tolist() == [[expected()]]


def test_it_is_documented_and_selectable():
    assert "`speed`" in NppEnv.__doc__
    assert OBSERVATION_KEYS[-1] == "speed"
    assert "speed" in OBSERVATION_GROUPS["all"]
""",
        ),
    ),
    ("tests/observe/test_table.py", "tests/test_config.py", "tests/rollouts/test_packing.py", "tests/test_layers.py"),
)

REWARD = Toy(
    "reward",
    (
        Edit(
            "npp_env/config.py",
            "        gold_weight: Per piece of gold.\n        height_weight: Per pixel that the ninja gained.\n",
            "        gold_weight: Per piece of gold.\n",
        ),
        Edit(
            "npp_env/config.py",
            "    gold_weight: float = 0.0\n    height_weight: float = 0.0\n",
            "    gold_weight: float = 0.0\n",
        ),
        Edit(
            "npp_env/runtime/reward.pxd",
            "    double gold_weight\n    double height_weight\n",
            "    double gold_weight\n",
        ),
        Edit(
            "npp_env/runtime/reward.pxd",
            "    total += weights.height_weight * (before.y - ninja.y)\n"
            "    if before.switches == 0 and ninja.switches > 0:\n",
            "    if before.switches == 0 and ninja.switches > 0:\n",
        ),
        Edit(
            "tests/runtime/test_height.py",
            """\
import numpy as np
import pytest

from npp_env import NppEnv, NppVectorEnv
from npp_env.config import RewardConfig

NAMES = ("switch_weight", "exit_weight", "death_weight", "time_weight", "shaping_weight")
ONLY_HEIGHT = {**dict.fromkeys(NAMES, 0.0), "height_weight": 0.25}
ACTIONS = (0, 0, 0, 0, 3, 3, 3)


def test_height_pays_by_the_pixel():
    env = NppEnv(levels="shipped:first_steps/walk", reward=ONLY_HEIGHT, observation={"keys": ["game_state"]})
    env.reset(seed=0)
    rewards = [env.step(action)[1] for action in ACTIONS]
    assert max(rewards) > 1
    many = NppVectorEnv(2, levels="shipped:first_steps/walk", reward=ONLY_HEIGHT)
    many.reset(seed=0)
    again = [many.step(np.full(2, action))[1].tolist() for action in ACTIONS]
    assert again == [[pytest.approx(reward)] * 2 for reward in rewards]


def test_it_is_configured_like_the_others():
    assert RewardConfig.from_dict({"height_weight": 2}).to_dict()["height_weight"] == 2.0
""",
        ),
    ),
    ("tests/test_config.py", "tests/reference/test_rewards.py"),
)

TOYS = (ENTITY, OBSERVATION, REWARD)
