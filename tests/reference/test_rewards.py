"""Each term of the reward, with values worked out by hand.

What lies where the ninja starts is touched in the first tick; an exit can be entered in the tick after its switch.
"""

from __future__ import annotations

import pytest

from npp_env import NppEnv, NppVectorEnv
from reference.levels import STAND, crowded_room, hall, random_level
from reference.play import RIGHT, held, state_of
from reference.rewards import event_reward
from reference.scene import scene_of

NONE = dict.fromkeys(
    ("switch_weight", "exit_weight", "death_weight", "time_weight", "gold_weight", "shaping_weight"), 0
)
HERE = (20, STAND)
FAR = (150, 30)
GOLD, MINE, EXIT, SWITCH = (2, *HERE), (1, *HERE), (3, *HERE), (4, *HERE)
FAR_EXIT, FAR_SWITCH = (3, *FAR), (4, *FAR)


def start(records, frame_skip=4, limit=None, **weights):
    env = NppEnv(
        levels=[hall(records)],
        frame_skip=frame_skip,
        max_episode_frames=limit,
        observation={"keys": ("action_mask",)},
        reward={**NONE, **weights},
    )
    env.reset(seed=0)
    return env


def rewards_of(env, steps, action=0):
    return [env.step(action)[1] for _ in range(steps)]


def test_the_terms_add_up():
    weights = {"switch_weight": 3, "exit_weight": 100, "death_weight": -50, "time_weight": -0.25, "gold_weight": 7}
    # One tick: two pieces and death.
    assert rewards_of(start([GOLD, GOLD, MINE], **weights), 1) == [2 * 7 - 50 - 0.25]
    # The switch in the first tick, the exit in the second, which ends the step.
    assert rewards_of(start([EXIT, SWITCH, GOLD], **weights), 1) == [3 + 100 + 7 - 2 * 0.25]
    assert rewards_of(start([EXIT, SWITCH, GOLD], frame_skip=1, **weights), 2) == [3 + 7 - 0.25, 100 - 0.25]
    # The switch and death in one tick.
    assert rewards_of(start([FAR_EXIT, SWITCH, MINE], **weights), 1) == [3 - 50 - 0.25]
    assert rewards_of(start([FAR_EXIT, FAR_SWITCH], **weights), 2) == [-1.0, -1.0]


def test_time_per_tick():
    assert rewards_of(start([], frame_skip=1, time_weight=-0.5), 2) == [-0.5, -0.5]
    assert rewards_of(start([], frame_skip=3, time_weight=-0.5), 2) == [-1.5, -1.5]
    assert rewards_of(start([], frame_skip=7, time_weight=2), 1) == [14.0]


