"""The packed rollout buffers give what SB3's own give."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")

from play import held_actions  # noqa: E402
from stable_baselines3.common.buffers import DictRolloutBuffer  # noqa: E402

from npp_env import NppVectorEnv  # noqa: E402
from npp_env.integrations.sb3_buffers import PackedDictRolloutBuffer  # noqa: E402
from npp_env.observe.spec import OBSERVATION_KEYS  # noqa: E402

STEPS, ENVS = 11, 3


def buffers_of(kind: str):
    if kind == "plain":
        return DictRolloutBuffer, PackedDictRolloutBuffer
    pytest.importorskip("sb3_contrib")
    from sb3_contrib.common.maskable.buffers import MaskableDictRolloutBuffer

    from npp_env.integrations.sb3_maskable import PackedMaskableDictRolloutBuffer

    return MaskableDictRolloutBuffer, PackedMaskableDictRolloutBuffer


def environment() -> NppVectorEnv:
    return NppVectorEnv(
        ENVS,
        levels="shipped:first_steps",
        observation={"keys": OBSERVATION_KEYS},
        graph={"max_nodes": 1700, "max_edges": 13000},
        max_episode_frames=30,
    )


def fill(buffers, env, observation, rng, masks: bool):
    for step, actions in enumerate(held_actions(rng, STEPS, ENVS)):
        noise = torch.from_numpy(rng.random(ENVS).astype(np.float32))
        extra = {"action_masks": rng.random((ENVS, 6)) < 0.5} if masks else {}
        for buffer in buffers:
            starts = np.full(ENVS, step == 0)
            buffer.add(observation, actions, rng.random(ENVS) * 0 + step, starts, noise, noise, **extra)
        observation = env.step(actions)[0]
    for buffer in buffers:
        buffer.compute_returns_and_advantage(noise, np.zeros(ENVS))
    return observation


@pytest.mark.parametrize("kind", ["plain", "maskable"])
def test_samples_are_those_of_the_dense_buffer_over_epochs_and_rollouts(kind):
    env = environment()
    spaces = (env.single_observation_space, env.single_action_space)
    dense, packed = (cls(STEPS, *spaces, device="cpu", n_envs=ENVS) for cls in buffers_of(kind))
    rng = np.random.default_rng(0)
    observation, _ = env.reset(seed=1)
    for _ in range(2):
        dense.reset()
        packed.reset()
        observation = fill((dense, packed), env, observation, rng, kind == "maskable")
        for epoch in range(2):
            generators = []
            for buffer in (dense, packed):
                np.random.seed(epoch)
                generators.append(list(buffer.get(7)))
            for first, second in zip(*generators, strict=True):
                assert first._fields == second._fields
                for name in first._fields:
                    a, b = getattr(first, name), getattr(second, name)
                    if name == "observations":
                        assert list(a) == list(b)
                        for key in a:
                            assert a[key].dtype == b[key].dtype
                            assert a[key].numpy().tobytes() == b[key].numpy().tobytes(), key
                    else:
                        assert torch.equal(a, b), name


def test_the_packed_buffer_never_allocates_dense_graphs():
    env = environment()
    spaces = (env.single_observation_space, env.single_action_space)
    observation, _ = env.reset(seed=1)
    dense_bytes = STEPS * ENVS * sum(box.dtype.itemsize * int(np.prod(box.shape)) for box in spaces[0].values())
    tracemalloc.start()
    try:
        packed = PackedDictRolloutBuffer(STEPS, *spaces, device="cpu", n_envs=ENVS)
        created = tracemalloc.get_traced_memory()[1]
        fill((packed,), env, observation, np.random.default_rng(0), False)
        list(packed.get(6))
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        list(packed.get(6))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert created < dense_bytes / 4
    assert packed.packed.nbytes < dense_bytes / 2
    # Another epoch needs no memory but for a few numbers per transition.
    assert peak - held < 50_000
