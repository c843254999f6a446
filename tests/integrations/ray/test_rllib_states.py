"""RLlib over states: what its learner gets is what the environment plays."""

from __future__ import annotations

import time

import numpy as np
import pytest

torch = pytest.importorskip("torch")
ray = pytest.importorskip("ray")
pytest.importorskip("ray.rllib")

from ray.rllib.algorithms.appo import APPOConfig  # noqa: E402
from ray.rllib.algorithms.ppo import PPOConfig  # noqa: E402

from npp_env import NppVectorEnv  # noqa: E402
from npp_env.errors import ConfigError, NppError  # noqa: E402
from npp_env.integrations.rllib import learn_from_states  # noqa: E402

LEVELS = "shipped:first_steps"
SHORT = {"max_episode_frames": 60}


def ppo(num_envs=8, fragment=20, **options):
    config = PPOConfig()
    config.training(train_batch_size_per_learner=num_envs * fragment, minibatch_size=64, num_epochs=2, gamma=0.99)
    config.env_runners(num_env_runners=0, num_envs_per_env_runner=num_envs, rollout_fragment_length=fragment)
    config.debugging(seed=3)
    return learn_from_states(config, LEVELS, environment=SHORT, policy_options={"width": 16}, **options)


@pytest.fixture
def algorithm(one_node):
    made = []

    def build(config):
        made.append(config.build_algo())
        return made[-1]

    yield build
    for one in made:
        one.stop()


@pytest.mark.timeout(200)
@pytest.mark.parametrize("layout", ["state", "packed"])
def test_episodes_are_what_the_environment_plays(algorithm, layout):
    runner = algorithm(ppo(layout=layout)).env_runner
    episodes = [episode for _ in range(2) for episode in runner.sample()]
    config = runner.config.env_config["config"]
    env = NppVectorEnv(8, config, autoreset_mode="SAME_STEP")
    rows = env.reset(seed=3)[0]
    # By environment: the parts of its episodes in the order in which they were played.
    by_id, lanes, position = {}, [[] for _ in range(8)], 0
    for episode in episodes:
        episode.validate()
        assert episode.is_numpy
        by_id.setdefault(episode.id_, []).append(episode)
        lanes[position // 20 % 8].append(episode)
        position += len(episode)
    assert position == 2 * 8 * 20
    at = [(0, 0)] * 8
    ended = 0
    for _ in range(40):
        actions = np.zeros(8, np.int64)
        for lane in range(8):
            episode, t = lanes[lane][at[lane][0]], at[lane][1]
            np.testing.assert_array_equal(episode.get_observations(t), rows[lane])
            actions[lane] = episode.get_actions(t)
        rows, rewards, terminated, truncated, info = env.step(actions)
        rows = rows.copy()
        for lane in range(8):
            number, t = at[lane]
            episode = lanes[lane][number]
            assert episode.get_rewards(t) == np.float32(rewards[lane])
            is_last = t + 1 == len(episode)
            over = terminated[lane] or truncated[lane]
            if is_last:
                assert episode.is_terminated == terminated[lane]
                assert episode.is_done == over
            assert is_last or not over
            if over:
                ended += 1
                np.testing.assert_array_equal(episode.get_observations(-1), info["final_obs"][lane])
            at[lane] = (number + 1, 0) if is_last else (number, t + 1)
    assert ended > 8
    for parts in by_id.values():
        starts = [part.t_started for part in parts]
        assert starts == list(np.cumsum([0, *map(len, parts[:-1])]))
        assert not any(part.is_done for part in parts[:-1])
    assert episodes[0].get_observations(0).dtype == np.uint8


@pytest.mark.timeout(200)
def test_memory_is_used_again_only_when_nobody_holds_it(algorithm):
    runner = algorithm(ppo()).env_runner
    held = runner.sample()
    copies = [episode.get_observations().copy() for episode in held]
    first = runner._memory
    runner.sample()
    assert runner._memory is not first
    for episode, copy in zip(held, copies, strict=True):
        np.testing.assert_array_equal(episode.get_observations(), copy)
    second = runner._memory
    runner.sample()
    assert runner._memory is not second  # this test holds it
    third = id(runner._memory)
    runner.sample()
    assert id(runner._memory) == third


@pytest.mark.timeout(200)
def test_probabilities_are_those_of_the_module(algorithm):
    made = algorithm(ppo())
    runner = made.env_runner
    for episode in runner.sample():
        rows = torch.from_numpy(episode.get_observations(slice(0, len(episode))))
        logits = runner.module.forward_exploration({"obs": rows})["action_dist_inputs"]
        expected = torch.log_softmax(logits, 1).gather(1, torch.from_numpy(episode.get_actions())[:, None])[:, 0]
        np.testing.assert_allclose(episode.get_extra_model_outputs("action_logp"), expected, atol=1e-5)
        assert (expected > -1e6).all()


@pytest.mark.timeout(300)
def test_ppo_learns_from_states(algorithm):
    made = algorithm(ppo())
    before = made.env_runner.module.get_state()
    for _ in range(2):
        result = made.train()
    assert result["env_runners"]["num_env_steps_sampled_lifetime"] == 320
    assert result["env_runners"]["episode_len_mean"] == 15
    learned = result["learners"]["default_policy"]
    assert np.isfinite(learned["total_loss"])
    after = made.env_runner.module.get_state()
    assert any(not np.array_equal(before[name], after[name]) for name in before)


@pytest.mark.timeout(300)
def test_ppo_with_workers_of_their_own(algorithm):
    config = ppo()
    config.env_runners(num_env_runners=2, rollout_fragment_length=10)
    assert config.env_config["shipment"].files
    result = algorithm(config).train()
    assert result["env_runners"]["num_env_steps_sampled_lifetime"] == 160


@pytest.mark.timeout(300)
def test_appo_learns_from_states(algorithm):
    config = APPOConfig()
    config.training(train_batch_size_per_learner=160)
    config.env_runners(num_env_runners=1, num_envs_per_env_runner=8, rollout_fragment_length=20)
    config.learners(num_aggregator_actors_per_learner=0)
    config.reporting(min_time_s_per_iteration=2)
    learn_from_states(config, LEVELS, environment=SHORT, policy_options={"width": 16})
    made = algorithm(config)
    before = made.get_module().get_state()
    # It does not wait for what it has sampled, so that some iterations have learned nothing.
    result, deadline = {}, time.monotonic() + 200
    while "learners" not in result and time.monotonic() < deadline:
        result = made.train()
    assert np.isfinite(result["learners"]["default_policy"]["total_loss"])
    after = made.learner_group.get_weights()["default_policy"]
    assert any(not np.array_equal(before[name], after[name]) for name in before)


def test_mistakes_are_named(algorithm):
    with pytest.raises(ConfigError, match="layout is 'dict'; it must be one of state, packed"):
        learn_from_states(PPOConfig(), LEVELS, layout="dict")
    with pytest.raises(NppError, match="truncate_episodes"):
        algorithm(ppo()).env_runner.sample(num_episodes=2)