@pytest.mark.parametrize("frame_skip", [1, 2, 3, 4, 5, 7, 30])
def test_time_counts_only_ticks_that_were_carried_out(frame_skip):
    # The ninja falls 2 px and runs into a mine that is 7 map units away.
    level = [(1, 27, STAND)]
    single = start(level, frame_skip=1)
    ticks = 1
    while not single.step(RIGHT)[2]:
        ticks += 1
    assert ticks > 20
    env = start(level, frame_skip=frame_skip, time_weight=1, death_weight=1000)
    rewards, terminated = [], False
    while not terminated:
        _, reward, terminated, _, _ = env.step(RIGHT)
        rewards.append(reward)
    last = (ticks - 1) % frame_skip + 1
    assert rewards == [frame_skip] * ((ticks - 1) // frame_skip) + [1000 + last]


def test_gold_per_piece():
    assert rewards_of(start([GOLD, GOLD, GOLD, (2, *FAR)], gold_weight=2), 2) == [6, 0]
    assert rewards_of(start([], gold_weight=2), 1) == [0]
    # Gold on the way, one piece after the other.
    rewards = rewards_of(start([(2, 26, STAND), (2, 34, STAND)], frame_skip=1, gold_weight=2), 60, RIGHT)
    assert sorted(rewards) == [0] * 58 + [2, 2]


def test_the_first_exit_switch_only():
    assert rewards_of(start([FAR_EXIT, SWITCH], switch_weight=5), 2) == [5, 0]
    # Two in one tick, and a second one later.
    assert rewards_of(start([FAR_EXIT, FAR_EXIT, SWITCH, SWITCH], switch_weight=5), 2) == [5, 0]
    env = start([FAR_EXIT, FAR_EXIT, SWITCH, (4, 30, STAND)], frame_skip=1, switch_weight=5)
    assert rewards_of(env, 60, RIGHT) == [5] + [0] * 59
    assert all(entity.taken for entity in scene_of(env.level, state_of(env)).of_kind(3))


def test_switches_of_doors_pay_nothing():
    assert rewards_of(start([(6, *FAR), (7, *HERE), (8, *FAR), (9, *HERE)], switch_weight=5), 2) == [0, 0]


def test_winning_pays_once():
    env = start([EXIT, SWITCH], frame_skip=1, exit_weight=9)
    assert rewards_of(env, 5) == [0, 9, 0, 0, 0]
    # The exit alone, its switch elsewhere, is no exit.
    assert rewards_of(start([EXIT, FAR_SWITCH], exit_weight=9), 2) == [0, 0]


def test_dying_pays_once():
    assert rewards_of(start([MINE], death_weight=-9), 4) == [-9, 0, 0, 0]


def test_the_end_pays_nothing_but_its_own_weight():
    assert rewards_of(start([MINE], exit_weight=7), 2) == [0, 0]
    assert rewards_of(start([EXIT, SWITCH], death_weight=7), 2) == [0, 0]


def test_running_out_of_time_is_no_death():
    env = start([], frame_skip=4, limit=6, time_weight=-1, death_weight=-100, exit_weight=100)
    assert rewards_of(env, 2) == [-4, -4]


def test_defaults():
    env = NppEnv(levels=[hall([EXIT, SWITCH, GOLD])], reward={"shaping_weight": 0})
    env.reset(seed=0)
    assert env.step(0)[1] == pytest.approx(0.5 + 1.0, abs=1e-15)
    env = NppEnv(levels=[hall([MINE])], reward={"shaping_weight": 0})
    env.reset(seed=0)
    assert [env.step(0)[1] for _ in range(2)] == [0, 0]
    env = NppEnv(levels=[hall([])], reward={"shaping_weight": 0}, max_episode_frames=8)
    env.reset(seed=0)
    assert [env.step(0)[1] for _ in range(3)] == [0, 0, 0]


@pytest.mark.parametrize("keeps", [False, True])
def test_nothing_is_paid_after_the_end_with_shaping(keeps):
    for records in ([MINE], [EXIT, SWITCH]):
        reward = {"shaping_weight": 1.0, "time_weight": -1, "keeps_progress": keeps}
        env = NppEnv(levels=[hall(records)], reward=reward)
        env.reset(seed=0)
        _, first, terminated, _, info = env.step(0)
        assert terminated
        saved = env.get_state()
        _, reward, terminated, truncated, later = env.step(RIGHT)
        assert (reward, terminated, truncated) == (0.0, True, False)
        assert later["episode_return"] == info["episode_return"] == first
        env.set_state(saved)
        assert env.step(RIGHT)[1] == 0.0


@pytest.mark.parametrize(
    "weights",
    [
        {"switch_weight": 0.5, "exit_weight": 1, "death_weight": -0.5, "time_weight": -0.0001, "gold_weight": 0},
        {"switch_weight": -3, "exit_weight": 17, "death_weight": 5, "time_weight": 0.125, "gold_weight": 2.5},
    ],
    ids=["plain", "odd"],
)
@pytest.mark.parametrize("frame_skip", [1, 4])
def test_play_pays_what_the_reference_says(weights, frame_skip):
    levels = [random_level(seed) for seed in range(8)] + [crowded_room(kind) for kind in (1, 2, 3, 21)]
    env = NppEnv(
        levels=levels,
        frame_skip=frame_skip,
        observation={"keys": ("action_mask",)},
        reward={**weights, "shaping_weight": 0},
        max_episode_frames=300,
    )
    paid = set()
    for number, level in enumerate(levels):
        env.reset(seed=0, options={"level": number})
        before = scene_of(level, state_of(env))
        total = 0.0
        for action in [RIGHT] * 100 if number > 7 else held(number, 240):
            _, reward, terminated, truncated, info = env.step(action)
            after = scene_of(level, state_of(env))
            expected = event_reward(before, after, weights)
            assert reward == pytest.approx(expected, abs=1e-12), f"{level.name} frame {info['frame']}"
            total += expected
            assert info["episode_return"] == pytest.approx(total, abs=1e-9)
            paid.add(round(reward / weights["time_weight"] - frame_skip, 3) != 0)
            before = after
            if terminated or truncated:
                break
    assert paid == {False, True}


def test_the_return_adds_up_and_begins_anew():
    env = start([GOLD, (2, 30, STAND)], frame_skip=4, time_weight=-0.25, gold_weight=4)
    returns = [env.step(RIGHT)[4]["episode_return"] for _ in range(3)]
    assert returns == [3.0, 2.0, 1.0]
    assert env.reset()[1]["episode_return"] == 0.0
    assert env.step(RIGHT)[4]["episode_return"] == 3.0


def test_rows_of_a_vector_environment_are_paid_each_by_itself():
    levels = [hall([MINE]), hall([EXIT, SWITCH]), hall([GOLD])]
    weights = {**NONE, "death_weight": -50, "exit_weight": 100, "gold_weight": 7, "time_weight": -1}
    env = NppVectorEnv(
        9, levels=levels, reward=weights, max_episode_frames=None, observation={"keys": ("action_mask",)}
    )
    _, info = env.reset(seed=1)
    played = info["level"].tolist()
    assert set(played) == {0, 1, 2}
    _, rewards, terminated, _, info = env.step([0] * 9)
    assert rewards.tolist() == [{0: -51, 1: 98, 2: 3}[level] for level in played]
    assert terminated.tolist() == [level < 2 for level in played]
    assert info["episode_return"].tolist() == rewards.tolist()
    _, rewards, terminated, _, info = env.step([0] * 9)
    # Ended ones only begin anew.
    assert rewards.tolist() == [0 if level < 2 else -4 for level in played]
    assert info["episode_return"].tolist() == [0 if level < 2 else -1 for level in played]
    assert not terminated.any()
