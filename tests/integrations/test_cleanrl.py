"""The example in the style of CleanRL runs as it stands."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "cleanrl_ppo.py"


def load_example():
    spec = importlib.util.spec_from_file_location("cleanrl_ppo", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_trains(capsys):
    module = load_example()
    arguments = ["--num-envs=8", "--num-steps=32", "--total-steps=1024", "--minibatch-size=64", "--epochs=1"]
    result = module.train(module.parse_arguments([*arguments, "--levels=shipped:mines"]))
    assert result["steps"] == 1024
    assert result["episodes"] > 0
    assert math.isfinite(result["loss"])
    assert capsys.readouterr().out.count("steps") == 4


def test_masked_actions_are_never_drawn():
    agent = load_example().Agent(5)
    mask = torch.tensor([[True, False, True, False, False, True]]).repeat(500, 1)
    drawn = agent.policy(torch.randn(500, 5), mask).sample()
    assert set(drawn.tolist()) == {0, 2, 5}


def test_advantages_stop_at_the_end_of_an_episode():
    module = load_example()
    rewards = torch.tensor([[1.0], [2.0], [4.0]])
    values = torch.zeros(3, 1)
    dones = torch.tensor([[False], [True], [False]])
    got = module.advantages_of(rewards, dones, values, torch.tensor([8.0]), 0.5, 1.0)
    assert got.flatten().tolist() == [2.0, 2.0, 8.0]
