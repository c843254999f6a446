"""Levels: the immutable model, its file formats, and the levels that come with the package."""

from __future__ import annotations

from npp_env.level.binary import read_map, write_map
from npp_env.level.entity_kinds import EntityKind
from npp_env.level.files import load_level, save_level
from npp_env.level.game_form import in_game_form
from npp_env.level.level_set import LevelSet
from npp_env.level.model import Level
from npp_env.level.pack import read_pack, write_pack
from npp_env.level.text import read_text, write_text

__all__ = [
    "EntityKind",
    "Level",
    "LevelSet",
    "in_game_form",
    "load_level",
    "read_map",
    "read_pack",
    "read_text",
    "save_level",
    "write_map",
    "write_pack",
    "write_text",
]
