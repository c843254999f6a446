"""The shaping term alone, against potentials of an independent path search and against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from npp_env import NppEnv, NppVectorEnv, Outcome
from npp_env.level.shipped import load_shipped
from reference.graph import graph_of
from reference.graph_levels import cave, changed_state, gallery, put, state_of, vault
from reference.paths import potentials
from reference.scene import scene_of

IDLE, LEFT, RIGHT = 0, 1, 2
WEIGHT = 1.5
NO_EVENTS = {"switch_weight": 0, "exit_weight": 0, "death_weight": 0, "time_weight": 0, "gold_weight": 0}


def make_env(level, discount=0.97, frame_skip=4, limit=None, weight=WEIGHT, keeps=False):
    return NppEnv(
        levels=[level],
        reward={**NO_EVENTS, "shaping_weight": weight, "discount": discount, "keeps_progress": keeps},
        frame_skip=frame_skip,
        max_episode_frames=limit,
    )


def permitted(level, state, terminated=False):
    return [0.0] if terminated else potentials(graph_of(level), scene_of(level, state))


def check_step(reward, before, after, discount, weight=WEIGHT):
    terms = [weight * (discount * b - a) for a in before for b in after]
    assert min(abs(reward - term) for term in terms) < 1e-9, (reward, terms)


def play(env, level, actions, discount=0.97, keeps=False):
    """Compare every step; returns the rewards and how it ended."""
    env.reset(seed=0)
    before = permitted(level, state_of(env))
    rewards = []
    for action in actions:
        _, reward, terminated, truncated, info = env.step(action)
        after = permitted(level, state_of(env), terminated)
        if keeps and terminated:
            assert reward == 0
        else:
            check_step(reward, before, after, 1.0 if keeps else discount)
        before = after
        rewards.append(reward)
        if terminated or truncated:
            break
    return rewards, Outcome(info["outcome"])


# A corridor of one tile: the ninja stands at y = 254. Nodes on that line are 12 px apart, at x = 66, 78, 90 and so on;
# the spawn's is that at 66. The switch lies at (240, 252), and the first node with a pixel nearer than 16 px to it is
# that at 222: the edge there spans (18, -2), sqrt(328) = 18.1108 px, in float16 18.109375. Behind the switch, the last
# node in touch is that at 258, as far away. The exit lies at (480, 252), and the first node in touch of it (22 px) is
# that at 462, again (18, -2) away.
CORRIDOR = gallery((3, 80, 42, 0), (4, 40, 42, 0))
EDGE = 18.109375
SPAWN_TO_SWITCH = (222 - 66) + EDGE  # 174.109375
SWITCH_TO_EXIT = EDGE + (462 - 258) + EDGE  # 240.21875
TOTAL = 414.328125


def test_the_numbers_of_the_corridor_add_up():
    assert TOTAL == SPAWN_TO_SWITCH + SWITCH_TO_EXIT


@pytest.mark.parametrize(
    ("x", "y", "taken", "distance"),
    [
        # At the spawn, 2 px over the line: straight to the node at 78, then 144 to that at 222, then the rest.
        (60.0, 252.0, False, math.sqrt(18**2 + 2**2) + 144 + 18.109375 + 240.21875),
        (66.0, 254.0, False, 414.328125),
        (150.0, 254.0, False, 330.328125),
        # From the node at 222 the next hop is the switch itself.
        (223.0, 254.0, False, math.sqrt(17**2 + 2**2) + 240.21875),
        # Past the switch without having taken it, the way leads back: (270 - 258) to the last node in touch.
        (280.0, 254.0, False, (280 - 258) + 18.109375 + 240.21875),
        (300.0, 254.0, True, 18 + 144 + 18.109375),
        (470.0, 254.0, True, math.sqrt(10**2 + 2**2)),
        (500.0, 254.0, True, math.sqrt(20**2 + 2**2)),
        (60.0, 254.0, True, 18 + (462 - 78) + 18.109375),
    ],
)
def test_potentials_in_a_corridor_by_hand(x, y, taken, distance):
    env = make_env(CORRIDOR, discount=0.9, frame_skip=1)
    env.reset(seed=0)
    put(env, changed_state(CORRIDOR, state_of(env), x, y, exits=[0] if taken else []))
    potential = 1 - distance / 414.328125
    assert potentials(graph_of(CORRIDOR), scene_of(CORRIDOR, state_of(env))) == [pytest.approx(potential, abs=1e-12)]
    assert env._engine.slots["potential"][0] == pytest.approx(potential, abs=1e-12)


def test_rewards_in_a_corridor_by_hand():
    """Between nodes, every pixel towards the switch is worth weight / 414.328125."""
    env = make_env(CORRIDOR, discount=0.9, frame_skip=1)
    env.reset(seed=0)
    put(env, changed_state(CORRIDOR, state_of(env), 150.0, 254.0))
    before = 1 - 330.328125 / 414.328125
    for _ in range(4):
        _, reward, *_ = env.step(RIGHT)
        x, y = (float(value) for value in np.frombuffer(state_of(env)[:16].tobytes(), "<f8"))
        after = 1 - (math.hypot(162 - x, 254 - y) + 318.328125) / 414.328125
        assert reward == pytest.approx(1.5 * (0.9 * after - before), abs=1e-12)
        before = after
    assert 150.2 < x < 156


@pytest.mark.parametrize(
    ("x", "potential"),
    [
        # The plan of 18.97 px counts as 48: from the node at 78 to the switch at 72, back to it, and to the exit at 84.
        (78.0, 1 - (math.sqrt(6**2 + 2**2) + 2 * 6.32421875) / 48),
        # 14 px to the node at 486, 396 to that at 90, the first in touch of the switch: more than twice as far as 48.
        (500.0, -1.0),
    ],
)
def test_a_very_short_plan(x, potential):
    level = gallery((3, 14, 42, 0), (4, 12, 42, 0))
    env = make_env(level)
    env.reset(seed=0)
    put(env, changed_state(level, state_of(env), x, 254.0))
    assert env._engine.slots["potential"][0] == pytest.approx(potential, abs=1e-12)
    assert potentials(graph_of(level), scene_of(level, state_of(env))) == [pytest.approx(potential, abs=1e-12)]


@pytest.mark.parametrize("discount", [1.0, 0.99, 0.9])
def test_a_won_episode_telescopes(discount):
    env = make_env(CORRIDOR, discount)
    rewards, outcome = play(env, CORRIDOR, [RIGHT] * 200, discount)
    assert outcome is Outcome.WON
    first = 1 - (math.sqrt(18**2 + 2**2) + 144 + 18.109375 + 240.21875) / 414.328125
    total = sum(reward * discount**k for k, reward in enumerate(rewards))
    # The last state counts as 0, though the ninja stands at the exit.
    assert total == pytest.approx(1.5 * -first, abs=1e-9)
    assert rewards[-1] < -0.9
    assert max(abs(reward) for reward in rewards[:-1]) < 0.2


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_kept_progress_is_worth_how_far_the_ninja_came(discount):
    env = make_env(CORRIDOR, discount, keeps=True)
    rewards, outcome = play(env, CORRIDOR, [RIGHT] * 200, keeps=True)
    assert outcome is Outcome.WON
    first = 1 - (math.sqrt(18**2 + 2**2) + 144 + 18.109375 + 240.21875) / 414.328125
    # The last step, which wins, pays nothing of this kind; before it the ninja was a step away from the exit.
    assert 1.5 * (1 - first) - 0.2 < sum(rewards) < 1.5 * (1 - first)
    assert rewards[-1] == 0
    assert min(rewards) > -0.05


def test_kept_progress_stays_after_death_and_after_the_time():
    level = load_shipped("mines/first_mines")
    rewards, outcome = play(make_env(level, keeps=True), level, [RIGHT, 5, 5, 3] * 100, keeps=True)
    assert outcome is Outcome.DIED
    assert rewards[-1] == 0
    assert sum(rewards) > 0.1
    rewards, outcome = play(make_env(CORRIDOR, limit=40, keeps=True), CORRIDOR, [RIGHT] * 100, keeps=True)
    assert outcome is Outcome.OUT_OF_TIME
    assert rewards[-1] > 0


def test_key_door_switch_and_back():
    """The plan over the key is known from the start, and no door makes a jump of more than a few pixels."""
    level = vault()
    env = make_env(level, discount=1.0, frame_skip=1)
    env.reset(seed=0)
    (start,) = permitted(level, state_of(env))
    assert start == pytest.approx(0, abs=0.1)
    configurations, rewards = set(), []
    before, terminated = [start], False
    while not terminated:
        scene = scene_of(level, state_of(env))
        configurations.add((scene.ninja.switches, scene.of_kind(6)[0].taken))
        _, reward, terminated, _, info = env.step(LEFT if scene.ninja.switches else RIGHT)
        after = permitted(level, state_of(env), terminated)
        check_step(reward, before, after, 1.0)
        before = after
        rewards.append(reward)
    assert info["outcome"] == Outcome.WON
    assert configurations == {(0, False), (0, True), (1, True)}
    assert sum(rewards) == pytest.approx(-WEIGHT * start, abs=1e-9)
    # All steps gain but those in which the ninja turns round behind the switch.
    assert sum(reward > 0 for reward in rewards[:-1]) > len(rewards) - 40
    assert max(abs(reward) for reward in rewards[:-1]) < 0.1


def test_without_a_way_there_is_no_shaping():
    level = gallery((3, 80, 42, 0), (4, 40, 80, 0))
    rewards, outcome = play(make_env(level), level, [RIGHT] * 10)
    assert outcome is Outcome.RUNNING
    assert rewards == [0.0] * 10


def test_death_counts_as_zero():
    level = load_shipped("mines/first_mines")
    rewards, outcome = play(make_env(level), level, [RIGHT, 5, 5, 3] * 100)
    assert outcome is Outcome.DIED
    assert rewards[-1] != 0


def test_running_out_of_time_does_not():
    env = make_env(CORRIDOR, limit=40)
    rewards, outcome = play(env, CORRIDOR, [RIGHT] * 100)
    assert outcome is Outcome.OUT_OF_TIME
    assert len(rewards) == 10
    assert all(abs(reward) < 0.2 for reward in rewards)


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("name", ["doors/two_keys", "doors/safe", "one_ways/cage", "several_exits"])
def test_play(name, keeps):
    level = cave(33, exits=3, locked=1, traps=0, one_ways=3) if name == "several_exits" else load_shipped(name)
    actions = np.random.default_rng(len(name)).choice(6, 60, p=[0.1, 0.1, 0.3, 0.1, 0.1, 0.3])
    rewards, _ = play(make_env(level, keeps=keeps), level, np.repeat(actions, 3), keeps=keeps)
    assert np.count_nonzero(rewards) > 10


def test_the_weight_scales_and_zero_turns_it_off():
    found = {}
    for weight in (0.0, 1.0, -2.5):
        env = make_env(CORRIDOR, weight=weight)
        env.reset(seed=0)
        found[weight] = [env.step(RIGHT)[1] for _ in range(20)]
    assert found[0.0] == [0.0] * 20
    assert found[-2.5] == [pytest.approx(-2.5 * reward, abs=1e-12) for reward in found[1.0]]
    assert min(found[1.0]) > -0.1
    assert max(found[1.0]) > 0.005


def test_a_vector_environment_pays_the_same():
    """Every environment by itself, over doors and the ends of episodes; the step that begins the next one pays 0."""
    levels = [CORRIDOR, vault(), cave(33, exits=3, locked=1, traps=0, one_ways=3)]
    reward = {**NO_EVENTS, "shaping_weight": WEIGHT, "discount": 0.95, "keeps_progress": False}
    env = NppVectorEnv(4, levels=levels, reward=reward, max_episode_frames=240)
    _, info = env.reset(seed=2)

    def level_of(i):
        return levels[info["level"][i]]

    before = [permitted(level_of(i), state_of(env, i)) for i in range(4)]
    ended = np.zeros(4, bool)
    begun = 0
    rng = np.random.default_rng(0)
    for _ in range(150):
        _, rewards, terminated, truncated, info = env.step(np.where(rng.random(4) < 0.9, RIGHT, rng.integers(6)))
        for i in range(4):
            after = permitted(level_of(i), state_of(env, i), terminated[i])
            if ended[i]:
                begun += 1
                assert rewards[i] == 0
            else:
                check_step(rewards[i], before[i], after, 0.95)
            before[i] = after
        ended = terminated | truncated
    assert begun > 0
