"""Shards on Ray: the same rollouts whoever plays, read where they lie, and nothing lost with a worker."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

ray = pytest.importorskip("ray")
pytest.importorskip("torch")

from npp_env.cli import main  # noqa: E402
from npp_env.errors import ConfigError, NppError  # noqa: E402
from npp_env.integrations.ray_players import Patience, RayPlayers, connect  # noqa: E402
from npp_env.learning.run_folder import RunFolder  # noqa: E402
from npp_env.learning.settings import TrainSettings  # noqa: E402
from npp_env.learning.sharded_ppo import ShardedPPO  # noqa: E402
from npp_env.learning.trainer import Limits, Trainer  # noqa: E402
from tests.learning.test_training import same, weights_of  # noqa: E402

SMALL = TrainSettings(
    num_envs=64,
    shards=4,
    total_steps=8192,
    algo_options={"num_steps": 16, "minibatch": 256, "epochs": 2},
    policy_options={"width": 16},
    environment={"max_episode_frames": 60},
    sampling="success",
)
STEPS = 4096


def curve_of(folder):
    measured = {"seconds", "cpu_seconds", "steps_per_second", "rss_mb"}
    return [{k: v for k, v in row.items() if k not in measured} for row in Trainer(folder).folder.curve()]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The run in this process."""
    folder = tmp_path_factory.mktemp("expected")
    Trainer(folder, SMALL).run(Limits(steps=STEPS))
    return folder


def assert_same_run(folder, expected):
    assert weights_of(folder)[0] == STEPS
    assert same(weights_of(expected)[1], weights_of(folder)[1])
    assert curve_of(folder) == curve_of(expected)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("workers", [1, 4])
def test_the_curve_does_not_depend_on_the_workers(tmp_path, one_node, expected, workers):
    players = RayPlayers(SMALL, workers)
    Trainer(tmp_path, SMALL, players=players).run(Limits(steps=STEPS))
    assert len(players.actors) == workers
    assert players.replaced == 0
    players.close()
    assert_same_run(tmp_path, expected)


@pytest.mark.timeout(120)
def test_the_learner_reads_rollouts_where_they_lie(one_node):
    options = {"num_steps": 16, "minibatch": 512, "epochs": 1}
    settings = dataclasses.replace(SMALL, num_envs=512, shards=2, algo_options=options)
    algorithm = ShardedPPO(settings, RayPlayers(settings, 1))
    algorithm.collect()
    plasma = [
        tuple(int(number, 16) for number in line.split()[0].split("-"))
        for line in Path("/proc/self/maps").read_text().splitlines()
        if "plasma" in line
    ]
    stores = algorithm.store.stores
    assert len(stores) == 2
    for rollout, store in zip(algorithm.rollouts, stores, strict=True):
        blocks = [block.rows for block in store._blocks.values()]
        assert sum(block.nbytes for block in blocks) > 500_000
        for array in (*blocks, rollout["actions"], rollout["rewards"], rollout["values"]):
            assert not array.flags.writeable
            assert not array.flags.owndata
            address = array.__array_interface__["data"][0]
            assert any(start <= address < end for start, end in plasma)
    assert np.abs(algorithm.ratios() - 1).max() < 1e-5
    algorithm.learn()


def during(players, iteration, act):
    """Act once while an iteration is played."""
    plain, done = players.play, []

    def play(order, states):
        if order.iteration == iteration and not done:
            done.append(True)
            threading.Thread(target=act).start()
        return plain(order, states)

    players.play = play
    return done


@pytest.mark.timeout(300)
def test_a_killed_worker_is_replaced(tmp_path, one_node, expected):
    players = RayPlayers(SMALL, 2)
    trainer = Trainer(tmp_path, SMALL, players=players)
    trainer.run(Limits(steps=1024))
    victim = ray.get(players.actors[0].pid.remote())
    done = during(players, 1, lambda: os.kill(victim, signal.SIGKILL))
    trainer.run(Limits(steps=STEPS))
    assert done
    assert players.replaced == 1
    assert len(players.actors) == 2
    players.close()
    assert_same_run(tmp_path, expected)


