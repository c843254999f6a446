"""A copy of the package, compiled with the sanitizers and with coverage; kept until a compiled source changes."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import sanitize  # noqa: E402

BUILDS = ROOT / "build" / "fuzz"
_MAP = Path(__file__).with_name("coverage_map.c")
_SHIM = "coverage_map.so"


def digest_of_sources() -> str:
    """Changes with every file that is compiled, and with how it is done."""
    digest = hashlib.sha256()
    compiled = [path for path in (ROOT / "npp_env").rglob("*.p*") if path.suffix in (".pyx", ".pxd")]
    for path in sorted([*compiled, ROOT / "setup.py", _MAP]):
        digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def sanitized_build() -> Path:
    """Folder of the copy; compiled now unless it is there already. Copies of other compiled sources are removed."""
    folder = BUILDS / digest_of_sources()
    if (folder / "done").exists():
        sanitize.copy_python(folder)
        return folder
    shutil.rmtree(BUILDS, ignore_errors=True)
    folder.mkdir(parents=True)
    print(f"compiling with sanitizers and coverage into {folder.relative_to(ROOT)} (a minute or two)", flush=True)
    sanitize.copy_sources(folder)
    compiler = os.environ.get("CC", "gcc").split()
    subprocess.run([*compiler, "-O2", "-shared", "-fPIC", "-o", str(folder / _SHIM), str(_MAP)], check=True)
    os.environ["CFLAGS"] = "-fsanitize-coverage=trace-pc"
    try:
        sanitize.build(folder)
    finally:
        del os.environ["CFLAGS"]
    (folder / "done").touch()
    return folder


def environment_of(folder: Path | None) -> dict[str, str]:
    """Environment variables of a process that runs a copy; of this tree as it is if there is none."""
    if folder is None:
        return {**os.environ, "PYTHONPATH": str(ROOT)}
    compiler = os.environ.get("CC", "gcc").split()[-1]
    library = subprocess.check_output([compiler, "-print-file-name=libasan.so"], text=True).strip()
    options = "detect_leaks=0:abort_on_error=0:exitcode=99:quarantine_size_mb=16:hard_rss_limit_mb=2000"
    return {
        **os.environ,
        "PYTHONPATH": str(folder),
        "LD_PRELOAD": f"{library} {folder / _SHIM}",
        "ASAN_OPTIONS": options + ":allocator_may_return_null=1:malloc_context_size=3",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }
