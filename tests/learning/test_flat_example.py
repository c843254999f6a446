"""The documented comparison of a loop that grows with one that does not."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("torch")

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "flat_imitation.py"
STEPS = 20 * 64 * 32


def test_lists_grow_and_the_trainer_does_not():
    spec = importlib.util.spec_from_file_location("flat_imitation", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    leaky, flat = example.train_leaky(STEPS), example.train_flat(STEPS)
    assert leaky["growth"]["verdict"] == "growing"
    assert leaky["growth"]["slope_per_1k"] > 1e6
    assert flat["growth"]["slope_per_1k"] < leaky["growth"]["slope_per_1k"] / 20
    assert flat["speed_steps"][-1] >= STEPS
    assert flat["last_tenth"] > 0
