"""TorchRL over the native vector environment."""

from __future__ import annotations

import warnings

import gymnasium as gym
import pytest

import npp_env

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")

from torchrl.envs import GymEnv, GymWrapper  # noqa: E402
from torchrl.envs.utils import check_env_specs  # noqa: E402

ID = "npp_env:Npp-v0"
SHORT = {"levels": "shipped:first_steps", "max_episode_frames": 60}
TIME_LEFT = 31


@pytest.mark.parametrize("mode", ["SAME_STEP", "DISABLED"])
def test_rollouts_of_the_native_vector_environment(mode):
    native = gym.make_vec(ID, num_envs=4, autoreset_mode=mode, **SHORT)
    assert isinstance(native.unwrapped, npp_env.NppVectorEnv)
    env = GymWrapper(native)
    env.set_seed(3)
    rollout = env.rollout(40, break_when_any_done=False)
    assert rollout.batch_size == (4, 40)
    assert rollout["game_state"].dtype == torch.float16
    assert torch.isfinite(rollout["next", "reward"]).all()
    done = rollout["next", "done"][:, :-1, 0]
    assert done.sum() >= 4
    # What follows an end is the last observation of its episode; what comes after is the first of the next.
    final = rollout["next", "game_state"][:, :-1][done]
    first = rollout["game_state"][:, 1:][done]
    assert (first[:, TIME_LEFT] == 1).all()
    assert (final[:, TIME_LEFT] < 1).all()
    running = ~done
    torch.testing.assert_close(
        rollout["next", "game_state"][:, :-1][running], rollout["game_state"][:, 1:][running], rtol=0, atol=0
    )
    env.close()


def test_single_environment():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = GymEnv(ID, **SHORT)
        check_env_specs(env)
    assert env.rollout(3)["game_state"].shape == (3, 34)
