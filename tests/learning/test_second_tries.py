"""Episodes that go on from a moment before the ninja's death: states of the rollout, not counted, resumed exactly."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from npp_env.errors import ConfigError  # noqa: E402
from npp_env.learning.ppo import PPO, PPOOptions  # noqa: E402
from npp_env.learning.settings import TrainSettings  # noqa: E402
from npp_env.learning.trainer import Limits, Trainer  # noqa: E402
from tests.learning.test_shards import ManyPlayers  # noqa: E402
from tests.learning.test_training import same, weights_of  # noqa: E402

STEPS, ENVS = 64, 48
DEADLY = TrainSettings(
    task="shipped:mixed/laser_room",
    num_envs=ENVS,
    total_steps=8192,
    algo_options={"num_steps": STEPS, "minibatch": 256, "epochs": 1, "second_tries": 0.7},
    policy_options={"width": 16},
)


def played(settings):
    """A rollout: its algorithm, steps of the counted episodes, and which environments went back after which step."""
    algorithm = PPO(settings)
    bench = algorithm.bench
    with torch.no_grad():  # it runs to the right, into whatever is there
        bench.network.actor.bias[[2, 5]] = 3.0
    counted, went_back, steps = [], set(), iter(range(STEPS))
    go_back, step = bench.go_back, bench.step

    def counting_step(actions):
        bench.now = next(steps)
        return step(actions)

    def noting_go_back(envs, rows):
        went_back.update((bench.now, env) for env in envs.tolist())
        go_back(envs, rows)

    bench.on_episodes = lambda info, ended: counted.extend(info["episode_steps"][ended].tolist())
    bench.step, bench.go_back = counting_step, noting_go_back
    algorithm.collect()
    return algorithm, counted, went_back


def test_episodes_go_on_from_a_moment_of_their_own():
    algorithm, counted, went_back = played(DEADLY)
    rows = np.stack([algorithm.store[t] for t in range(STEPS)])
    whole_lengths, moments = [], []
    for env in range(ENVS):
        begun, whole = 0, True
        for t in np.flatnonzero(algorithm.ended[:, env]).tolist():
            if whole:
                whole_lengths.append(t + 1 - begun)
            whole = (t, env) not in went_back
            if not whole and t + 1 < STEPS:
                found = [m for m in range(begun, t + 1) if np.array_equal(rows[t + 1, env], rows[m, env])]
                assert found
                moments.append((found[-1] - begun) / (t + 1 - begun))
            begun = t + 1
    assert len(moments) > 20
    assert min(moments) < 0.2
    assert max(moments) > 0.8
    # Only those that began at the beginning were counted.
    assert sorted(counted) == sorted(whole_lengths)
    assert len(counted) > 20
    assert algorithm.bench.repeated.any()


def test_without_them_every_episode_is_counted():
    options = {**DEADLY.algo_options, "second_tries": 0.0}
    algorithm, counted, went_back = played(dataclasses.replace(DEADLY, algo_options=options))
    assert not went_back
    assert len(counted) == algorithm.ended.sum() > 20
    assert not algorithm.bench.repeated.any()


def test_a_run_that_is_resumed_gives_the_same_weights(tmp_path):
    Trainer(tmp_path / "whole", DEADLY).run(Limits(steps=4096))
    Trainer(tmp_path / "parts", DEADLY).run(Limits(steps=2048))
    parts = Trainer(tmp_path / "parts")
    assert parts.algorithm.bench.repeated.any()
    parts.run(Limits(steps=4096))
    assert same(weights_of(tmp_path / "whole")[1], weights_of(tmp_path / "parts")[1])


def test_the_players_of_shards_do_not_matter(tmp_path):
    settings = dataclasses.replace(DEADLY, shards=4)
    Trainer(tmp_path / "here", settings).run(Limits(steps=3072))
    Trainer(tmp_path / "many", settings, players=ManyPlayers(settings, 3)).run(Limits(steps=3072))
    assert same(weights_of(tmp_path / "here")[1], weights_of(tmp_path / "many")[1])


def test_a_share_that_is_none_is_refused():
    with pytest.raises(ConfigError, match=r"second_tries is 1\.5"):
        PPOOptions(second_tries=1.5)
