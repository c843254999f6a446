"""A run of many faults: the unmodified tree first, then one fault at a time in each scratch tree."""

from __future__ import annotations

import hashlib
import json
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from .build import Dependencies, rebuild
from .catalogue import Listed
from .faults import Fault, FaultError
from .plant import ScratchTree, copy_tree, line_of
from .run import RunError, Step, origin_of, run_steps

CAUGHT, SURVIVED, INVALID = "caught", "survived", "invalid"
BASELINE_LIMIT_S = 900.0
# A hang is told from a busy machine: so many times what the unmodified tree took, and some seconds more.
PATIENCE, PATIENCE_S = 5.0, 30.0

Groups = dict[str, tuple[Step, ...]]


class CampaignError(Exception):
    """Nothing can be learned from this tree: the unmodified sources do not pass, or others are tested."""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a fault.

    Attributes:
        verdict: `caught`, `survived`, or `invalid` if it could not be planted and so says nothing.
        by: The test that caught it, or why it is invalid.
        invisible: Why it is expected to survive, if it is.
        digest: Of the source, the fault and its tests.
    """

    name: str
    area: str
    kind: str
    source: str
    line: int
    verdict: str
    by: str
    invisible: str
    modules: int
    build_seconds: float
    test_seconds: float
    digest: str


class Journal:
    """Results in a file, a line of JSON each, so that a long run can be taken up again."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], Result] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                result = Result(**json.loads(line))
                self._known[result.name, result.digest] = result

    def find(self, name: str, digest: str) -> Result | None:
        """What became of the same fault in the same source with the same tests."""
        return self._known.get((name, digest))

    def add(self, result: Result) -> None:
        """Append a result."""
        if self._path is not None:
            with self._lock, self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(result)) + "\n")


def digest_of(fault: Fault, root: Path, steps: tuple[Step, ...]) -> str:
    """What a result depends on: the fault, the text around it, and the tests that are named."""
    digest = hashlib.sha256(json.dumps([asdict(fault), steps]).encode())
    paths = [root / fault.source]
    for argument in sorted({argument for step in steps for argument in step}):
        path = root / argument.partition("::")[0]
        if path.is_dir():
            paths += sorted(path.rglob("*.py"))
        elif path.is_file():
            paths.append(path)
    for path in paths:
        digest.update(path.read_bytes() if path.is_file() else b"missing")
    return digest.hexdigest()


class Campaign:
    """Plants faults and runs their tests.

    Args:
        root: The tree, with its binaries; it is copied once and not changed.
        folder: An empty folder for the scratch trees.
        groups: Runs of pytest by the name of their group.
        jobs: How many scratch trees work at the same time.
        say: Takes a line about the progress.
    """

    def __init__(self, root: Path, folder: Path, groups: Groups, jobs: int, say: Callable[[str], None]) -> None:
        self.groups = groups
        self.say = say
        self.pristine = folder / "pristine"
        copy_tree(root, self.pristine)
        self._dependencies = Dependencies(self.pristine)
        self._trees: queue.SimpleQueue[ScratchTree] = queue.SimpleQueue()
        self._jobs = jobs
        for number in range(jobs):
            self._trees.put(ScratchTree(self.pristine, folder / f"tree{number}"))
        self._limits: dict[Step, float] = {}

    def run(self, faults: list[Listed], journal: Journal) -> list[Result]:
        """What becomes of each fault, in their order.

        Raises:
            CampaignError: The unmodified tree does not pass the tests.
        """
        digests = [digest_of(fault, self.pristine, self.groups[fault.tests]) for _, fault in faults]
        known = [journal.find(fault.name, digest) for (_, fault), digest in zip(faults, digests, strict=True)]
        ahead = [listed for listed, result in zip(faults, known, strict=True) if result is None]
        if len(ahead) < len(faults):
            self.say(f"{len(faults) - len(ahead)} of {len(faults)} are in the journal")
        self._check_origins({fault.source for _, fault in ahead})
        used = sorted({step for _, fault in ahead for step in self.groups[fault.tests]})
        with ThreadPoolExecutor(self._jobs) as pool:
            self._limits.update(zip(used, pool.map(self._baseline, used), strict=True))
            pending = [
                result or pool.submit(self._judge, area, fault, digest, journal)
                for (area, fault), digest, result in zip(faults, digests, known, strict=True)
            ]
            try:
                return [item if isinstance(item, Result) else item.result() for item in pending]
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _check_origins(self, sources: set[str]) -> None:
        """Make sure that the tests run what faults are planted in, and not an installed package."""
        tree = self._trees.get()
        for package in sorted({source.partition("/")[0] for source in sources}):
            if not (tree.folder / package / "__init__.py").exists():
                # Not imported by this name: pytest finds tests by their path.
                continue
            origin = origin_of(tree.folder, package)
            if tree.folder.resolve() not in origin.resolve().parents:
                raise CampaignError(f"tests in a scratch tree would import {package} from {origin}")
        self._trees.put(tree)

    def _baseline(self, step: Step) -> float:
        """Run some tests without a fault; returns how long they may take with one."""
        tree = self._trees.get()
        try:
            run = run_steps(tree.folder, (step,), (BASELINE_LIMIT_S,))
        except RunError as error:
            raise CampaignError(str(error)) from None
        finally:
            tree.restore()
            self._trees.put(tree)
        if run.caught_by:
            raise CampaignError(f"a test fails without any fault: {run.caught_by}\n{run.output[-3000:]}")
        self.say(f"without a fault: {' '.join(step)} passes in {run.seconds[0]:.1f} s")
        return PATIENCE * run.seconds[0] + PATIENCE_S

    def _judge(self, area: str, fault: Fault, digest: str, journal: Journal) -> Result:
        tree = self._trees.get()
        modules, build_seconds, test_seconds = 0, 0.0, 0.0
        try:
            started = time.perf_counter()
            tree.plant(fault)
            modules = rebuild(tree.folder, fault.source, self._dependencies)
            build_seconds = time.perf_counter() - started
            steps = self.groups[fault.tests]
            run = run_steps(tree.folder, steps, tuple(self._limits[step] for step in steps))
            test_seconds = sum(run.seconds)
            verdict, by = (CAUGHT, run.caught_by) if run.caught_by else (SURVIVED, "")
        except FaultError as error:
            verdict, by = INVALID, str(error)
        except RunError as error:
            verdict, by = INVALID, f"its tests cannot be run: {str(error).splitlines()[0]}"
        finally:
            tree.restore()
            self._trees.put(tree)
        result = Result(
            fault.name,
            area,
            fault.kind,
            fault.source,
            line_of(fault, self.pristine),
            verdict,
            by,
            fault.invisible,
            modules,
            round(build_seconds, 2),
            round(test_seconds, 2),
            digest,
        )
        journal.add(result)
        seconds = f"build {result.build_seconds:.1f} s, tests {result.test_seconds:.1f} s"
        self.say(f"{result.name}: {f'{verdict} {by}'.strip()} ({seconds})")
        return result
