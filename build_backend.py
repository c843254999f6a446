"""The build backend: setuptools, which brings a C compiler along where the machine has none.

Where no C compiler works, the build asks the package index for `ziglang`, a wheel that holds one; `setup.py` then
compiles with it. A compiler that was named in `CC` is never replaced, and whatever a compiler complains about while it
builds the kernel is shown as it is.

Environment variables:
    NPP_BUILD_LATER: At `1` nothing is compiled: an editable installation whose kernel `setup.py build_ext --inplace`
        builds, or has built for another environment of the same Python.
    NPP_ZIG_TARGET: Compile with `ziglang` for this target (`x86_64-linux-gnu.2.17`), whatever else is installed.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

ZIG_REQUIREMENT = "ziglang>=0.13"
PROBE = "#include <math.h>\n#include <Python.h>\nint probe(double x) { return Py_IsInitialized() + (int)floor(x); }\n"
NO_COMPILER = (
    "npp_env needs a C compiler to build, and neither one nor the package `ziglang` was found: install gcc or clang "
    "(Debian and Ubuntu: `apt install gcc`; Fedora: `dnf install gcc`; macOS: `xcode-select --install`) and try again."
)
NO_HEADERS = (
    "npp_env needs the headers of Python to build, and Python.h is not in {folder}: install them (Debian and Ubuntu: "
    "`apt install python3-dev`; Fedora: `dnf install python3-devel`) and try again."
)
INDEX_SECONDS = 60


class CompilerMissingError(Exception):
    """Nothing on this machine, and nothing on the package index, can compile the kernel."""


@dataclass(frozen=True)
class Probe:
    """What became of compiling and linking a small extension module."""

    found: bool
    """There is such a program, whether it works or not."""
    error: str
    """What the compiler said; empty if it works."""

    @property
    def works(self) -> bool:
        return self.found and not self.error


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """What building a wheel needs beside the requirements in pyproject.toml."""
    return [*build_meta.get_requires_for_build_wheel(config_settings), *compiler_requirements()]


def get_requires_for_build_editable(config_settings: dict[str, Any] | None = None) -> list[str]:
    """What an editable installation needs beside the requirements in pyproject.toml."""
    return [*build_meta.get_requires_for_build_editable(config_settings), *compiler_requirements()]


def compiler_requirements() -> list[str]:
    """The package that brings a compiler, where one is needed and can be had."""
    if os.environ.get("NPP_BUILD_LATER") == "1":
        return []
    if os.environ.get("NPP_ZIG_TARGET"):
        return [ZIG_REQUIREMENT]
    # On Windows setuptools itself says which compiler to install.
    if sys.platform == "win32" or os.environ.get("CC"):
        return []
    if probe_compiler().works or not headers_folder_has_python_h():
        return []
    # An index without it would end the build with pip's words about a package nobody asked for.
    return [ZIG_REQUIREMENT] if index_offers_zig() else []


def compiler_command() -> list[str] | None:
    """The command that replaces the compiler of setuptools; None where that one is to be used.

    Raises:
        CompilerMissingError: There is none, or the headers of Python are missing.
    """
    target = os.environ.get("NPP_ZIG_TARGET")
    if target:
        return zig_command("-target", target)
    if sys.platform == "win32" or os.environ.get("CC"):
        return None
    probe = probe_compiler()
    if probe.works:
        return None
    if not headers_folder_has_python_h():
        raise CompilerMissingError(NO_HEADERS.format(folder=sysconfig.get_path("include")))
    if importlib.util.find_spec("ziglang") is not None:
        if probe.found:
            print(f"npp_env: compiling with ziglang, because the compiler does not work:\n{probe.error}")
        return zig_command()
    if probe.found:
        return None
    raise CompilerMissingError(NO_COMPILER)


def zig_command(*target: str) -> list[str]:
    """The compiler of the package `ziglang`, for any processor of this architecture."""
    # Without `-mcpu` zig would compile for the very processor it runs on.
    return [sys.executable, "-m", "ziglang", "cc", *target, "-mcpu=baseline", "-fwrapv", "-DNDEBUG"]


def probe_compiler() -> Probe:
    """Compile and link a small extension module with the compiler that setuptools takes."""
    from distutils.ccompiler import new_compiler
    from distutils.sysconfig import customize_compiler

    compiler = new_compiler()
    customize_compiler(compiler)
    includes = [f"-I{sysconfig.get_path(name)}" for name in ("include", "platinclude")]
    with tempfile.TemporaryDirectory() as folder:
        source, compiled, linked = (str(Path(folder, f"probe{suffix}")) for suffix in (".c", ".o", ".so"))
        Path(source).write_text(PROBE)
        for command in (
            [*compiler.compiler_so, *includes, "-c", source, "-o", compiled],
            [*compiler.linker_so, compiled, "-o", linked],
        ):
            if shutil.which(command[0]) is None:
                return Probe(False, f"{command[0]} is not installed")
            run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
            if run.returncode:
                return Probe(True, f"{' '.join(command)}\n{run.stdout.strip()}\nexit code {run.returncode}")
    return Probe(True, "")


def headers_folder_has_python_h() -> bool:
    """Whether the headers of Python are where every compiler looks for them."""
    return any(Path(sysconfig.get_path(name), "Python.h").exists() for name in ("include", "platinclude"))


def index_offers_zig() -> bool:
    """Whether pip, as it is configured, finds the compiler; True as well where pip cannot be asked."""
    # An isolated build hides the pip that started it by means of this variable.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "pip", "index", "versions", "ziglang"]
    try:
        run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=INDEX_SECONDS)
    except subprocess.TimeoutExpired:
        return True
    return run.returncode == 0 or "No matching distribution" not in run.stderr


if __name__ == "__main__":
    sys.stdout.write("\n".join(compiler_requirements()))
