"""Dense, packed and compact storage train the same network, to the last bit."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")

from stable_baselines3 import DQN, PPO  # noqa: E402
from stable_baselines3.common.callbacks import BaseCallback  # noqa: E402
from stable_baselines3.common.vec_env import VecFrameStack  # noqa: E402

from npp_env.errors import ConfigError  # noqa: E402
from npp_env.integrations.sb3 import NppVecEnv  # noqa: E402
from npp_env.integrations.sb3_buffers import PackedDictRolloutBuffer  # noqa: E402
from npp_env.integrations.sb3_features import StateFeatures  # noqa: E402
from npp_env.integrations.sb3_states import StateReplayBuffer, StateRolloutBuffer  # noqa: E402

KEYS = (
    "game_state",
    "reachability_features",
    "player_frame",
    "graph_node_feats",
    "graph_edge_index",
    "graph_edge_feats",
    "graph_node_mask",
    "graph_edge_mask",
    "action_mask",
)
SMALL = {"max_nodes": 60, "max_edges": 100}
UPDATES, ENVS, STEPS = 3, 2, 8


class Losses(BaseCallback):
    """Collects what every update logs."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[dict[str, float]] = []

    def _on_rollout_start(self) -> None:
        self.note()

    def _on_step(self) -> bool:
        return True

    def note(self) -> None:
        values = self.model.logger.name_to_value
        self.seen.append({k: v for k, v in values.items() if k.startswith("train/") and "n_updates" not in k})


@pytest.fixture(autouse=True)
def quiet():
    """SB3 warns of two-dimensional boxes, which CombinedExtractor flattens."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def environment(layout: str, keys=KEYS, **arguments) -> NppVecEnv:
    env = NppVecEnv(
        ENVS,
        levels="shipped:first_steps",
        observation={"keys": keys, "layout": layout},
        graph=SMALL,
        max_episode_frames=60,
        **arguments,
    )
    env.seed(5)
    return env


def compact_policy(env: NppVecEnv, **arguments) -> dict:
    kwargs = {"config": env.native.config, **arguments}
    return {"features_extractor_class": StateFeatures, "features_extractor_kwargs": kwargs, "net_arch": [16]}


def losses_of(kind: str, algorithm=PPO, packed=PackedDictRolloutBuffer, stack: int = 1, keys=KEYS, steps=STEPS):
    """Losses of three updates, and the weights after them."""
    torch.manual_seed(0)
    is_compact = kind in ("compact", "once")
    env = environment("state" if is_compact else "dict", keys)
    policy_kwargs = compact_policy(env, stack=stack) if is_compact else {"net_arch": [16]}
    buffer = {"packed": packed, "once": StateRolloutBuffer}.get(kind)
    if stack > 1:
        env = VecFrameStack(env, stack)
    model = algorithm(
        "MlpPolicy" if is_compact else "MultiInputPolicy",
        env,
        n_steps=steps,
        batch_size=6,
        n_epochs=2,
        seed=3,
        device="cpu",
        policy_kwargs=policy_kwargs,
        rollout_buffer_class=buffer,
    )
    callback = Losses()
    model.learn(UPDATES * ENVS * steps, callback=callback, log_interval=10**6)
    callback.note()
    weights = [value.detach().numpy().copy() for value in model.policy.parameters()]
    return callback.seen[1:], weights, model


def assert_same(first, second) -> None:
    assert len(first[0]) == UPDATES
    assert all("train/loss" in logged for logged in first[0])
    assert first[0] == second[0]
    assert len(first[1]) == len(second[1])
    for a, b in zip(first[1], second[1], strict=True):
        assert np.array_equal(a, b)


def test_ppo_gives_the_same_losses_with_dense_packed_and_compact_storage():
    dense = losses_of("dense")
    assert_same(dense, losses_of("packed"))
    assert_same(dense, losses_of("compact"))
    assert_same(dense, losses_of("once"))


def test_the_losses_would_show_a_difference():
    dense = losses_of("dense", keys=("game_state",))
    other = losses_of("dense", keys=("game_state", "reachability_features"))
    assert dense[0] != other[0]


def test_maskable_ppo_gives_the_same_losses():
    contrib = pytest.importorskip("sb3_contrib")
    from npp_env.integrations.sb3_maskable import PackedMaskableDictRolloutBuffer

    keys = tuple(key for key in KEYS if key != "player_frame")
    results = [
        losses_of(kind, contrib.MaskablePPO, PackedMaskableDictRolloutBuffer, keys=keys, steps=40)
        for kind in ("dense", "packed", "compact")
    ]
    assert_same(results[0], results[1])
    assert_same(results[0], results[2])
    assert results[1][2].rollout_buffer.action_masks.min() == 0


def test_stacked_frames_give_the_same_losses():
    keys = ("game_state", "player_frame")
    assert_same(losses_of("dense", stack=3, keys=keys), losses_of("compact", stack=3, keys=keys))


def test_dqn_learns_the_same_from_a_replay_of_states():
    results = []
    for layout, buffer in (("dict", None), ("state", None), ("state", StateReplayBuffer)):
        env = environment(layout, ("game_state", "reachability_features"))
        model = DQN(
            "MultiInputPolicy" if layout == "dict" else "MlpPolicy",
            env,
            buffer_size=200,
            learning_starts=20,
            train_freq=4,
            target_update_interval=20,
            seed=2,
            device="cpu",
            replay_buffer_class=buffer,
            policy_kwargs={"net_arch": [16]} if layout == "dict" else compact_policy(env),
        )
        model.learn(90)
        results.append([value.detach().numpy().copy() for value in model.q_net.parameters()])
        if layout == "state":
            assert model.replay_buffer.observations.dtype == np.uint8
    for a, b, c in zip(*results, strict=True):
        assert np.array_equal(a, b)
        assert np.array_equal(a, c)


def test_a_compact_model_can_be_saved_and_loaded(tmp_path):
    env = environment("state", ("game_state",))
    model = PPO("MlpPolicy", env, n_steps=8, device="cpu", seed=1, policy_kwargs=compact_policy(env))
    model.save(tmp_path / "model")
    observation = env.reset()
    loaded = PPO.load(tmp_path / "model", device="cpu")
    assert np.array_equal(
        model.predict(observation, deterministic=True)[0], loaded.predict(observation, deterministic=True)[0]
    )
    copied = copy.deepcopy(model.policy)
    assert np.array_equal(
        model.predict(observation, deterministic=True)[0], copied.predict(observation, deterministic=True)[0]
    )
    pickle.dumps(model.policy.features_extractor)


def test_a_space_that_does_not_fit_the_levels_is_refused():
    env = environment("state", ("game_state",))
    with pytest.raises(ConfigError, match="2 states"):
        PPO("MlpPolicy", env, device="cpu", policy_kwargs=compact_policy(env, stack=2))
