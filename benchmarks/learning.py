"""What can be learned: success per task against minutes and steps, beside policies that learned nothing.

`python -m benchmarks.learning` trains for hours, one run after the other, first one seed of everything, then the next.
Each result is a line of a file, and what stands there is not trained again: a round can be stopped and gone on with.
`python -m benchmarks learning` prints the table of the results that are there; `--quick` trains one seed of one task
for a minute instead. It needs torch.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npp_env.evaluation.baselines import baseline_policy
from npp_env.evaluation.evaluate import EvaluationOptions, evaluate
from npp_env.evaluation.policy import Policy
from npp_env.level.level_set import LevelSet
from npp_env.level.tasks import FIRST_TEST_SEED, GENERATED_DIFFICULTIES, TRAINING_SEEDS, shipped_groups

RESULTS = Path(__file__).with_name("results") / "learning.jsonl"
GOOD = 0.95
TESTED_LEVELS = 200
POINTS = 20
"""Of a curve that are kept."""
GROUP_MINUTES = 3
LONG_GROUP_MINUTES = {
    "gauss": 6, "long_routes": 6, "one_ways": 6, "chaingun_drones": 10, "chasers": 10, "mixed": 10, "rockets": 10
}  # fmt: skip
GENERATED_MINUTES = {"Easy": 20, "Medium": 10, "Hard": 10}
"""With a teacher as without: its demonstrations count in."""
MANY_LEVELS = "--num-envs 512 --option minibatch=1024 --option learning_rate=0.001 --policy-option width=256"


@dataclass(frozen=True)
class Trial:
    """A row of the table: a task, how it is trained, and on which levels it is judged."""

    name: str
    task: str
    minutes: float
    seeds: int = 1
    options: str = ""
    judged: str = ""

    def command(self, seed: int, out: str = "RUN") -> list[str]:
        """The words that train one of its seeds."""
        return [
            "npp-env", "train", self.task, *self.options.split(),
            "--minutes", f"{self.minutes:g}", "--seed", str(seed), "--out", out,
        ]  # fmt: skip


def trials() -> list[Trial]:
    """What is measured."""
    until = f"--until {GOOD:g}"
    rows = [Trial("first_steps", "shipped:first_steps", 2, 5, until)]
    for group in shipped_groups():
        if group != "first_steps":
            minutes = LONG_GROUP_MINUTES.get(group, GROUP_MINUTES)
            rows.append(Trial(group, f"shipped:{group}", minutes, 5, until))
        if group in ("long_routes", "mixed"):
            rows.append(Trial(f"{group}, one try", f"shipped:{group}", minutes, 1, f"{until} --option second_tries=0"))
    many = f"{MANY_LEVELS} --sampling success"
    taught = f"--algo bc+ppo --option clone_updates=4000 --option capacity=131072 {many}"
    widely = f"{taught} --option demo_levels=500 --option perturbed=2"
    rows.append(Trial("all levels", "shipped:verified", 20, options=many))
    for word, difficulty in GENERATED_DIFFICULTIES.items():
        generated = f"generated:any?difficulty={difficulty}&seeds="
        last = FIRST_TEST_SEED + TESTED_LEVELS - 1
        unseen = f"{generated}{FIRST_TEST_SEED}-{last}"
        task = generated + TRAINING_SEEDS
        name, minutes = f"generated, {word.lower()}", GENERATED_MINUTES[word]
        rows.append(Trial(name, task, minutes, 1, many, unseen))
        rows.append(Trial(f"{name}, teacher", task, minutes, 1, widely, unseen))
    equal = "--steps 1000000 --option second_tries=0"
    rows.append(Trial("doors, attention", "shipped:doors", 10, 3, f"--policy attention {equal}"))
    rows.append(Trial("doors, mlp", "shipped:doors", 10, 3, equal))
    rows.append(Trial("first_steps, teacher", "shipped:first_steps", 3, 5, "--algo bc+ppo"))
    rows.append(Trial("all levels, teacher", "shipped:verified", 20, options=taught))
    rows.append(Trial("walk, world model", "shipped:first_steps/walk", 4, 3, "--algo world-model"))
    rows.append(Trial("jump, world model", "shipped:first_steps/jump", 8, 3, "--algo world-model"))
    return rows


def known_results(path: Path) -> list[dict[str, Any]]:
    """The results in a file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def train(trial: Trial, seed: int, run: Path) -> dict[str, Any]:
    """Train one seed of a trial in a folder of its own, or go on with what is there, and judge it."""
    words = trial.command(seed, str(run)) + (["--resume"] if run.exists() else [])
    # So that other work on the machine does not shorten the training.
    arguments = [sys.executable, "-m", "npp_env", *words[1:], "--processor-time", "--no-progress", "--no-tensorboard"]
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    return judge(trial, seed, run)


