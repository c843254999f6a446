"""Learning from a teacher twice: a loop as such loops often are, and `npp-env train --algo dagger`, side by side.

python docs/examples/flat_imitation.py --leaky         # lists that grow, tensors that are kept
python docs/examples/flat_imitation.py                 # everything allocated once
python docs/examples/flat_imitation.py --plot docs/images/flat_imitation.png

Both play the same levels with the same network, and ask the same teacher about as many states. The loop of the old kind
appends every observation to a list, keeps what the network said (and with it the graphs that made it), and stacks its
minibatches anew from the list. Needs torch; the picture needs matplotlib.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

STEPS = 200_000
NUM_ENVS, NUM_STEPS = 64, 32
MINIBATCH, UPDATES, LABELS = 256, 8, 32
TASK = "shipped:first_steps"


def settings() -> Any:
    """The run, as `npp-env train` has it."""
    from npp_env.learning.settings import TrainSettings

    options = {"num_steps": NUM_STEPS, "minibatch": MINIBATCH, "updates": UPDATES, "labels": LABELS}
    return TrainSettings(
        task=TASK,
        algo="dagger",
        num_envs=NUM_ENVS,
        total_steps=STEPS,
        algo_options={**options, "perturbed": 2, "ticks_per_state": 20_000, "teacher_share": 0.0},
    )


def train_flat(steps: int) -> dict[str, Any]:
    """The trainer's own loop."""
    from npp_env.learning.algorithms import make_algorithm
    from npp_env.level.heap import return_free_memory
    from npp_env.profiling import MemoryTracker

    algorithm = make_algorithm(settings())
    bench = algorithm.bench
    bench.tracker = MemoryTracker(interval=NUM_ENVS * NUM_STEPS, budget_fraction=0.3)
    speed = Speed()
    while bench.steps < steps:
        speed.begin()
        algorithm.iterate()
        speed.note(bench.steps, bench.profile.cpu_seconds.get("label", 0.0))
        return_free_memory()  # what the allocator holds for later is no growth, and wanders
        bench.tracker.on_step(bench.steps)
    return summary(bench.tracker, speed)


