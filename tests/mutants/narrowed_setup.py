"""Run `setup.py` of the current directory for some of its extension modules only; a program, not a module.

`setup.py` stays the one place that knows sources, compiler directives and flags: what it hands to `cythonize` is
listed, or narrowed to the modules wanted and compiled without optimisation.

    python narrowed_setup.py list              the modules and all files that they depend on, as JSON
    python narrowed_setup.py build NAME...     compile these in place
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from typing import Any

import Cython.Build
from Cython.Build.Dependencies import create_dependency_tree

WITHOUT_OPTIMISATION = ["-O0", "-g0", "-fno-lto"]

cythonize = Cython.Build.cythonize


def list_modules(modules: list[Any], **options: Any) -> list[Any]:
    """In the place of `cythonize`: print modules and dependencies, and end."""
    tree = create_dependency_tree()
    found = {
        module.name: sorted(
            {os.path.relpath(file) for source in module.sources for file in tree.all_dependencies(source)}
        )
        for module in modules
    }
    print(json.dumps(found))
    raise SystemExit(0)


def narrow(modules: list[Any], **options: Any) -> list[Any]:
    """In the place of `cythonize`: only the modules wanted, quickly compiled."""
    wanted = [module for module in modules if module.name in sys.argv[1:]]
    for module in wanted:
        kept = [flag for flag in module.extra_compile_args if not flag.startswith(("-O", "-g", "-flto"))]
        module.extra_compile_args = [*kept, *WITHOUT_OPTIMISATION]
    sys.argv = ["setup.py", "-q", "build_ext", "--inplace", "--force"]
    return cythonize(wanted, **{**options, "force": True})


if __name__ == "__main__":
    Cython.Build.cythonize = list_modules if sys.argv.pop(1) == "list" else narrow
    sys.path.insert(0, os.getcwd())
    runpy.run_path("setup.py", run_name="__main__")
