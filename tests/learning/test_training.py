"""Training runs: they learn, can be killed at any moment, and leave models that play."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc
import zipfile

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from npp_env.cli import main  # noqa: E402
from npp_env.errors import ConfigError, NppError  # noqa: E402
from npp_env.learning.model_file import ModelError, load_policy, read_arrays, write_arrays  # noqa: E402
from npp_env.learning.ppo import PPO, advantages_of  # noqa: E402
from npp_env.learning.run_folder import RunFolder  # noqa: E402
from npp_env.learning.settings import TrainSettings  # noqa: E402
from npp_env.learning.trainer import Limits, Trainer  # noqa: E402
from npp_env.learning.value_scale import ValueScale  # noqa: E402

SMALL = {
    "num_envs": 16,
    "total_steps": 4096,
    "algo_options": {"num_steps": 16, "minibatch": 128, "epochs": 2},
    "policy_options": {"width": 16},
}


def weights_of(folder):
    header, arrays = read_arrays(folder / "checkpoint.npz")
    return header["algorithm"]["steps"], arrays


def same(first, second):
    assert first.keys() == second.keys()
    return all(np.array_equal(first[name], second[name]) for name in first)


def test_a_run_that_is_resumed_gives_the_same_weights(tmp_path):
    whole = Trainer(tmp_path / "whole", TrainSettings(**SMALL))
    whole.run(Limits(steps=2048))
    Trainer(tmp_path / "parts", TrainSettings(**SMALL)).run(Limits(steps=1024))
    Trainer(tmp_path / "parts").run(Limits(steps=2048))
    steps, expected = weights_of(tmp_path / "whole")
    assert steps == 2048
    assert same(expected, weights_of(tmp_path / "parts")[1])
    # The curve agrees too, but for what a clock or a scale for memory showed.
    rows = [Trainer(tmp_path / name).folder.curve() for name in ("whole", "parts")]
    measured = {"seconds", "cpu_seconds", "steps_per_second", "rss_mb"}
    assert [{k: v for k, v in row.items() if k not in measured} for row in rows[0]] == [
        {k: v for k, v in row.items() if k not in measured} for row in rows[1]
    ]


def test_success_based_sampling_is_resumed_too(tmp_path):
    settings = TrainSettings(**{**SMALL, "sampling": "success", "environment": {"max_episode_frames": 40}})
    Trainer(tmp_path / "whole", settings).run(Limits(steps=2048))
    Trainer(tmp_path / "parts", settings).run(Limits(steps=1024))
    Trainer(tmp_path / "parts").run(Limits(steps=2048))
    assert same(weights_of(tmp_path / "whole")[1], weights_of(tmp_path / "parts")[1])


def test_another_seed_gives_other_weights(tmp_path):
    for seed in (0, 1):
        Trainer(tmp_path / str(seed), TrainSettings(**SMALL, seed=seed)).run(Limits(steps=256))
    assert not same(weights_of(tmp_path / "0")[1], weights_of(tmp_path / "1")[1])


KILLED = """
import sys
from pathlib import Path
from npp_env.learning import trainer
from npp_env.learning.settings import TrainSettings
trainer.SECONDS_BETWEEN_CHECKPOINTS = 0.0
made = trainer.Trainer(Path(sys.argv[1]), TrainSettings(**eval(sys.argv[2])))
made.run(trainer.Limits(steps=10**9), lambda progress: print(progress.iteration, flush=True))
"""


def test_kill_and_resume_gives_the_same_weights(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "killed"), repr(SMALL)], stdout=subprocess.PIPE, text=True
    )
    for line in process.stdout:
        if int(line) >= 3:
            break
    time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    trainer = Trainer(tmp_path / "killed")
    wanted = max(trainer.algorithm.bench.steps + 512, 2048)
    trainer.run(Limits(steps=wanted))
    Trainer(tmp_path / "whole", TrainSettings(**SMALL)).run(Limits(steps=wanted))
    assert same(weights_of(tmp_path / "whole")[1], weights_of(tmp_path / "killed")[1])
    steps = [row["steps"] for row in trainer.folder.curve()]
    assert steps == [256 * (k + 1) for k in range(len(steps))]


def test_the_first_epoch_has_a_ratio_of_one():
    algorithm = PPO(TrainSettings(**SMALL))
    algorithm.collect()
    assert np.abs(algorithm.ratios() - 1).max() < 1e-6
    algorithm.learn()
    assert np.abs(algorithm.ratios() - 1).max() > 1e-3


def test_advantages_by_hand():
    rewards = np.array([[1.0], [2.0], [4.0]], np.float32)
    values = np.array([[0.5], [0.25], [1.0], [8.0]], np.float32)
    ended = np.array([[False], [True], [False]])
    out = np.zeros_like(rewards)
    advantages_of(rewards, values, ended, 0.5, 0.5, out)
    last = 4 + 0.5 * 8 - 1
    second = 2 - 0.25  # the episode ended: nothing after it counts
    first = 1 + 0.5 * 0.25 - 0.5 + 0.25 * second
    np.testing.assert_allclose(out[:, 0], [first, second, last])


def test_the_value_head_says_the_same_in_other_units():
    head = torch.nn.Linear(4, 1)
    scale, features = ValueScale(), torch.randn(10, 4)
    for returns in (np.random.default_rng(0).normal(5, 3, 1000), np.random.default_rng(1).normal(-50, 20, 1000)):
        before = scale.to_returns(head(features)).detach()
        scale.update(returns, head)
        torch.testing.assert_close(scale.to_returns(head(features)).detach(), before, atol=1e-4, rtol=1e-4)
    assert scale.to_returns(scale.to_units(3.0)) == pytest.approx(3.0)


def test_it_learns_to_walk(tmp_path):
    options = {"minibatch": 256, "epochs": 4}
    settings = TrainSettings(task="shipped:first_steps/walk", num_envs=32, total_steps=80_000, algo_options=options)
    trainer = Trainer(tmp_path / "run", settings)
    trainer.run(Limits())
    curve = trainer.folder.curve()
    assert curve[0]["success"] == 0
    assert curve[-1]["success"] > 0.1


def test_it_can_end_at_a_share_of_wins(tmp_path):
    options = {"minibatch": 256, "epochs": 4}
    settings = TrainSettings(task="shipped:first_steps/walk", num_envs=32, total_steps=80_000, algo_options=options)
    trainer = Trainer(tmp_path / "run", settings)
    trainer.run(Limits(success=0.05))
    *before, last = trainer.folder.curve()
    assert last["success"] >= 0.05
    assert 0 < len(before) < 80_000 / (32 * 64) - 1
    assert all(row["success"] < 0.05 for row in before)
    assert (tmp_path / "run" / "model.nppmodel").exists()


def test_minutes_are_those_of_the_wall_or_of_the_processor(tmp_path, monkeypatch):
    # A machine on which this process gets half of a core.
    monkeypatch.setattr("npp_env.learning.trainer.time.perf_counter", lambda: 2 * time.process_time())
    ends = {}
    for processor_time in (False, True):
        trainer = Trainer(tmp_path / str(processor_time), TrainSettings(**SMALL))
        trainer.run(Limits(seconds=0.4, processor_time=processor_time))
        ends[processor_time] = [(row["seconds"], row["cpu_seconds"]) for row in trainer.folder.curve()[-2:]]
    (before, _), (after, _) = ends[False]
    assert before < 0.4 <= after
    (_, before), (_, after) = ends[True]
    assert before < 0.4 <= after


def test_a_model_plays_as_it_was_trained(tmp_path):
    trainer = Trainer(tmp_path, TrainSettings(**SMALL))
    trainer.run(Limits(steps=512))
    policy = load_policy(tmp_path / "model.nppmodel")
    bench = trainer.algorithm.bench
    observations = bench.decoder.decode(bench.rows)
    policy.begin(16, seed=0)
    output, masks = bench.judge(bench.rows)
    expected = output.logits.masked_fill(masks == 0, -1e8).argmax(1).numpy()
    np.testing.assert_array_equal(policy.act(observations, observations["action_mask"]), expected)
    assert policy.config.observation.layout == "dict"


def test_damaged_models_give_clear_errors(tmp_path):
    path = tmp_path / "x.nppmodel"
    write_arrays(path, {"policy": "mlp"}, {"network/a": np.zeros(300, np.float32)})
    good = path.read_bytes()
    with pytest.raises(ModelError, match="environment"):
        load_policy(path)
    rng = np.random.default_rng(0)
    for _ in range(300):
        damaged = bytearray(good)
        for place in rng.integers(0, len(good), 3):
            damaged[place] = rng.integers(256)
        path.write_bytes(bytes(damaged[: rng.integers(1, len(good) + 1)]))
        with pytest.raises(ModelError):
            load_policy(path)
    np.savez(path, a=np.array([{}], object), allow_pickle=True)
    with pytest.raises(ModelError):
        load_policy(path)
    with pytest.raises(ModelError, match="cannot be read"):
        load_policy(tmp_path / "nothing.nppmodel")


def test_a_short_model_that_holds_much_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "x.nppmodel"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("a.npy", "w") as member:
        for _ in range(300):
            member.write(bytes(1 << 20))
    assert path.stat().st_size < 1 << 20
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match=f"holds {300 << 20} bytes; at most {1 << 28}"):
            load_policy(path)
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


def test_mistakes_are_named(tmp_path, capsys):
    with pytest.raises(ConfigError, match="no algorithm 'pp'"):
        Trainer(tmp_path / "a", TrainSettings(algo="pp"))
    with pytest.raises(ConfigError, match="have no 'rate'"):
        Trainer(tmp_path / "a", TrainSettings(algo_options={"rate": 1}))
    with pytest.raises(ConfigError, match="do not fit the policy 'mlp'"):
        Trainer(tmp_path / "a", TrainSettings(policy_options={"breadth": 1}))
    assert not (tmp_path / "a").exists()
    with pytest.raises(NppError, match="holds no run"):
        Trainer(tmp_path / "a")
    assert main(["train", "--out", str(tmp_path / "a")]) == 2
    assert "--minutes 10" in capsys.readouterr().err


def test_the_command(tmp_path, capsys):
    arguments = ["--num-envs", "8", "--option", "num_steps=8", "--policy-option", "width=8", "--no-tensorboard"]
    out = str(tmp_path / "run")
    assert main(["train", "shipped:first_steps/walk", "--steps", "128", "--out", out, *arguments]) == 0
    captured = capsys.readouterr()
    assert "backward" in captured.out
    assert "steps/s" in captured.err
    assert json.loads((tmp_path / "run" / "config.json").read_text())["policy_options"] == {"width": 8}
    assert main(["train", "--steps", "128", "--out", out]) == 2
    assert "--resume" in capsys.readouterr().err
    assert main(["train", "--resume", "--steps", "256", "--out", out, "--no-tensorboard"]) == 0


def test_a_curve_that_was_cut_off_is_read_up_to_there(tmp_path):
    folder = RunFolder(tmp_path)
    for k in range(3):
        folder.append({"steps": 10.0 * k, "success": 0.5})
    path = tmp_path / "curve.csv"
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.rindex(b",")])
    assert [row["steps"] for row in folder.curve()] == [0, 10]
    folder.cut_curve(5)
    assert [row["steps"] for row in folder.curve()] == [0]


def test_a_foreign_checkpoint_is_refused(tmp_path):
    Trainer(tmp_path, TrainSettings(**SMALL)).run(Limits(steps=256))
    (tmp_path / "checkpoint.npz").write_bytes((tmp_path / "model.nppmodel").read_bytes())
    with pytest.raises(ModelError, match="lacks algorithm"):
        Trainer(tmp_path)


def test_an_interrupt_leaves_a_run_that_goes_on(tmp_path, capsys, monkeypatch):
    from npp_env.learning import trainer as module

    monkeypatch.setattr(module, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    plain, calls = PPO.iterate, []

    def interrupted(self):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return plain(self)

    monkeypatch.setattr(PPO, "iterate", interrupted)
    arguments = ["--num-envs", "8", "--option", "num_steps=8", "--policy-option", "width=8", "--no-tensorboard"]
    out = str(tmp_path / "run")
    assert main(["train", "shipped:first_steps/walk", "--steps", "256", "--out", out, *arguments]) == 130
    assert "--resume" in capsys.readouterr().err
    assert main(["train", "--resume", "--out", out, "--no-tensorboard"]) == 0
    assert [row["steps"] for row in Trainer(tmp_path / "run").folder.curve()] == [64, 128, 192, 256]


def test_tensorboard_gets_every_row(tmp_path):
    pytest.importorskip("tensorboard")
    from npp_env.profiling.event_files import ScalarLog

    arguments = ["--num-envs", "8", "--option", "num_steps=8", "--policy-option", "width=8", "--no-progress"]
    arguments = ["train", "--steps", "256", "--out", str(tmp_path / "run"), *arguments]
    code = f"from npp_env.cli import main; main({arguments})"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    log = ScalarLog()
    for path in (tmp_path / "run" / "events").iterdir():
        log.read(path)
    assert list(log.steps["train/success"]) == [64, 128, 192, 256]


def test_curves_of_seeds_are_drawn_together(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    for seed in (0, 1):
        Trainer(tmp_path / f"s{seed}", TrainSettings(**SMALL, seed=seed)).run(Limits(steps=512))
    runs = [str(tmp_path / "s0"), str(tmp_path / "s1")]
    assert main(["curves", *runs, "-o", str(tmp_path / "curves.png")]) == 0
    assert "| shipped:first_steps, ppo, mlp | 2 | 0.0 M |" in capsys.readouterr().out
    assert (tmp_path / "curves.png").read_bytes()[:4] == b"\x89PNG"
    assert main(["curves", str(tmp_path)]) == 2
    assert "holds no run" in capsys.readouterr().err
