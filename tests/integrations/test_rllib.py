"""RLlib with the native vector environment inside its environment runners."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import npp_env

pytest.importorskip("torch")
ray = pytest.importorskip("ray")
pytest.importorskip("ray.rllib")


@pytest.fixture
def cluster():
    ray.init(num_cpus=1, include_dashboard=False, logging_level="ERROR", object_store_memory=80 * 2**20)
    yield
    ray.shutdown()


@pytest.mark.timeout(120)
def test_ppo_trains_on_the_native_vector_environment(cluster):
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.connectors.env_to_module import FlattenObservations

    config = (
        PPOConfig()
        .environment("npp_env:Npp-v0", env_config={"levels": "shipped:first_steps", "max_episode_frames": 40})
        .env_runners(
            num_env_runners=0,
            num_envs_per_env_runner=8,
            rollout_fragment_length=32,
            gym_env_vectorize_mode=gym.VectorizeMode.VECTOR_ENTRY_POINT,
            env_to_module_connector=lambda env, spaces, device: FlattenObservations(),
        )
        .training(train_batch_size=256, minibatch_size=128, num_epochs=1)
        .rl_module(model_config={"fcnet_hiddens": [16]})
    )
    algorithm = config.build_algo()
    assert isinstance(algorithm.env_runner.env.unwrapped, npp_env.NppVectorEnv)
    result = algorithm.train()["env_runners"]
    assert result["num_env_steps_sampled"] >= 256
    assert result["num_episodes"] >= 8
    # 40 ticks are 10 steps, unless the ninja dies first.
    assert 1 <= result["episode_len_mean"] <= 10
    assert np.isfinite(result["episode_return_mean"])
    algorithm.stop()
