"""The defaults of the reward set no trap, on any shipped level.

What an episode is worth to a learner from a moment on: its discounted rewards, where time cut it off plus what would
have come. For discounts of 0.99 and more a step of four ticks: standing = dying at once < the switch < a win.
"""

from __future__ import annotations

import numpy as np
import pytest

from npp_env import NppEnv
from npp_env.cli.profile import ACTION_OF_INPUT
from npp_env.level.shipped import shipped_level_names
from npp_env.recording import load_shipped_recording

DISCOUNTS = tuple(discount ** (1 / 4) for discount in (0.99, 0.995, 0.999))  # of a tick
IDLE = 0
TINY = 1e-9
MOMENTS = 8


def played(name, **reward):
    """Rewards and potentials of the winning recording, one a tick, the states, and the step that takes the switch."""
    env = NppEnv(
        levels=f"shipped:{name}",
        frame_skip=1,
        max_episode_frames=None,
        observation={"keys": ["action_mask"]},
        reward=reward,
    )
    env.reset(seed=0)
    rewards, potentials, states, switch = [], [potential_of(env)], [env.get_state()], None
    for number, action in enumerate(np.array(ACTION_OF_INPUT)[load_shipped_recording(name).inputs & 7]):
        _, reward, terminated, _, info = env.step(int(action))
        rewards.append(reward)
        potentials.append(potential_of(env))
        states.append(env.get_state())
        if switch is None and info["phase"]:
            switch = number
        if terminated:
            break
    assert info["outcome"] == 1
    return env, np.array(rewards), np.array(potentials), states, switch


def potential_of(env):
    return float(env._engine.slots["potential"][0])


def worth(rewards, discount):
    return float(np.sum(rewards * discount ** np.arange(len(rewards))))


def standing(env, state, ticks):
    """The rewards of doing nothing, the potentials before, in between and after, and how it ended."""
    env.set_state(state)
    rewards, potentials = [], [potential_of(env)]
    for _ in range(ticks):
        _, reward, terminated, _, info = env.step(IDLE)
        rewards.append(reward)
        if terminated:
            return np.array(rewards), potentials, info["outcome"]
        potentials.append(potential_of(env))
    return np.array(rewards), potentials, 0


DYING = 0.0
"""The step that dies pays nothing; `test_dying_pays_nothing` sees it in real play."""


@pytest.mark.parametrize("name", shipped_level_names())
def test_standing_pays_as_little_as_dying_less_than_the_switch_and_that_less_than_winning(name):
    env, rewards, _, states, switch = played(name)
    stood = 0
    for moment in np.linspace(0, len(rewards) - 1, MOMENTS).astype(int).tolist():
        for discount in DISCOUNTS:
            won = worth(rewards[moment:], discount)
            assert won > DYING
            if moment <= switch:
                # The switch is taken as in the recording, and the next step dies.
                taken = worth(rewards[moment : switch + 1], discount) + DYING
                assert DYING < taken < won
        idle, potentials, outcome = standing(env, states[moment], ticks=60)
        if outcome == 0 and env._info(False)["phase"] == (moment > switch):
            # Whoever slides, falls or is carried gets what the place is worth; who stays where he is, gets nothing.
            stood += 1
            np.testing.assert_allclose(idle, np.diff(potentials), atol=TINY)
            still = np.diff(potentials) == 0
            assert (idle[still] == DYING).all()
    assert stood > 0


@pytest.mark.parametrize("name", ["first_steps/gap", "mines/ring", "doors/two_keys", "slopes/moons"])
@pytest.mark.parametrize("discount", [0.9, 0.97, 0.99, 0.999])
def test_lent_progress_is_paid_back_whatever_one_does(name, discount):
    """Potential-based shaping: from any moment standing for ever is worth exactly what dying at once is."""
    env, rewards, potentials, states, switch = played(name, keeps_progress=False, discount=discount)
    for moment in np.linspace(0, len(rewards) - 1, MOMENTS).astype(int).tolist():
        dead = -potentials[moment]
        idle, course, outcome = standing(env, states[moment], ticks=60)
        if outcome == 0 and env._info(False)["phase"] == (moment > switch):
            # From here on the shaping of one state, again and again: (discount - 1) times its potential, for ever.
            assert worth(idle, discount) - discount ** len(idle) * course[-1] == pytest.approx(dead, abs=TINY)
        assert worth(rewards[moment:], discount) >= dead - TINY


@pytest.mark.parametrize("keeps", [True, False])
def test_dying_pays_nothing(keeps):
    """Beyond what was lent, if it was: seen in deaths of real play."""
    config = {"keys": ["action_mask"]}
    env = NppEnv(levels="shipped:mines", frame_skip=4, observation=config, reward={"keeps_progress": keeps})
    rng = np.random.default_rng(0)
    deaths = 0
    for seed in range(40):
        env.reset(seed=seed)
        terminated = truncated = False
        while not (terminated or truncated):
            before = potential_of(env)
            phase = env._info(False)["phase"]
            _, reward, terminated, truncated, info = env.step(int(rng.integers(6)))
            if info["outcome"] == 2 and info["phase"] == phase:
                deaths += 1
                assert reward == pytest.approx(DYING if keeps else -before, abs=1e-12)
    assert deaths > 10


def test_the_weights_of_before_set_traps():
    """Dying cost 0.5, running out of time a third of that: whoever stood before the first gap was better off."""
    for discount in (0.97, 0.99):
        time_per_step, death = -0.0001 * 4, -0.5
        for_ever = time_per_step / (1 - discount)
        assert for_ever > death
