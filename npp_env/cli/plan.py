"""`npp-env plan LEVEL`: the fewest frames to win over all inputs of a grid of decisions, exactly."""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npp_env.cli.arguments import (
    LEVEL_HELP,
    add_force,
    add_json,
    add_no_progress,
    add_threads,
    check_output,
    load_level_argument,
    whole_number,
    write_png,
)
from npp_env.cli.estimate import format_bytes
from npp_env.cli.printing import say, say_data
from npp_env.cli.progress import progress_bar
from npp_env.errors import NppError, printable

if TYPE_CHECKING:
    from npp_env.induction.estimate import PlanEstimate
    from npp_env.induction.npp_plan import NppPlan
    from npp_env.level.model import Level

NO_VICTORY = 1
MOST_STEPS = 10_000
DEFAULT_MOST_STATES = 5_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env plan`."""
    from npp_env.planning import MAX_FRAME_SKIP

    add = parser.add_argument
    add("level", metavar="LEVEL", help=LEVEL_HELP)
    frames = whole_number(1, MAX_FRAME_SKIP)
    add("--frame-skip", type=frames, default=30, metavar="K", help="ticks of a decision (default %(default)s)")
    steps = whole_number(1, MOST_STEPS)
    add("--horizon", type=steps, default=12, metavar="N", help="decisions (default %(default)s)")
    whole = (
        "compute all of the horizon; else no more than up to the first decision that can win, as later ones are slower"
    )
    add("--whole-horizon", action="store_true", help=whole)
    add("--memory-budget", default="256MB", metavar="MB", help="memory of the arrays (default %(default)s)")
    add("--directory", type=Path, help="keep the plan there, and go on with what is there; else it is temporary")
    add_threads(parser)
    most = whole_number(1)
    limit = "stop before there would be more states (default %(default)s)"
    add("--most-states", type=most, default=DEFAULT_MOST_STATES, metavar="N", help=limit)
    add("-o", "--output", type=Path, metavar="OUT.png", help="draw the values over the level")
    add("--recording", type=Path, metavar="OUT.npprec", help="write the fastest victory")
    add("--no-solver", action="store_true", help="do not compare with `npp-env solve`")
    add_json(parser, "text")
    add_no_progress(parser)
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command; 1 if there is no victory within the horizon."""
    from npp_env.induction.workspace import Resources
    from npp_env.recording import RECORDING_SUFFIX

    level = load_level_argument(args.level)
    check_output(args.output, args.force, ".png")
    check_output(args.recording, args.force, RECORDING_SUFFIX)
    resources = Resources(memory_budget=args.memory_budget, threads=args.threads)
    if args.directory is not None:
        return _plan(args, level, args.directory, resources)
    with tempfile.TemporaryDirectory(prefix="npp-env-plan-") as folder:
        return _plan(args, level, Path(folder), resources)


def _plan(args: argparse.Namespace, level: Level, folder: Path, resources: Any) -> int:
    from npp_env.induction.estimate import estimate_plan
    from npp_env.induction.npp_model import NppModel
    from npp_env.induction.npp_plan import plan_level

    begun = time.process_time()
    model = NppModel(level, args.frame_skip, threads=args.threads)
    estimate = estimate_plan(model, args.horizon, folder, resources=resources)
    if not args.json:
        say(_estimate_text(estimate))
    if args.whole_horizon:
        _refuse_without_disk(estimate, folder)
    with _ProgressBars(wanted=not args.no_progress) as bars:
        watched = _watched(resources, bars)
        plan = plan_level(
            model,
            args.horizon,
            until_won=not args.whole_horizon,
            most_states=args.most_states,
            directory=folder,
            resources=watched,
        )
    seconds = time.process_time() - begun
    solver = None if args.no_solver else _solve(level, args)
    if args.output is not None:
        from npp_env.induction.plan_picture import draw_plan

        write_png(draw_plan(plan), args.output)
    if args.recording is not None and plan.inputs is not None:
        from npp_env.planning import winning_recording
        from npp_env.recording import save_recording

        save_recording(winning_recording(level, plan.inputs), args.recording, overwrite=args.force)
    if args.json:
        say_data(_data(args.level, plan, estimate, solver, seconds))
    else:
        say(_text(args.level, plan, solver, seconds))
    return 0 if plan.frames is not None else NO_VICTORY


def _refuse_without_disk(estimate: PlanEstimate, folder: Path) -> None:
    """Refuse what would not fit, before it begins."""
    free = shutil.disk_usage(folder).free
    if estimate.disk_bytes > free:
        raise NppError(
            f"the plan takes about {format_bytes(estimate.disk_bytes)} of disk, {format_bytes(free)} are free in "
            f"{folder}; name another folder with --directory"
        )


class _ProgressBars:
    """A bar for each part of the work."""

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted
        self._shown = ExitStack()
        self._bar: Any = None
        self._what = ""

    def __enter__(self) -> _ProgressBars:
        return self

    def __exit__(self, *error: object) -> None:
        self._shown.close()

    def tell(self, what: str, done: int, total: int, remark: str) -> None:
        """Show how far it is."""
        if what != self._what:
            self._shown.close()
            self._what = what
            bar = progress_bar("states", total, wanted=self._wanted, unit_scale=True, desc=what)
            self._bar = self._shown.enter_context(bar)
        self._bar.update(done - self._bar.n)
        self._bar.set_postfix_str(remark, refresh=False)


def _watched(resources: Any, bars: _ProgressBars) -> Any:
    from dataclasses import replace

    from npp_env.profiling.guard import MemoryGuard

    return replace(resources, on_progress=bars.tell, guard=MemoryGuard(min_free_fraction=0.03))


def _solve(level: Level, args: argparse.Namespace) -> int | None:
    """Frames of what the solver finds in the same grid of decisions; None if it finds nothing."""
    from npp_env.planning import SolveBudget, solve

    budget = SolveBudget(ticks=20_000_000, shorten_ticks=5_000_000)
    found = solve(level, budget=budget, threads=args.threads, frame_skip=args.frame_skip)
    return None if found.inputs is None else len(found.inputs)


def _estimate_text(estimate: PlanEstimate) -> str:
    about = "" if estimate.is_exact else f", by the growth of the first {estimate.known} steps ({estimate.growth:.2f})"
    return (
        f"estimate of the whole horizon: {estimate.states:,} states, {estimate.transitions:,} transitions, "
        f"{format_bytes(estimate.disk_bytes)} of disk, {estimate.cpu_seconds:.0f} s of processor time{about}"
    )


def _data(name: str, plan: NppPlan, estimate: PlanEstimate, solver: int | None, seconds: float) -> dict[str, Any]:
    policy = plan.policy
    return {
        "level": name,
        "frame_skip": plan.model.frame_skip,
        "horizon": policy.horizon,
        "states": plan.states,
        "levels": policy.transitions.level_sizes(policy.horizon),
        "transitions": policy.transitions.transition_count,
        "frames": plan.frames,
        "solver_frames": solver,
        "estimated_states": estimate.states,
        "disk_bytes": policy.transitions.folder.nbytes + policy.folder.nbytes,
        "cpu_seconds": seconds,
    }


def _text(name: str, plan: NppPlan, solver: int | None, seconds: float) -> str:
    name, policy, model = printable(name), plan.policy, plan.model
    nbytes = policy.transitions.folder.nbytes + policy.folder.nbytes
    used = (
        f"{plan.states:,} states, {policy.transitions.transition_count:,} transitions, {format_bytes(nbytes)} on disk, "
        f"{seconds:.1f} s of processor time"
    )
    grid = f"{policy.horizon} decisions of {model.frame_skip} frames"
    if plan.frames is None:
        found = f"{name}: no victory within {grid}; this is proven"
    else:
        found = f"{name}: {plan.frames} frames ({plan.frames / 60:.2f} s) are the fewest over all inputs of {grid}"
    return "\n".join([found, _comparison(plan, solver), used])


def _comparison(plan: NppPlan, solver: int | None) -> str:
    if solver is None:
        return "the solver found nothing, or was not asked"
    if plan.frames is None:
        return f"the solver wins in {solver} frames with more decisions"
    if solver == plan.frames:
        return "the solver finds the same"
    return f"the solver finds {solver} frames in the same grid, {solver - plan.frames} more"
