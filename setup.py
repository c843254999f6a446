"""Compile the kernel; everything declarative stands in setup.cfg.

A machine without a C compiler still gets a working (slow) package: if any extension fails to build, all of
them are left out, because a half-compiled kernel would not fit together.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).parent
COMPILED = sorted((ROOT / "npp_env").rglob("*.pyx"))
SANITIZE = os.environ.get("NPP_SANITIZE") == "1"


def source_digests() -> dict[str, str]:
    """Digest of every compiled source, so that a stale binary beside an edited source can be noticed."""
    sources = [*COMPILED, *sorted((ROOT / "npp_env").rglob("*.pxd"))]
    return {path.relative_to(ROOT).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in sources}


def extensions() -> list[Extension]:
    from Cython.Build import cythonize

    if sys.platform == "win32":
        compile_args, link_args = ["/O2", "/fp:precise"], []
    else:
        # Every build agrees to the last bit: no fused multiply-add, no fast-math.
        compile_args, link_args = ["-O3", "-g0", "-ffp-contract=off", "-fno-math-errno"], []
    if SANITIZE:
        flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
        compile_args, link_args = ["-O1", "-g", "-ffp-contract=off", "-fno-omit-frame-pointer", *flags], flags
    modules = [
        Extension(
            ".".join(source.relative_to(ROOT).with_suffix("").parts),
            [str(source.relative_to(ROOT))],
            extra_compile_args=compile_args,
            extra_link_args=link_args,
        )
        for source in COMPILED
    ]
    return cythonize(
        modules,
        build_dir="build/cython",
        quiet=True,
        compiler_directives={
            "language_level": 3,
            "boundscheck": SANITIZE,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "embedsignature": True,
        },
    )


class BuildKernel(build_ext):
    """Build all extensions or none."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def run(self) -> None:
        try:
            super().run()
        except Exception as error:
            if os.environ.get("NPP_REQUIRE_COMPILED") == "1":
                raise
            print(f"npp_env: the kernel could not be compiled ({error}); installing it uncompiled (slow)")
            self.remove_outputs()
            self.extensions = []
            return
        if self.extensions:
            folder = ROOT / "npp_env" if self.inplace else Path(self.build_lib) / "npp_env"
            (folder / "_compiled.json").write_text(json.dumps(source_digests(), indent=1) + "\n")

    def remove_outputs(self) -> None:
        for extension in self.extensions:
            built = Path(self.build_lib) / self.get_ext_filename(extension.name)
            for path in (self.get_ext_fullpath(extension.name), built):
                Path(path).unlink(missing_ok=True)


setup(
    packages=[*find_packages(include=["npp_env", "npp_env.*"]), "npp_env.levels"],
    package_dir={"npp_env.levels": "levels"},
    package_data={"npp_env": ["py.typed", "**/*.pyi", "**/*.pyx", "**/*.pxd"], "npp_env.levels": ["**/*"]},
    ext_modules=[] if os.environ.get("NPP_UNCOMPILED") == "1" else extensions(),
    cmdclass={"build_ext": BuildKernel},
)
