"""Install the package as on a machine that has no C compiler: `make test-zig`.

The commands run with a PATH that holds nothing but a fresh environment. Checked are
- the installation with a compiler from the package index: it runs, and the golden trajectories agree to the last bit;
- the installation where the index offers no compiler either: one sentence says what to install;
- a compiler that fails at the kernel: its own words are shown.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILERS = ("cc", "gcc", "clang", "zig")
LEFT_BEHIND = (".git", ".venv*", "build", "dist", "*.egg-info", "*.so", "_compiled.json", "__pycache__", ".*_cache")
BUILD_REQUIREMENTS = ("setuptools>=77", "cython>=3.1", "wheel")
COMPLAINT = "planted: this compiler dislikes the kernel"
FUSSY_COMPILER = f"""#!{sys.executable}
import pathlib, sys
if any("npp_env" in argument for argument in sys.argv):
    sys.exit("{COMPLAINT}")
pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).touch()
"""


class Machine:
    """A copy of the sources beside a fresh environment, and nothing else on the PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sources = folder / "sources"
        self.programs = folder / "environment" / "bin"
        shutil.copytree(ROOT, self.sources, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
        subprocess.run([sys.executable, "-m", "venv", folder / "environment"], check=True)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("CC", "NPP_"))}
        self.environment.update(PATH=str(self.programs), NPP_ENV_CACHE=str(folder / "cache"))
        found = [name for name in COMPILERS if shutil.which(name, path=str(self.programs))]
        assert not found, f"this machine has a compiler: {found}"

    def run(self, *arguments: str | Path, fails: bool = False, **environment: str) -> str:
        """Run Python with these arguments; returns what it printed."""
        command = [str(self.programs / "python"), *map(str, arguments)]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if (done.returncode != 0) != fails:
            raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
        return done.stdout


def check_installation(machine: Machine) -> str:
    """A compiler from the package index gives an exact kernel."""
    start = time.perf_counter()
    machine.run("-m", "pip", "install", "--no-cache-dir", machine.sources)
    seconds = time.perf_counter() - start
    machine.run("-m", "pip", "install", "pytest>=8")
    checks = machine.folder / "checks"
    shutil.copytree(ROOT / "tests", checks / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "setup.cfg", checks)
    smoke = machine.run(checks / "tests" / "smoke_installed.py").strip()
    golden = machine.run("-m", "pytest", "-c", checks / "setup.cfg", checks / "tests" / "sim" / "test_golden.py")
    return f"{smoke} (installed in {seconds:.0f} s); golden trajectories: {golden.strip().splitlines()[-1]}"


def check_sentence(machine: Machine) -> str:
    """Without a compiler here and on the index, one sentence says what to install."""
    wheels = machine.folder / "wheels"
    machine.run("-m", "pip", "download", "--no-deps", "-d", wheels, *BUILD_REQUIREMENTS)
    bare = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_CONFIG_FILE": os.devnull}
    printed = machine.run("-m", "pip", "install", "--no-deps", machine.sources, fails=True, **bare)
    sys.path.insert(0, str(ROOT))
    from build_backend import NO_COMPILER

    assert printed.count(NO_COMPILER) == 1, printed
    assert "Traceback" not in printed, printed
    return f"without any compiler: {NO_COMPILER}"


def check_complaint(machine: Machine) -> str:
    """A compiler that works, but not for the kernel, speaks for itself."""
    fussy = machine.folder / "fussy"
    fussy.mkdir()
    for name in COMPILERS:
        (fussy / name).write_text(FUSSY_COMPILER)
        (fussy / name).chmod(0o755)
    path = os.pathsep.join((str(machine.programs), str(fussy)))
    printed = machine.run("-m", "pip", "install", "--no-deps", machine.sources, fails=True, PATH=path)
    assert COMPLAINT in printed, printed
    assert "needs a C compiler" not in printed, printed
    assert "ziglang" not in printed, printed
    return "a compiler that fails is quoted"


def main() -> int:
    """Run all checks and print what they found."""
    for check in (check_sentence, check_complaint, check_installation):
        with tempfile.TemporaryDirectory() as folder:
            print(check(Machine(Path(folder))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
