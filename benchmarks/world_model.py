"""The world model: what it costs, what it predicts on levels that it never saw, and whether its memory stays flat."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

TRAINED_ON, UNSEEN = "generated:any?difficulty=0.1&seeds=0-999", "generated:any?difficulty=0.1&seeds=100000-100063"
WARM_STEPS = 12_288
"""Played before memory is judged: the ring is full, and optimisers have what they need."""
SIZES = ({"width": 64}, {"width": 160, "groups": 16})


def settings(task: str, steps: int, options: dict[str, Any], policy_options: dict[str, Any] | None = None) -> Any:
    """A run of the world model."""
    from npp_env.learning.settings import TrainSettings

    names = {"algo": "world-model", "policy": "world-model", "num_envs": 16}
    return TrainSettings(
        task=task, total_steps=steps, algo_options=options, policy_options=policy_options or {}, **names
    )


def costs(quick: bool) -> dict[str, Any]:
    """CPU time of an update by size."""
    from npp_env.learning.world_model.algorithm import WorldModel

    rows = []
    for sizes in SIZES:
        algorithm = WorldModel(settings("shipped:first_steps", 10**6, {}, sizes))
        for _ in range(40):
            algorithm.collect()
        algorithm.learn()
        begin, count = time.process_time(), 3 if quick else 20
        for _ in range(count):
            algorithm.learn()
        parameters = sum(value.numel() for value in algorithm.network.parameters())
        profile = algorithm.bench.profile.shares()
        spent = ", ".join(f"{name} {share:.0%}" for name, share in profile.items() if share >= 0.05)
        rows.append([parameters, round(1000 * (time.process_time() - begin) / count, 1), spent])
        algorithm.bench.close()
    header = ["parameters", "CPU ms per update of 16 x 32", "of which"]
    return {"title": "World model: cost of an update", "header": header, "rows": rows}


def activations(quick: bool) -> dict[str, Any]:
    """What the graph of an update keeps, with all losses, without each, and with shorter sequences."""
    from npp_env.learning.world_model.algorithm import WorldModel
    from npp_env.learning.world_model.assess import activation_bytes
    from npp_env.learning.world_model.options import BRANCHES, WorldModelOptions

    algorithm = WorldModel(settings("shipped:first_steps", 10**6, {}))
    for _ in range(40):
        algorithm.collect()

    def kept(length: int, **options: Any) -> int:
        rows = algorithm._rows[: length * 16]
        drawn = algorithm.replay.draw(length, 16, np.random.default_rng(0), rows)
        vectors = algorithm.network.flatten(algorithm.bench.observe(drawn.rows))
        return activation_bytes(algorithm.network, drawn, vectors, WorldModelOptions(**options))

    whole = kept(32)
    cases = [("all losses", whole), *((f"--without {name}", kept(32, without=name)) for name in BRANCHES)]
    cases += [(f"--sequence-length {length}", kept(length)) for length in (16, 8)]
    rows = [[name, round(size / 2**20, 2), round(size / whole, 2)] for name, size in cases]
    algorithm.bench.close()
    header = ["16 sequences of 32 steps", "MB kept for the way back", "of all"]
    return {"title": "World model: activations of an update", "header": header, "rows": rows}


def predictions(quick: bool) -> dict[str, Any]:
    """Errors on unseen levels after some training on others."""
    from npp_env.learning.trainer import Limits, Trainer
    from npp_env.learning.world_model.algorithm import WorldModel
    from npp_env.learning.world_model.assess import prediction_errors, return_correlation

    steps = 6_000 if quick else 120_000
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(Path(folder) / "run", settings(TRAINED_ON, steps, {"updates": 4, "replay_steps": 100_000}))
        trainer.run(Limits(steps=steps))
        other = WorldModel(settings(UNSEEN, steps, {"warm_up": 10**9, "batch": 256}))
        for _ in range(200):
            other.collect()
        rows = []
        for ahead in (1, 15):
            drawn = other.replay.draw(32, 256, np.random.default_rng(ahead), other._rows)
            vectors = other.network.flatten(other.bench.observe(drawn.rows))
            network = trainer.algorithm.bench.network
            errors = prediction_errors(network, drawn, vectors, ahead, other.bench.config.frame_skip)
            model, still, constant = (round(value, 2) for value in errors.position_px)
            fast, kept = (round(value, 3) for value in errors.velocity)
            factors = [round(still / model, 2), round(constant / model, 2), round(kept / fast, 2)]
            rows.append([ahead, errors.samples, model, still, constant, fast, kept, *factors])
        acting = WorldModel(settings(UNSEEN, steps, {"warm_up": 0, "batch": 512}))
        acting.network.load_state_dict(network.state_dict())
        for _ in range(400):
            acting.collect()
        drawn = acting.replay.draw(32, 512, np.random.default_rng(0), acting._rows)
        vectors = acting.network.flatten(acting.bench.observe(drawn.rows))
        agreement, compared = return_correlation(network, drawn, vectors, 15, acting.options.discount)
    header = ["steps ahead", "samples", "position, px: model", "keep the last", "constant velocity"]
    header += ["velocity: model", "kept", "factor over keeping", "over constant velocity", "velocity over keeping"]
    notes = [f"After {steps:,} steps on {TRAINED_ON}, random play on {UNSEEN}; root mean squares, steps of 4 ticks."]
    notes.append(
        f"Return of 15 steps of the actor on unseen levels, imagined against real: correlation {agreement:.2f} "
        f"over {compared} states."
    )
    return {
        "title": "World model: open-loop predictions on unseen levels",
        "header": header,
        "rows": rows,
        "notes": notes,
    }


def flatness(quick: bool) -> dict[str, Any]:
    """Verdicts on the memory of collection and of joint training, with and without kept graphs."""
    from npp_env.learning.trainer import Trainer
    from npp_env.level.heap import return_free_memory
    from npp_env.profiling.tracker import MemoryTracker

    rows = []
    for name, options, steps in (
        ("warm-up", {"warm_up": 10**9}, 2_000 if quick else 40_000),
        ("joint training", {"warm_up": 0}, 1_000 if quick else 40_000),
        ("warm-up, graphs kept", {"warm_up": 10**9, "keep_graphs": True}, 12_000),
    ):
        with tempfile.TemporaryDirectory() as folder:
            # A ring that is full before the measurement begins, of states of one length: filling it is no leak.
            made = settings("shipped:first_steps/walk", 10**6, {"replay_steps": 1024, "updates": 1, **options})
            algorithm = Trainer(Path(folder) / "run", made).algorithm
            bench = algorithm.bench
            while bench.steps < WARM_STEPS:
                algorithm.iterate()
            bench.tracker = tracker = MemoryTracker(interval=1024, budget_fraction=None)
            begin = bench.steps
            while bench.steps < begin + steps:
                algorithm.iterate()
                return_free_memory()  # what the allocator holds for later is no growth, and wanders
                tracker.on_step(bench.steps)
            growth, phases = tracker.growth(threshold_per_1k=10 * 1024), tracker.phases
            tensors = tracker.samples.column("cpu_bytes")
            culprit = phases.culprit or "none"
            slope = round(growth.slope_per_1k / 1024, 2)
            rows.append([name, steps, str(growth.verdict), slope, round(float(tensors[-1]) / 2**20, 2), culprit])
            bench.close()
    header = ["phase of training", "environment steps", "verdict", "KB per 1,000 steps", "live tensors, MB", "charged"]
    return {
        "title": "World model: memory",
        "header": header,
        "rows": rows,
        "notes": ["Threshold 10 KB per 1,000 steps."],
    }


def run(quick: bool) -> dict[str, Any]:
    """All tables; none without torch."""
    try:
        import torch
    except ImportError:
        notes = ["torch is not installed."]
        return {"title": "World model", "header": ["torch"], "rows": [["missing"]], "notes": notes}
    torch.set_num_threads(1)
    return {"tables": [flatness(quick), costs(quick), activations(quick), predictions(quick)]}
