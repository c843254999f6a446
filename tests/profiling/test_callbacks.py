from __future__ import annotations

import sys

import pytest

from npp_env.errors import MissingDependencyError
from npp_env.profiling import LoopCallback, MemoryGuard, MemoryTracker, memory_scalars, tensorboard_writer


def test_a_plain_loop_gets_its_scalars():
    written = []
    callback = LoopCallback(
        tracker=MemoryTracker(10, budget_fraction=None), write_scalar=lambda *entry: written.append(entry)
    )
    for step in range(101):
        with callback.phase("collect"):
            pass
        assert callback.on_step(step)
    names = {name for name, _, _ in written}
    assert names == {"memory/uss_mb", "memory/growth_kb_per_1k", "train/sps"}
    assert [step for name, _, step in written if name == "memory/uss_mb"] == list(range(0, 101, 10))
    assert all(value > 0 for name, value, _ in written if name != "memory/growth_kb_per_1k")
    assert callback.tracker.phases.iterations == 100


def test_no_sample_no_scalars():
    assert memory_scalars(MemoryTracker()) == {}


def test_the_guard_ends_the_loop():
    guard = MemoryGuard(min_free_fraction=0.999999, on_low="stop")
    assert not LoopCallback(guard=guard).on_step(0)


def test_without_a_writer_the_pip_line_is_named(tmp_path, monkeypatch):
    for name in ("torch.utils.tensorboard", "tensorboardX"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependencyError, match="pip install"):
        tensorboard_writer(tmp_path)


def test_without_sb3_the_pip_line_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    monkeypatch.setitem(sys.modules, "stable_baselines3.common", None)
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.callbacks", None)
    monkeypatch.delitem(sys.modules, "npp_env.profiling.sb3", raising=False)
    with pytest.raises(MissingDependencyError, match=r"pip install 'npp_env\[sb3\]'"):
        import npp_env.profiling.sb3  # noqa: F401


def test_an_sb3_run_is_tracked_by_phase():
    stable_baselines3 = pytest.importorskip("stable_baselines3")
    from npp_env.profiling.sb3 import MemoryCallback

    callback = MemoryCallback(interval=64)
    model = stable_baselines3.PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=1, device="cpu")
    model.learn(640, callback=callback)
    assert {phase.name for phase in callback.tracker.phases.phases} >= {"collect", "update"}
    assert callback.tracker.samples.column("step")[-1] == 640
    assert callback.tracker.samples.has("cpu_tensors")


def test_tensorboard_files_come_back(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("tensorboard")
    from npp_env.profiling.tensorboard_scalars import read_scalars

    write = tensorboard_writer(tmp_path)
    for step in range(5):
        write("memory/uss_mb", 2.0 * step, step)
    sys.modules["torch.utils.tensorboard"].SummaryWriter(str(tmp_path)).flush()
    del write
    (series,) = read_scalars(tmp_path)
    assert series.tag == "memory/uss_mb"
    assert series.values.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]
