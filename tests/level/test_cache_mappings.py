"""Mappings of a process: one for all that is compiled from a level, and never more than the system allows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from npp_env.graph import fields_of, graph_of
from npp_env.level import Level
from npp_env.level.cache import LevelCache
from npp_env.level.cache_file import ArtifactKey
from npp_env.level.cache_store import ArtifactStore
from npp_env.render.background import FRAME_BACKGROUND
from npp_env.sim.handles import handle_of

ROOT = Path(__file__).parent.parent.parent

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="needs /proc")


def mapped_files(folder: Path) -> int:
    with open("/proc/self/maps") as lines:
        return sum(str(folder) in line for line in lines)


def closet(extra) -> Level:
    """A level with room for little more than the ninja, whose graph is small."""
    tiles = np.ones((23, 42), np.uint8)
    tiles[10:13, 10:14] = 0
    return Level.from_parts(tiles, [(0, 46, 48, 0, 0), (3, 50, 48, 0, 0), (4, 48, 50, 0, 0), extra])


def everything(level: Level, cache: LevelCache) -> list[object]:
    return [
        handle_of(level, cache),
        graph_of(level, cache),
        fields_of(level, 0, cache),
        cache.get(level, FRAME_BACKGROUND),
    ]


def test_all_artifacts_of_a_level_share_a_mapping(tmp_path):
    levels = [closet((2, x, 50, 0, 0)) for x in range(20)]
    cache = LevelCache(directory=tmp_path)
    for level in levels:
        everything(level, cache)
    cache.clear()
    assert mapped_files(tmp_path) == 0
    held = [everything(level, cache) for level in levels]
    assert mapped_files(tmp_path) == 20
    assert sum(use.loads for use in cache.report().values()) == 80
    cache.clear()
    # What someone holds stays mapped; what nobody holds does not.
    assert mapped_files(tmp_path) == 20
    del held
    assert mapped_files(tmp_path) == 0


OPEN_ALL = """
import json, sys
import numpy as np
from npp_env.level.cache import LevelCache
from npp_env.level.cache_file import ArtifactKey
folder = sys.argv[1]
keys = [ArtifactKey(f"{k:032x}", name, "", 1) for k in range(int(sys.argv[2])) for name in ("a", "b")]
cache = LevelCache(directory=folder, budget_bytes=2**40)
held = [cache.get_by_key(key, lambda: np.full(5, k, np.int32), None) for k, key in enumerate(keys)]
assert all((array == k).all() for k, array in enumerate(held))
with open("/proc/self/maps") as lines:
    maps = sum(folder in line for line in lines)
uses = cache.report()
print(json.dumps([maps, sum(u.loads for u in uses.values()), sum(u.private_bytes for u in uses.values())]))
"""


def test_thousands_of_levels(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    store = ArtifactStore(tmp_path)
    count = 2000
    for k in range(count):
        for n, name in enumerate(("a", "b")):
            store.write(ArtifactKey(f"{k:032x}", name, "", 1), np.full(5, 2 * k + n, np.int32))
    command = [sys.executable, "-c", OPEN_ALL, str(tmp_path), str(count)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [count, 2 * count, 0]
