"""What can be learned: success per task against steps and processor minutes, beside policies that learned nothing.

`python -m benchmarks learning` trains for hours; `--quick` trains one seed of one task for a minute. Every row names
the command that trains one of its seeds. It needs torch.
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npp_env.evaluation.baselines import baseline_policy
from npp_env.evaluation.evaluate import EvaluationOptions, evaluate
from npp_env.evaluation.policy import Policy
from npp_env.level.level_set import LevelSet
from npp_env.level.tasks import FIRST_TEST_SEED, GENERATED_DIFFICULTIES, TRAINING_SEEDS, shipped_groups

GOOD = 0.95
TESTED_LEVELS = 200


@dataclass(frozen=True)
class Trial:
    """One row: a task, how it is trained, and on which levels it is judged."""

    task: str
    steps: int
    seeds: int
    policy: str = "mlp"
    judged: str | None = None


def trials(quick: bool) -> list[Trial]:
    """What is measured."""
    if quick:
        return [Trial("shipped:first_steps", 300_000, 1)]
    rows = [Trial("shipped:first_steps", 1_500_000, 5)]
    rows += [Trial(f"shipped:{group}", 3_000_000, 3) for group in shipped_groups() if group != "first_steps"]
    rows += [Trial("shipped:doors", 3_000_000, 3, policy) for policy in ("attention", "graph")]
    rows.append(Trial("shipped", 30_000_000, 1))
    for difficulty in GENERATED_DIFFICULTIES.values():
        generated = f"generated:any?difficulty={difficulty}&seeds="
        last = FIRST_TEST_SEED + TESTED_LEVELS - 1
        rows.append(Trial(generated + TRAINING_SEEDS, 10_000_000, 1, judged=f"{generated}{FIRST_TEST_SEED}-{last}"))
    return rows


def run(quick: bool) -> dict[str, Any]:
    """Train and judge; a row for each trial."""
    rows = [_row(trial) for trial in trials(quick)]
    return {
        "title": "Learning",
        "header": [
            "task", "policy", "seeds", "steps", "CPU minutes", "won, median", "won, worst", f"steps to {GOOD:.0%}",
            "random", "path", "command",
        ],
        "rows": rows,
        "notes": [
            "Won: share of the levels that the trained model wins, taking its likeliest action; of generated ones, "
            "levels of seeds that it was not trained on. Steps until so many training episodes were won: median over "
            "the seeds that came so far. random and path: share of episodes that the baselines win.",
        ],
    }  # fmt: skip


def _row(trial: Trial) -> list[Any]:
    from npp_env.learning.model_file import load_policy
    from npp_env.learning.settings import TrainSettings
    from npp_env.learning.trainer import Limits, Trainer

    won, minutes, reached = [], [], []
    for seed in range(trial.seeds):
        with tempfile.TemporaryDirectory() as folder:
            settings = TrainSettings(task=trial.task, policy=trial.policy, seed=seed, total_steps=trial.steps)
            trainer = Trainer(Path(folder) / "run", settings)
            trainer.run(Limits())
            curve = trainer.folder.curve()
            minutes.append(curve[-1]["cpu_seconds"] / 60)
            reached += [row["steps"] for row in curve if row["success"] >= GOOD][:1]
            won.append(_share(load_policy(trainer.folder.model), trial))
    command = f"npp-env train '{trial.task}' --steps {trial.steps} --policy {trial.policy} --seed 0 --out RUN"
    baselines = [round(_share(baseline_policy(name), trial), 2) for name in ("random", "path")]
    return [
        trial.task,
        trial.policy,
        trial.seeds,
        trial.steps,
        round(statistics.median(minutes), 1),
        round(statistics.median(won), 2),
        round(min(won), 2),
        f"{statistics.median(reached):,.0f} ({len(reached)} of {trial.seeds})" if reached else "-",
        *baselines,
        f"`{command}`",
    ]


def _share(policy: Policy, trial: Trial) -> float:
    """Share of episodes that a policy wins on the levels that a trial is judged by."""
    levels = LevelSet.parse(trial.judged or trial.task)
    if not levels.is_finite:
        assert levels.period is not None
        levels = LevelSet([levels[k] for k in range(levels.period)])
    evaluation, _ = evaluate(policy, levels, EvaluationOptions(episodes=10, record=False))
    return evaluation.total.won / evaluation.total.episodes
