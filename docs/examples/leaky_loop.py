"""A training loop that leaks autograd graphs, and the same loop without the leak.

python docs/examples/leaky_loop.py             # keeps the graph of the recurrent state
python docs/examples/leaky_loop.py --fixed     # no_grad in collection, detached state
python docs/examples/leaky_loop.py --plot docs/images/leaky_vs_fixed.png

The leak is the classic one: values computed during collection carry the graph that made them, and a list
(or a recurrent state) that outlives the iteration keeps all of those graphs alive. Needs torch; the picture
needs matplotlib.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

ITERATIONS = 300
STEPS_PER_ITERATION = 32
OBSERVATION_SIZE = 64
HIDDEN_SIZE = 32


def train(fixed: bool) -> dict[str, object]:
    """Run the loop, and return what the tracker found."""
    import torch

    from npp_env.profiling import MemoryTracker

    torch.manual_seed(0)
    torch.set_num_threads(1)
    encoder = torch.nn.Linear(OBSERVATION_SIZE, HIDDEN_SIZE)
    memory = torch.nn.GRUCell(HIDDEN_SIZE, HIDDEN_SIZE)
    critic = torch.nn.Linear(HIDDEN_SIZE, 1)
    parameters = [*encoder.parameters(), *memory.parameters(), *critic.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=1e-3)
    # The whole run takes seconds, so a tenth of it goes into samples; the default of 0.4 % is for long runs.
    tracker = MemoryTracker(interval=STEPS_PER_ITERATION, budget_fraction=0.1)
    state = torch.zeros(1, HIDDEN_SIZE)
    step = 0
    for _ in range(ITERATIONS):
        with tracker.phase("collect"):
            rollout = []
            with torch.no_grad() if fixed else nullcontext():
                for _ in range(STEPS_PER_ITERATION):
                    observation = torch.rand(1, OBSERVATION_SIZE)
                    state = memory(torch.tanh(encoder(observation)), state)
                    rollout.append((observation, state if not fixed else state.detach()))
                    step += 1
        with tracker.phase("sample"):
            observations = torch.cat([entry[0] for entry in rollout])
            states = torch.cat([entry[1].detach() for entry in rollout])
            del rollout
        with tracker.phase("update"):
            value = critic(memory(torch.tanh(encoder(observations)), states))
            loss = (value - 1.0).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            del value, loss
        tracker.on_step(step)
    growth, phases = tracker.growth(), tracker.phases
    return {
        "growth": growth.to_dict(),
        "growth_text": growth.to_text(),
        "culprit": phases.culprit,
        "phases_text": phases.to_text(),
        "steps": tracker.samples.column("step").tolist(),
        "column": tracker.memory_column,
        "bytes": tracker.samples.column(tracker.memory_column).tolist(),
    }


def draw(path: Path) -> None:
    """Run both loops, each in a process of its own, and draw them into one picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4), layout="constrained")
    for arguments, color, name in (
        ([], "#c4454d", "graphs kept"),
        (["--fixed"], "#3a9a6a", "no_grad, detached"),
    ):
        command = [sys.executable, __file__, "--json", *arguments]
        found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        fit = found["growth"]
        readings = [pair for pair in zip(found["steps"], found["bytes"], strict=True) if pair[1] == pair[1]]
        steps = [step for step, _ in readings]
        mebibytes = [(value - readings[0][1]) / 2**20 for _, value in readings]
        charged = f', charged to "{found["culprit"]}"' if found["culprit"] else ""
        label = f"{name}: {fit['verdict']}, {fit['slope_per_1k'] / 2**20:+.2f} MB per 1,000 steps{charged}"
        axes.plot(steps, mebibytes, color=color, label=label)
    axes.set_xlabel("environment steps")
    axes.set_ylabel("memory, change since the start (MB)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e3e8ee")
    axes.legend(frameon=False, loc="upper left")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main() -> int:
    """Run one loop, or draw both; 3 when the loop leaks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fixed", action="store_true", help="the loop without the leak")
    parser.add_argument("--json", action="store_true", help="print data")
    parser.add_argument("--plot", type=Path, metavar="PNG", help="run both and draw them")
    args = parser.parse_args()
    if args.plot is not None:
        draw(args.plot)
        return 0
    found = train(args.fixed)
    if args.json:
        print(json.dumps(found))
        return 0
    print(found["growth_text"])
    print(found["phases_text"])
    return 3 if found["culprit"] is not None else 0


if __name__ == "__main__":
    raise SystemExit(main())
