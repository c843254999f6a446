"""The trained models that come with the package."""

from __future__ import annotations

import pytest

from npp_env.learning.model_file import shipped_models


def test_they_are_small():
    assert set(shipped_models()) == {"all_levels", "first_steps"}
    assert sum(path.stat().st_size for path in shipped_models().values()) <= 2_000_000


# Where a ninja passes a hazard by a hair, the last bits of a processor's arithmetic decide; 50 where it was trained.
@pytest.mark.parametrize(
    ("name", "levels", "episodes", "least_won"),
    [("first_steps", "first_steps", 6, 6), ("all_levels", "verified", 75, 45)],
)
def test_they_win(name, levels, episodes, least_won):
    pytest.importorskip("torch")
    from npp_env.cli.policies import load_policy_argument
    from npp_env.evaluation.evaluate import EvaluationOptions, evaluate

    policy = load_policy_argument(f"baseline:{name}")
    evaluation, _ = evaluate(policy, f"shipped:{levels}", EvaluationOptions(record=False))
    assert evaluation.total.episodes == episodes
    assert evaluation.total.won >= least_won
