"""What goes on while a fault happens, and what must hold afterwards.

`work` is what a victim does, over and over; `check` looks at its folder from outside, and raises unless every file is
an old one or a new one and every result is right to the last bit.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import pickle
import random
import warnings
from functools import cached_property
from pathlib import Path

import numpy as np

from npp_env.graph.navigation import GRAPH
from npp_env.level import load_level, save_level
from npp_env.level.cache import LevelCache
from npp_env.level.shipped import load_shipped, shipped_level_names
from npp_env.level.whole_file import TEMPORARY, write_whole
from npp_env.planning import SolveBudget, solve
from npp_env.profiling.long_run import LongRun, LongRunPlan
from npp_env.profiling.run import REPORT_FILES, ProfileResult, profile_loop
from npp_env.profiling.snapshots import read_snapshots
from npp_env.profiling.tracker import MemoryTracker
from npp_env.recording import Recording, load_recording, load_shipped_recording, save_recording
from npp_env.recording.replay import replay
from npp_env.render.background import FRAME_BACKGROUND
from npp_env.rollouts.state_store import StateStore
from npp_env.sim.geometry import GEOMETRY
from npp_env.vector import NppVectorEnv
from tests.faults.victims import require

ARTIFACTS = (GEOMETRY, FRAME_BACKGROUND, GRAPH)


class Scene:
    """One kind of work that can be struck.

    Attributes:
        name: What the victim is.
        longest_seconds: The fault comes at a random moment up to this one.
    """

    name = ""
    longest_seconds = 0.03

    def work(self, folder: Path, rng: random.Random) -> None:
        """What the victim does; it never ends by itself, or only when all is done."""
        raise NotImplementedError

    def check(self, folder: Path) -> None:
        """Whether all is right in the folder, whatever happened."""
        raise NotImplementedError


def remove_leftovers(folder: Path) -> int:
    """Take away what killed writers left behind; it must be nothing but unfinished files."""
    found = [path for path in folder.iterdir() if path.name.startswith(TEMPORARY)]
    for path in found:
        path.unlink()
    return len(found)


class CacheScene(Scene):
    """Compiles levels into a cache that others use."""

    name = "level cache"
    longest_seconds = 0.06

    def __init__(self, levels: int = 12, artifacts: tuple = ARTIFACTS[:2]) -> None:
        self.levels = [load_shipped(name) for name in list(shipped_level_names())[::6][:levels]]
        self.artifacts = artifacts

    @cached_property
    def right(self) -> dict[tuple[str, str], bytes]:
        """What every artifact is, built without any file."""
        cache = LevelCache(persist=False)
        pairs = itertools.product(self.levels, self.artifacts)
        return {(level.hash, one.name): cache.get(level, one).tobytes() for level, one in pairs}

    def work(self, folder: Path, rng: random.Random) -> None:
        while True:
            cache = LevelCache(directory=folder)
            for _ in range(4):
                cache.get(rng.choice(self.levels), rng.choice(self.artifacts))
            if rng.random() < 0.3:
                cache.store.clear()

    def check(self, folder: Path) -> None:
        """Right arrays, from undamaged files."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.compare(LevelCache(directory=folder), random.sample(self.levels, 2))

    def compare(self, cache: LevelCache, levels: list) -> None:
        """Compare what a cache gives with what is right."""
        for level, one in itertools.product(levels, self.artifacts):
            given = cache.get(level, one)
            require(given.tobytes() == self.right[level.hash, one.name], f"{one.name} of {level.name} is wrong")
            require(not given.flags.writeable, f"{one.name} can be written to")


