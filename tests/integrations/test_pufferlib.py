"""The packed layout through PufferLib's own code: its emulation, its vectorisation, and a native environment."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import gymnasium as gym
import numpy as np
import pytest
from play import held_actions

from npp_env import NppVectorEnv
from npp_env.integrations.packed import unpack

# When it is imported, PufferLib leaves a link in the present folder.
_here = Path.cwd()
with TemporaryDirectory() as _folder:
    os.chdir(_folder)
    pufferlib = pytest.importorskip("pufferlib")
    os.chdir(_here)

import pufferlib.emulation  # noqa: E402
import pufferlib.vector  # noqa: E402

PACKED = {"observation": {"layout": "packed"}, "levels": "shipped:first_steps", "max_episode_frames": 120}
PLAIN = {**PACKED, "observation": {"layout": "dict"}}
STEPS = 60


def make_emulated(buf=None, seed=0):
    return pufferlib.emulation.GymnasiumPufferEnv(gym.make("npp_env:Npp-v0", config=PACKED), buf=buf, seed=seed)


class Native(pufferlib.PufferEnv):
    """Many environments that write into the arrays of PufferLib."""

    def __init__(self, num_envs, buf=None, seed=0):
        one = NppVectorEnv(1, PACKED)
        self.single_observation_space, self.single_action_space = one.single_observation_space, one.single_action_space
        self.num_agents = num_envs
        super().__init__(buf)
        self.env = NppVectorEnv(num_envs, PACKED, buffers=self.observations, autoreset_mode="SAME_STEP")

    def reset(self, seed=None):
        self.env.reset(seed=seed)
        return self.observations, []

    def step(self, actions):
        _, self.rewards[:], self.terminals[:], self.truncations[:], _ = self.env.step(actions)
        return self.observations, self.rewards, self.terminals, self.truncations, []

    def close(self):
        self.env.close()


def assert_same(rows, expected):
    unpacked = unpack(np.asarray(rows), PACKED)
    assert list(unpacked) == list(expected)
    for key, array in expected.items():
        assert unpacked[key].dtype == array.dtype
        np.testing.assert_array_equal(unpacked[key].reshape(array.shape), array)


def test_emulation_takes_the_rows_as_they_are():
    env, plain = make_emulated(), gym.make("npp_env:Npp-v0", config=PLAIN)
    assert not env.is_obs_emulated
    rows, _ = env.reset(seed=3)
    expected, _ = plain.reset(seed=3)
    ended = False
    for actions in held_actions(np.random.default_rng(0), STEPS, 1):
        assert_same(rows[0], expected)
        rows, reward, terminated, truncated, _ = env.step(actions)
        expected, *result, _ = plain.step(int(actions[0]))
        assert result == [reward, terminated, truncated]
        if ended := terminated or truncated:
            break
    assert ended


def test_emulated_environments_in_its_vectorisation():
    vector = pufferlib.vector.make(make_emulated, num_envs=3, backend=pufferlib.vector.Serial)
    plain = [gym.make("npp_env:Npp-v0", config=PLAIN) for _ in range(3)]
    rows, _ = vector.reset(seed=5)
    expected = [env.reset(seed=5 + k)[0] for k, env in enumerate(plain)]
    for actions in held_actions(np.random.default_rng(1), 10, 3):
        for row, observation in zip(rows, expected, strict=True):
            assert_same(row, observation)
        rows, rewards, *_ = vector.step(actions)
        stepped = [env.step(action) for env, action in zip(plain, actions.tolist(), strict=True)]
        expected = [observation for observation, *_ in stepped]
        np.testing.assert_array_equal(rewards, np.array([reward for _, reward, *_ in stepped], np.float32))
    vector.close()


@pytest.mark.parametrize("backend", ["Serial", "Multiprocessing"])
def test_native_environments_write_into_its_buffers(backend):
    options = {"num_workers": 2} if backend == "Multiprocessing" else {}
    vector = pufferlib.vector.make(
        Native, env_kwargs={"num_envs": 4}, num_envs=2, backend=getattr(pufferlib.vector, backend), **options
    )
    twins = [NppVectorEnv(4, PLAIN, autoreset_mode="SAME_STEP") for _ in range(2)]
    rows, _ = vector.reset(seed=7)
    expected = [twin.reset(seed=7 + k)[0] for k, twin in enumerate(twins)]
    ends = 0
    for actions in held_actions(np.random.default_rng(2), STEPS, 8):
        for k in range(2):
            assert_same(np.asarray(rows)[4 * k : 4 * k + 4], expected[k])
        rows, rewards, terminals, truncations, *_ = vector.step(actions)
        stepped = [twin.step(actions[4 * k : 4 * k + 4]) for k, twin in enumerate(twins)]
        expected = [observation for observation, *_ in stepped]
        for found, number in ((rewards, 1), (terminals, 2), (truncations, 3)):
            joined = np.concatenate([step[number] for step in stepped])
            np.testing.assert_array_equal(np.asarray(found).ravel(), joined.astype(np.asarray(found).dtype))
        ends += int(np.asarray(truncations).sum() + np.asarray(terminals).sum())
    assert ends >= 8
    vector.close()
