"""`npp-env profile`: where the memory of the environment goes, and whether it grows."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npp_env.cli.arguments import add_budget, add_no_progress, check_budget, check_folder, whole_number
from npp_env.cli.measuring import (
    LEAK,
    add_configuration,
    add_min_free,
    add_threshold,
    configuration_overrides,
    guard_of,
)
from npp_env.cli.printing import complain, say, say_data
from npp_env.errors import ConfigError, NppError, printable

if TYPE_CHECKING:
    from npp_env.config import EnvironmentConfig
    from npp_env.profiling.run import ProfileResult
    from npp_env.runtime.memory import MemoryReport

ACTION_OF_INPUT = (0, 3, 2, 5, 1, 4, 1, 4)
"""Action of each input byte (bit 0 jump, bit 1 right, bit 2 left; left wins)."""
MAX_ACTION_BYTES = 64 << 20
ORDINARY_TICK_NS = 20_000
"""Levels with slower ticks are rare, and made on purpose."""
WARM_UP_STEPS = 200
INTERRUPTED = 130
DEFAULT_OUTPUT = Path("npp_env_profile")


@dataclass(frozen=True, slots=True)
class Stepper:
    """An environment ready to be profiled."""

    step: Callable[[], object]
    owners: Callable[[], MemoryReport] | None
    close: Callable[[], object]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env profile`."""
    add = parser.add_argument
    add("--headless", action="store_true", help="no window (the default; for scripts that say so)")
    add("--profile-memory", action="store_true", help="trace Python allocations by line")
    add("--profile-frames", type=int, default=1000, metavar="N", help="steps (default %(default)s)")
    add("--memory-snapshot-interval", type=int, default=100, metavar="N", help="steps between (%(default)s)")
    add("--num-envs", type=int, default=1, metavar="N", help="environments (default %(default)s)")
    add_configuration(parser)
    add("--cold", action="store_true", help="no warm-up: otherwise all levels are loaded and 200 steps taken first")
    add("--seed", type=whole_number(0), default=0, help="seed of resets and actions (default %(default)s)")
    add("--actions", type=Path, metavar="FILE", help="recorded play: a recording, or integers in a .npy file")
    add("--compare", type=Path, metavar="BASELINE.json", help="an earlier memory.json")
    add_min_free(parser)
    add("-o", "--output", type=Path, default=DEFAULT_OUTPUT, metavar="DIR", help="default %(default)s")
    add("-f", "--force", action="store_true", help="overwrite reports in DIR")
    add("--json", action="store_true", help="print the summary as JSON")
    add_no_progress(parser)
    add_threshold(parser)
    add_budget(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command; 3 on a leak, 130 if it was interrupted."""
    from npp_env.profiling.compare import load_profile
    from npp_env.profiling.run import REPORT_FILES, profile_loop

    for name in ("profile_frames", "memory_snapshot_interval", "num_envs"):
        if getattr(args, name) < 1:
            raise ConfigError(f"--{name.replace('_', '-')} must be at least 1, got {getattr(args, name)}")
    present = [name for name in REPORT_FILES if (args.output / name).exists()]
    if present and not args.force:
        raise NppError(f"{args.output} already holds {', '.join(present)}; -f overwrites them")
    baseline = load_profile(args.compare) if args.compare is not None else None
    # What a long run found must not be lost because there is no place for it.
    check_folder(args.output)
    stepper = make_stepper(args)
    try:
        result = profile_loop(
            stepper.step,
            steps=args.profile_frames,
            snapshot_interval=args.memory_snapshot_interval,
            owners=stepper.owners,
            with_tracemalloc=args.profile_memory,
            progress=not args.no_progress,
            label=_label(args),
            threshold_per_1k=args.threshold_kb * 1024,
            guard=guard_of(args),
        )
    finally:
        stepper.close()
    comparison = result.compare_with(baseline) if baseline is not None else None
    result.write(args.output, comparison)
    _print_outcome(args, result)
    if comparison is not None and not args.json:
        say(comparison.to_text())
    if result.interrupted:
        complain(
            f"npp-env profile: interrupted after {result.profile.summary.steps:,} steps; their reports are written"
        )
        return INTERRUPTED
    return LEAK if result.leaks else 0


def make_stepper(args: argparse.Namespace) -> Stepper:
    """Make the environment that the arguments ask for, with random or recorded actions."""
    import gymnasium

    from npp_env.cli.warm_up import meet_levels

    settings = configuration_overrides(args)
    if args.preset:
        settings["preset"] = args.preset
    env: Any
    if args.num_envs > 1:
        env = gymnasium.make_vec("npp_env:Npp-v0", num_envs=args.num_envs, **settings)
    else:
        env = gymnasium.make("npp_env:Npp-v0", **settings)
    check_levels(args, env.unwrapped.config)
    if not args.cold:
        meet_levels(env.unwrapped)
    env.reset(seed=args.seed)
    env.action_space.seed(args.seed)
    next_action = _recorded(args.actions, env) if args.actions else env.action_space.sample

    def step() -> None:
        _, _, terminated, truncated, _ = env.step(next_action())
        if args.num_envs == 1 and (terminated or truncated):
            env.reset()

    if not args.cold:
        for _ in range(WARM_UP_STEPS):
            step()
    return Stepper(step, getattr(env.unwrapped, "memory_report", None), env.close)


def check_levels(args: argparse.Namespace, config: EnvironmentConfig) -> None:
    """Refuse levels whose ticks take so long that the profile would not end in time.

    Raises:
        NppError: The profile would take more than its budget.
    """
    from npp_env.cli.warm_up import MOST_LEVELS
    from npp_env.runtime.episodes import level_set_of

    levels = level_set_of(config.levels)
    count = min(len(levels), MOST_LEVELS) if levels.is_finite else 0
    slowest_ns = max((levels[number].tick_ns for number in range(count)), default=0)
    if slowest_ns > ORDINARY_TICK_NS:
        steps = (args.profile_frames + (0 if args.cold else WARM_UP_STEPS)) * args.num_envs
        check_budget(args, steps * config.frame_skip * slowest_ns, f"{steps:,} steps of the slowest level")


def _recorded(path: Path, env: Any) -> Callable[[], Any]:
    """Plays recorded actions over and over; all environments play the same."""
    import numpy as np

    actions = _actions_of(path, env.unwrapped.config.frame_skip)
    shape, position = env.action_space.shape, -1

    def next_action() -> Any:
        nonlocal position
        position = (position + 1) % len(actions)
        return np.full(shape, actions[position]) if shape else int(actions[position])

    return next_action


def _actions_of(path: Path, frame_skip: int) -> Any:
    """The actions in a .npy file of integers, or in a recording: its input at the first tick of each step."""
    import numpy as np

    from npp_env.level.npy import load_npy
    from npp_env.recording import load_recording
    from npp_env.runtime.arguments import ACTIONS

    if path.suffix != ".npy":
        inputs = load_recording(path).inputs & 7
        if len(inputs) == 0:
            raise ConfigError(f"{path}: the recording has no inputs")
        return np.array(ACTION_OF_INPUT)[inputs[::frame_skip]]
    actions = load_npy(path, MAX_ACTION_BYTES, ConfigError)
    if actions.ndim != 1 or len(actions) == 0 or not np.issubdtype(actions.dtype, np.integer):
        raise ConfigError(f"{path}: a row of integers is needed, got {actions.dtype} {actions.shape}")
    wrong = np.flatnonzero((actions < 0) | (actions >= len(ACTIONS)))
    if len(wrong):
        raise ConfigError(
            f"{path}: action {actions[wrong[0]]} at {wrong[0]}; an action is one of 0..{len(ACTIONS) - 1}"
        )
    return actions


def _label(args: argparse.Namespace) -> str:
    count = f"{args.num_envs} environment{'s' * (args.num_envs > 1)}"
    parts = [count, args.preset, args.level, args.observations]
    return printable("npp_env: " + ", ".join(part for part in parts if part))


def _print_outcome(args: argparse.Namespace, result: ProfileResult) -> None:
    if args.json:
        say_data(asdict(result.profile.summary))
        return
    for fit in result.profile.growth.values():
        say(fit.to_text())
    for path in result.files:
        say(f"written: {path}")
