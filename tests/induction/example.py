"""The example world of the documentation, loaded from where it stands."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

PATH = Path(__file__).parents[2] / "docs" / "examples" / "rock_world.py"


def load():
    if "rock_world" not in sys.modules:
        spec = importlib.util.spec_from_file_location("rock_world", PATH)
        module = importlib.util.module_from_spec(spec)
        sys.modules["rock_world"] = module
        spec.loader.exec_module(module)
    return sys.modules["rock_world"]


RockWorld = load().RockWorld

SMALL_MAP = """\
WWWWWW
WH.OHW
W.RO.W
WWWWWW"""
"""Humans that can meet, a robot, rocks in a row: most things happen within three steps."""
