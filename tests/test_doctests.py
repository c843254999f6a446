"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import npp_env

OPTIONAL = ("npp_env.integrations.", "npp_env.profiling.sb3")
"""Modules that need an extra to be imported."""
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(npp_env.__path__, "npp_env.")
    if not module.name.startswith(OPTIONAL) and not module.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    # Compiled modules keep the docstrings of what Python can see.
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    found = [test for name in MODULES for test in finder.find(importlib.import_module(name))]
    assert sum(len(test.examples) for test in found) > 20
