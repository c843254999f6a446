"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import npp_env
from npp_env.errors import MissingDependencyError

OPTIONAL = ("npp_env.integrations.", "npp_env.profiling.sb3")
"""Modules that need an extra to be imported."""
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(npp_env.__path__, "npp_env.")
    if not module.name.startswith(OPTIONAL) and not module.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    try:
        module = importlib.import_module(name)
    except MissingDependencyError as error:
        pytest.skip(str(error))
    # Compiled modules keep the docstrings of what Python can see.
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    modules = (importlib.import_module(name) for name in MODULES if not name.startswith("npp_env.learning"))
    found = [test for module in modules for test in finder.find(module)]
    assert sum(len(test.examples) for test in found) > 20
