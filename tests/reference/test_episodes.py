"""Which level comes next, what snapshots carry over, and what stays in place while other episodes begin anew."""

from __future__ import annotations

import struct
from itertools import accumulate

import numpy as np
import pytest
from gymnasium.utils import seeding

from npp_env import NppEnv, NppVectorEnv
from reference.graph import graph_of
from reference.graph_levels import halves_match, state_of, vault
from reference.levels import STAND, crowded_room, hall
from reference.paths import reachability_rows
from reference.play import RIGHT
from reference.scene import scene_of

IDLE, LEFT = 0, 1
RUNNING, DIED, OUT_OF_TIME = 0, 2, 3
MASK = (1 << 64) - 1
NONE = dict.fromkeys(
    ("switch_weight", "exit_weight", "death_weight", "time_weight", "gold_weight", "shaping_weight"), 0
)
# Told apart by their gold; in each the ninja can run for long.
LEVELS = [hall([(2, 26 + 4 * k, STAND) for k in range(count)]) for count in range(5)]
MINE_AHEAD = hall([(1, 30, STAND)])


def bits_of(key, episode):
    """The output of the generator splitmix64, seeded with the key, after so many others."""
    z = (key + (episode + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def key_of(seed):
    return int(seeding.np_random(seed)[0].integers(2**63))


def configured(levels=LEVELS, skip=4, limit=None, keys=("game_state",), **weights):
    return {
        "levels": list(levels),
        "frame_skip": skip,
        "max_episode_frames": limit,
        "observation": {"keys": keys},
        "reward": {**NONE, **weights},
    }


def test_the_generator_gives_its_published_numbers():
    # Of splitmix64 with the seed 1234567.
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [bits_of(1234567, episode) for episode in range(4)] == published


def test_levels_follow_from_seed_and_episode():
    env = NppEnv(**configured())
    for seed in (3, 11, 3):
        played = [env.reset(seed=seed if episode == 0 else None)[1]["level"] for episode in range(12)]
        assert played == [bits_of(key_of(seed), episode) % 5 for episode in range(12)]
    assert set(played) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("seed", [7, [7, 8, 9, 10, 11, 12]])
def test_levels_of_a_vector_environment(seed):
    env = NppVectorEnv(6, **configured(limit=4))
    first = env.reset(seed=seed)[1]["level"].tolist()
    assert first == [bits_of(key_of(7 + i), 0) % 5 for i in range(6)]
    for episode in (1, 2, 3):
        assert env.step([IDLE] * 6)[3].all()
        begun = env.step([IDLE] * 6)[4]
        assert begun["level"].tolist() == [bits_of(key_of(7 + i), episode) % 5 for i in range(6)]


def test_levels_by_weight():
    weights = [1.0, 3.0, 0.0, 4.0, 2.0]
    env = NppVectorEnv(60, sampling=weights, **configured())
    played = env.reset(seed=100)[1]["level"].tolist()
    sums = list(accumulate(weights))
    shares = [(bits_of(key_of(100 + i), 0) >> 11) / 2**53 * 10 for i in range(60)]
    assert played == [next(k for k in range(5) if shares[i] < sums[k]) for i in range(60)]
    assert set(played) == {0, 1, 3, 4}


def test_a_curriculum_is_asked_with_environment_episode_and_bits():
    asked = []

    def choose(environment, episode, bits, count):
        asked.append((environment, episode, bits, count))
        return (environment + episode) % 5

    env = NppVectorEnv(3, sampling=choose, **configured(limit=4))
    assert env.reset(seed=40)[1]["level"].tolist() == [0, 1, 2]
    env.step([IDLE] * 3)
    assert env.step([IDLE] * 3)[4]["level"].tolist() == [1, 2, 3]
    assert asked == [(i, episode, bits_of(key_of(40 + i), episode), 5) for episode in (0, 1) for i in range(3)]


@pytest.mark.parametrize("episode", [0, 3])
def test_a_snapshot_carries_the_episode_into_another_environment(episode):
    weights = {"time_weight": -0.25, "gold_weight": 7}
    one, two = NppEnv(**configured(limit=60, **weights)), NppEnv(**configured(limit=200, **weights))
    one.reset(seed=5)
    for _ in range(episode):
        one.reset()
    number = bits_of(key_of(5), episode) % 5
    total = sum(one.step(RIGHT)[1] for _ in range(6))
    saved = one.get_state()
    two.reset(seed=77)
    two.step(LEFT)
    two.set_state(saved)
    assert two.get_state() == saved
    observation, _, _, _, info = two.step(IDLE)
    expected, _, _, _, _ = one.step(IDLE)
    assert observation["game_state"].tolist() == expected["game_state"].tolist()
    assert info["level"] == number
    assert (info["frame"], info["episode_steps"], info["outcome"]) == (28, 7, RUNNING)
    assert info["episode_return"] == pytest.approx(total - 1)
    # The limit of 60 ticks came along, and so did the choice of the next levels.
    ends = [two.step(IDLE)[3] for _ in range(8)]
    assert ends == [False] * 7 + [True]
    assert [two.reset()[1]["level"] for _ in range(6)] == [
        bits_of(key_of(5), later) % 5 for later in range(episode + 1, episode + 7)
    ]


def test_snapshots_go_to_the_rows_that_are_named():
    env = NppVectorEnv(4, **configured())
    env.reset(seed=0)
    for step in range(3):
        env.step([RIGHT, LEFT, IDLE, RIGHT if step else IDLE])
    first, second = env.get_state([0])[0], env.get_state([1])[0]
    others = env.get_state([0, 1])
    env.set_state([first, second], indices=[3, 2])
    assert env.get_state() == [*others, second, first]


@pytest.mark.parametrize("ended", [True, False])
def test_a_restored_row_goes_on_where_it_was(ended):
    source = NppVectorEnv(1, **configured([MINE_AHEAD], skip=10, death_weight=-5, time_weight=-1))
    target = NppVectorEnv(2, **configured([MINE_AHEAD], skip=10, death_weight=-5, time_weight=-1))
    source.reset(seed=0)
    target.reset(seed=1)
    steps = 1
    while ended and not source.step([RIGHT])[2][0]:
        steps += 1
    target.set_state(source.get_state(), indices=[1])
    _, rewards, terminated, _, info = target.step([IDLE, IDLE])
    assert terminated.tolist() == [False, False]
    # Where an episode has ended, this step begins the next one; where none has, it is played.
    assert rewards.tolist() == ([-10, 0] if ended else [-10, -10])
    assert info["frame"].tolist() == ([10, 0] if ended else [10, 10])
    assert info["episode_steps"].tolist() == ([1, 0] if ended else [1, 1])
    assert not ended or steps > 2


def test_rows_of_the_state_layout():
    arguments = configured(limit=500)
    env = NppEnv(**{**arguments, "observation": {"layout": "state"}})
    env.reset(seed=2)
    for count in range(1, 4):
        row, *_ = env.step(RIGHT)
        number = bits_of(key_of(2), 0) % 5
        assert struct.unpack_from("<4i", row) == (2, number, 500, count)
        assert bytes(row[16:32]).hex() == LEVELS[number].hash
        state = state_of(env)
        assert row[40 : 40 + state.size].tolist() == state.tolist()
        assert not row[40 + state.size :].any()
    other = NppEnv(**configured(limit=40))
    other.reset(seed=9)
    other.set_state(row)
    info = other.step(IDLE)[4]
    assert (info["frame"], info["episode_steps"], info["level"], info["episode_return"]) == (16, 4, number, 0.0)
    # Tick 40 is no end: the limit of 500 came along.
    assert not any(other.step(IDLE)[3] for _ in range(10))


def test_a_larger_level_in_one_row_leaves_the_others():
    env = NppVectorEnv(3, **configured())
    env.reset(seed=0)
    for _ in range(5):
        env.step([RIGHT, LEFT, RIGHT])
    before = [state_of(env, i).tolist() for i in range(3)]
    largest = crowded_room(25)
    env.reset(options={"reset_mask": np.array([False, True, False]), "level": largest})
    assert len(state_of(env, 1)) > len(before[1])
    assert [state_of(env, i).tolist() for i in (0, 2)] == [before[0], before[2]]
    observation = env.step([IDLE] * 3)[0]
    single = NppEnv(**configured([largest]))
    single.reset(seed=0)
    assert observation["game_state"][1].tolist()[:31] == single.step(IDLE)[0]["game_state"].tolist()[:31]


@pytest.mark.parametrize("kind", [NppEnv, NppVectorEnv])
def test_views_stay_valid_for_one_more_step(kind):
    arguments = configured(LEVELS[1:2])
    count = () if kind is NppEnv else (2,)
    copying, viewing = kind(*count, **arguments, copy=True), kind(*count, **arguments, copy=False)
    kept, copied = viewing.reset(seed=0)[0], copying.reset(seed=0)[0]
    for _ in range(6):
        actions = RIGHT if kind is NppEnv else [RIGHT, LEFT]
        view, copy = viewing.step(actions)[0], copying.step(actions)[0]
        assert view["game_state"].tolist() == copy["game_state"].tolist() != copied["game_state"].tolist()
        assert kept["game_state"].tolist() == copied["game_state"].tolist()
        kept, copied = view, copy


KEY = "reachability_features"


def check_ways(found, level, state):
    rows = reachability_rows(graph_of(level), scene_of(level, state))
    assert any(halves_match(found, row).all() for row in rows)


def test_ways_follow_the_doors_of_each_row():
    level = vault()
    env = NppVectorEnv(3, **configured([level], skip=1, limit=70, keys=(KEY,)))
    observation, _ = env.reset(seed=0)
    opened = saved = None
    for step in range(75):
        for i in range(3):
            check_ways(observation[KEY][i], level, state_of(env, i))
        observation, _, _, truncated, _ = env.step([IDLE, RIGHT, LEFT])
        doors = [scene_of(level, state_of(env, i)).of_kind(6)[0].taken for i in range(3)]
        if opened is None and doors[1]:
            opened, saved = step, env.get_state([1])
        if truncated.any():
            # The next episode begins with closed doors again, on the same level.
            assert doors == [False, True, False]
    assert 20 < opened < 60
    assert not any(scene_of(level, state_of(env, i)).of_kind(6)[0].taken for i in range(3))
    single = NppEnv(**configured([level], skip=1, limit=70, keys=(KEY,)))
    single.reset(seed=0)
    single.set_state(saved[0])
    for _ in range(3):
        observation, *_ = single.step(IDLE)
        assert scene_of(level, state_of(single)).of_kind(6)[0].taken
        check_ways(observation[KEY], level, state_of(single))
