"""Runs in shards: the same whoever plays which of them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from npp_env.errors import ConfigError  # noqa: E402
from npp_env.learning.networks import make_network, network_class  # noqa: E402
from npp_env.learning.settings import TrainSettings, environment_config  # noqa: E402
from npp_env.learning.sharded_ppo import ShardedPPO  # noqa: E402
from npp_env.learning.shards import ShardPlayer, flat_weights, load_flat_weights  # noqa: E402
from npp_env.learning.trainer import Limits, Trainer  # noqa: E402
from npp_env.learning.workbench import Workbench  # noqa: E402
from tests.learning.test_training import same, weights_of  # noqa: E402

SMALL = TrainSettings(
    num_envs=32,
    shards=4,
    total_steps=8192,
    algo_options={"num_steps": 16, "minibatch": 128, "epochs": 2},
    policy_options={"width": 16},
    environment={"max_episode_frames": 60},
    sampling="success",
)


class ManyPlayers:
    """Some players that take turns, in an order of their own."""

    def __init__(self, settings, count):
        self.players = [ShardPlayer(settings) for _ in range(count)]
        self.calls = 0

    def play(self, order, states):
        found = {}
        for shard in np.random.default_rng(order.iteration).permutation(len(states)).tolist():
            player = self.players[self.calls % len(self.players)]
            self.calls += 1
            found[shard] = {name: array.copy() for name, array in player.play(order, shard, states[shard]).items()}
        return [found[shard] for shard in range(len(states))]

    def close(self):
        pass


@pytest.mark.parametrize("sampling", [None, "success"])
def test_the_players_do_not_matter(tmp_path, sampling):
    settings = dataclasses.replace(SMALL, sampling=sampling)
    Trainer(tmp_path / "here", settings).run(Limits(steps=2048))
    Trainer(tmp_path / "many", settings, players=ManyPlayers(settings, 3)).run(Limits(steps=2048))
    steps, expected = weights_of(tmp_path / "here")
    assert steps == 2048
    assert same(expected, weights_of(tmp_path / "many")[1])
    curves = [Trainer(tmp_path / name).folder.curve() for name in ("here", "many")]
    assert [row["policy_loss"] for row in curves[0]] == [row["policy_loss"] for row in curves[1]]
    assert curves[0][-1]["episodes"] > 20


def test_a_run_that_is_resumed_gives_the_same_weights(tmp_path):
    Trainer(tmp_path / "whole", SMALL).run(Limits(steps=2048))
    Trainer(tmp_path / "parts", SMALL).run(Limits(steps=1024))
    Trainer(tmp_path / "parts").run(Limits(steps=2048))
    assert same(weights_of(tmp_path / "whole")[1], weights_of(tmp_path / "parts")[1])


def test_shards_differ_and_together_begin_as_one_whole():
    algorithm = ShardedPPO(dataclasses.replace(SMALL, sampling=None))
    algorithm.collect()
    whole = Workbench(dataclasses.replace(SMALL, shards=0, sampling=None), algorithm.options.discount, 1)
    np.testing.assert_array_equal(algorithm.store[0], whole.rows)
    actions = [rollout["actions"] for rollout in algorithm.rollouts]
    assert not any(np.array_equal(actions[0], other) for other in actions[1:])
    first = actions[0]
    algorithm.collect()
    assert not np.array_equal(first, algorithm.rollouts[0]["actions"])


def test_the_learner_sees_what_was_played():
    algorithm = ShardedPPO(SMALL)
    for _ in range(2):
        algorithm.collect()
        assert np.abs(algorithm.ratios() - 1).max() < 1e-6
        algorithm.learn()
    taken = algorithm.store.take(np.array([3, 0, 3]), np.array([31, 8, 0]))
    np.testing.assert_array_equal(taken, [algorithm.store[3][31], algorithm.store[0][8], algorithm.store[3][0]])
    stored = algorithm.rollouts[0]["rows/class"]
    assert np.shares_memory(algorithm.store.stores[0]._class, stored)


def test_success_statistics_are_those_of_all_shards():
    algorithm = ShardedPPO(SMALL)
    levels, steps = [], 0
    for _ in range(6):
        algorithm.collect()
        levels += [level for rollout in algorithm.rollouts for level in rollout["episodes/level"].tolist()]
        steps += sum(rollout["actions"].size for rollout in algorithm.rollouts)
    sampling = algorithm.bench.envs.sampling
    expected = type(sampling)()
    expected.prepare(1, algorithm.bench.envs.num_levels)
    for level in levels:
        expected.record(0, level, False)
    np.testing.assert_array_equal(np.asarray(sampling.get_state()["seen"]), expected.get_state()["seen"])
    assert len(levels) == algorithm.bench.statistics.episodes[0] > 20
    assert steps == algorithm.bench.steps


@pytest.mark.parametrize("policy", ["mlp", "attention", "graph"])
def test_flat_weights_hold_the_whole_network(policy):
    config = environment_config(SMALL, network_class(policy), 0.99)
    torch.manual_seed(0)
    first, second = (make_network(policy, config, {}) for _ in range(2))
    load_flat_weights(second, flat_weights(first))
    for name, value in first.state_dict().items():
        assert torch.equal(value, second.state_dict()[name]), name


def test_mistakes_are_named(tmp_path):
    with pytest.raises(ConfigError, match="32 environments cannot be divided into 5 equal shards"):
        dataclasses.replace(SMALL, shards=5)
    with pytest.raises(ConfigError, match="bc cannot be played in shards"):
        Trainer(tmp_path / "a", dataclasses.replace(SMALL, algo="bc"))
    with pytest.raises(ConfigError, match="without shards"):
        Trainer(tmp_path / "a", dataclasses.replace(SMALL, shards=0), players=ManyPlayers(SMALL, 1))