def train_leaky(steps: int) -> dict[str, Any]:
    """The loop of the old kind."""
    import numpy as np
    import torch

    from npp_env.learning.algorithms import make_algorithm
    from npp_env.learning.networks import masked_log_probabilities
    from npp_env.learning.teacher import NO_ANSWER
    from npp_env.level.heap import return_free_memory
    from npp_env.profiling import MemoryTracker

    algorithm: Any = make_algorithm(settings())
    bench, teacher, optimizer = algorithm.bench, algorithm.teacher, algorithm.cloner.optimizer
    algorithm.cloner.fill()
    tracker = MemoryTracker(interval=NUM_ENVS * NUM_STEPS, budget_fraction=0.3)
    speed, labelling = Speed(), 0.0
    seen: list[tuple[dict[str, Any], int]] = []
    history = []
    while bench.steps < steps:
        speed.begin()
        tracker.iteration()
        with tracker.phase("collect"):
            for _ in range(NUM_STEPS):
                observations = {key: value.clone() for key, value in bench.observe(bench.rows).items()}
                logits = bench.network(observations).logits
                history.append(logits)
                scores = masked_log_probabilities(logits, observations["action_mask"]).detach().numpy()
                row = int(bench.random.integers(NUM_ENVS))
                begun = time.process_time()
                answer = teacher.act(np.array(bench.rows[row]))
                labelling += time.process_time() - begun
                if answer != NO_ANSWER:
                    seen.append(({key: value[row] for key, value in observations.items()}, answer))
                bench.step(scores.argmax(axis=1))
        with tracker.phase("learn"):
            for _ in range(UPDATES):
                chosen = [seen[k] for k in bench.random.integers(0, len(seen), MINIBATCH)]
                batch = {key: torch.stack([entry[0][key] for entry in chosen]) for key in observations}
                labels = torch.tensor([entry[1] for entry in chosen])
                loss = torch.nn.functional.cross_entropy(bench.network(batch).logits, labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                history.append(loss)
        speed.note(bench.steps, labelling)
        return_free_memory()
        tracker.on_step(bench.steps)
    return summary(tracker, speed)


class Speed:
    """Steps per second of processor time; the teacher's search and the samples of memory are left out."""

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.seconds: list[float] = []
        self._begun = self._spent = 0.0

    def begin(self) -> None:
        """An iteration begins."""
        self._begun = time.process_time()

    def note(self, steps: int, labelling: float) -> None:
        """After so many steps, of which the teacher's search took so long."""
        self._spent += time.process_time() - self._begun
        self.steps.append(steps)
        self.seconds.append(self._spent - labelling)

    def of_tenth(self, first: bool) -> float:
        """Of the first or last tenth; what is done once comes before it."""
        size = max(2, len(self.steps) // 10)
        part = slice(1, size + 1) if first else slice(-size, None)
        steps, seconds = self.steps[part], self.seconds[part]
        return (steps[-1] - steps[0]) / max(seconds[-1] - seconds[0], 1e-9)


def summary(tracker: Any, speed: Speed) -> dict[str, Any]:
    """What the tracker and the clock found, for JSON."""
    growth = tracker.growth()
    return {
        "growth": growth.to_dict(),
        "text": f"{growth.to_text()}\n{tracker.phases.to_text()}",
        "first_tenth": speed.of_tenth(True),
        "last_tenth": speed.of_tenth(False),
        "memory_steps": tracker.samples.column("step").tolist(),
        "bytes": tracker.samples.column(tracker.memory_column).tolist(),
        "speed_steps": speed.steps,
        "cpu_seconds": speed.seconds,
    }


def draw(path: Path, steps: int) -> None:
    """Run both loops, each in a process of its own, and draw memory and speed."""
    import matplotlib

    matplotlib.use("Agg")
    import numpy as np
    from matplotlib import pyplot

    figure, (memory, pace) = pyplot.subplots(2, 1, figsize=(8, 6), layout="constrained", sharex=True)
    for arguments, color, name in ((["--leaky"], "#c4454d", "lists that grow"), ([], "#3a9a6a", "allocated once")):
        command = [sys.executable, __file__, "--json", "--steps", str(steps), *arguments]
        found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        fit = found["growth"]
        label = f"{name}: {fit['verdict']}, {fit['slope_per_1k'] / 1024:+,.1f} KB per 1,000 steps"
        values = np.array(found["bytes"])
        good = np.isfinite(values)
        memory.plot(np.array(found["memory_steps"])[good], (values[good] - values[good][0]) / 2**20, color, label=label)
        every = max(1, len(found["speed_steps"]) // 40)
        at, spent = np.array(found["speed_steps"][1::every]), np.array(found["cpu_seconds"][1::every])
        label = f"{name}: {found['first_tenth']:,.0f} at first, {found['last_tenth']:,.0f} at last"
        pace.plot(at[1:], np.diff(at) / np.diff(spent), color, label=label)
        print(f"{name}: {found['text']}\n{label}\n", flush=True)
    memory.set_ylabel("memory, change since the start (MB)")
    pace.set_ylabel("steps per CPU-second, search left out")
    pace.set_xlabel("environment steps")
    for axes in (memory, pace):
        axes.set_ylim(bottom=0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#e3e8ee")
        axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main() -> int:
    """Run one loop, or draw both; 3 when memory grows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--leaky", action="store_true", help="the loop of the old kind")
    parser.add_argument("--steps", type=int, default=STEPS, help="environment steps (default %(default)s)")
    parser.add_argument("--json", action="store_true", help="print data")
    parser.add_argument("--plot", type=Path, metavar="PNG", help="run both and draw them")
    args = parser.parse_args()
    if args.plot is not None:
        draw(args.plot, args.steps)
        return 0
    found = (train_leaky if args.leaky else train_flat)(args.steps)
    if args.json:
        print(json.dumps(found))
        return 0
    print(found["text"])
    print(f"steps per CPU-second: {found['first_tenth']:,.0f} at first, {found['last_tenth']:,.0f} at last")
    return 3 if found["growth"]["verdict"] == "growing" else 0


if __name__ == "__main__":
    raise SystemExit(main())
