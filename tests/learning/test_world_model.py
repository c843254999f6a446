"""The world model: it learns, keeps nothing, can be resumed, and each of its losses can be left out."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from npp_env.cli import main  # noqa: E402
from npp_env.errors import ConfigError, NppError  # noqa: E402
from npp_env.evaluation.policy import Policy  # noqa: E402
from npp_env.learning.model_file import load_policy, read_arrays  # noqa: E402
from npp_env.learning.settings import TrainSettings  # noqa: E402
from npp_env.learning.trainer import Limits, Trainer  # noqa: E402
from npp_env.learning.world_model.algorithm import WorldModel  # noqa: E402
from npp_env.learning.world_model.assess import (  # noqa: E402
    activation_bytes,
    prediction_errors,
    real_returns,
    return_correlation,
)
from npp_env.learning.world_model.imagination import Imagined, imagine, returns_of  # noqa: E402
from npp_env.learning.world_model.model_losses import compressed, divergence, expanded, motion_of  # noqa: E402
from npp_env.learning.world_model.network import ModelState  # noqa: E402
from npp_env.learning.world_model.options import BRANCHES, WorldModelOptions  # noqa: E402
from npp_env.learning.world_model.replay import SequenceReplay, Sequences  # noqa: E402

OPTIONS = {"warm_up": 128, "collect_steps": 8, "updates": 1, "batch": 4, "sequence_length": 8, "replay_steps": 1024}
SMALL = {
    "task": "shipped:first_steps/walk",
    "algo": "world-model",
    "policy": "world-model",
    "num_envs": 8,
    "total_steps": 4096,
    "policy_options": {"width": 16, "groups": 4, "classes": 4},
}


def settings_of(**options):
    return TrainSettings(**SMALL, algo_options={**OPTIONS, **options})


def rows_of(number, count, length=64):
    """States that can be told apart: all bytes are the number of the step, from 1."""
    rows = np.zeros((count, length), np.uint8)
    rows[:, :40] = number % 250 + 1
    rows[:, 40] = np.arange(count) + 1
    return rows


def test_compressed_rewards_come_back_and_small_ones_keep_their_order_of_size():
    rewards = torch.tensor([-2.0, -0.5, -0.01, 0.0, 0.001, 0.01, 0.5, 2.0])
    torch.testing.assert_close(expanded(compressed(rewards)), rewards)
    small = compressed(torch.tensor([0.001, 0.01]))
    torch.testing.assert_close(small, torch.tensor([0.00995, 0.09531]), atol=1e-5, rtol=0)
    assert compressed(torch.tensor(2.0)) < 40 * small[1]


def test_errors_of_the_place_cost_more_than_others():
    network = WorldModel(settings_of()).network
    assert len(network.importance) == network.decoder[-1].out_features
    heavy = network.importance > 1
    # Place and velocity of the ninja, and three lengths of ways, behind the 34 numbers of `game_state`.
    assert torch.nonzero(heavy).flatten().tolist() == [0, 1, 4, 5, 34, 37, 40]
    assert "importance" not in network.state_dict()


@pytest.mark.parametrize("on_disk", [False, True])
def test_sequences_have_no_gap_and_never_span_the_seam_of_the_ring(tmp_path, on_disk):
    replay = SequenceReplay(20, 3, 64, tmp_path if on_disk else None)
    rng = np.random.default_rng(0)
    out = np.empty((5 * 64, 64), np.uint8)
    with pytest.raises(NppError, match="0 steps are kept"):
        replay.draw(5, 64, rng, out)
    for number in range(53):
        first = np.array([number % 7 == 0, False, number % 11 == 0])
        replay.add(rows_of(number, 3), np.full(3, number % 6), np.full(3, number / 8), ~first, first)
    drawn = replay.draw(5, 64, rng, out)
    numbers = drawn.rows[:, 0].reshape(5, 64).astype(int) - 1
    assert (np.diff(numbers, axis=0) == 1).all()
    assert numbers.min() == 53 - 20
    assert numbers.max() == 52
    envs = drawn.rows[:, 40].reshape(5, 64) - 1
    assert set(envs.ravel().tolist()) == {0, 1, 2}
    assert (envs == envs[0]).all()
    np.testing.assert_array_equal(drawn.actions, numbers % 6)
    np.testing.assert_array_equal(drawn.rewards, (numbers / 8).astype(np.float32))
    expected = np.where(envs == 0, numbers % 7 == 0, np.where(envs == 2, numbers % 11 == 0, False))
    np.testing.assert_array_equal(drawn.first, expected)
    np.testing.assert_array_equal(drawn.terminated, ~expected)
    twin = SequenceReplay(20, 3, 64)
    twin.restore({name: array.copy() for name, array in replay.arrays().items()})
    for ring in (replay, twin):
        ring.add(rows_of(53, 3), np.zeros(3, np.int64), np.zeros(3), np.zeros(3, bool), np.zeros(3, bool))
    first, second = (
        ring.draw(5, 64, np.random.default_rng(1), np.empty((320, 64), np.uint8)) for ring in (replay, twin)
    )
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_million_steps_take_less_than_400_mb():
    settings = TrainSettings(**{**SMALL, "task": "shipped:first_steps", "num_envs": 64}, algo_options={**OPTIONS})
    algorithm = WorldModel(settings)
    for _ in range(1024 // 64 + 4):
        algorithm.collect()
    assert algorithm.replay.nbytes / 1024 * 1e6 < 400e6
    algorithm.bench.close()


def test_returns_by_hand():
    goes_on = torch.tensor([[1.0], [0.5]])
    imagined = Imagined(None, None, torch.tensor([[1.0], [2.0]]), goes_on)
    values = torch.tensor([[9.0], [4.0], [8.0]])
    second = 2 + 0.5 * 0.5 * 8
    first = 1 + 0.5 * 1.0 * (0.25 * 4 + 0.75 * second)
    torch.testing.assert_close(returns_of(imagined, values, 0.5, 0.75), torch.tensor([[first], [second]]))


def test_real_returns_end_with_the_episode_and_leave_out_those_that_ran_out_of_time():
    rewards = np.array([[9.0, 9, 9, 9], [1, 1, 1, 1], [2, 2, 2, 2], [4, 4, 4, 4]], np.float32)
    terminated, first = np.zeros((4, 4), np.bool_), np.zeros((4, 4), np.bool_)
    terminated[2, 1] = first[3, 1] = True  # died after two steps
    first[3, 2] = True  # out of time
    first[1, 3] = True  # begins where the returns begin
    returns, whole = real_returns(Sequences(None, rewards, rewards, terminated, first), 1, 0.5)
    assert whole.tolist() == [True, True, False, True]
    assert returns[whole].tolist() == [3.0, 2.0, 3.0]


def test_imagined_returns_follow_a_model_that_knows_the_rewards():
    algorithm = WorldModel(settings_of(batch=64))
    for _ in range(40):
        algorithm.collect()
    network = algorithm.network
    drawn = algorithm.replay.draw(8, 64, np.random.default_rng(0), algorithm._rows[: 8 * 64])
    vectors = network.flatten(algorithm.bench.observe(drawn.rows))
    # Rewards that the model foresees exactly, because they are made of what it sees at the beginning.
    with torch.no_grad():
        belief = network.follow(
            network.encoder(vectors.view(8, 64, -1)[:4]),
            torch.nn.functional.one_hot(torch.from_numpy(drawn.actions[:4]), 6).float(),
            torch.from_numpy(drawn.first[:4]),
            torch.Generator().manual_seed(0),
        )
        foreseen = sum(
            imagine(
                network, ModelState(*(part[-1] for part in belief.states)), 5, torch.Generator().manual_seed(k)
            ).rewards
            for k in range(8)
        )
    first = np.zeros_like(drawn.first)
    first[0] = True
    rewards = np.zeros_like(drawn.rewards)
    rewards[3:] = foreseen.numpy()
    told = drawn._replace(rewards=rewards, terminated=np.zeros_like(drawn.terminated), first=first)
    agreement, compared = return_correlation(network, told, vectors, 5, 1.0)
    opposite, _ = return_correlation(network, told._replace(rewards=-rewards), vectors, 5, 1.0)
    assert compared == 64
    assert agreement > 0.5
    assert opposite == pytest.approx(-agreement)
    algorithm.bench.close()


def test_divergence_is_that_of_torch():
    first, second = (torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(k)).log_softmax(-1) for k in (0, 1))
    kinds = [
        torch.distributions.Independent(torch.distributions.OneHotCategorical(logits=x), 1) for x in (first, second)
    ]
    torch.testing.assert_close(divergence(first, second), torch.distributions.kl_divergence(*kinds))


def test_motion_is_what_the_states_say():
    algorithm = WorldModel(settings_of())
    kept = []
    for _ in range(6):
        kept.append(np.array(algorithm.bench.rows))
        algorithm.collect()
    motion = motion_of(np.concatenate(kept), 6)
    decoded = [algorithm.bench.decoder.decode(rows)["game_state"].astype(float) for rows in kept]
    # Observations are rounded to float16: half a pixel near the border of the map.
    for t in range(5):
        dx = (decoded[t + 1][:, 0] - decoded[t][:, 0]) * 528 / 24
        dvy = (decoded[t + 1][:, 5] - decoded[t][:, 5]) * 12
        np.testing.assert_allclose(motion[t, :, 0], dx, atol=0.03)
        np.testing.assert_allclose(motion[t, :, 3], dvy, atol=0.02)
    assert (motion[5] == 0).all()
    assert (motion[:5] != 0).any()
    algorithm.bench.close()


def test_what_is_carried_ends_with_the_episode():
    algorithm = WorldModel(settings_of())
    network = algorithm.network
    encoded = torch.randn(4, 2, 16, generator=torch.Generator().manual_seed(0))
    actions = torch.zeros(4, 2, 6)
    actions[..., 2] = 1
    first = torch.zeros(4, 2, dtype=torch.bool)
    first[2, 0] = True
    with torch.no_grad():
        whole = network.follow(encoded, actions, first, None)
        tail = network.follow(encoded[2:], actions[2:], first[2:], None)
    torch.testing.assert_close(whole.states.memory[2:, 0], tail.states.memory[:, 0])
    assert not torch.allclose(whole.states.memory[2:, 1], tail.states.memory[:, 1])


def test_masked_actions_are_played_too_because_imagination_has_them():
    algorithm = WorldModel(settings_of(warm_up=10**9))
    played, masked = set(), 0
    for _ in range(60):
        masks = algorithm.bench.observe(algorithm.bench.rows)["action_mask"].numpy().copy()
        algorithm.collect()
        actions = algorithm._before.argmax(dim=1).numpy()
        played |= set(actions.tolist())
        masked += int((masks[np.arange(len(actions)), actions] == 0).sum())
    assert played == set(range(6))
    assert masked > 0
    algorithm.bench.close()


def test_collection_carries_no_graph_unless_told_to():
    for keep in (False, True):
        algorithm = WorldModel(settings_of(keep_graphs=keep))
        for _ in range(3):
            algorithm.collect()
        assert (algorithm.carried.memory.grad_fn is not None) == keep
        algorithm.bench.close()


def report_of(tmp_path, name, *flags):
    """What the command says of memory, in a process of its own: what other tests left behind would drown it."""
    command = [sys.executable, "-m", "npp_env", "train", SMALL["task"], "--algo", "world-model", "--steps", "6000"]
    command += ["--num-envs", "8", "--out", str(tmp_path / name), "--no-progress", "--no-tensorboard", *flags]
    # Nothing is learned, and the ring is full after a few iterations.
    for option in ("warm_up=1000000", "replay_steps=256", "collect_steps=4"):
        command += ["--option", option]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_memory_stays_flat_and_grows_with_kept_graphs(tmp_path):
    assert "baseline: growing" not in report_of(tmp_path, "flat")
    leaky = report_of(tmp_path, "leaky", "--keep-graphs")
    assert "baseline: growing" in leaky
    phases = leaky[leaky.index("phase ") :].splitlines()
    assert phases[1].startswith("collect")


@pytest.mark.parametrize("branch", BRANCHES)
def test_each_branch_can_be_left_out(branch):
    whole, without = (WorldModel(settings_of(without=text)) for text in ("", branch))
    bytes_of, losses = [], []
    for algorithm in (whole, without):
        for _ in range(16):
            algorithm.collect()
        drawn = algorithm.replay.draw(8, 4, np.random.default_rng(0), algorithm._rows)
        vectors = algorithm.network.flatten(algorithm.bench.observe(drawn.rows))
        bytes_of.append(activation_bytes(algorithm.network, drawn, vectors, algorithm.options))
        losses.append(algorithm.learn())
        algorithm.bench.close()
    gone = {"decoder", "motion"} if branch == "decoder" else {branch}
    assert losses[0].keys() - losses[1].keys() == gone
    assert bytes_of[1] < bytes_of[0]
    assert all(np.isfinite(value) for value in losses[1].values())


def test_half_the_sequence_takes_half_the_memory():
    algorithm = WorldModel(settings_of(sequence_length=32, replay_steps=2048))
    for _ in range(40):
        algorithm.collect()
    found = []
    for length in (16, 32):
        drawn = algorithm.replay.draw(length, 4, np.random.default_rng(0), algorithm._rows[: 4 * length])
        vectors = algorithm.network.flatten(algorithm.bench.observe(drawn.rows))
        found.append(activation_bytes(algorithm.network, drawn, vectors, algorithm.options))
    assert 0.45 <= found[0] / found[1] <= 0.6


def test_it_learns_to_predict_and_goes_on_after_a_stop(tmp_path):
    settings = settings_of(updates=4, batch=16, learning_rate=3e-3)
    whole = Trainer(tmp_path / "whole", settings)
    whole.run(Limits(steps=1536))
    Trainer(tmp_path / "parts", settings).run(Limits(steps=768))
    Trainer(tmp_path / "parts").run(Limits(steps=1536))
    first, second = (read_arrays(tmp_path / name / "checkpoint.npz")[1] for name in ("whole", "parts"))
    assert first.keys() == second.keys()
    for name, array in first.items():
        # Free places of the ring may be filled in another order.
        if not name.startswith("replay/states"):
            np.testing.assert_array_equal(array, second[name], name)
    curve = whole.folder.curve()
    assert np.isnan(curve[0]["decoder"])
    learned = [row for row in curve if not np.isnan(row["decoder"])]
    assert learned[-1]["decoder"] < 0.5 * learned[0]["decoder"]
    algorithm = whole.algorithm
    drawn = algorithm.replay.draw(8, 16, np.random.default_rng(0), algorithm._rows)
    vectors = algorithm.network.flatten(algorithm.bench.observe(drawn.rows))
    errors = prediction_errors(algorithm.network, drawn, vectors, 1, 4)
    assert 0 < errors.samples <= 16
    assert errors.position_px[0] > 0
    assert errors.position_px[1] > errors.position_px[2]


def test_its_model_plays(tmp_path):
    trainer = Trainer(tmp_path, settings_of())
    trainer.run(Limits(steps=64))
    policy = load_policy(tmp_path / "model.nppmodel")
    assert isinstance(policy, Policy)
    bench = trainer.algorithm.bench
    observations = bench.decoder.decode(bench.rows)
    policy.begin(8, seed=0)
    first = policy.act(observations, observations["action_mask"]).copy()
    likeliest = trainer.algorithm.network.actor(policy._state.features().clone()).argmax(dim=1)
    np.testing.assert_array_equal(first, likeliest.numpy())
    remembered = policy._state.memory.clone()
    policy.act(observations, observations["action_mask"])
    policy.restart(np.ones(8, np.bool_))
    np.testing.assert_array_equal(policy.act(observations, observations["action_mask"]), first)
    torch.testing.assert_close(policy._state.memory, remembered)
    policy.deterministic = False
    drawn = []
    for seed in (0, 0, 1):
        policy.begin(8, seed)
        drawn.append([policy.act(observations, observations["action_mask"]).tolist() for _ in range(5)])
    assert drawn[0] == drawn[1] != drawn[2]


def test_the_command_trains_and_writes_snapshots(tmp_path, capsys):
    arguments = ["train", "shipped:first_steps/walk", "--algo", "world-model", "--steps", "512", "--no-progress"]
    arguments += ["--out", str(tmp_path / "run"), "--num-envs", "8", "--snapshots", str(tmp_path / "snapshots")]
    arguments += ["--without", "kl", "--sequence-length", "8", "--option", "warm_up=128", "--option", "batch=4"]
    arguments += ["--policy-option", "width=16", "--no-tensorboard"]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "rssm" in out
    assert "start-of-iteration baseline" in out
    # One for each iteration: in a short run none is left out for what it costs.
    assert len(list((tmp_path / "snapshots").iterdir())) == 4


def test_wrong_options_give_clear_errors():
    with pytest.raises(ConfigError, match="what can be left out is decoder"):
        WorldModelOptions(without="encoder")
    with pytest.raises(ConfigError, match="at least 2"):
        WorldModelOptions(sequence_length=1)
    with pytest.raises(ConfigError, match="need at least 64"):
        WorldModel(settings_of(replay_steps=32))
    with pytest.raises(ConfigError, match="needs 'world-model'"):
        WorldModel(TrainSettings(**{**SMALL, "policy": "mlp", "policy_options": {}}, algo_options=OPTIONS))
