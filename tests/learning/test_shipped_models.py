"""The trained models that come with the package."""

from __future__ import annotations

import pytest

from npp_env.learning.model_file import shipped_models


def test_they_are_small():
    assert "first_steps" in shipped_models()
    assert sum(path.stat().st_size for path in shipped_models().values()) <= 2_000_000


def test_first_steps_wins_every_level_of_its_group():
    pytest.importorskip("torch")
    from npp_env.cli.policies import load_policy_argument
    from npp_env.evaluation.evaluate import EvaluationOptions, evaluate

    policy = load_policy_argument("baseline:first_steps")
    evaluation, _ = evaluate(policy, "shipped:first_steps", EvaluationOptions(record=False))
    assert (evaluation.total.episodes, evaluation.total.won) == (6, 6)
