"""What lies on disk: equal to the byte however it was computed, complete after every kill, and checked."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from npp_env.induction import (
    DamagedStoreError,
    DiskFullError,
    ForeignStoreError,
    HumanParameters,
    InductionError,
    Resources,
    RobotParameters,
    compute_human_policy_prior,
    compute_optimal_policy,
    compute_robot_policy,
)
from npp_env.induction.budget import Budget
from npp_env.induction.builder import BuildOptions, build_transitions
from npp_env.induction.watching import Watch
from npp_env.profiling.errors import LowMemoryError
from npp_env.profiling.guard import MemoryGuard

from .example import SMALL_MAP, RockWorld

ROOT = Path(__file__).parents[2]
HORIZON = 4


def compute(directory, resources=None, memory_budget=None, dtype="float64", beta=5.0):
    world = RockWorld(SMALL_MAP)
    resources = resources or Resources(slice_states=100)
    prior = compute_human_policy_prior(
        world,
        human_agent_indices=world.humans,
        goals=world.cell_goals(),
        horizon=HORIZON,
        parameters=HumanParameters(beta, 0.9),
        directory=directory,
        resources=resources,
        memory_budget=memory_budget,
        dtype=dtype,
    )
    robot = compute_robot_policy(prior, parameters=RobotParameters(discount=0.9), resources=resources)
    return prior, robot


def contents(directory):
    """Every file but locks, by its path."""
    files = (path for path in sorted(Path(directory).rglob("*")) if path.is_file() and path.name != ".lock")
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    directory = tmp_path_factory.mktemp("expected")
    compute(directory)
    found = contents(directory)
    assert len(found) > 40
    assert not any(".npp-tmp-" in name for name in found)
    return found


@pytest.mark.parametrize(("block_states", "threads"), [(1, 1), (7, 3), (64, 2), (100_000, 1), (None, 4)])
def test_blocks_and_threads_change_nothing(expected, block_states, threads, tmp_path):
    compute(tmp_path, Resources(block_states=block_states, threads=threads, slice_states=100))
    assert contents(tmp_path) == expected


def test_memory_changes_nothing(expected, monkeypatch, tmp_path):
    monkeypatch.setattr(Budget, "holds", lambda self, nbytes: False)
    compute(tmp_path, memory_budget="4MiB")
    assert contents(tmp_path) == expected


VICTIM = """
import os, signal, sys
from npp_env.induction import array_files
count, deadly = 0, int(sys.argv[2])

def dies(before):
    def wrapped(*arguments, **options):
        global count
        count += 1
        if count == deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return before(*arguments, **options)
    return wrapped

array_files.ArrayWriter.append = dies(array_files.ArrayWriter.append)
os.replace = dies(os.replace)
from tests.induction.test_store import compute
compute(sys.argv[1])
"""


def run_victim(directory, deadly):
    return subprocess.run([sys.executable, "-c", VICTIM, str(directory), str(deadly)], cwd=ROOT, check=False).returncode


def test_killed_again_and_again(expected, tmp_path):
    """Each process dies a little later than where it began; the last one finishes what they left."""
    deaths = [run_victim(tmp_path, deadly) for deadly in (1, 3, 14, 40, 25, 60)]
    assert deaths == [-signal.SIGKILL] * 6
    left = [name for name in contents(tmp_path) if ".npp-tmp-" in name]
    assert left, "no process died in the middle of a file"
    compute(tmp_path)
    assert contents(tmp_path) == expected


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
from tests.induction.test_store import compute
from npp_env.induction import DiskFullError
try:
    compute(sys.argv[1])
except DiskFullError as error:
    print(error)
    sys.exit(7)
"""


