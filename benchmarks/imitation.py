"""Cloning beside DAgger: as many minibatches for both, played from the start of levels and from perturbed states."""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env import NppVectorEnv
from npp_env.learning.demonstrations import PERTURBED, DemoMaker, DemoOptions
from npp_env.sim.outcome import Outcome

TITLE = "Cloning beside DAgger"
HEADER = ["group", "algorithm", "labels", "agreement", "won from the start", "won from beside", "CPU s"]
GROUPS = ("first_steps", "doors")
ITERATIONS, QUICK_ITERATIONS = 40, 3
MOST_STEPS = 400
TEST_SEED = 100_000
"""Perturbed states that no run has seen: those of training come from seed 0."""


def states_to_play(group: str, perturbed: int) -> dict[str, NDArray[np.uint8]]:
    """Rows at the start of the levels of a group, and beside their ways, from which the teacher wins."""
    maker = DemoMaker(f"shipped:{group}", DemoOptions(perturbed=perturbed, mirrored=False, seed=TEST_SEED))
    found: dict[str, list[NDArray[np.uint8]]] = {"start": [], PERTURBED: []}
    for episode in maker.episodes():
        found[episode.kind].append(episode.rows[0])
    return {kind: np.stack(rows) for kind, rows in found.items()}


def share_won(algorithm: Any, rows: NDArray[np.uint8]) -> float:
    """Share of states from which the network wins, by its likeliest actions."""
    from npp_env.learning.networks import masked_log_probabilities

    bench = algorithm.bench
    envs = NppVectorEnv(len(rows), bench.config)
    envs.reset(seed=0)
    envs.set_state(list(rows))
    present = rows.copy()
    over, won = np.zeros(len(rows), np.bool_), np.zeros(len(rows), np.bool_)
    for _ in range(MOST_STEPS):
        output, masks = bench.judge(present)
        actions = masked_log_probabilities(output.logits, masks).numpy().argmax(axis=1)
        present, _, terminated, truncated, info = envs.step(actions)
        won |= ~over & terminated & (info["outcome"] == Outcome.WON)
        over |= terminated | truncated
        if over.all():
            break
    envs.close()
    return float(won.mean())


def measure(group: str, algo: str, iterations: int, states: dict[str, NDArray[np.uint8]]) -> list[Any]:
    """One row of the table."""
    from npp_env.learning.algorithms import make_algorithm
    from npp_env.learning.settings import TrainSettings

    options = {"perturbed": 4, "minibatch": 512, "updates": 50}
    steps = iterations * 16 * 64
    cpu = time.process_time()
    made: Any = make_algorithm(
        TrainSettings(task=f"shipped:{group}", algo=algo, num_envs=64, total_steps=steps, algo_options=options)
    )
    for _ in range(iterations):
        curve = made.iterate()
    seconds = time.process_time() - cpu
    shares = [f"{share_won(made, rows):.0%}" for rows in states.values()]
    return [group, algo, made.cloner.store.count, f"{curve['agreement']:.0%}", *shares, round(seconds, 1)]


def run(quick: bool) -> dict[str, Any]:
    """Measure some groups, or one."""
    rows: list[list[Any]] = []
    if find_spec("torch") is None:
        return {
            "title": TITLE,
            "header": HEADER,
            "rows": rows,
            "notes": ["Needs torch: pip install 'npp_env[learning]'."],
        }
    for group in GROUPS[:1] if quick else GROUPS:
        states = states_to_play(group, 2 if quick else 10)
        for algo in ("bc", "dagger"):
            rows.append(measure(group, algo, QUICK_ITERATIONS if quick else ITERATIONS, states))
    return {
        "title": TITLE,
        "header": HEADER,
        "rows": rows,
        "notes": [
            f"{ITERATIONS} iterations of 50 minibatches of 512 labels; the same demonstrations first, from the start "
            "of each level and from 4 states beside its way; DAgger also plays and asks about 256 states an iteration.",
            "States beside the way are new ones, left by up to 8 actions of chance; from all of them the teacher wins.",
        ],
    }
