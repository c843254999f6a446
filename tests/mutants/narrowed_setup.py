"""Run `setup.py` of the current directory for some of its extension modules only; a program, not a module.

`setup.py` stays the one place that knows sources, compiler directives and flags: the modules that it hands to
`setuptools.setup` are listed, or narrowed to those wanted and compiled without optimisation.

    python narrowed_setup.py list              the modules and all files that they depend on, as JSON
    python narrowed_setup.py build NAME...     compile these in place
"""

from __future__ import annotations

import functools
import json
import os
import runpy
import sys
from typing import Any

import Cython.Build
import setuptools
from Cython.Build.Dependencies import create_dependency_tree

WITHOUT_OPTIMISATION = ["-O0", "-g0", "-fno-lto"]

setup = setuptools.setup


def list_modules(ext_modules: list[Any], **options: Any) -> None:
    """In the place of `setup`: print modules and dependencies."""
    tree = create_dependency_tree()
    found = {
        module.name: sorted(
            {os.path.relpath(file) for source in module.sources for file in tree.all_dependencies(source)}
        )
        for module in ext_modules
    }
    print(json.dumps(found))


def build_some(ext_modules: list[Any], **options: Any) -> None:
    """In the place of `setup`: only the modules wanted, quickly compiled."""
    wanted = [module for module in ext_modules if module.name in sys.argv[1:]]
    for module in wanted:
        kept = [flag for flag in module.extra_compile_args if not flag.startswith(("-O", "-g", "-flto"))]
        module.extra_compile_args = [*kept, *WITHOUT_OPTIMISATION]
    sys.argv = ["setup.py", "-q", "build_ext", "--inplace", "--force"]
    setup(ext_modules=wanted, **options)


if __name__ == "__main__":
    setuptools.setup = list_modules if sys.argv.pop(1) == "list" else build_some
    Cython.Build.cythonize = functools.partial(Cython.Build.cythonize, force=True)
    sys.path.insert(0, os.getcwd())
    runpy.run_path("setup.py", run_name="__main__")
