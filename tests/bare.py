"""The package without its binaries, run in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "npp_env"
BINARIES = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "_compiled.json")


def copy_sources(folder: Path, parts: tuple[str, ...] = ()) -> None:
    """Copy the package without binaries; or only its errors and some of its folders, under an empty `__init__`."""
    copy = folder / "npp_env"
    if not parts:
        shutil.copytree(PACKAGE, copy, ignore=BINARIES)
        return
    for name in parts:
        shutil.copytree(PACKAGE / name, copy / name, ignore=BINARIES)
    (copy / "__init__.py").write_text("")
    shutil.copy(PACKAGE / "errors.py", copy)


def run_uncompiled(folder: Path, program: str, *arguments: str, timeout: float, **options) -> str:
    """What a program prints that runs on the copy in a folder; its cache lies there too."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "NPP_UNCOMPILED": "1",
        "NPP_ENV_CACHE": str(folder / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
