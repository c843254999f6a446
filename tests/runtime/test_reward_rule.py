"""The defaults of the reward set no trap, on any shipped level.

What an episode is worth to a learner: its discounted rewards; where time cut it off, plus what would have come. The
worst that can come is nothing: standing for ever, whose shaping is summed up here by going on without a limit.
From one and the same moment on, for every discount in use: time-out <= death <= the switch <= a win.
"""

from __future__ import annotations

import numpy as np
import pytest

from npp_env import NppEnv
from npp_env.cli.profile import ACTION_OF_INPUT
from npp_env.level.shipped import shipped_level_names
from npp_env.recording import load_shipped_recording

DISCOUNTS = (0.9, 0.97, 0.99, 0.995, 0.999)
IDLE = 0
TINY = 1e-9
MOMENTS = 5


def played(name, discount):
    """Rewards and potentials of the winning recording, one a tick, the step that takes the switch, and the last one."""
    env = NppEnv(
        levels=f"shipped:{name}",
        frame_skip=1,
        max_episode_frames=None,
        observation={"keys": ["action_mask"]},
        reward={"discount": discount},
    )
    env.reset(seed=0)
    rewards, potentials, states, switch = [], [float(env._engine.slots["potential"][0])], [env.get_state()], None
    for number, action in enumerate(np.array(ACTION_OF_INPUT)[load_shipped_recording(name).inputs & 7]):
        _, reward, terminated, _, info = env.step(int(action))
        rewards.append(reward)
        potentials.append(float(env._engine.slots["potential"][0]))
        states.append(env.get_state())
        if switch is None and info["phase"]:
            switch = number
        if terminated:
            break
    assert info["outcome"] == 1
    return env, np.array(rewards), np.array(potentials), states, switch


def worth(rewards, discount):
    return float(np.sum(rewards * discount ** np.arange(len(rewards))))


def death_now(potential):
    """The reward of a step that dies at once: nothing but the potential is paid back (`RewardConfig`)."""
    return -potential


def standing(env, state, discount, ticks):
    """What it is worth to do nothing for ever, or to die of that; and whether it died."""
    env.set_state(state)
    rewards = []
    for _ in range(ticks):
        _, reward, terminated, _, info = env.step(IDLE)
        rewards.append(reward)
        if terminated:
            return worth(rewards, discount), info["outcome"]
    # From here on the shaping of one state, again and again: (discount - 1) times its potential, for ever.
    rest = -float(env._engine.slots["potential"][0])
    return worth(rewards, discount) + discount**ticks * rest, 0


@pytest.mark.parametrize("name", shipped_level_names())
def test_standing_never_pays_more_than_dying_nor_that_more_than_the_switch_nor_that_more_than_winning(name):
    for discount in DISCOUNTS:
        env, rewards, potentials, states, switch = played(name, discount)
        stood = 0
        for moment in np.linspace(0, len(rewards) - 1, MOMENTS).astype(int).tolist():
            dead = death_now(potentials[moment])
            won = worth(rewards[moment:], discount)
            idle, outcome = standing(env, states[moment], discount, ticks=60)
            assert won >= dead - TINY
            if outcome != 1:
                stood += 1
                assert idle <= dead + (0.5 if moment <= switch else 0) + TINY
            if moment <= switch:
                # The switch is taken as in the recording, and the next step dies.
                until = rewards[moment : switch + 1]
                taken = worth(until, discount) + discount ** len(until) * death_now(potentials[switch + 1])
                assert dead <= taken + TINY
                assert taken <= won + TINY
                if discount >= 0.99:
                    assert dead < taken < won
                if outcome != 1 and env.step(IDLE)[4]["phase"] == 0:
                    assert idle == pytest.approx(dead, abs=TINY)
        assert stood > 0


def test_dying_pays_back_the_potential_and_nothing_else():
    """What `death_now` says, seen in deaths of real play."""
    env = NppEnv(levels="shipped:mines", frame_skip=4, observation={"keys": ["action_mask"]})
    rng = np.random.default_rng(0)
    deaths = 0
    for seed in range(40):
        env.reset(seed=seed)
        terminated = truncated = False
        while not (terminated or truncated):
            before = float(env._engine.slots["potential"][0])
            phase = env._info(False)["phase"]
            _, reward, terminated, truncated, info = env.step(int(rng.integers(6)))
            if info["outcome"] == 2 and info["phase"] == phase:
                deaths += 1
                assert reward == pytest.approx(death_now(before), abs=1e-12)
    assert deaths > 10


def test_the_weights_of_before_set_traps():
    """Dying cost 0.5, running out of time a third of that: whoever stood before the first gap was better off."""
    for discount in (0.97, 0.99):
        time_per_step, death = -0.0001 * 4, -0.5
        for_ever = time_per_step / (1 - discount)
        assert for_ever > death