@pytest.mark.timeout(300)
def test_a_lagging_worker_is_replaced(tmp_path, one_node, expected):
    players = RayPlayers(SMALL, 2, patience=Patience(times=3, least_seconds=1.0))
    trainer = Trainer(tmp_path, SMALL, players=players)
    trainer.run(Limits(steps=1024))
    victim = ray.get(players.actors[0].pid.remote())
    os.kill(victim, signal.SIGSTOP)
    trainer.run(Limits(steps=STEPS))
    assert players.replaced >= 1
    assert len(players.actors) == 2
    assert victim not in ray.get([actor.pid.remote() for actor in players.actors])
    players.close()
    assert_same_run(tmp_path, expected)


LEARNER = """
import sys
from npp_env.cli import main
from npp_env.learning import trainer
trainer.SECONDS_BETWEEN_CHECKPOINTS = 0.0
sys.exit(main(["train", *sys.argv[1:]]))
"""


@pytest.mark.timeout(300)
def test_a_killed_learner_goes_on(tmp_path, one_node, capsys):
    """By the command: the same weights as a run that was never killed, and played without Ray."""
    options = ["--option", "num_steps=16", "--policy-option", "width=16", "--env", "max_episode_frames=60"]
    options += ["--num-envs", "64", "--shards", "4", "--no-tensorboard"]
    assert main(["train", "--steps", "16384", "--out", str(tmp_path / "whole"), *options]) == 0
    cluster = ["--ray", ray.get_runtime_context().gcs_address, "--workers", "2"]
    arguments = ["--steps", "16384", "--out", str(tmp_path / "killed"), *options, *cluster]
    learner = subprocess.Popen([sys.executable, "-c", LEARNER, *arguments], stderr=subprocess.PIPE)
    folder = RunFolder(tmp_path / "killed")
    while len(folder.curve()) < 3:
        assert learner.poll() is None, learner.stderr.read().decode()
        time.sleep(0.01)
    learner.kill()
    learner.wait()
    assert len(folder.curve()) < 16
    capsys.readouterr()
    assert main(["train", "--resume", "--out", str(tmp_path / "killed"), "--no-tensorboard", *cluster]) == 0
    captured = capsys.readouterr()
    assert "steps/s" in captured.err
    assert "backward" in captured.out
    assert same(weights_of(tmp_path / "whole")[1], weights_of(tmp_path / "killed")[1])
    assert curve_of(tmp_path / "killed") == curve_of(tmp_path / "whole")
    assert [row["steps"] for row in folder.curve()] == [1024 * (k + 1) for k in range(16)]


@pytest.mark.timeout(120)
def test_what_a_worker_raises_reaches_the_learner(one_node):
    players = RayPlayers(SMALL, 1)
    algorithm = ShardedPPO(SMALL, players)
    algorithm.collect()
    algorithm._states[2]["states"][40] ^= 1
    with pytest.raises(NppError, match="damaged"):
        algorithm.collect()


@pytest.mark.timeout(120)
def test_workers_that_find_no_room_are_told_of(one_node):
    settings = dataclasses.replace(SMALL, threads=7)
    players = RayPlayers(settings, 2)
    with pytest.raises(NppError, match="of 2 workers are not ready after 4 s; they wait for 7 free CPUs"):
        players.wait_until_ready(4)
    players.close()


def test_mistakes_are_named(one_node):
    with pytest.raises(ConfigError, match="5 workers for 4 shards"):
        RayPlayers(SMALL, 5)
    with pytest.raises(ConfigError, match="needs shards"):
        RayPlayers(dataclasses.replace(SMALL, shards=0), 1)


def test_a_cluster_that_is_not_there_is_named(monkeypatch):
    def fail(*args, **kwargs):
        raise ConnectionError("nobody answers")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", fail)
    with pytest.raises(ConfigError, match="'auto': nobody answers; `ray start --head`"):
        connect("auto", 1)
