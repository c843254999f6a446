"""Run the fuzz under checkers of memory and arithmetic: `make sanitize`.

Five runs, each in a process of its own:
- compiled with AddressSanitizer and UndefinedBehaviorSanitizer, each section of a level allocated alone;
- the same build, restoring damaged and forged states whose checksums fit;
- the same build, searching from states of many levels for ways that win;
- the same build, planning by backward induction in random models and in levels, in blocks of all sizes;
- a canary, the same build on a level with an array cut short, which must be caught: else nothing is checked.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
TICKS = 300
CUT, RED_ZONE_BYTES = "near", 16
"""The section that the canary cuts short, and how far beyond an allocation a checker surely notices an access."""
CHECKER_REPORTS = ("AddressSanitizer", "runtime error")


class CutGeometry:
    """A compiled level with one section cut short."""

    def __init__(self, geometry: Any, name: str, length: int) -> None:
        self.sections = {**geometry.sections, name: geometry[name][:length]}

    def __getitem__(self, name: str) -> Any:
        return self.sections[name]


def run_level(level: Any, inputs: list[int], cut: int | None = None) -> int:
    """Run one level in a state of exactly its size; returns the ticks, raises at an insane number.

    Args:
        level: The level.
        inputs: Bytes, each held for ten ticks.
        cut: Length to which one of its sections is cut.
    """
    from sim.fuzz_maps import find_insanity

    from npp_env.sim import Batch, LevelHandle, compile_level
    from npp_env.sim.views import movers_view, ninja_view

    geometry = compile_level(level)
    handle = LevelHandle(geometry if cut is None else CutGeometry(geometry, CUT, cut), True)
    batch = Batch(1, handle.state_bytes)
    batch.set_level(0, handle)
    state = batch.states[0]
    for byte in inputs:
        batch.advance_one(0, byte, 10, False)
        insanity = find_insanity(ninja_view(state), movers_view(state, geometry))
        if insanity is not None:
            raise ValueError(f"{insanity}; records {level.records.tolist()}, tiles {level.tiles.tolist()}")
    return 10 * len(inputs)


def restore_hostile_states(count: int, seed: int) -> str:
    """Restore hostile states at every entrance; returns what came of it."""
    import numpy as np
    from runtime.hostile_states import attack_all, hostile_levels

    levels = hostile_levels(np.random.default_rng(seed), 20 + count // 2000)
    tally = attack_all(levels, count, seed)
    if tally.slowest_seconds > 1:
        raise ValueError(f"a restore took {tally.slowest_seconds:.2f} s")
    return (
        f"restores: {tally.restores:,} on {len(levels)} levels, {tally.accepted:,} accepted, "
        f"slowest {1e3 * tally.slowest_seconds:.0f} ms"
    )


def search_from_states(count: int, seed: int) -> str:
    """Search from states beside the recordings of shipped levels; returns what came of it."""
    import numpy as np

    from npp_env.graph.navigation import graph_of
    from npp_env.level.cache import LevelCache
    from npp_env.level.shipped import load_shipped, shipped_level_names
    from npp_env.planning.branches import Branches
    from npp_env.recording import load_shipped_recording
    from npp_env.runtime.thread_pool import ThreadPool
    from npp_env.sim import Simulation
    from npp_env.sim.geometry import geometry_of

    rng = np.random.default_rng(seed)
    searches = ways = 0
    names = shipped_level_names()
    for name in names[:: max(1, len(names) // count)]:
        level, cache = load_shipped(name), LevelCache(persist=False)
        geometry = geometry_of(level, cache)
        branches = Branches(geometry, graph_of(level, cache), 1, 3)
        inputs = load_shipped_recording(name).inputs
        branches.follow(geometry["initial"], inputs, keep=True)
        simulation = Simulation(level, geometry)
        states = [simulation.state.copy()]
        for byte in inputs.tolist():
            simulation.advance(byte)
            if rng.random() < 0.05:
                simulation.advance(int(rng.integers(0, 8)), 3)
            if rng.random() < 0.05 and simulation.outcome == "alive":
                states.append(simulation.state.copy())
        for ticks in (0, 20_000):
            found = branches.search(np.array(states), ticks, ThreadPool(1))
            for state, way in zip(states, found, strict=True):
                if way is not None and branches.follow(state, way, keep=True) is None:
                    raise ValueError("a way that was found does not win")
            searches += len(states)
            ways += sum(way is not None for way in found)
    return f"hunts: {searches} searches, {ways} ways"


def plan_models(count: int, seed: int) -> str:
    """Plan in random models, with and without a robot, and in a level; returns what came of it."""
    import math

    import numpy as np
    from induction.random_models import numbers_of, random_table

    from npp_env.induction import (
        Goals,
        Objective,
        Resources,
        TableModel,
        compute_human_policy_prior,
        compute_optimal_policy,
        compute_robot_policy,
    )
    from npp_env.induction.npp_model import NppModel
    from npp_env.induction.npp_plan import plan_level
    from npp_env.level.shipped import load_shipped

    rng = np.random.default_rng(seed)
    for k in range(count):
        counts = tuple(int(n) for n in rng.integers(1, 4, rng.integers(2, 4)))
        states = int(rng.integers(4, 40))
        table = random_table(seed + k, states, math.prod(counts), stochastic=k % 2 == 1)
        model = TableModel(table, action_counts=counts)
        resources = Resources(
            threads=1 + k % 3, block_states=int(rng.integers(1, 9)), slice_states=int(rng.integers(1, 20))
        )
        dtype = ("float32", "float64")[k % 4 // 2]
        held = rng.random((states, len(counts), int(rng.integers(1, 20)))) < 0.3
        goals = Goals(
            tuple(map(str, range(held.shape[2]))), lambda rows, human, held=held: held[numbers_of(rows), human]
        )
        prior = compute_human_policy_prior(
            model, human_agent_indices=(0,), goals=goals, horizon=4, dtype=dtype, resources=resources
        )
        compute_robot_policy(prior)
        operator = ("max", "softmax", "entropy")[k % 3]
        compute_optimal_policy(model, Objective(operator=operator), horizon=4, dtype=dtype, resources=resources)
    found = plan_level(NppModel(load_shipped("first_steps/jump"), 45), 5, resources=Resources(block_states=50))
    return f"plans: {count} models, a level of {sum(found.policy.transitions.level_sizes(5))} states"


def check_here(mode: str, count: int, seed: int) -> str:
    """The work of one process; returns what it did."""
    import numpy as np

    sys.path.insert(0, str(TESTS))
    if mode == "restores":
        return restore_hostile_states(count, seed)
    if mode == "hunts":
        return search_from_states(count, seed)
    if mode == "plans":
        return plan_models(count, seed)
    from golden_levels import golden
    from sim.fuzz_maps import SIMULATED, accepted_levels, crowded_map, random_inputs

    from npp_env.level import read_map
    from npp_env.sim import compile_level

    rng = np.random.default_rng(seed)
    maps = [g.map for g in golden()]
    if mode == "canary":
        # What lies further behind its end may belong to something else: the cut comes closer to what is read.
        level = read_map(maps[0])
        for length in range(len(compile_level(level)[CUT]), 0, -RED_ZONE_BYTES):
            run_level(level, [2] * 5, cut=length)
        return "canary: not caught"
    levels = ticks = 0
    for data in [*maps, *(crowded_map(kind) for kind in SIMULATED)]:
        level = read_map(data)
        # A crowd in one place rightly throws its parts far: few ticks, so that they stay sane.
        ticks += run_level(level, random_inputs(rng, TICKS if data in maps else 10))
        levels += 1
    for level in islice(accepted_levels(rng, maps), count):
        ticks += run_level(level, random_inputs(rng, TICKS))
        levels += 1
    return f"fuzz: {levels} levels, {ticks:,} ticks"


def copy_python(folder: Path) -> None:
    """The package without binaries, over what is there; Python that is no more is removed."""
    ignore = shutil.ignore_patterns("*.so", "__pycache__", "_compiled.json")
    shutil.copytree(ROOT / "npp_env", folder / "npp_env", ignore=ignore, dirs_exist_ok=True)
    for path in (folder / "npp_env").rglob("*.py"):
        if not (ROOT / path.relative_to(folder)).exists():
            path.unlink()


def copy_sources(folder: Path) -> None:
    """The package without binaries, and what its build needs."""
    copy_python(folder)
    shutil.copytree(ROOT / "levels", folder / "levels")
    for name in ("setup.py", "build_backend.py", "setup.cfg", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder)


def build(folder: Path, sanitizers: str = "1") -> None:
    """Compile the copy with the sanitizers, by their name in `setup.py`."""
    environment = {**os.environ, "NPP_SANITIZE": sanitizers}
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"sanitize: the build failed\n{done.stdout}{done.stderr}")


def run_child(folder: Path, mode: str, args: argparse.Namespace) -> subprocess.CompletedProcess[str]:
    """Run one of the checks against the copy."""
    compiler = os.environ.get("CC", "gcc").split()[0]
    library = subprocess.check_output([compiler, "-print-file-name=libasan.so"], text=True).strip()
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "LD_PRELOAD": library,
        "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=1:abort_on_error=0:exitcode=99",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "PYTHONMALLOC": "malloc",
    }
    count = {"restores": args.restores, "hunts": args.hunts, "plans": args.plans}.get(mode, args.levels)
    options = ["--child", mode, "--levels", str(count), "--seed", str(args.seed)]
    return subprocess.run(
        [sys.executable, str(TESTS / "sanitize.py"), *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def main() -> int:
    """Build, run the checks and print a summary."""
    parser = argparse.ArgumentParser(description="Run the fuzz under the sanitizers.")
    parser.add_argument("--levels", type=int, default=600, help="fuzzed levels (default %(default)s)")
    parser.add_argument("--restores", type=int, default=3000, help="hostile states (default %(default)s)")
    parser.add_argument("--hunts", type=int, default=15, help="levels searched (default %(default)s)")
    parser.add_argument("--plans", type=int, default=30, help="models planned in (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", choices=("fuzz", "restores", "hunts", "plans", "canary"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(check_here(args.child, args.levels, args.seed))
        return 0
    started = time.perf_counter()
    faults = 0
    with tempfile.TemporaryDirectory(prefix="npp_sanitize_") as name:
        folder = Path(name)
        copy_sources(folder)
        build(folder)
        runs = [run_child(folder, mode, args) for mode in ("fuzz", "restores", "hunts", "plans")]
        canary = run_child(folder, "canary", args)
    for run in runs:
        if run.returncode:
            faults += 1
            print(run.stdout + run.stderr, file=sys.stderr)
    caught = canary.returncode != 0 and any(word in canary.stderr for word in CHECKER_REPORTS)
    if not caught:
        faults += 1
        print(f"the canary was not caught:\n{canary.stdout}{canary.stderr}", file=sys.stderr)
    parts = [*(run.stdout.strip() or "failed" for run in runs), "canary caught" if caught else "canary missed"]
    seconds = time.perf_counter() - started
    print(f"sanitize: {'; '.join(parts)}; {faults} faults in {seconds:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