def test_a_full_disk_loses_nothing(expected, tmp_path):
    for limit in (4_000, 60_000):
        done = subprocess.run(
            [sys.executable, "-c", FULL, str(tmp_path), str(limit)],
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 7, done.stderr
        assert "make room and call again" in done.stdout
        assert not [name for name in contents(tmp_path) if ".npp-tmp-" in name]
    assert len(contents(tmp_path)) > 10
    compute(tmp_path)
    assert contents(tmp_path) == expected


def test_the_error_of_a_full_disk_is_an_error_of_the_system_too():
    assert issubclass(DiskFullError, OSError)
    assert issubclass(DiskFullError, InductionError)


@pytest.mark.parametrize("what", ["cut", "flipped", "header", "gone", "longer"])
@pytest.mark.parametrize("name", ["transitions/slice000001.successors.npy", "humans/level00002.policies.npy"])
def test_damage_is_noticed(name, what, tmp_path):
    compute(tmp_path)
    path = tmp_path / name
    data = bytearray(path.read_bytes())
    if what == "gone":
        path.unlink()
    else:
        if what == "cut":
            data = data[:-5]
        elif what == "longer":
            data += b"x"
        else:
            data[-3 if what == "flipped" else 30] ^= 64
        path.write_bytes(data)
    for each in (tmp_path / "robot").iterdir():
        each.unlink()
    before = contents(tmp_path)
    # The robot's policy reads both again.
    with pytest.raises(DamagedStoreError, match=path.name):
        compute(tmp_path)
    after = contents(tmp_path)
    assert all(after[key] == value for key, value in before.items() if "manifest" not in key)


def test_a_damaged_manifest(tmp_path):
    compute(tmp_path)
    manifest = tmp_path / "transitions" / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"levels": 5', b'"levels": 4'))
    before = contents(tmp_path)
    with pytest.raises(DamagedStoreError, match="checksum"):
        compute(tmp_path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("text", ["{}", "no json", "[]", '{"content": {"format": "else"}}', "[" * 100_000])
def test_a_foreign_manifest(text, tmp_path):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ForeignStoreError, match="manifest"):
        build_transitions(RockWorld(), 1, tmp_path)
    assert contents(tmp_path) == {"manifest.json": text.encode()}


def test_a_folder_with_other_files(tmp_path):
    (tmp_path / "thesis.npy").write_bytes(b"all my work")
    with pytest.raises(ForeignStoreError, match="holds other files"):
        build_transitions(RockWorld(), 1, tmp_path)
    assert contents(tmp_path) == {"thesis.npy": b"all my work"}


def test_a_folder_for_something_else(tmp_path):
    compute(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(ForeignStoreError, match="model is"):
        build_transitions(RockWorld(), 1, tmp_path / "transitions", BuildOptions(slice_states=100))
    with pytest.raises(ForeignStoreError, match=r"beta is \[5.0, 5.0\], asked for is \[10.0, 10.0\]"):
        compute(tmp_path, beta=10.0)
    assert contents(tmp_path) == before


def test_a_folder_in_use(tmp_path):
    refused = []

    def meanwhile(*told):
        with pytest.raises(InductionError, match="another computation writes to"):
            build_transitions(RockWorld(SMALL_MAP), 1, tmp_path)
        refused.append(told)

    found = build_transitions(RockWorld(SMALL_MAP), 1, tmp_path, BuildOptions(watch=Watch(on_progress=meanwhile)))
    assert refused
    # What is complete is read by anyone.
    assert build_transitions(RockWorld(SMALL_MAP), 1, tmp_path).state_count == found.state_count


def test_a_call_that_failed_lets_go_of_the_folder(tmp_path):
    def fail(*told):
        raise KeyboardInterrupt

    try:
        build_transitions(RockWorld(SMALL_MAP), 1, tmp_path, BuildOptions(watch=Watch(on_progress=fail)))
    except KeyboardInterrupt:
        # Within the handler everything that the call held is still alive.
        assert build_transitions(RockWorld(SMALL_MAP), 1, tmp_path).level_count == 2


def test_two_plans_share_a_folder(tmp_path):
    prior, _ = compute(tmp_path)
    optimal = compute_optimal_policy(
        RockWorld(SMALL_MAP), horizon=HORIZON, directory=tmp_path, resources=Resources(slice_states=100)
    )
    assert (prior.states(2) == optimal.states(2)).all()


def test_what_is_there_is_not_computed_again(tmp_path, monkeypatch):
    compute(tmp_path)
    monkeypatch.setattr(RockWorld, "expand", None)
    compute(tmp_path)


def test_the_guard_stops_and_the_next_call_goes_on(expected, tmp_path):
    asked = 0

    def on_low(headroom):
        nonlocal asked
        asked += 1
        return "continue" if asked < 12 else "stop"

    guard = MemoryGuard(min_free_fraction=0.999999, on_low=on_low, check_seconds=0)
    with pytest.raises(LowMemoryError):
        compute(tmp_path, Resources(guard=guard, block_states=20, slice_states=100))
    assert asked == 12
    assert not [name for name in contents(tmp_path) if ".npp-tmp-" in name]
    compute(tmp_path)
    assert contents(tmp_path) == expected


def test_progress_is_told(tmp_path):
    told = []
    compute(tmp_path, Resources(on_progress=lambda *words: told.append(words), slice_states=100))
    assert all(0 <= done <= total for _, done, total, _ in told)
    assert {what.split(",")[0].split(" ")[0] for what, *_ in told} == {"layer", "goals", "humans", "robot"}


def test_a_temporary_folder_goes_with_the_plan():
    world = RockWorld(SMALL_MAP)
    arguments = {"human_agent_indices": world.humans, "goals": world.cell_goals(), "horizon": 1}
    prior = compute_human_policy_prior(world, **arguments)
    robot = compute_robot_policy(prior)
    path = robot.workspace.path
    del prior
    assert path.is_dir()
    del robot
    assert not path.exists()
    kept = compute_human_policy_prior(world, **arguments, resources=Resources(keep=True))
    path = kept.workspace.path
    del kept
    assert path.is_dir()
    import shutil

    shutil.rmtree(path)


def test_arrays_are_plain_npy_files(tmp_path):
    prior, _ = compute(tmp_path)
    for path in tmp_path.rglob("*.npy"):
        np.load(path, mmap_mode="r", allow_pickle=False)
    found = np.load(tmp_path / "humans" / "level00002.values.npy")
    assert (found == prior.values(2)).all()
    json.loads((tmp_path / "humans" / "manifest.json").read_text())
