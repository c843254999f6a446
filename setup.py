"""Compile the kernel; everything declarative stands in setup.cfg, the choice of a compiler in build_backend.py."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

from build_backend import CompilerMissingError, compiler_command

ROOT = Path(__file__).parent
COMPILED = sorted((ROOT / "npp_env").rglob("*.pyx"))
SANITIZERS = {
    "1": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"],
    "thread": ["-fsanitize=thread"],
}
SANITIZE = SANITIZERS.get(os.environ.get("NPP_SANITIZE", ""), [])


def source_digests() -> dict[str, str]:
    """Digest of every compiled source, so that a stale binary beside an edited source can be noticed."""
    sources = [*COMPILED, *sorted((ROOT / "npp_env").rglob("*.pxd"))]
    return {path.relative_to(ROOT).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in sources}


def extensions() -> list[Extension]:
    if sys.platform == "win32":
        # Microsoft's compiler fuses no multiply-add under this model.
        compile_args, link_args = ["/O2", "/fp:precise"], []
    else:
        # Every build agrees to the last bit: no fused multiply-add, no fast-math.
        compile_args = ["-O3", "-g0", "-ffp-contract=off", "-fno-math-errno", "-pthread"]
        link_args = ["-pthread"]
    if SANITIZE:
        compile_args = ["-O1", "-g", "-ffp-contract=off", "-fno-omit-frame-pointer", "-pthread", *SANITIZE]
        link_args = ["-pthread", *SANITIZE]
    return [
        Extension(
            ".".join(source.relative_to(ROOT).with_suffix("").parts),
            [source.relative_to(ROOT).as_posix()],
            extra_compile_args=compile_args,
            extra_link_args=link_args,
        )
        for source in COMPILED
    ]


def translate(modules: list[Extension]) -> None:
    """Let Cython write the C sources of these modules."""
    from Cython.Build import cythonize

    translated = cythonize(
        modules,
        build_dir="build/cython",
        quiet=True,
        compiler_directives={
            "language_level": 3,
            "boundscheck": bool(SANITIZE),
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "embedsignature": True,
        },
    )
    by_name = {module.name: module for module in translated}
    for module in modules:
        module.sources, module.depends = by_name[module.name].sources, by_name[module.name].depends


class BuildKernel(build_ext):
    """Build the extensions with a compiler of this machine, else with the one that the build brought along."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def run(self) -> None:
        if not self.extensions:
            return
        try:
            self.replacement = compiler_command()
        except CompilerMissingError as error:
            sys.exit(str(error))
        translate(self.extensions)
        super().run()
        folder = ROOT / "npp_env" if self.inplace else Path(self.build_lib) / "npp_env"
        (folder / "_compiled.json").write_text(json.dumps(source_digests(), indent=1) + "\n")

    def build_extensions(self) -> None:
        if self.replacement:
            # The flags that Python was built with are for its own compiler; of many, zig knows nothing.
            linking = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-s"]
            self.compiler.set_executables(
                compiler_so=[*self.replacement, "-fPIC"], linker_so=[*self.replacement, "-shared", *linking]
            )
            cache = str(Path(self.build_temp, "zig").absolute())
            os.environ.update(ZIG_GLOBAL_CACHE_DIR=cache, ZIG_LOCAL_CACHE_DIR=cache)
            # What another compiler left in the build folder would pass for up to date.
            self.force = True
        super().build_extensions()


setup(
    packages=[*find_packages(include=["npp_env", "npp_env.*"]), "npp_env.levels"],
    package_dir={"npp_env.levels": "levels"},
    package_data={
        "npp_env": ["py.typed", "**/*.pyi", "**/*.pyx", "**/*.pxd", "learning/models/*.nppmodel"],
        "npp_env.levels": ["**/*"],
    },
    ext_modules=[] if os.environ.get("NPP_BUILD_LATER") == "1" else extensions(),
    cmdclass={"build_ext": BuildKernel},
)
