"""Rebuilding: only the extension modules that contain a fault, without optimisation."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

from .faults import FaultError

SETUP = Path(__file__).with_name("narrowed_setup.py")
# What would change what is built, or build nothing and say nothing.
FOREIGN_SETTINGS = ("NPP_BUILD_LATER", "NPP_SANITIZE", "NPP_ZIG_TARGET", "CFLAGS")


class BuildError(Exception):
    """The tree cannot be built at all, with or without a fault."""


def _run_setup(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in FOREIGN_SETTINGS}
    command = [sys.executable, str(SETUP), *arguments]
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)


class Dependencies:
    """Which extension modules contain which files.

    Args:
        tree: A tree with a `setup.py`; without one nothing is compiled.

    Raises:
        BuildError: `setup.py` does not say what it compiles.
    """

    def __init__(self, tree: Path) -> None:
        self.files_of: dict[str, list[str]] = {}  # by module
        if not (tree / "setup.py").exists():
            return
        done = _run_setup(tree, "list")
        try:
            self.files_of = json.loads(done.stdout)
        except ValueError:
            raise BuildError(f"setup.py does not say what it compiles:\n{done.stdout}{done.stderr}") from None

    def affected_by(self, source: str) -> list[str]:
        """The modules to rebuild after an edit; none for plain Python.

        Raises:
            FaultError: Nothing is built from this file, so that an edit cannot have an effect.
        """
        modules = sorted(name for name, files in self.files_of.items() if source in files)
        if not modules and not source.endswith(".py"):
            raise FaultError(f"no extension module is built from {source}")
        return modules


def rebuild(tree: Path, source: str, dependencies: Dependencies) -> int:
    """Rebuild what contains an edited file; returns how many modules.

    `setup.py` itself notes the digests of what it compiled, so that the package takes its binaries for fresh.

    Raises:
        FaultError: It does not compile.
        BuildError: It compiles, but a binary was not written.
    """
    modules = dependencies.affected_by(source)
    if modules:
        before = {name: _binaries(tree, name) for name in modules}
        done = _run_setup(tree, "build", *modules)
        if done.returncode:
            raise FaultError(f"does not compile: {_reason(done.stdout + done.stderr)}")
        same = [name for name in modules if _binaries(tree, name) == before[name]]
        if same:
            raise BuildError(f"{source} was edited, but the binaries of {', '.join(same)} were not written again")
    else:
        try:
            ast.parse((tree / source).read_text(encoding="utf-8"))
        except SyntaxError as error:
            raise FaultError(f"does not compile: {error.msg} in line {error.lineno}") from None
    return len(modules)


def _binaries(tree: Path, module: str) -> dict[Path, int]:
    """The binaries of a module, and when they were written."""
    stem = tree.joinpath(*module.split("."))
    files = [*stem.parent.glob(f"{stem.name}.*.so"), *stem.parent.glob(f"{stem.name}.*.pyd")]
    return {file: file.stat().st_mtime_ns for file in files}


def _reason(output: str) -> str:
    """The line of a compiler's output that says most."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if "error:" in line or ".pyx:" in line or ".pxd:" in line or ".py:" in line]
    return (telling or lines or ["no output"])[0]