def judge(trial: Trial, seed: int, run: Path) -> dict[str, Any]:
    """What a run that is over came to."""
    from npp_env.learning.model_file import load_policy
    from npp_env.learning.run_folder import RunFolder

    folder = RunFolder(run)
    curve = folder.curve()
    policy = load_policy(folder.model)
    evaluation, _ = evaluate(policy, judged_levels(trial), EvaluationOptions(record=False))
    policy.deterministic = False
    good = [row["steps"] for row in curve if row["success"] >= GOOD]
    kept = curve[:: -(-len(curve) // POINTS)] + curve[-1:]
    return {
        "trial": trial.name,
        "seed": seed,
        "command": shlex.join(trial.command(seed)),
        "steps": int(curve[-1]["steps"]),
        "seconds": round(curve[-1]["seconds"]),
        "cpu_seconds": round(curve[-1]["cpu_seconds"]),
        "won": evaluation.total.won / evaluation.total.episodes,
        "drawn": share_won(policy, trial),
        "lost": []
        if trial.judged
        else [level.name for k, level in enumerate(evaluation.levels) if not evaluation.of_level(k).won],
        "good_steps": int(good[0]) if good else None,
        "curve": [[int(row["steps"]), round(row["cpu_seconds"]), round(row["success"], 3)] for row in kept],
        "load": round(os.getloadavg()[2], 1) if hasattr(os, "getloadavg") else None,
    }


def judged_levels(trial: Trial) -> LevelSet:
    """The levels that a trial is judged by."""
    return LevelSet.parse(trial.judged or trial.task)


def share_won(policy: Policy, trial: Trial) -> float:
    """Share of episodes that a policy wins on the levels that a trial is judged by."""
    evaluation, _ = evaluate(policy, judged_levels(trial), EvaluationOptions(episodes=10, record=False))
    return float(evaluation.total.won / evaluation.total.episodes)


def row_of(trial: Trial, results: list[dict[str, Any]]) -> list[Any]:
    """The row of a trial that has results."""
    won = [result["won"] for result in results]
    good = [result["good_steps"] for result in results if result["good_steps"] is not None]
    drawn = [result["drawn"] for result in results if "drawn" in result]
    million = statistics.median(result["steps"] for result in results) / 1e6
    return [
        trial.name,
        f"{trial.minutes:g}",
        len(results),
        f"{million:.1f}",
        f"{statistics.median(result['cpu_seconds'] for result in results) / 60:.1f}",
        f"{statistics.median(won):.0%}",
        f"{min(won):.0%}",
        f"{statistics.median(drawn):.0%}" if drawn else "-",
        f"{statistics.median(good) / 1e6:.2f} ({len(good)} of {len(results)})" if good else "-",
        *(f"{share_won(baseline_policy(name), trial):.0%}" for name in ("random", "path")),
        f"`{results[0]['command']}`",
    ]


def table(results: list[dict[str, Any]], chosen: list[Trial]) -> dict[str, Any]:
    """What is known of some trials."""
    rows = []
    for trial in chosen:
        found = [result for result in results if result["trial"] == trial.name]
        if found:
            rows.append(row_of(trial, found))
    return {
        "title": "Learning",
        "header": [
            "task", "minutes", "seeds", "million steps", "CPU minutes", "won, median", "worst", "drawn",
            f"million steps to {GOOD:.0%}", "random", "path", "command",
        ],
        "rows": rows,
        "notes": [
            "Won: share of the levels that the trained model wins, taking its likeliest action; of generated ones, "
            f"{TESTED_LEVELS} levels of seeds that it was not trained on. Drawn: share of episodes that it wins if it "
            "draws its actions, the median. Steps until so many training episodes were "
            "won: median over the seeds that came so far. random and path: share of episodes that the baselines win.",
        ],
    }  # fmt: skip


def run(quick: bool) -> dict[str, Any]:
    """The table of what has been trained; quick trains something short instead."""
    if not quick:
        return table(known_results(RESULTS), trials())
    trial = Trial("first_steps", "shipped:first_steps", 1)
    with tempfile.TemporaryDirectory() as folder:
        return table([train(trial, 0, Path(folder) / "run")], [trial])


def main() -> int:
    """Train what has no result yet."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="names of trials (default: all)")
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="at most so many of each (default 5)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file of the results")
    parser.add_argument("--runs", type=Path, help="keep the runs in this folder")
    args = parser.parse_args()
    for seed in range(args.seeds):
        for trial in trials():
            done = {(result["trial"], result["seed"]) for result in known_results(args.results)}
            if seed >= trial.seeds or (trial.name, seed) in done or (args.only and trial.name not in args.only):
                continue
            with tempfile.TemporaryDirectory() as folder:
                name = f"{trial.name}_{seed}".replace(", ", "_").replace(" ", "_")
                result = train(trial, seed, (args.runs or Path(folder)) / name)
            args.results.parent.mkdir(exist_ok=True)
            with open(args.results, "a") as file:
                file.write(json.dumps(result) + "\n")
            print(f"{trial.name}, seed {seed}: {result['won']:.0%} after {result['steps']:,} steps", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
