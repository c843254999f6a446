"""Against a real torch, where it is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from npp_env.profiling import MemoryTracker, profile_loop  # noqa: E402
from npp_env.profiling.torch_memory import read_torch_memory  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "leaky_loop.py"


def test_live_tensors_are_counted_and_views_are_not_counted_twice():
    before = read_torch_memory()
    block = torch.zeros(1000, 250)
    view = block[10:]
    after = read_torch_memory()
    assert after.cpu_tensors - before.cpu_tensors == 2
    assert after.cpu_bytes - before.cpu_bytes == 1_000_000
    assert view.numel()


def test_tensors_of_subclasses_are_counted():
    class Marked(torch.Tensor):
        pass

    before = read_torch_memory()
    parameter, marked = torch.nn.Parameter(torch.zeros(100)), torch.zeros(50).as_subclass(Marked)
    after = read_torch_memory()
    assert after.cpu_tensors - before.cpu_tensors >= 2  # a view may keep its base
    assert after.cpu_bytes - before.cpu_bytes == 4 * (parameter.numel() + marked.numel())


def test_the_tracker_samples_tensors():
    tracker = MemoryTracker(budget_fraction=None)
    assert tracker.sample(0).torch is not None
    assert tracker.sample(1, with_tensors=False).torch is None


@pytest.mark.parametrize(("steps", "readings"), [(10, 11), (32, 33), (33, 18), (1000, 33)])
def test_a_profile_counts_tensors_in_a_few_snapshots_only(steps, readings):
    result = profile_loop(lambda: None, steps=steps, snapshot_interval=1, progress=False, with_cprofile=False)
    tensors = result.tracker.samples.column("cpu_tensors")
    assert np.isfinite(tensors).sum() == readings
    assert np.isfinite(tensors[[0, -1]]).all()


@pytest.mark.slow
@pytest.mark.parametrize("fixed", [False, True])
def test_the_leaky_loop_is_told_from_the_fixed_one(fixed):
    command = [sys.executable, str(EXAMPLE), "--json", *(["--fixed"] if fixed else [])]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    if fixed:
        assert found["growth"]["verdict"] == "flat", found["growth_text"]
        assert found["culprit"] is None, found["phases_text"]
    else:
        assert found["growth"]["verdict"] == "growing", found["growth_text"]
        assert found["culprit"] == "collect", found["phases_text"]
