"""Measures one exact plan in a process of its own: `python -m benchmarks._induction_probe JSON`.

Memory is the highest resident size, mapped files included, less the resident size after the imports.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from npp_env.induction import Resources, compute_human_policy_prior, compute_robot_policy
from npp_env.induction.estimate import estimate_plan
from npp_env.induction.export import export_policies
from npp_env.induction.npp_model import NppModel
from npp_env.induction.npp_plan import plan_level
from npp_env.level.heap import return_free_memory
from npp_env.level.shipped import load_shipped

WORLD = Path(__file__).parent.parent / "docs" / "examples" / "rock_world.py"


def load_world() -> Any:
    """The world of the example."""
    spec = importlib.util.spec_from_file_location("rock_world", WORLD)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["rock_world"] = module
    spec.loader.exec_module(module)
    return module.RockWorld()


def resident_bytes(field: str = "VmRSS") -> int:
    """Resident size of this process, or its highest with `VmHWM`."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return 1024 * int(line.split()[1])
    raise RuntimeError(f"no {field} in /proc/self/status")


class Meter:
    """Processor time and highest resident size from here on."""

    def __init__(self) -> None:
        return_free_memory()
        # The kernel forgets the highest size so far.
        Path("/proc/self/clear_refs").write_text("5")
        self._resident, self._seconds = resident_bytes(), time.process_time()

    def read(self) -> dict[str, Any]:
        """What came since then."""
        return {
            "cpu_seconds": time.process_time() - self._seconds,
            "memory_bytes": resident_bytes("VmHWM") - self._resident,
        }


def two_phases(world: Any, horizon: int, directory: str, dtype: str, resources: Resources) -> tuple[Any, Any]:
    """Both phases in a folder."""
    prior = compute_human_policy_prior(
        world,
        human_agent_indices=world.humans,
        goals=world.cell_goals(),
        horizon=horizon,
        directory=directory,
        dtype=dtype,
        resources=resources,
    )
    return prior, compute_robot_policy(prior, resources=resources)


def probe_world(horizon: int, budget: str, threads: int, dtype: str) -> dict[str, Any]:
    """Both phases of the rock world."""
    world = load_world()
    with tempfile.TemporaryDirectory() as folder:
        meter = Meter()
        prior, robot = two_phases(world, horizon, folder, dtype, Resources(memory_budget=budget, threads=threads))
        found = meter.read()
        transitions = prior.transitions
        return {
            **found,
            "levels": transitions.level_sizes(horizon),
            "states": transitions.state_count,
            "transitions": transitions.transition_count,
            "disk_bytes": sum(each.nbytes for each in (transitions.folder, prior.folder, robot.folder)),
        }


def probe_precision(horizon: int) -> dict[str, Any]:
    """float32 against float64, and float16."""
    world = load_world()
    with tempfile.TemporaryDirectory() as folder:
        (prior, robot), (small_prior, small_robot) = (
            two_phases(world, horizon, f"{folder}/{dtype}", dtype, Resources()) for dtype in ("float64", "float32")
        )
        worst = dict.fromkeys(("human values", "human policies", "robot values", "robot policy"), 0.0)
        for level in range(horizon):
            pairs = (
                (prior.values(level), small_prior.values(level)),
                (prior.policies(level), small_prior.policies(level)),
                (robot.values(level), small_robot.values(level)),
                (robot.policies(level), small_robot.policies(level)),
            )
            for name, (wide, narrow) in zip(worst, pairs, strict=True):
                seen = wide != 0
                error = np.abs(narrow[seen] / wide[seen] - 1).max(initial=0)
                worst[name] = max(worst[name], float(error))
        exports = {
            "human policies": export_policies(prior, "policies", f"{folder}/a").largest_error,
            "robot policy": export_policies(robot, "robot_policy", f"{folder}/b").largest_error,
        }
    return {**worst, "exports": exports}


def probe_npp(level: str, frame_skip: int, budget: str, states: int) -> dict[str, Any]:
    """A plan for N++ with at least so many states by the estimate; progress goes to stderr."""
    model = NppModel(load_shipped(level), frame_skip)
    with tempfile.TemporaryDirectory(dir=os.environ.get("NPP_PLAN_FOLDER")) as folder:
        meter = Meter()
        sample = estimate_plan(model, 40, folder)
        steps = next(k for k in range(len(sample.layers)) if sum(sample.layers[: k + 1]) >= states)
        estimate = estimate_plan(model, steps, folder)
        print(f"estimate: {estimate}", file=sys.stderr, flush=True)
        clock = [time.monotonic()]
        begun = time.monotonic()

        def on_progress(what: str, done: int, total: int, remark: str) -> None:
            if time.monotonic() - clock[0] > 15:
                clock[0] = time.monotonic()
                told = {name: round(value / 1e6, 1) for name, value in meter.read().items() if "bytes" in name}
                print(
                    f"{clock[0] - begun:.0f} s: {what}: {done:,} of {total:,} {remark} {told}",
                    file=sys.stderr,
                    flush=True,
                )

        plan = plan_level(
            model, steps, directory=folder, resources=Resources(memory_budget=budget, on_progress=on_progress)
        )
        found = meter.read()
        transitions = plan.policy.transitions
        layers = transitions.level_sizes(steps)
        return {
            **found,
            "steps": steps,
            "layers": layers,
            "states": transitions.state_count,
            "estimated_states": estimate.states,
            "estimated_seconds": estimate.cpu_seconds,
            "transitions": transitions.transition_count,
            "growth": layers[-1] / layers[-2],
            "disk_bytes": transitions.folder.nbytes + plan.policy.folder.nbytes,
            "frames": plan.frames,
        }


PROBES: dict[str, Callable[..., dict[str, Any]]] = {
    "world": probe_world,
    "precision": probe_precision,
    "npp": probe_npp,
}

if __name__ == "__main__":
    case = json.loads(sys.argv[1])
    print(json.dumps(PROBES[case.pop("probe")](**case)))
