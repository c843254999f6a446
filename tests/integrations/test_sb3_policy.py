"""Models of Stable-Baselines3 as policies: what they play is what SB3 predicts, and the configuration travels along."""

from __future__ import annotations

import json
import zipfile

import pytest

pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO, RecurrentPPO
from stable_baselines3 import A2C, DQN, PPO

from npp_env import EnvironmentConfig, NppEnv
from npp_env.cli import main
from npp_env.evaluation.evaluate import EvaluationOptions, evaluate
from npp_env.evaluation.policy import PolicyError
from npp_env.integrations.sb3 import NppVecEnv
from npp_env.integrations.sb3_features import StateFeatures
from npp_env.integrations.sb3_policy import load_sb3_policy, save_sb3_model

LEVELS = "shipped:first_steps"
CONFIG = EnvironmentConfig.for_training(levels=LEVELS, frame_skip=3, max_episode_frames=300, copy=False)
SMALL = {"net_arch": [8]}


def small_model(algorithm, policy="MultiInputPolicy", **arguments):
    extra = {} if algorithm is DQN else {"n_steps": 8}
    return algorithm(policy, NppVecEnv(2, CONFIG), policy_kwargs=SMALL, seed=0, device="cpu", **extra, **arguments)


@pytest.mark.parametrize("algorithm", [PPO, A2C, DQN, MaskablePPO])
def test_a_saved_model_plays_as_sb3_predicts(tmp_path, algorithm):
    model = small_model(algorithm)
    save_sb3_model(model, tmp_path / "model.zip")
    policy = load_sb3_policy(tmp_path / "model.zip")
    assert type(policy.model) is algorithm
    assert policy.config == CONFIG
    result, _ = evaluate(policy, LEVELS, EvaluationOptions(num_envs=4))
    assert len(result.episodes) == 6
    env = NppEnv(CONFIG)
    for number in range(6):
        observation, _ = env.reset(options={"level": number})
        ended = False
        while not ended:
            masks = {"action_masks": env.action_masks()} if algorithm is MaskablePPO else {}
            action, _ = model.predict(observation, deterministic=True, **masks)
            observation, _, won_or_died, late, info = env.step(action)
            ended = won_or_died or late
        row = result.episodes[number]
        assert (row["outcome"], row["frames"], row["gold"]) == (info["outcome"], info["frame"], info["gold"])


def test_a_drawn_action_depends_on_the_seed_alone(tmp_path):
    save_sb3_model(small_model(PPO), tmp_path / "model.zip")

    def run(seed: int) -> list:
        policy = load_sb3_policy(tmp_path / "model.zip", deterministic=False)
        return evaluate(policy, LEVELS, EvaluationOptions(episodes=2, seed=seed))[0].episodes.tolist()

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_a_recurrent_model_forgets_at_the_end_of_an_episode(tmp_path):
    model = small_model(RecurrentPPO, "MultiInputLstmPolicy")
    save_sb3_model(model, tmp_path / "model.zip")
    results = [
        evaluate(load_sb3_policy(tmp_path / "model.zip"), LEVELS, EvaluationOptions(num_envs=count))[0].episodes
        for count in (1, 6)
    ]
    assert (results[0]["frames"] == results[1]["frames"]).all()


def test_a_model_of_states_plays_levels_that_it_was_not_trained_on(tmp_path):
    env = NppVecEnv(2, CONFIG.with_overrides({"observation": {"layout": "state"}}))
    keys = ("game_state", "reachability_features")
    features = {"config": {"levels": LEVELS}, "keys": keys}
    arguments = {"features_extractor_class": StateFeatures, "features_extractor_kwargs": features, "net_arch": [8]}
    model = PPO("MlpPolicy", env, policy_kwargs=arguments, n_steps=8, seed=0, device="cpu")
    save_sb3_model(model, tmp_path / "model.zip")
    result, _ = evaluate(load_sb3_policy(tmp_path / "model.zip"), "shipped:mixed", EvaluationOptions())
    assert len(result.episodes) == 6


def test_without_a_configuration_the_space_tells_it(tmp_path, capsys):
    small_model(PPO).save(tmp_path / "model.zip")
    policy = load_sb3_policy(tmp_path / "model.zip")
    assert set(policy.config.observation.keys) == set(CONFIG.observation.keys)
    assert policy.config.frame_skip == 4
    (tmp_path / "config.json").write_text(json.dumps(CONFIG.to_dict()))
    arguments = ["evaluate", str(tmp_path / "model.zip"), "--config", str(tmp_path / "config.json"), "--json"]
    assert main([*arguments, "--levels", LEVELS]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["config"]["frame_skip"] == 3


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(PolicyError, match="no such file"):
        load_sb3_policy(tmp_path / "missing.zip")
    (tmp_path / "text.zip").write_text("hello")
    with pytest.raises(PolicyError, match="no model of Stable-Baselines3"):
        load_sb3_policy(tmp_path / "text.zip")
    for name, content in (("empty", "{}"), ("list", "[]"), ("rubbish", "{")):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            archive.writestr("data", content)
        with pytest.raises(PolicyError):
            load_sb3_policy(tmp_path / f"{name}.zip")
    with pytest.raises(PolicyError, match=r"use \.zip"):
        save_sb3_model(small_model(PPO), tmp_path / "model.pt")
    flat = PPO("MlpPolicy", NppVecEnv(1, CONFIG.with_overrides({"observation": {"layout": "flat"}})), n_steps=8)
    flat.save(tmp_path / "flat.zip")
    with pytest.raises(PolicyError, match="save_sb3_model"):
        load_sb3_policy(tmp_path / "flat.zip")
