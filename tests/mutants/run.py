"""Running the tests that concern a fault, until one of them fails."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

PLUGINS = Path(__file__).with_name("plugins")
# Verbose, because the last line of a run that crashes or hangs then names the test. Hypothesis draws the same examples
# each time, as whether a fault is caught must not depend on luck, and is content with the first that fails.
OPTIONS = (
    *("-o", "addopts=", "-v", "-x", "--tb=no", "--no-header"),
    *("-p", "no:cacheprovider", "-p", "first_failure", "--hypothesis-seed=0"),
)
FAILED, INTERRUPTED = 1, 2
_RESULT = re.compile(r"^(\S+\.py::.*?) (?:FAILED|ERROR)\b", re.MULTILINE)
_COLLECTION = re.compile(r"^ERROR (\S+\.py)", re.MULTILINE)
_STARTED = re.compile(r"^(\S+\.py::.*?) *(?:(?:PASSED|SKIPPED|XFAIL|XPASS|Fatal Python error)\b.*)?$", re.MULTILINE)

Step = tuple[str, ...]
"""Arguments of one run of pytest: paths, and expressions that choose from them."""


class RunError(Exception):
    """The tests could not be run at all, whatever the sources hold."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run of some steps came to.

    Attributes:
        caught_by: The test that failed, hung or crashed; empty if all passed.
        seconds: Of every step that was run.
        output: Of the last one.
    """

    caught_by: str
    seconds: tuple[float, ...]
    output: str


def run_steps(tree: Path, steps: tuple[Step, ...], limits: tuple[float, ...]) -> Run:
    """Run steps in a tree one after the other, each for so many seconds at most, until one fails.

    Raises:
        RunError: pytest did not find what it should run.
    """
    seconds: list[float] = []
    output = ""
    for step, limit in zip(steps, limits, strict=True):
        started = time.perf_counter()
        code, output = _run_pytest(tree, step, limit)
        seconds.append(time.perf_counter() - started)
        caught_by = _witness(code, output, step, limit)
        if caught_by:
            return Run(caught_by, tuple(seconds), output)
    return Run("", tuple(seconds), output)


def _run_pytest(tree: Path, step: Step, limit: float) -> tuple[int | None, str]:
    """Exit code (None if it was stopped) and output."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tree), str(PLUGINS)])}
    for name in ("PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST"):
        environment.pop(name, None)
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *OPTIONS, "--rootdir", str(tree), *step],
        cwd=tree,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        # With the processes that tests have started.
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return None, output


def _witness(code: int | None, output: str, step: Step, limit: float) -> str:
    """Which test noticed, or an empty string."""
    if code == 0:
        return ""
    if code is None or code < 0:
        started = _STARTED.findall(output)
        what = f"timeout after {limit:.0f} s" if code is None else f"crash by {signal.Signals(-code).name}"
        return f"{what}: {started[-1] if started else ' '.join(step)}"
    if code in (FAILED, INTERRUPTED):
        found = _RESULT.search(output) or _COLLECTION.search(output)
        if found:
            return found[1]
    raise RunError(f"pytest {' '.join(step)} ended with code {code}:\n{output[-3000:]}")


def origin_of(tree: Path, package: str) -> Path:
    """Where a package comes from in the processes that run the tests."""
    program = "import importlib.util, sys; print(importlib.util.find_spec(sys.argv[1]).origin)"
    done = subprocess.run(
        [sys.executable, "-c", program, package],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )
    return Path(done.stdout.strip())
