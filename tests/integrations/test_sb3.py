"""The adapter for Stable-Baselines3 against the library itself."""

from __future__ import annotations

import warnings

import gymnasium as gym
import numpy as np
import pytest
from play import held_actions

import npp_env
from npp_env.config import PRESETS
from npp_env.errors import NppError

stable_baselines3 = pytest.importorskip("stable_baselines3")

from stable_baselines3.common.env_checker import check_env  # noqa: E402
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize  # noqa: E402

from npp_env.integrations.sb3 import NppVecEnv  # noqa: E402

ID = "npp_env:Npp-v0"
TINY = {"net_arch": [16]}
SHORT = {"levels": "shipped:first_steps", "max_episode_frames": 80}
FRAMES = {"observation": {"keys": ["game_state", "player_frame", "action_mask"]}}


def parameters_of(model) -> np.ndarray:
    return np.concatenate([p.detach().numpy().ravel() for p in model.policy.parameters()])


def assert_learns(model, steps: int) -> None:
    before = parameters_of(model)
    model.learn(steps)
    after = parameters_of(model)
    assert model.num_timesteps >= steps
    assert np.isfinite(after).all()
    assert not np.array_equal(before, after)


@pytest.mark.parametrize("layout", ["dict", "flat", "packed"])
@pytest.mark.parametrize("preset", PRESETS)
def test_check_env_without_warnings(preset, layout):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Gymnasium's own checker, from 1.4 on, warns of the views that `copy=False` gives.
        config = {"observation": {"layout": layout}}
        check_env(gym.make(ID, preset=preset, config=config, copy=True), skip_render_check=True)


def test_check_env_on_the_defaults_without_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make(ID, render_mode="rgb_array"), skip_render_check=False)


def test_ppo_learns():
    env = NppVecEnv(8, preset="parallel_training", **SHORT)
    model = stable_baselines3.PPO("MultiInputPolicy", env, n_steps=32, batch_size=64, n_epochs=1, policy_kwargs=TINY)
    assert_learns(model, 512)
    # The rollout buffer keeps the small types.
    assert model.rollout_buffer.observations["game_state"].dtype == np.float16
    assert model.rollout_buffer.observations["action_mask"].dtype == np.uint8
    assert len(model.ep_info_buffer) > 0


def test_ppo_sees_what_the_environment_gave():
    env = NppVecEnv(4, preset="parallel_training", **SHORT)
    model = stable_baselines3.PPO("MultiInputPolicy", env, n_steps=24, batch_size=32, n_epochs=1, policy_kwargs=TINY)
    model.set_random_seed(5)
    model.learn(96)
    stored = model.rollout_buffer.observations["game_state"]
    actions = model.rollout_buffer.actions
    # The buffer is shuffled flat after training: rows of one environment follow each other.
    stored, actions = stored.reshape(4, 24, -1), actions.reshape(4, 24).astype(np.int64)
    twin = npp_env.NppVectorEnv(4, preset="parallel_training", autoreset_mode="SAME_STEP", **SHORT)
    observation, _ = twin.reset(seed=5)
    for step in range(24):
        np.testing.assert_array_equal(observation["game_state"], stored[:, step])
        observation, *_ = twin.step(actions[:, step])


def test_ppo_learns_from_frames():
    env = NppVecEnv(2, FRAMES, **SHORT)
    model = stable_baselines3.PPO("MultiInputPolicy", env, n_steps=16, batch_size=16, n_epochs=1, policy_kwargs=TINY)
    assert_learns(model, 32)


def test_ppo_learns_from_the_flat_layout():
    env = NppVecEnv(4, {"observation": {"layout": "flat"}}, **SHORT)
    model = stable_baselines3.PPO("MlpPolicy", env, n_steps=16, batch_size=32, n_epochs=1, policy_kwargs=TINY)
    assert_learns(model, 64)


def test_dqn_learns_and_gets_terminal_observations():
    env = NppVecEnv(4, preset="parallel_training", **SHORT)
    model = stable_baselines3.DQN(
        "MultiInputPolicy",
        env,
        buffer_size=2000,
        learning_starts=64,
        train_freq=8,
        batch_size=32,
        policy_kwargs=TINY,
    )
    assert_learns(model, 400)
    replay = model.replay_buffer
    ended = np.argwhere(replay.dones[: replay.pos])
    assert len(ended) > 0
    for place, number in ended.tolist():
        if place + 1 < replay.pos:
            final = replay.next_observations["game_state"][place, number]
            first = replay.observations["game_state"][place + 1, number]
            # Time left: used up at the end of an episode, all there at the beginning of the next.
            assert final[31] < first[31]
            assert first[31] == 1


