"""Folders of many files: what they hold is understood once, and remembered under their content."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from level.samples import small_level
from npp_env.errors import LevelError
from npp_env.level import save_level, survey
from npp_env.level.cache import LevelCache
from npp_env.level.doubts import type_bits
from npp_env.level.level_set import LevelSet
from npp_env.level.pack import write_pack
from npp_env.runtime.level_resources import largest_state_bytes
from npp_env.sim import LevelHandle, compile_level

ROOT = Path(__file__).parent.parent.parent


def level_number(k: int):
    """Levels that differ in what they hold."""
    return small_level(extra=[(1, 40, 40, 0, 0)] * (k % 7) + [(14, 50, 50, 0, 0)] * (k % 3) + [(200, k % 250, 3, 0, 0)])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Twelve files, one of them a pack of three and one no level; so few that the index has to be told."""
    monkeypatch.setattr(survey, "_FILES_WORTH_AN_INDEX", 5)
    monkeypatch.setattr(survey, "_surveys", {})
    cache = LevelCache(directory=tmp_path / "cache")
    monkeypatch.setattr(survey, "default_cache", lambda: cache)
    levels = tmp_path / "levels"
    levels.mkdir()
    for k in range(10):
        save_level(level_number(k), levels / f"{k}.{'txt' if k % 2 else 'nppmap'}")
    (levels / "pack.txt").write_bytes(
        write_pack([small_level(extra=[(2, 40, 40, 0, 0)] * k, name=f"p{k}") for k in range(3)], as_game=True)
    )
    (levels / "zzz.txt").write_text("nonsense")
    return levels


def parse(folder: Path) -> LevelSet:
    survey._surveys.clear()
    survey.default_cache().clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LevelSet.parse(folder)


def facts(levels: LevelSet) -> list[object]:
    return [levels.names(), levels.types(), levels.record_counts().tolist(), levels.left_out]


def expected(levels: LevelSet) -> list[object]:
    """The same from the levels themselves."""
    counts = [np.bincount(level.records[:, 0], minlength=256)[:40].tolist() for level in levels]
    return [levels.names(), tuple(type_bits(level.records[:, 0]) for level in levels), counts]


def understood(monkeypatch) -> list[str]:
    """Names of the files that are understood from now on."""
    names: list[str] = []
    real = survey._read
    monkeypatch.setattr(survey, "_read", lambda path: names.append(path.name) or real(path))
    return names


def test_a_second_look_understands_only_what_is_no_level(folder, monkeypatch):
    names = understood(monkeypatch)
    first = facts(parse(folder))
    assert len(names) == 12 + 1  # what was left out is asked again for its reason
    names.clear()
    levels = parse(folder)
    assert facts(levels) == first
    assert names == ["zzz.txt"]
    assert first[:3] == expected(levels)
    assert len(levels) == 13
    assert "zzz.txt" in first[3][0]


def test_changed_files_are_understood_again(folder, monkeypatch):
    parse(folder)
    save_level(small_level(extra=[(25, 40, 40, 0, 0)] * 30), folder / "3.txt", overwrite=True)
    names = understood(monkeypatch)
    levels = parse(folder)
    assert "3.txt" in names
    assert facts(levels)[:3] == expected(levels)
    (folder / "4.nppmap").unlink()
    levels = parse(folder)
    assert facts(levels)[:3] == expected(levels)
    assert len(levels) == 12


def test_strict_readers_still_hear_of_faults(folder):
    for _ in range(2):
        with pytest.raises(LevelError, match=r"zzz\.txt"):
            survey.survey_files(sorted(folder.iterdir()), strict=True)


def test_a_damaged_index_is_made_again(folder):
    first = facts(parse(folder))
    (path,) = (folder.parent / "cache").rglob("*.nppc")
    data = bytearray(path.read_bytes())
    for place in (20, len(data) // 2, len(data) - 1):
        data[place] ^= 4
        path.unlink()
        path.write_bytes(data)
        assert facts(parse(folder)) == first


@pytest.mark.parametrize("change", ["file", "order", "count", "lost", "shape", "dtype"])
def test_an_index_of_other_files_is_not_believed(folder, change):
    """With right checksums: as whoever has written it would."""
    first = facts(parse(folder))
    store = survey.default_cache().store
    key = next(iter(survey.default_cache()._entries))
    index = np.array(store.read(key))
    if change == "file":
        index[-1, 0] = 500
    elif change == "order":
        index[0, 0] = 1
    elif change == "count":
        index = index[:-1]
    elif change == "lost":
        index = index[1:]
    elif change == "shape":
        index = index[:, :-1]
    else:
        index = index.astype(np.int32)
    store.write(key, index)
    levels = parse(folder)
    assert facts(levels) == first


def test_sizes_of_states_need_no_compiled_level(folder, monkeypatch):
    levels = parse(folder)
    wanted = max(LevelHandle(compile_level(level)).state_bytes for level in levels)
    monkeypatch.setattr(LevelSet, "_load", lambda *arguments: pytest.fail("a level was loaded"))
    assert largest_state_bytes(parse(folder)) == wanted
    own = LevelSet.parse([level_number(6), level_number(2)])
    monkeypatch.undo()
    assert largest_state_bytes(own) == max(LevelHandle(compile_level(level)).state_bytes for level in own)


CONSTRUCT = """
import json, sys
import npp_env
from npp_env.level import survey
from npp_env.level.cache import default_cache
read = []
real = survey._read
survey._read = lambda path: read.append(path) or real(path)
env = npp_env.NppEnv(levels=sys.argv[1], reward={"shaping_weight": 0.0}, observation={"layout": "state"})
opened = default_cache().report().get("geometry")
print(json.dumps([env.observation_space.shape, len(read), 0 if opened is None else opened.count]))
"""


def test_environments_of_many_levels_open_one(tmp_path):
    levels = tmp_path / "levels"
    levels.mkdir()
    for k in range(300):
        save_level(level_number(k), levels / f"{k}.nppmap")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NPP_ENV_CACHE": str(tmp_path / "cache")}
    found = []
    for _ in range(2):
        command = [sys.executable, "-W", "ignore", "-c", CONSTRUCT, str(levels)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    shape, read, opened = found[0]
    assert (read, opened) == (300, 0)
    assert found[1] == [shape, 0, 0]
