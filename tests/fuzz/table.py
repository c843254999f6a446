"""All entrances."""

from __future__ import annotations

import importlib

from tests.fuzz.entrance import Entrance

MODULES = ("levels", "states", "tools", "files")


def entrances() -> dict[str, Entrance]:
    """Every entrance, by name."""
    found = [entry for name in MODULES for entry in importlib.import_module(f"tests.fuzz.{name}").ENTRANCES]
    return {entry.name: entry for entry in found}


def entrance_named(name: str) -> Entrance:
    """One of them."""
    known = entrances()
    if name not in known:
        raise SystemExit(f"fuzz: no entrance {name!r}; there are {', '.join(known)}")
    return known[name]
