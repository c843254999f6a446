"""`npp-env train [TASK]`: learn to play, in a folder that can be gone on with."""

from __future__ import annotations

import argparse
import ast
import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npp_env.cli.arguments import number, whole_number
from npp_env.cli.measuring import add_min_free, guard_of
from npp_env.cli.printing import complain, say
from npp_env.errors import ConfigError
from npp_env.learning.algorithms import ALGORITHMS, NUM_ENVS, OWN_POLICY, STEPS_PER_SECOND

if TYPE_CHECKING:
    from npp_env.learning.settings import TrainSettings
    from npp_env.learning.shards import ShardPlayers
    from npp_env.learning.trainer import Trainer

SECONDS_BETWEEN_LINES = 10.0
INTERRUPTED = 130
LEAST_FREE = 0.03
"""Share of memory that stays free unless `--min-free` says otherwise."""
_NUM_ENVS = 128
_SHARDS = 8
_NUM_ENVS_ON_RAY = 1024


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env train`."""
    add = parser.add_argument
    add("task", nargs="*", metavar="TASK", help="levels to learn, such as shipped:first_steps (the default)")
    add("--out", type=Path, required=True, metavar="RUN", help="folder of the run")
    add("--minutes", type=number(0, 1e6), metavar="N", help="train for so long, and plan the schedules for it")
    help_text = "let --minutes count time of the processor, which other work on the machine changes little"
    add("--processor-time", action="store_true", help=help_text)
    add("--steps", type=whole_number(1), metavar="N", help="train for so many environment steps instead")
    help_text = "stop earlier, once this share of the latest episodes is won, the mean over levels, such as 0.95"
    add("--until", type=number(0, 1), metavar="SHARE", help=help_text)
    add("--resume", action="store_true", help="go on with the run in the folder")
    add("--algo", default="ppo", choices=list(ALGORITHMS), help="how to learn (default %(default)s)")
    add("--policy", default="mlp", choices=list(STEPS_PER_SECOND), help="what the policy is (default %(default)s)")
    add("--seed", type=whole_number(0), default=0, help="where all chance comes from (default %(default)s)")
    few = ", ".join(f"{algo}: {number}" for algo, number in NUM_ENVS.items())
    help_text = f"environments (default {_NUM_ENVS}, with --ray {_NUM_ENVS_ON_RAY}; {few})"
    add("--num-envs", type=whole_number(1), metavar="N", help=help_text)
    add("--threads", type=whole_number(1), default=1, metavar="N", help="threads (default %(default)s)")
    add("--sampling", metavar="HOW", help="how levels are chosen, such as success (default: all equally often)")
    on_ray = parser.add_argument_group("on a Ray cluster")
    on_ray.add_argument("--ray", metavar="ADDRESS", help="let workers of this cluster play; local starts one here")
    on_ray.add_argument(
        "--workers", type=whole_number(1), default=2, metavar="N", help="how many (default %(default)s)"
    )
    help_text = f"parts that the environments are divided into (default with --ray: {_SHARDS})"
    on_ray.add_argument("--shards", type=whole_number(1), metavar="N", help=help_text)
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
    from npp_env.learning.trainer import Trainer
    from npp_env.profiling.guard import MemoryGuard

    if not args.resume and args.minutes is None and args.steps is None:
        raise ConfigError("say how long to train: --minutes 10, or --steps 2000000")
    with _players(args) as players:
        trainer = Trainer(
            args.out,
            None if args.resume else settings_of(args),
            players=players,
            guard=guard_of(args) or MemoryGuard(LEAST_FREE, on_low="stop"),
            write_scalar=None if args.no_tensorboard else _scalars(args.out),
            snapshots=args.snapshots,
        )
        return _train(args, trainer)


def _train(args: argparse.Namespace, trainer: Trainer) -> int:
    from npp_env.learning.trainer import Limits

    seconds = None if args.minutes is None else args.minutes * 60
    line = ProgressLine(not args.no_progress)
    trainer.run(Limits(args.steps, seconds, args.processor_time, args.until), line.show)
    line.end()
    if trainer.interrupted:
        complain(f"npp-env train: interrupted; go on with --resume --out {args.out}")
        return INTERRUPTED
    say(trainer.report())
    say(f"model: {trainer.folder.model}")
    return 1 if trainer.stopped_by_guard else 0


@contextlib.contextmanager
def _players(args: argparse.Namespace) -> Iterator[ShardPlayers | None]:
    """The workers of a cluster, if one is asked for."""
    if args.ray is None:
        yield None
        return
    from npp_env.integrations.ray_players import RayPlayers
    from npp_env.learning.run_folder import RunFolder

    settings = RunFolder(args.out).settings() if args.resume else settings_of(args)
    players = RayPlayers(settings, args.workers, args.ray)
    try:
        yield players
    finally:
        players.close()


def settings_of(args: argparse.Namespace) -> TrainSettings:
    """The run that arguments describe."""
    from npp_env.learning.settings import TrainSettings

    policy = OWN_POLICY.get(args.algo, args.policy)
    steps = args.steps
    if steps is None:
        steps = max(1, int(args.minutes * 60 * STEPS_PER_SECOND[policy]))
    num_envs = args.num_envs
    if num_envs is None:
        num_envs = _NUM_ENVS_ON_RAY if args.ray is not None else NUM_ENVS.get(args.algo, _NUM_ENVS)
    tasks = args.task or ["shipped:first_steps"]
    return TrainSettings(
        task=tasks[0] if len(tasks) == 1 else tuple(tasks),
        algo=args.algo,
        policy=policy,
        seed=args.seed,
        total_steps=steps,
        num_envs=num_envs,
        threads=args.threads,
        shards=args.shards or (0 if args.ray is None else _SHARDS),
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