class FileScene(Scene):
    """Writes one file again and again, with two contents in turn."""

    file = ""

    @cached_property
    def contents(self) -> tuple:
        """Both contents, as objects that can be compared."""
        raise NotImplementedError

    def write(self, content: object, path: Path) -> None:
        raise NotImplementedError

    def read(self, path: Path) -> object:
        raise NotImplementedError

    def work(self, folder: Path, rng: random.Random) -> None:
        for content in itertools.cycle(self.contents):
            self.write(content, folder / self.file)

    def check(self, folder: Path) -> None:
        path = folder / self.file
        remove_leftovers(folder)
        if path.exists():
            require(self.read(path) in self.contents, f"{path.name} is neither of its two contents")


class RecordingScene(FileScene):
    """Saves recordings."""

    name, file = "recordings", "run.npprec"

    @cached_property
    def contents(self) -> tuple:
        return load_shipped_recording("first_steps/walk"), load_shipped_recording("mixed/factory")

    def write(self, content: object, path: Path) -> None:
        save_recording(content, path, overwrite=True)

    def read(self, path: Path) -> object:
        found = load_recording(path)
        for one in self.contents:
            if found.level == one.level and np.array_equal(found.inputs, one.inputs):
                return one
        return None

    def check(self, folder: Path) -> None:
        remove_leftovers(folder)
        path = folder / self.file
        if path.exists():
            require(self.read(path) is not None, "the recording is neither of the two")


class LevelScene(FileScene):
    """Saves levels."""

    name, file = "level files", "level.txt"

    @cached_property
    def contents(self) -> tuple:
        return load_shipped("first_steps/walk"), load_shipped("mixed/factory")

    def write(self, content: object, path: Path) -> None:
        save_level(content, path, overwrite=True)
        save_level(content, path.with_suffix(".nppmap"), overwrite=True)

    def read(self, path: Path) -> object:
        return load_level(path)

    def check(self, folder: Path) -> None:
        super().check(folder)
        path = folder / "level.nppmap"
        require(not path.exists() or load_level(path) in self.contents, "the map is neither of the two")


def small_profile(steps: int) -> ProfileResult:
    return profile_loop(lambda: None, steps=steps, snapshot_interval=5, progress=False)


class ReportScene(FileScene):
    """Writes the four reports of a profile."""

    name, file = "reports", REPORT_FILES[2]

    @cached_property
    def contents(self) -> tuple:
        return small_profile(40), small_profile(80)

    @cached_property
    def texts(self) -> dict[str, set[bytes]]:
        """Every whole content of each report."""
        import tempfile

        found: dict[str, set[bytes]] = {name: set() for name in REPORT_FILES}
        for content in self.contents:
            with tempfile.TemporaryDirectory() as folder:
                for path in content.write(Path(folder)):
                    found[path.name].add(path.read_bytes())
        return found

    def write(self, content: object, path: Path) -> None:
        content.write(path.parent)

    def check(self, folder: Path) -> None:
        remove_leftovers(folder)
        for name, whole in self.texts.items():
            path = folder / name
            require(not path.exists() or path.read_bytes() in whole, f"{name} is half written")


class SnapshotScene(Scene):
    """Samples memory while it runs, a file a sample."""

    name = "profilers"
    longest_seconds = 0.05

    def work(self, folder: Path, rng: random.Random) -> None:
        for _ in itertools.count():
            tracker = MemoryTracker(interval=1, budget_fraction=None, snapshot_dir=folder)
            for step in range(1, 12):
                tracker.on_step(step)

    def check(self, folder: Path) -> None:
        remove_leftovers(folder)
        if any(folder.iterdir()):
            [series] = read_snapshots(folder)
            unreadable = [problem for problem in series.problems if "nothing between" not in problem]
            require(not unreadable, f"{unreadable}")


