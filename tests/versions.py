"""Runs the tests of an optional library in an environment of its own: `make test-versions LIBRARY=sb3 BOUND=minimum`.

One environment for all libraries would pin everything to the oldest of them. Minima are the lower bounds of the extras
in `setup.cfg`, and the oldest Gymnasium or NumPy that is named here; newest is what the package index has. torch is
installed once and shared.
"""

from __future__ import annotations

import argparse
import configparser
import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
TORCH = "torch==2.13.0"
MINIMUM, NEWEST = "minimum", "newest"
TOLD = ("gymnasium", "numpy", "torch")


@dataclass(frozen=True)
class Library:
    """An optional library.

    Attributes:
        extra: What `setup.cfg` calls it; "" if no extra installs it.
        tests: What is run.
        oldest: Installed beside the lower bounds.
        shown: Packages whose versions are told.
        beside: What its tests need besides.
        outside: Installed after all others, and without what it requires.
    """

    extra: str
    tests: tuple[str, ...]
    oldest: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    outside: str = ""


LIBRARIES = {
    "sb3": Library(
        "sb3",
        ("tests/integrations/test_sb3*.py",),
        oldest=("gymnasium==1.1.1", "numpy==1.26.4"),
        shown=("stable-baselines3", "sb3-contrib"),
    ),
    "torchrl": Library("torchrl", ("tests/integrations/test_torchrl.py",), shown=("torchrl", "tensordict")),
    "rllib": Library(
        "rllib",
        ("tests/integrations/test_rllib.py", "tests/integrations/test_ray_work.py"),
        shown=("ray",),
        beside=("minari[arrow]",),
    ),
    "minari": Library("demos", ("tests/learning/test_demo_files.py",), shown=("minari", "pyarrow")),
    "pufferlib": Library(
        "", ("tests/integrations/test_pufferlib.py",), shown=("pufferlib",), outside="pufferlib==3.0.0"
    ),
}


def lower_bounds(extra: str) -> list[str]:
    """The requirements of an extra, each at its lower bound."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return [line.replace(">=", "==") for line in parser["options.extras_require"][extra].split() if line]


def make_environment(folder: Path, shared: Path | None = None) -> Path:
    """The Python of an environment that is made if it does not exist; it sees the packages of a shared one too."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True, symlinks=True)
    if shared is not None:
        (packages_of(folder) / "shared.pth").write_text(f"{packages_of(shared)}\n")
    return python


def packages_of(folder: Path) -> Path:
    """Where an environment has its packages."""
    return next((folder / "lib").glob("python3*")) / "site-packages"


def install(python: Path, *words: str, **environment: str) -> None:
    """Install packages."""
    command = [str(python), "-m", "pip", "install", "-q", *words]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "NPP_BUILD_LATER": "1", **environment}, check=True)


def install_pufferlib(python: Path, requirement: str, folder: Path) -> None:
    """PufferLib without the games of its own, whose build downloads a graphics library.

    It has a switch for that, which fails for a name that is not defined then; and it asks for versions of Gymnasium and
    NumPy that are older than any that this package runs with.
    """
    (folder / "hook").mkdir(exist_ok=True)
    (folder / "hook" / "sitecustomize.py").write_text("import builtins\n\nbuiltins.c_extension_paths = []\n")
    install(python, "setuptools", "wheel", "Cython", "rich", "psutil", "pettingzoo", "gym==0.26.2")
    switches = {"NO_OCEAN": "1", "NO_TRAIN": "1", "PYTHONPATH": str((folder / "hook").absolute())}
    install(python, "--no-deps", "--no-build-isolation", requirement, **switches)


def versions_of(python: Path, names: tuple[str, ...]) -> str:
    """Names with the versions that are installed."""
    code = "import sys, importlib.metadata as m; print(*(f'{n} {m.version(n)}' for n in sys.argv[1:]), sep=', ')"
    return subprocess.run([python, "-c", code, *names], check=True, capture_output=True, text=True).stdout.strip()


def run(name: str, bound: str, base: Path) -> int:
    """Install a library with one of its bounds, and run its tests; the exit code."""
    library = LIBRARIES[name]
    torch = base / "lib-torch"
    install(make_environment(torch), TORCH)
    folder = base / (f"lib-{name}" if bound == NEWEST else f"lib-{name}-{MINIMUM}")
    python = make_environment(folder, torch)
    extras = ",".join(["test", library.extra] if library.extra else ["test"])
    pins = ["--upgrade", *(library.shown if library.extra else ())]
    if bound == MINIMUM and library.extra:
        pins = [*lower_bounds(library.extra), *library.oldest]
    install(python, "-e", f".[{extras}]", *pins, *library.beside)
    if library.outside:
        install_pufferlib(python, library.outside, folder)
    told = versions_of(python, (*library.shown, *TOLD))
    print(f"{name}, {bound}: {told}", flush=True)
    tests = [str(path) for pattern in library.tests for path in sorted(ROOT.glob(pattern))]
    environment = {**os.environ, "NPP_NO_SKIPS": "1"}
    return subprocess.run([python, "-m", "pytest", "--timeout", "600", *tests], cwd=ROOT, env=environment).returncode


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", choices=LIBRARIES)
    parser.add_argument("bound", choices=(MINIMUM, NEWEST))
    parser.add_argument("--base", type=Path, default=ROOT / ".venv", help="folder of the environments")
    args = parser.parse_args()
    return run(args.library, args.bound, args.base)


if __name__ == "__main__":
    sys.exit(main())
