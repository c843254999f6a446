"""Buffers of state rows sample what SB3's own sample, without a second copy."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")

from stable_baselines3.common.buffers import ReplayBuffer, RolloutBuffer  # noqa: E402

from npp_env.errors import ConfigError  # noqa: E402
from npp_env.integrations.sb3_states import StateReplayBuffer, StateRolloutBuffer  # noqa: E402

VECTOR = gym.spaces.Box(0, 255, (4,), np.uint8)
ACTIONS = gym.spaces.Discrete(6)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    envs=st.integers(1, 3),
    capacity=st.integers(1, 7),
    adds=st.integers(1, 20),
    end_share=st.sampled_from([0.0, 0.2, 1.0]),
    values=st.sampled_from([2, 256]),
)
def test_replays_sample_the_same_around_the_ring(seed, envs, capacity, adds, end_share, values):
    rng = np.random.default_rng(seed)
    theirs, ours = (
        cls(capacity * envs, VECTOR, ACTIONS, device="cpu", n_envs=envs) for cls in (ReplayBuffer, StateReplayBuffer)
    )
    assert ours.buffer_size == capacity
    observation = rng.integers(0, values, (envs, 4)).astype(np.uint8)
    for _ in range(adds):
        done = rng.random(envs) < end_share
        after = rng.integers(0, values, (envs, 4)).astype(np.uint8)
        infos = [{"TimeLimit.truncated": bool(rng.random() < 0.5) and bool(d)} for d in done]
        arguments = (rng.integers(0, 6, envs), rng.random(envs), done, infos)
        for buffer in (theirs, ours):
            buffer.add(observation, after, *arguments)
        # An ended episode goes on with another observation than its last.
        fresh = rng.integers(0, values, (envs, 4)).astype(np.uint8)
        observation = np.where(done[:, None], fresh, after)
        samples = []
        for buffer in (theirs, ours):
            np.random.seed(seed)
            samples.append(buffer.sample(16))
        for name in samples[0]._fields:
            first, second = (getattr(sample, name) for sample in samples)
            assert first is None or torch.equal(first, second), name


def test_every_vector_of_a_replay_is_stored_once():
    buffer = StateReplayBuffer(1000, VECTOR, ACTIONS, device="cpu", n_envs=2)
    row = np.zeros((2, 4), np.uint8)
    for step in range(1200):
        after = np.full((2, 4), step % 251 + 1, np.uint8)
        done = np.array([step % 50 == 49, False])
        buffer.add(row, after, np.zeros(2), np.zeros(2), done, [{}, {}])
        row = after.copy()
        row[done] = 0
    # One in fifty of one of the two environments.
    assert buffer.observations.nbytes <= 1.2 * 500 * 2 * (4 + 6)
    assert buffer.next_observations.nbytes <= 8 + 11 * 4


@pytest.mark.parametrize("kind", ["plain", "maskable"])
def test_rollouts_sample_the_same_without_a_copy(kind):
    theirs, ours = RolloutBuffer, StateRolloutBuffer
    if kind == "maskable":
        pytest.importorskip("sb3_contrib")
        from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer as theirs

        from npp_env.integrations.sb3_maskable import StateMaskableRolloutBuffer as ours
    buffers = [cls(5, VECTOR, ACTIONS, device="cpu", n_envs=3) for cls in (theirs, ours)]
    for _ in range(2):
        rng = np.random.default_rng(1)
        for buffer in buffers:
            buffer.reset()
        stored = buffers[1].observations
        for _ in range(5):
            observation = rng.integers(0, 256, (3, 4)).astype(np.uint8)
            value = torch.from_numpy(rng.random(3).astype(np.float32))
            for buffer in buffers:
                buffer.add(observation, np.arange(3), np.ones(3), np.zeros(3), value, value)
        for epoch in range(2):
            drawn = []
            for buffer in buffers:
                np.random.seed(epoch)
                drawn.append(list(buffer.get(4)))
            for first, second in zip(*drawn, strict=True):
                for name in first._fields:
                    assert torch.equal(getattr(first, name), getattr(second, name)), name
        assert buffers[1].observations.store is stored


def test_dictionaries_are_refused():
    with pytest.raises(ConfigError, match="layout='state'"):
        StateReplayBuffer(10, gym.spaces.Dict({"a": VECTOR}), ACTIONS)