class TrainerScene(Scene):
    """Steps environments, keeps a rollout, and saves a checkpoint now and then."""

    name = "trainers"
    longest_seconds = 0.12
    num_envs, steps, every = 6, 40, 5

    def make(self, folder: Path) -> NppVectorEnv:
        return NppVectorEnv(
            self.num_envs,
            levels="shipped:mixed",
            cache_directory=str(folder / "cache"),
            observation={"keys": ("game_state",), "layout": "state"},
            reward={"shaping_weight": 0.0},
        )

    def actions(self, step: int) -> np.ndarray:
        return np.random.default_rng(step).integers(0, 6, self.num_envs)

    @cached_property
    def right(self) -> dict[int, list[bytes]]:
        """The states at every checkpoint of a run that nobody disturbs."""
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            return dict(self.play(Path(folder), 0, None))

    def play(self, folder: Path, first: int, states: list[bytes] | None):
        env = self.make(folder)
        store = StateStore(self.steps, self.num_envs, env.single_observation_space.shape[0])
        env.reset(seed=3)
        if states is not None:
            env.set_state(states)
        for step in range(first, self.steps):
            store[step] = env.step(self.actions(step))[0]
            if (step + 1) % self.every == 0:
                require(store[step].any(), "the rollout is empty")
                yield step + 1, env.get_state()

    def work(self, folder: Path, rng: random.Random) -> None:
        path = folder / "checkpoint"
        first, states = pickle.loads(path.read_bytes()) if path.exists() else (0, None)
        if first >= self.steps:
            first, states = 0, None
        for step, now in self.play(folder, first, states):
            write_whole(path, pickle.dumps((step, now)))

    def check(self, folder: Path) -> None:
        remove_leftovers(folder)
        path = folder / "checkpoint"
        if path.exists():
            step, states = pickle.loads(path.read_bytes())
            require(states == self.right[step], f"the checkpoint of step {step} is wrong")


class SoakScene(Scene):
    """A long run that is resumed until it is done."""

    name = "long runs"
    longest_seconds = 0.4
    plan = LongRunPlan(ticks=12_000, num_envs=4, generated=2, mixed=2)

    @cached_property
    def right(self) -> str:
        return LongRun(self.plan).run()[0].digest

    def work(self, folder: Path, rng: random.Random) -> None:
        LongRun(self.plan, folder / "state").run()
        write_whole(folder / "done", b"")

    def check(self, folder: Path) -> None:
        remove_leftovers(folder)
        if (folder / "state").exists():
            run = LongRun(self.plan, folder / "state")
            if (folder / "done").exists():
                require(run.progress.digest == self.right, "the long run came to another end")
                (folder / "done").unlink()
                (folder / "state").unlink()


class SolverScene(Scene):
    """Solves a level and saves what it found."""

    name = "solvers"
    longest_seconds = 0.6

    def __init__(self) -> None:
        self.level = load_shipped("first_steps/walk")

    @cached_property
    def right(self) -> bytes:
        return self.solve().inputs.tobytes()

    def solve(self) -> Recording:
        found = solve(self.level, budget=SolveBudget(2_000_000, 100_000, 64)).recording
        assert found is not None
        return found

    def work(self, folder: Path, rng: random.Random) -> None:
        while True:
            save_recording(self.solve(), folder / "run.npprec", overwrite=True)

    def check(self, folder: Path) -> None:
        remove_leftovers(folder)
        path = folder / "run.npprec"
        if path.exists():
            recording = load_recording(path)
            require(recording.inputs.tobytes() == self.right, "another solution")
            require(replay(recording).outcome == "won", "the recording does not win")


def kill_scenes() -> list[tuple[Scene, float]]:
    """Every scene, and its share of the kills."""
    return [
        (CacheScene(), 0.30),
        (RecordingScene(), 0.14),
        (LevelScene(), 0.14),
        (ReportScene(), 0.12),
        (SnapshotScene(), 0.10),
        (TrainerScene(), 0.12),
        (SoakScene(), 0.05),
        (SolverScene(), 0.03),
    ]


def digest_of_folder(folder: Path) -> str:
    """Changes with every byte of every file below a folder."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(os.fsencode(path.relative_to(folder)) + path.read_bytes())
    return digest.hexdigest()