def test_maskable_ppo_obeys_the_masks():
    contrib = pytest.importorskip("sb3_contrib")
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

    env = NppVecEnv(8, preset="parallel_training", **SHORT)
    assert is_masking_supported(env)
    env.reset()
    np.testing.assert_array_equal(get_action_masks(env), env.action_masks())
    model = contrib.MaskablePPO(
        "MultiInputPolicy", env, n_steps=32, batch_size=64, n_epochs=1, policy_kwargs=TINY, seed=3
    )
    assert_learns(model, 512)
    masks = model.rollout_buffer.action_masks.reshape(-1, 6)
    actions = model.rollout_buffer.actions.reshape(-1).astype(np.int64)
    assert (masks == 0).any()
    assert masks[np.arange(len(actions)), actions].all()
    seen = model.rollout_buffer.observations["action_mask"].reshape(-1, 6)
    np.testing.assert_array_equal(masks, seen)


def test_wrappers_of_the_library():
    env = VecNormalize(VecMonitor(NppVecEnv(4, preset="parallel_training", **SHORT)))
    observation = env.reset()
    assert set(observation) == {"game_state", "reachability_features", "action_mask"}
    episodes = []
    for actions in held_actions(np.random.default_rng(0), 60, 4):
        observation, rewards, _, infos = env.step(actions)
        episodes += [info["episode"] for info in infos if "episode" in info]
        assert all(np.isfinite(array).all() for array in observation.values())
        assert rewards.dtype == np.float32
    assert len(episodes) >= 8
    model = stable_baselines3.PPO("MultiInputPolicy", env, n_steps=16, batch_size=32, n_epochs=1, policy_kwargs=TINY)
    assert_learns(model, 64)


def test_infos_of_ended_episodes():
    env = NppVecEnv(3, preset="parallel_training", **SHORT)
    native = npp_env.NppVectorEnv(3, preset="parallel_training", autoreset_mode="SAME_STEP", **SHORT)
    env.seed(11)
    first = env.reset()
    expected, _ = native.reset(seed=11)
    for key, array in expected.items():
        np.testing.assert_array_equal(first[key], array)
    assert [info["frame"] for info in env.reset_infos] == [0, 0, 0]
    ended = 0
    for actions in held_actions(np.random.default_rng(1), 60, 3):
        observation, rewards, dones, infos = env.step(actions)
        expected, r, terminated, truncated, info = native.step(actions)
        np.testing.assert_array_equal(rewards, r.astype(np.float32))
        np.testing.assert_array_equal(dones, terminated | truncated)
        for key, array in expected.items():
            np.testing.assert_array_equal(observation[key], array)
        for i in range(3):
            if not dones[i]:
                assert infos[i] == {}
                continue
            ended += 1
            assert infos[i]["TimeLimit.truncated"] == truncated[i]
            assert infos[i]["episode"]["l"] == info["final_info"]["episode_steps"][i]
            assert infos[i]["episode"]["r"] == info["final_info"]["episode_return"][i]
            assert infos[i]["is_success"] == (info["final_info"]["outcome"][i] == npp_env.Outcome.WON)
            for key, array in info["final_obs"][i].items():
                np.testing.assert_array_equal(infos[i]["terminal_observation"][key], array)
    assert ended >= 6


def test_the_interface_of_vec_env():
    env = NppVecEnv(3, preset="parallel_training", render_mode="rgb_array", **SHORT)
    env.reset()
    assert env.get_attr("num_threads") == [1, 1, 1]
    assert env.get_attr("render_mode", indices=[0]) == ["rgb_array"]
    assert env.env_is_wrapped(VecMonitor) == [False] * 3
    assert [len(mask) for mask in env.env_method("action_masks", indices=[0, 2])] == [6, 6]
    assert len(env.env_method("get_state", indices=1)) == 1
    assert [picture.shape for picture in env.get_images()] == [(600, 1056, 3)] * 3
    with pytest.raises(NppError, match="step_async"):
        env.step_wait()
    with pytest.raises(NppError, match="fly"):
        env.env_method("fly")
    with pytest.raises(NppError, match="set_attr"):
        env.set_attr("render_mode", None, indices=[0])
    env.close()
    env.close()


def test_configuration_objects_decide_about_copies():
    given = npp_env.EnvironmentConfig.for_training(levels="shipped:first_steps")
    assert NppVecEnv(1, given).native.config.copy is True
    assert NppVecEnv(1, preset="training").native.config.copy is False
