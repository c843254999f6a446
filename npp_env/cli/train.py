"""`npp-env train [TASK]`: learn to play, in a folder that can be gone on with."""

from __future__ import annotations

import argparse
import ast
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npp_env.cli.arguments import number, whole_number
from npp_env.cli.measuring import add_min_free, guard_of
from npp_env.cli.printing import complain, say
from npp_env.errors import ConfigError
from npp_env.learning.algorithms import ALGORITHMS, NUM_ENVS, OWN_POLICY, STEPS_PER_SECOND

if TYPE_CHECKING:
    from npp_env.learning.settings import TrainSettings

SECONDS_BETWEEN_LINES = 10.0
INTERRUPTED = 130
LEAST_FREE = 0.03
"""Share of memory that stays free unless `--min-free` says otherwise."""
_NUM_ENVS = 128


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env train`."""
    add = parser.add_argument
    add("task", nargs="*", metavar="TASK", help="levels to learn, such as shipped:first_steps (the default)")
    add("--out", type=Path, required=True, metavar="RUN", help="folder of the run")
    add("--minutes", type=number(0, 1e6), metavar="N", help="train for so long, and plan the schedules for it")
    add("--steps", type=whole_number(1), metavar="N", help="train for so many environment steps instead")
    add("--resume", action="store_true", help="go on with the run in the folder")
    add("--algo", default="ppo", choices=list(ALGORITHMS), help="how to learn (default %(default)s)")
    add("--policy", default="mlp", choices=list(STEPS_PER_SECOND), help="what the policy is (default %(default)s)")
    add("--seed", type=whole_number(0), default=0, help="where all chance comes from (default %(default)s)")
    few = ", ".join(f"{algo}: {number}" for algo, number in NUM_ENVS.items())
    add("--num-envs", type=whole_number(1), metavar="N", help=f"environments (default {_NUM_ENVS}; {few})")
    add("--threads", type=whole_number(1), default=1, metavar="N", help="threads (default %(default)s)")
    add("--sampling", metavar="HOW", help="how levels are chosen, such as success (default: all equally often)")
    for name, what in (("option", "the algorithm"), ("policy-option", "the network"), ("env", "the environment")):
        help_text = f"an option of {what}, as often as you like"
        add(f"--{name}", action="append", default=[], metavar="NAME=VALUE", help=help_text)
    world = parser.add_argument_group("world-model")
    world.add_argument("--without", metavar="LOSS,...", help="leave losses out: decoder, reward, kl, continue")
    world.add_argument("--sequence-length", type=whole_number(2), metavar="N", help="steps of a sequence")
    world.add_argument("--keep-graphs", action="store_true", help="leak as loops do that carry graphs along, for study")
    add("--snapshots", type=Path, metavar="FOLDER", help="write memory snapshots there, for npp-env analyze")
    add("--no-tensorboard", action="store_true", help="write no event files")
    add("--no-progress", action="store_true", help="no progress line")
    add_min_free(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command; 1 if memory became low and the run stopped early, 130 after Ctrl-C."""
    from npp_env.learning.trainer import Limits, Trainer
    from npp_env.profiling.guard import MemoryGuard

    if not args.resume and args.minutes is None and args.steps is None:
        raise ConfigError("say how long to train: --minutes 10, or --steps 2000000")
    trainer = Trainer(
        args.out,
        None if args.resume else settings_of(args),
        guard=guard_of(args) or MemoryGuard(LEAST_FREE, on_low="stop"),
        write_scalar=None if args.no_tensorboard else _scalars(args.out),
    )
    if args.snapshots is not None:
        args.snapshots.mkdir(parents=True, exist_ok=True)
        trainer.algorithm.bench.tracker.snapshot_dir = args.snapshots
    seconds = None if args.minutes is None else args.minutes * 60
    line = ProgressLine(not args.no_progress)
    trainer.run(Limits(args.steps, seconds), line.show)
    line.end()
    if trainer.interrupted:
        complain(f"npp-env train: interrupted; go on with --resume --out {args.out}")
        return INTERRUPTED
    say(trainer.report())
    say(f"model: {trainer.folder.model}")
    return 1 if trainer.stopped_by_guard else 0


def settings_of(args: argparse.Namespace) -> TrainSettings:
    """The run that arguments describe."""
    from npp_env.learning.settings import TrainSettings

    policy = OWN_POLICY.get(args.algo, args.policy)
    steps = args.steps
    if steps is None:
        steps = max(1, int(args.minutes * 60 * STEPS_PER_SECOND[policy]))
    tasks = args.task or ["shipped:first_steps"]
    return TrainSettings(
        task=tasks[0] if len(tasks) == 1 else tuple(tasks),
        algo=args.algo,
        policy=policy,
        seed=args.seed,
        total_steps=steps,
        num_envs=NUM_ENVS.get(args.algo, _NUM_ENVS) if args.num_envs is None else args.num_envs,
        threads=args.threads,
        sampling=args.sampling,
        environment=_options(args.env),
        algo_options={**_options(args.option), **_world_model_options(args)},
        policy_options=_options(args.policy_option),
    )


def _world_model_options(args: argparse.Namespace) -> dict[str, Any]:
    """What the flags of the world model ask for."""
    given = {"without": args.without, "sequence_length": args.sequence_length, "keep_graphs": args.keep_graphs or None}
    return {name: value for name, value in given.items() if value is not None}


def _options(texts: list[str]) -> dict[str, Any]:
    """Options by name; `reward.death_weight=-0.1` names a field of a section."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise ConfigError(f"{text!r} is no option; write NAME=VALUE")
        try:
            parsed = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            parsed = value
        section, dot, field = name.partition(".")
        if dot:
            found.setdefault(section, {})[field] = parsed
        else:
            found[name] = parsed
    return found


def _scalars(folder: Path) -> Any:
    from npp_env.profiling.callbacks import tensorboard_writer

    return tensorboard_writer(folder / "events")


class ProgressLine:
    """Shows how training goes: one line that is rewritten on a terminal, or a line now and then elsewhere."""

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted
        self._on_terminal = sys.stderr.isatty()
        self._next = 0.0

    def show(self, progress: Any) -> None:
        """Say how a run stands."""
        if not self._wanted or (not self._on_terminal and time.monotonic() < self._next):
            return
        self._next = time.monotonic() + SECONDS_BETWEEN_LINES
        speed = f"{progress.steps_per_second:>7,.0f} steps/s  {progress.rss_bytes / 2**20:,.0f} MB"
        times = f"{_clock(progress.seconds)} done, {_clock(progress.seconds_left)} left"
        text = f"{progress.steps:>11,} steps  won {progress.success:6.1%}  {speed}  {times}"
        if self._on_terminal:
            sys.stderr.write(f"\r{text}\x1b[K")
            sys.stderr.flush()
        else:
            complain(text)

    def end(self) -> None:
        """Leave the line."""
        if self._wanted and self._on_terminal:
            sys.stderr.write("\n")


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
