"""All planted faults; each module of this folder is an area and lists its own as `FAULTS`."""

from __future__ import annotations

import importlib
import pkgutil

from ..faults import Fault

Listed = tuple[str, Fault]
"""An area and one of its faults."""


def load() -> list[Listed]:
    """Every fault, by area and then in the order of its file."""
    found: list[Listed] = []
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        faults: list[Fault] = importlib.import_module(f"{__name__}.{module.name}").FAULTS
        found += [(module.name, fault) for fault in faults]
    return found
