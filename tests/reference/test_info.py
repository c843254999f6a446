"""`info` and the flags of the end, against bookkeeping of the test's own, one tick at a time."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from npp_env import NppEnv, NppVectorEnv, Outcome
from npp_env.sim import Simulation
from reference.compare import mismatches
from reference.levels import STAND, crowded_room, hall, random_level, shipped_levels
from reference.play import RIGHT, Moment, held
from reference.rewards import event_reward, taken
from reference.scene import CELEBRATING, DEAD, scene_of

BYTE_OF_ACTION = (0, 4, 2, 1, 5, 3)
RUNNING, WON, DIED, OUT_OF_TIME = 0, 1, 2, 3
WEIGHTS = {"switch_weight": 3, "exit_weight": 100, "death_weight": -50, "time_weight": -0.25, "gold_weight": 7}
FIELDS = ("frame", "outcome", "gold", "level", "phase", "episode_return", "episode_steps")
HERE = (20, STAND)
LEVELS = (
    crowded_room(1),
    hall([(3, 40, STAND), (4, 30, STAND), (2, 26, STAND), (2, 34, STAND)]),
    hall([(2, 26, STAND), (2, 120, 20)]),
    random_level(0),
    random_level(1),
)


class Book:
    """An episode as the test counts it."""

    def __init__(self, level, number, skip, limit):
        self.level, self.number, self.skip, self.limit = level, number, skip, limit
        self.simulation = Simulation(level)
        self.frame = self.steps = 0
        self.total = self.reward = 0.0
        self.terminated = self.truncated = False

    @property
    def scene(self):
        return scene_of(self.level, self.simulation.state, self.limit)

    def step(self, action):
        before = self.scene
        for _ in range(self.skip):
            if self.terminated:
                break
            self.simulation.advance(BYTE_OF_ACTION[action])
            self.frame += 1
            self.terminated = self.scene.ninja.state in (DEAD, CELEBRATING)
        self.truncated = not self.terminated and 0 < self.limit <= self.frame
        self.steps += 1
        self.reward = event_reward(before, self.scene, WEIGHTS)
        self.total += self.reward

    def info(self):
        scene = self.scene
        outcome = OUT_OF_TIME if self.truncated else {DEAD: DIED, CELEBRATING: WON}.get(scene.ninja.state, RUNNING)
        return {
            "frame": self.frame,
            "outcome": outcome,
            "gold": taken(scene, 2),
            "level": self.number,
            "phase": int(taken(scene, 3) > 0),
            "episode_return": self.total,
            "episode_steps": self.steps,
        }

    def moment(self, observation):
        return Moment(self.level, bytes(self.simulation.state), self.limit, None, observation, {})


def configured(skip, limit):
    return {
        "levels": list(LEVELS),
        "frame_skip": skip,
        "max_episode_frames": limit,
        "observation": {"keys": ("game_state",)},
        "reward": {**WEIGHTS, "shaping_weight": 0},
    }


def start(records, skip=1, limit=None):
    env = NppEnv(**{**configured(skip, limit), "levels": [hall(records)]})
    env.reset(seed=0)
    return env


def test_outcomes_have_their_numbers():
    assert [(one.name, one.value) for one in Outcome] == [
        ("RUNNING", RUNNING),
        ("WON", WON),
        ("DIED", DIED),
        ("OUT_OF_TIME", OUT_OF_TIME),
    ]


@pytest.mark.parametrize(("skip", "limit"), [(1, 120), (4, 150), (7, 60)])
def test_one_environment(skip, limit):
    env = NppEnv(**configured(skip, limit))
    outcomes = set()
    for number, level in enumerate(LEVELS):
        for seed in range(3):
            _, info = env.reset(seed=seed, options={"level": number})
            book = Book(level, number, skip, limit)
            assert info.pop("level_name") == level.name
            assert info == book.info()
            for action in held(seed, limit) if seed else [RIGHT] * limit:
                book.step(action)
                _, reward, terminated, truncated, info = env.step(action)
                assert (terminated, truncated) == (book.terminated, book.truncated), f"{level.name} {info}"
                assert reward == pytest.approx(book.reward)
                assert info.pop("level_name") == level.name
                assert info == pytest.approx(book.info())
                if terminated or truncated:
                    break
            outcomes.add(info["outcome"])
    assert outcomes == {WON, DIED, OUT_OF_TIME}


def test_types_of_info_are_plain():
    env = start([])
    for info in (env.reset()[1], env.step(0)[4]):
        assert type(info.pop("level_name")) is str
        assert tuple(info) == FIELDS
        assert {name: type(value) for name, value in info.items()} == {
            name: float if name == "episode_return" else int for name in FIELDS
        }


def test_truncation_at_the_exact_tick():
    env = start([], limit=5)
    assert [env.step(0)[3] for _ in range(6)] == [False, False, False, False, True, True]
    # A step of four reaches tick 8.
    env = start([], skip=4, limit=5)
    steps = [env.step(0) for _ in range(2)]
    assert [(step[3], step[4]["frame"], step[4]["outcome"]) for step in steps] == [
        (False, 4, RUNNING),
        (True, 8, OUT_OF_TIME),
    ]
    env = start([], skip=4, limit=4)
    assert env.step(0)[3]


def test_automatic_limit():
    # The hall has 19 rows of 42 tiles that are not solid: 600 + 4 * 798 = 3792 = 79 * 48 ticks.
    env = start([], skip=48, limit="auto")
    assert [env.step(0)[3] for _ in range(79)] == [False] * 78 + [True]


def test_without_a_limit_nothing_is_truncated():
    env = start([], skip=3600)
    assert not any(env.step(0)[3] for _ in range(5))


def test_an_end_in_the_last_tick_is_no_truncation():
    env = start([(1, *HERE)], limit=1)
    _, _, terminated, truncated, info = env.step(0)
    assert (terminated, truncated, info["outcome"]) == (True, False, DIED)
    env = start([(3, *HERE), (4, *HERE)], limit=2)
    assert env.step(0)[2:4] == (False, False)
    _, _, terminated, truncated, info = env.step(0)
    assert (terminated, truncated, info["outcome"]) == (True, False, WON)


def test_the_phase_follows_the_first_switch():
    env = start([(3, 150, 30), (3, 150, 30), (4, *HERE), (4, 30, STAND)])
    assert env.reset()[1]["phase"] == 0
    assert [env.step(RIGHT)[4]["phase"] for _ in range(60)] == [1] * 60
    env = start([(6, 150, 30), (7, *HERE), (3, 150, 30), (4, 150, 30)])
    assert env.step(0)[4]["phase"] == 0


def test_level_numbers():
    env = NppEnv(**configured(4, None))
    for number, level in enumerate(LEVELS):
        assert env.reset(seed=0, options={"level": number})[1]["level"] == number
        assert env.level == level
        assert env.step(0)[4]["level"] == number
    name, level = shipped_levels()[0]
    for given in (level, f"shipped:{name}"):
        assert env.reset(options={"level": given})[1]["level"] == -1
        assert env.level == level
        assert env.step(0)[4]["level"] == -1
    # The next episode is played on a level of the set again.
    seen = set()
    for _ in range(40):
        _, info = env.reset()
        assert env.level == LEVELS[info["level"]]
        seen.add(info["level"])
    assert seen == set(range(len(LEVELS)))


def row(info, i):
    return {name: info[name][i].item() for name in FIELDS}


def new_books(env, info, rows, skip, limit):
    """Fresh books for some rows, on the levels that their snapshots name."""
    books = {}
    for i in rows:
        number = int(info["level"][i])
        assert bytes.fromhex(LEVELS[number].hash) in env.get_state([i])[0]
        books[i] = Book(LEVELS[number], number, skip, limit)
    return books


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.name)
@pytest.mark.parametrize(("skip", "limit"), [(1, 70), (4, 150)])
def test_rows_of_a_vector_environment(mode, skip, limit):
    count = 6
    env = NppVectorEnv(count, autoreset_mode=mode, **configured(skip, limit))
    observation, info = env.reset(seed=8)
    books = new_books(env, info, range(count), skip, limit)
    actions = [held(i, 160) if i % 2 else [RIGHT] * 160 for i in range(count)]
    outcomes = []
    restarting = np.zeros(count, bool)
    for step in range(160):
        chosen = [one[step] for one in actions]
        observation, rewards, terminated, truncated, info = env.step(chosen)
        books.update(new_books(env, info, np.flatnonzero(restarting), skip, limit))
        for i in np.flatnonzero(~restarting).tolist():
            books[i].step(chosen[i])
        done = np.array([not restarting[i] and (books[i].terminated or books[i].truncated) for i in range(count)])
        assert terminated.tolist() == [not restarting[i] and books[i].terminated for i in range(count)]
        assert truncated.tolist() == [not restarting[i] and books[i].truncated for i in range(count)]
        assert rewards.tolist() == pytest.approx([0 if restarting[i] else books[i].reward for i in range(count)])
        outcomes += [books[i].info()["outcome"] for i in np.flatnonzero(done)]
        if mode is AutoresetMode.SAME_STEP:
            check_finals(info, done, books)
            books.update(new_books(env, info, np.flatnonzero(done), skip, limit))
            restarting = np.zeros(count, bool)
        else:
            assert "final_info" not in info
            restarting = done
        for i in range(count):
            assert info["_frame"][i]
            assert row(info, i) == pytest.approx(books[i].info())
            assert env.present_level_names[i] == books[i].level.name
            assert mismatches("game_state", books[i].moment({"game_state": observation["game_state"][i]})) == []
        if mode is AutoresetMode.DISABLED and done.any():
            observation, info = env.reset(options={"reset_mask": done})
            books.update(new_books(env, info, np.flatnonzero(done), skip, limit))
            for i in range(count):
                assert [info[f"_{name}"][i] for name in FIELDS] == [done[i]] * len(FIELDS)
                assert row(info, i) == (books[i].info() if done[i] else dict.fromkeys(FIELDS, 0))
                assert mismatches("game_state", books[i].moment({"game_state": observation["game_state"][i]})) == []
            restarting = np.zeros(count, bool)
    assert set(outcomes) == {WON, DIED, OUT_OF_TIME}


def check_finals(info, done, books):
    assert ("final_info" in info) == ("final_obs" in info) == bool(done.any())
    if not done.any():
        return
    assert info["_final_info"].tolist() == info["_final_obs"].tolist() == done.tolist()
    for i in range(len(done)):
        assert [info["final_info"][f"_{name}"][i] for name in FIELDS] == [done[i]] * len(FIELDS)
        if done[i]:
            assert row(info["final_info"], i) == pytest.approx(books[i].info())
            assert mismatches("game_state", books[i].moment(info["final_obs"][i])) == []
        else:
            assert info["final_obs"][i] is None


def test_a_limit_in_steps_counts_beside_the_one_in_ticks():
    for steps, limit, expected in ((3, None, 3), (3, 8, 2), (2, 100, 2)):
        env = NppVectorEnv(2, max_episode_steps=steps, **{**configured(4, limit), "levels": [hall([])]})
        env.reset(seed=0)
        course = [env.step([0, 0])[3].tolist() for _ in range(expected)]
        assert course == [[False, False]] * (expected - 1) + [[True, True]]


def test_a_level_for_all_rows():
    env = NppVectorEnv(3, **configured(4, None))
    _, info = env.reset(seed=0, options={"level": 2})
    assert info["level"].tolist() == [2, 2, 2]
    _, info = env.reset(options={"level": shipped_levels()[0][1]})
    assert info["level"].tolist() == [-1, -1, -1]
